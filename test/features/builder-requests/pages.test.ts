import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { connected, logIn } from '../../support/flow.ts'
import { createVisitor, type Visitor } from '../../support/visitor.ts'

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

test('decided requests are listed: who asked, who decided, and when', async () => {
  const builder = createVisitor()
  await logIn(app, builder)
  const asks = `${app.platform}/suppliers/harbour-homes/summit-supplies/ask`
  await builder.post(asks, { form: { externalRef: 'CUST77' } })
  const { items } = (await supplier.get(at(), { accept: 'application/json' })).json()
  expect(items.length).toBeGreaterThan(0)
  const [{ integrationConnectionId: id, builder: asked }] = items
  await supplier.post(at(`/${encodeURIComponent(id)}/accept`))
  const { decided } = (await supplier.get(at(), { accept: 'application/json' })).json()
  expect(decided).toMatchObject([
    { integrationConnectionId: id, builder: asked.name, decision: 'accepted', decidedBy: 'sam' },
  ])
  expect((await supplier.get(at())).text).toMatch(/<h2>Decided<\/h2>[\s\S]*accepted[\s\S]*sam/)
})

test('an open page gets no more events once its user signs out', async () => {
  const cookies = [...(supplier.cookies.get(new URL(app.url).host) ?? [])].map((pair) => pair.join('='))
  const stream = await fetch(at('/live'), { headers: { cookie: cookies.join('; ') } })
  expect(stream.status).toBe(200)
  const ended = stream.text()
  await supplier.post(`${app.url}/sign-out`)
  expect(await ended).toContain('event: done')
})
