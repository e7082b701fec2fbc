import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { connected } from '../../support/flow.ts'
import type { Visitor } from '../../support/visitor.ts'

let app: Running
let supplier: Visitor
beforeAll(async () => {
  app = await startAll()
  supplier = await connected(app, {
    name: 'sam',
    bxcontext: 'summit-supplies',
    email: 'priya@summit.example',
  })
})
afterAll(() => app.close())

const at = (path = '') => `${app.url}/connections/summit-supplies/builder-requests${path}`

test('a notice about a builder request cannot be forged by its address', async () => {
  // Shows the notice of connecting.
  await supplier.get(`${app.url}/connections`)
  expect((await supplier.get(at('?accepted'))).text).not.toContain('class="notice"')
})

test('an open page gets no more events once its user signs out', async () => {
  const cookies = [...(supplier.cookies.get(new URL(app.url).host) ?? [])].map((pair) => pair.join('='))
  const stream = await fetch(at('/live'), { headers: { cookie: cookies.join('; ') } })
  expect(stream.status).toBe(200)
  const ended = stream.text()
  await supplier.post(`${app.url}/sign-out`)
  expect(await ended).toContain('event: done')
})
