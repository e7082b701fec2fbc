import { afterAll, beforeAll, describe, test } from 'vitest'
import { expectMarked, expectMarkedPage, hideDeveloperPages, stringsIn } from '../../support/marked-texts.ts'

const { connected, JSON_TYPE, startApp } = await import('../../support/test-utils.ts')

describe('the pages of catalogues', () => {
  let app: Awaited<ReturnType<typeof startApp>>
  beforeAll(async () => {
    app = await startApp()
  })
  afterAll(() => app.close())

  test('every sentence on the pages of catalogues is a text', async () => {
    const visitor = await connected(app)
    await hideDeveloperPages(app, visitor)
    const catalogues = `${app.url}/connections/harbour-homes/catalogues`
    const listed = stringsIn((await visitor.get(catalogues, JSON_TYPE)).json())
    const data = [
      'ann',
      'harbour-homes',
      'Harbour Homes',
      'National',
      'Public',
      'Managed',
      'AB1',
      'AB2',
      ...listed,
    ]
    await expectMarkedPage(visitor, `${catalogues}?top=2`, data)
    await expectMarkedPage(visitor, `${catalogues}?skip=5000`, data)
    expectMarked(await visitor.post(catalogues, { form: { name: '', scope: 'Public' } }), data)
    expectMarked(await visitor.post(catalogues, { form: { name: 'National', scope: 'x' } }), data)
    for (const scope of ['Public', 'Managed']) {
      const created = await visitor.post(catalogues, { form: { name: 'National', scope } })
      const page = new URL(created.headers.get('location') ?? '', app.url).href
      const { id } = (await visitor.get(page, JSON_TYPE)).json()
      expectMarked(await visitor.follow(created), [...data, id])
      expectMarked(await visitor.post(`${page}/access-controls`, { form: { externalRef: '-' } }), [
        ...data,
        id,
      ])
      for (const form of [{ externalRef: 'AB1' }, { externalRef: 'AB2', isPreApproved: 'on' }])
        expectMarked(await visitor.follow(await visitor.post(`${page}/access-controls`, { form })), [
          ...data,
          id,
        ])
      await expectMarkedPage(visitor, page, data)
    }
    expectMarked(await visitor.get(`${catalogues}/none`), data)
  })
})
