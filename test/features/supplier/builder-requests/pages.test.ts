import { afterAll, beforeAll, expect, test } from 'vitest'
import { platform } from '../../../../src/connect/index.ts'
import { texts as catalogueTexts } from '../../../../src/features/catalogues/texts.ts'
import { texts } from '../../../../src/features/supplier/builder-requests/texts.ts'
import { webTexts } from '../../../../src/web/feature-api.ts'
import { type Running, startAll } from '../../../support/app.ts'
import { connected, logIn, signedIn, toCallback } from '../../../support/flow.ts'
import { expectInOrder, shown } from '../../../support/pages.ts'
import { createVisitor, type Visitor } from '../../../support/visitor.ts'

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

const JSON_TYPE = { accept: 'application/json' }
const at = (path = '') => `${app.url}/connections/summit-supplies/builder-requests${path}`

test('who grants no catalogues, as a builder, sees no page of suppliers', async () => {
  const linksOf = async (scope: string) => {
    const user = await signedIn(app, `with-${scope}`)
    await user.get(await toCallback(app, user, { form: { answer: 'accept', scope } }))
    const { text } = await user.get(`${app.url}/connections`)
    return ['leads', 'catalogues', 'builder-requests'].filter((path) =>
      text.includes(`href="/connections/harbour-homes/${path}"`),
    )
  }
  expect(await linksOf(platform.scopes.leads)).toEqual(['leads'])
  expect(await linksOf(platform.scopes.catalogues)).toEqual(['catalogues', 'builder-requests'])
})

/** A builder asks to connect. */
async function ask(externalRef: string, business = 'harbour-homes'): Promise<void> {
  const builder = createVisitor()
  await logIn(app, builder)
  const asks = `${app.platform}/suppliers/${business}/summit-supplies/ask`
  await builder.post(asks, { form: { externalRef } })
}

test.each([
  ['accept', 'harbour-renovations', texts.accepted],
  ['reject', 'harbour-homes', texts.rejected],
] as const)(
  'to %s asks once, by the name of the builder, and says that it cannot be undone',
  async (answer, business, done) => {
    await ask('CUST76', business)
    const { items } = (await supplier.get(at(), JSON_TYPE)).json()
    const [{ integrationConnectionId: id, builder }] = items
    const path = `/connections/summit-supplies/builder-requests/${encodeURIComponent(id)}/${answer}`
    // The list leads to the question, and has no button that answers.
    const list = (await supplier.get(at())).text
    expect(list).toContain(`href="${path}"`)
    expect(list).not.toContain(`action="${path}"`)
    const question = await supplier.get(app.url + path)
    const { title, lead } = texts.ask[answer]
    expect(question.text).toContain(`<h1>${shown(title(builder.name))}</h1>`)
    expect(question.text).toContain(shown(lead))
    expect((await supplier.get(at(), JSON_TYPE)).json().items).toEqual(items)
    expect((await supplier.follow(await supplier.post(app.url + path))).text).toContain(shown(done))
    const gone = await supplier.get(app.url + path, JSON_TYPE)
    expect(gone.json()).toMatchObject({ status: 404, code: 'not_found' })
  },
)

