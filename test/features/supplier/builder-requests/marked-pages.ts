import { afterAll, beforeAll, describe, test } from 'vitest'
import { expectMarked, expectMarkedPage, hideDeveloperPages } from '../../../support/marked-texts.ts'

const { connected, createVisitor, JSON_TYPE, startApp } = await import('../../../support/test-utils.ts')
const { logIn } = await import('../../../support/flow.ts')

describe('the pages of builder requests', () => {
  let app: Awaited<ReturnType<typeof startApp>>
  beforeAll(async () => {
    app = await startApp()
  })
  afterAll(() => app.close())

  test('every sentence on the page of builder requests is a text', async () => {
    const account = { name: 'sam', bxcontext: 'summit-supplies', email: 'priya@summit.example' }
    const supplier = await connected(app, account)
    await hideDeveloperPages(app, supplier)
    const builder = createVisitor()
    await logIn(app, builder)
    const requests = `${app.url}/connections/summit-supplies/builder-requests`
    const data = ['sam', 'summit-supplies', 'Summit Building Supplies', 'CUST77', 'Harbour Homes']
    for (const answer of ['reject', 'accept']) {
      await builder.post(`${app.platform}/suppliers/harbour-homes/summit-supplies/ask`, {
        form: { externalRef: 'CUST77' },
      })
      await expectMarkedPage(supplier, requests, data)
      const [request] = (await supplier.get(requests, JSON_TYPE)).json().items
      const id = encodeURIComponent(request.integrationConnectionId)
      await expectMarkedPage(supplier, `${requests}/${id}/reject`, data)
      expectMarked(await supplier.follow(await supplier.post(`${requests}/${id}/${answer}`)), data)
    }
    await expectMarkedPage(supplier, requests, data)
    expectMarked(await supplier.post(`${requests}/none/accept`), data)
  })
})
