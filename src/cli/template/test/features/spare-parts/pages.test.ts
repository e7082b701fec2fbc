import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  connected,
  expectBothFormats,
  JSON_TYPE,
  type Running,
  startApp,
  type Visitor,
} from '../../../../../../test/support/kit.ts'

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

  test('are searched by name, filtered by status and sorted, by the platform', async () => {
    const found = (await visitor.get(at('?search=1000&filter=New&order=name'), JSON_TYPE)).json()
    const matches = ({ name, status }: { name: string; status: string }) =>
      name.includes('1000') && status === 'New'
    expect(found.items.every(matches)).toBe(true)
    const sorted = (await visitor.get(at('?order=newest&top=2'), JSON_TYPE)).json()
    expect(sorted.items[0].createdAt > sorted.items[1].createdAt).toBe(true)
    expect((await visitor.get(at('?filter=Lost'), JSON_TYPE)).json()).toMatchObject({ field: 'filter' })
  })

  test('one at a time; another one, and an account that is not connected: 404', async () => {
    const { items } = (await visitor.get(at('?top=1'), JSON_TYPE)).json()
    await expectBothFormats(visitor, at(`/${items[0].id}`), items[0].name)
    expect((await visitor.get(at('/none'), JSON_TYPE)).json()).toMatchObject({ code: 'not_found' })
    const elsewhere = await visitor.get(`${app.url}/connections/elsewhere/spare-parts`, JSON_TYPE)
    expect(elsewhere.json()).toMatchObject({ status: 404, code: 'not_connected' })
  })

  test.each([
    ['without the scope', 'forbidden', 'insufficient_scope'],
    ['while the platform fails', '500', 'platform_unavailable'],
  ])('%s: an error that says so', async (_when, fault, code) => {
    await app.fault('spare-parts', fault, 10)
    expect((await visitor.get(at(), JSON_TYPE)).json()).toMatchObject({ code })
  })
  // template: write

  test('are created by form and by JSON, and only with a name', async () => {
    const page = await visitor.follow(await visitor.post(at(), { form: { name: 'By form', notes: '' } }))
    expect(page.text).toMatch(/The entry was created\.[\s\S]*By form/)
    const text = JSON.stringify({ name: 'By JSON' })
    const headers = { 'content-type': 'application/json' }
    const created = await visitor.post(at(), { text, headers, ...JSON_TYPE })
    expect(created.status).toBe(201)
    expect(created.json()).toMatchObject({ id: expect.any(String), name: 'By JSON' })
    const refused = await visitor.post(at(), { form: { name: '', notes: 'typed' } })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('typed')])
  })
  // end of template
})