test('a form decides about the request that its page showed: once that has changed, or was answered, nothing happens', async () => {
  await ask('CUST78')
  const [request] = (await supplier.get(at(), JSON_TYPE)).json().items
  const path = at(`/${encodeURIComponent(request.integrationConnectionId)}`)
  const formOf = ({ text }: { text: string }) => ({
    shown: /name="shown" value="([^"]+)"/.exec(text)?.[1] ?? '',
  })
  const form = formOf(await supplier.get(`${path}/accept`))
  expect(form).toEqual(formOf(await supplier.get(`${path}/reject`)))
  const changed = { ...request, builder: { ...request.builder, name: 'Another builder' } }
  const list = '/api/catalogues/incomingIntegrationConnections'
  app.answer(list, { json: [changed] })
  const refused = await supplier.post(`${path}/accept`, { form, ...JSON_TYPE })
  expect(refused.json()).toMatchObject({ status: 409, code: 'request_changed' })
  app.answer(list, { json: [changed] })
  const page = await supplier.follow(await supplier.post(`${path}/reject`, { form }))
  expect([page.url, page.status]).toEqual([at(), 200])
  expect(page.text).toContain(shown(texts.changed.detail))
  expect((await supplier.get(at(), JSON_TYPE)).json().items).toContainEqual(request)

  await supplier.follow(await supplier.post(`${path}/reject`, { form }))
  const late = await supplier.follow(await supplier.post(`${path}/accept`, { form }))
  expect(late.text).toContain(shown(texts.changed.detail))
  const { decided } = (await supplier.get(at(), JSON_TYPE)).json()
  expect(decided[0]).toMatchObject({ externalRef: 'CUST78', decision: 'rejected' })
})

test.each([
  { status: 422, json: { message: 'no' } },
  { status: 200, json: { isSuccessful: false } },
  { status: 200, json: { error: 'not_allowed' } },
])('a refusal is no decision: the question comes back, and the request stays (%j)', async (refusal) => {
  await ask('CUST79')
  const [request] = (await supplier.get(at(), JSON_TYPE)).json().items
  const accept = at(`/${request.integrationConnectionId}/accept`)
  const refuse = () => app.answer('/api/catalogues/incomingIntegrationConnections/accept', refusal)
  refuse()
  const page = await supplier.follow(await supplier.post(accept))
  expect(page.text).toContain(`<h1>${shown(texts.ask.accept.title(request.builder.name))}</h1>`)
  expect(page.text).toContain(webTexts.form.nothingChanged)
  refuse()
  expect((await supplier.post(accept, JSON_TYPE)).json()).toMatchObject({ code: 'platform_rejected' })
  const { items, decided } = (await supplier.get(at(), JSON_TYPE)).json()
  expect(items).toContainEqual(request)
  expect(decided).not.toContainEqual(expect.objectContaining({ externalRef: 'CUST79', decision: 'accepted' }))
  await supplier.post(at(`/${request.integrationConnectionId}/reject`))
})

test('decided requests are listed: who asked, who decided, when, and which catalogues they can see', async () => {
  await ask('CUST77')
  const { items } = (await supplier.get(at(), JSON_TYPE)).json()
  expect(items.length).toBeGreaterThan(0)
  const [{ integrationConnectionId: id, builder: asked }] = items
  const accepted = await supplier.follow(await supplier.post(at(`/${encodeURIComponent(id)}/accept`)))
  expect(accepted.text).toContain(`/catalogues?account=CUST77">${texts.grantAccess}</a>`)
  const { decided } = (await supplier.get(at(), JSON_TYPE)).json()
  expect(decided[0]).toMatchObject({
    integrationConnectionId: id,
    builder: asked.name,
    decision: 'accepted',
    by: 'sam',
  })
  expectInOrder((await supplier.get(at())).text, texts.acceptedBuilders.title, 'CUST77', 'sam')

  const catalogues = `${app.url}/connections/summit-supplies/catalogues`
  const form = { name: 'For Harbour', scope: 'Managed' }
  const { id: catalogueId } = (await supplier.post(catalogues, { form, accept: 'application/json' })).json()
  await supplier.post(`${catalogues}/${catalogueId}/access-controls`, { form: { externalRef: 'CUST77' } })
  const [after] = (await supplier.get(at(), JSON_TYPE)).json().decided
  expect(after.access).toMatchObject([{ catalogueId, catalogueName: 'For Harbour' }])
  expect((await supplier.get(at())).text).toMatch(/CUST77[\s\S]*>For Harbour<\/a>/)
  const { text: granted } = await supplier.get(`${catalogues}/${catalogueId}`)
  const { caption, decidedByYou } = catalogueTexts.grants
  expectInOrder(granted, caption, 'CUST77', decidedByYou, 'sam')
})
