import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  connected,
  expectBothFormats,
  JSON_TYPE,
  type Running,
  startApp,
  type Visitor,
} from '../../../../test/support/kit.ts'

let app: Running
let visitor: Visitor
beforeAll(async () => {
  app = await startApp()
  visitor = await connected(app)
})
afterAll(() => app.close())
beforeEach(() => fetch(`${app.platform}/sandbox/faults`, { method: 'DELETE' }))

const at = (path = '') => `${app.url}/connections/harbour-homes/spare-parts${path}`

describe('spare parts', () => {
  test('HTML for a browser and JSON for a client that asks for it', () =>
    expectBothFormats(visitor, at(), 'Spare parts'))

  test('are paged, with the total', async () => {
    const first = (await visitor.get(at('?top=10'), JSON_TYPE)).json()
    const second = (await visitor.get(at('?top=10&skip=10'), JSON_TYPE)).json()
    expect(first.items).toHaveLength(10)
    expect(second.total).toBe(first.total)
    expect(second.items[0].id).not.toBe(first.items[0].id)
    expect((await visitor.get(at('?top=10&skip=10'))).text).toContain(`11–20 of ${first.total}`)
  })

  test('are searched by name, filtered by status and sorted, by the platform', async () => {
    const found = (await visitor.get(at('?search=1000&filter=New&order=name'), JSON_TYPE)).json()
    const matches = ({ name, status }: { name: string; status: string }) =>
      name.includes('1000') && status === 'New'
    expect(found.items.every(matches)).toBe(true)
    const sorted = (await visitor.get(at('?order=newest&top=2'), JSON_TYPE)).json()
    expect(sorted.items[0].createdAt > sorted.items[1].createdAt).toBe(true)
    expect((await visitor.get(at('?filter=Lost'), JSON_TYPE)).json()).toMatchObject({ field: 'filter' })
  })

  test('one at a time, and 404 not_found for another', async () => {
    const { items } = (await visitor.get(at('?top=1'), JSON_TYPE)).json()
    await expectBothFormats(visitor, at(`/${items[0].id}`), items[0].name)
    expect((await visitor.get(at('/none'), JSON_TYPE)).json()).toMatchObject({ code: 'not_found' })
  })

  test('of a bxcontext that is not connected: 404 not_connected', async () => {
    const answer = await visitor.get(`${app.url}/connections/elsewhere/spare-parts`, JSON_TYPE)
    expect(answer.json()).toMatchObject({ status: 404, code: 'not_connected' })
  })

  test.each([
    ['without the scope', 'forbidden', 'insufficient_scope'],
    ['while the platform fails', '500', 'platform_unavailable'],
  ])('%s: an error that says so', async (_when, fault, code) => {
    await app.fault('spare-parts', fault, 10)
    expect((await visitor.get(at(), JSON_TYPE)).json()).toMatchObject({ code })
  })
})

// template: write
describe('a new spare part', () => {
  test('is created by form and by JSON', async () => {
    const page = await visitor.follow(await visitor.post(at(), { form: { name: 'By form', notes: '' } }))
    expect(page.text).toContain('The spare part was created.')
    expect(page.text).toContain('By form')
    const created = await visitor.post(at(), {
      text: JSON.stringify({ name: 'By JSON' }),
      headers: { 'content-type': 'application/json' },
      ...JSON_TYPE,
    })
    expect(created.status).toBe(201)
    expect(created.json()).toMatchObject({ id: expect.any(String), name: 'By JSON' })
  })

  test('without a name is refused, and the form comes back with what was typed', async () => {
    const answer = await visitor.post(at(), { form: { name: '', notes: 'typed' } })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('typed')
  })
})
// end of template
