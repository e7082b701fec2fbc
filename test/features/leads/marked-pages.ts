import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectMarked, expectMarkedPage, hideDeveloperPages, stringsIn } from '../../support/marked-texts.ts'

const { connected, JSON_TYPE, startApp } = await import('../../support/test-utils.ts')

describe('the pages of leads', () => {
  let app: Awaited<ReturnType<typeof startApp>>
  beforeAll(async () => {
    app = await startApp()
  })
  afterAll(() => app.close())

  test('every sentence on the pages of leads is a text', async () => {
    const visitor = await connected(app)
    await hideDeveloperPages(app, visitor)
    const leads = `${app.url}/connections/harbour-homes/leads`
    const listed = stringsIn((await visitor.get(leads, JSON_TYPE)).json())
    const data = ['ann', 'harbour-homes', 'Harbour Homes', 'New name', ...listed]
    await expectMarkedPage(visitor, `${leads}?top=2`, data)
    await expectMarkedPage(visitor, `${leads}?skip=5000`, data)
    expectMarked(await visitor.post(leads, { form: { name: '', email: 'x' } }), data)
    expectMarked(await visitor.post(leads, { form: { name: 'New name', phone: '1'.repeat(50) } }), data)
    const created = await visitor.post(leads, { form: { name: 'New name' } })
    const page = new URL(created.headers.get('location') ?? '', app.url).href
    const { id } = (await visitor.get(page, JSON_TYPE)).json()
    expectMarked(await visitor.follow(created), [...data, id, 'New'])
    await expectMarkedPage(visitor, page, data)
    expectMarked(await visitor.get(`${leads}/none`), data)
    const tested = await visitor.post(`${app.url}/connections/harbour-homes/test`, {
      accept: 'application/json',
    })
    expect(tested.json().summary).toMatch(/^⟦.*⟧$/)
  })
})
