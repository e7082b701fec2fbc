import { createHmac } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createBuilderRequests } from '../../../../../src/features/supplier/builder-requests/builder-requests.ts'
import { SAMPLE_MEMBERS } from '../../../../../src/sandbox/features/supplier/builder-requests/suppliers.ts'
import { serve } from '../../../../support/ports.ts'
import { openClient, type RunningSandbox, startSandbox } from '../../../../support/sandbox.ts'

let sandbox: RunningSandbox
let client: ReturnType<typeof openClient>
beforeAll(async () => {
  sandbox = await startSandbox()
  client = openClient(sandbox.url, 'summit-supplies')
})
afterAll(async () => {
  await client.close()
  await sandbox.close()
})

/** A builder in the sandbox's pages; Olivia has the businesses harbour-homes and harbour-renovations. */
async function builder(email = 'olivia@harbour.example') {
  const visitor = await sandbox.logIn(email)
  return {
    ask: (bxcontext: string, externalRef: string, supplier = 'summit-supplies') =>
      visitor.post(`${sandbox.url}/suppliers/${bxcontext}/${supplier}/ask`, { form: { externalRef } }),
    page: async () => (await visitor.get(`${sandbox.url}/suppliers`)).text,
  }
}

const catalogue = async (name: string, scope: 'Public' | 'Managed') => {
  const answer = await sandbox.call('summit-supplies', '/catalogues', { name, scope })
  return ((await answer.json()) as { id: string }).id
}
const grant = (id: string, externalRef: string, isPreApproved = false) =>
  sandbox.call('summit-supplies', `/catalogues/${id}/accesscontrols`, { externalRef, isPreApproved })
const list = () => createBuilderRequests(client.api).list(client.source)

describe('a builder’s request (specification 3)', () => {
  test('is pending, then accepted or rejected once; a rejected builder can ask again', async () => {
    const requests = createBuilderRequests(client.api)
    const marcus = await builder('marcus@ridgeline.example')
    await marcus.ask('ridgeline-build', 'RID1')
    await marcus.ask('ridgeline-build', 'RID1')
    const pending = await list()
    expect(pending).toMatchObject([
      { externalRef: 'RID1', builder: { name: 'Ridgeline Build', email: 'marcus@ridgeline.example' } },
    ])
    const id = String(pending[0]?.integrationConnectionId)
    await requests.reject(client.source, id)
    await expect(requests.accept(client.source, id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await marcus.page()).toContain('rejected')
    await marcus.ask('ridgeline-build', 'RID1')
    const [again] = await list()
    await requests.accept(client.source, String(again?.integrationConnectionId))
    expect(await list()).toEqual([])
    expect(await marcus.page()).toContain('connected')
  })

  test('offers the account numbers that the sample supplier knows, and none for another supplier', async () => {
    const text = await (await builder()).page()
    const cards = text.split('<section').filter((card) => card.includes('for Harbour Homes'))
    const offered = cards.map((card) => [...card.matchAll(/<option>(\w+)/g)].map(([, number]) => number))
    expect(offered).toEqual([SAMPLE_MEMBERS, [], []])
  })

  test('with a pre-approved ExternalRef is accepted automatically', async () => {
    await grant(await catalogue('Pre-approved', 'Public'), 'PRE1', true)
    const olivia = await builder()
    await olivia.ask('harbour-renovations', 'PRE1')
    expect(await list()).toEqual([])
    expect(await olivia.page()).toContain('as account <code>PRE1</code>')
  })

  test('to one supplier is not shown to another', async () => {
    const olivia = await builder()
    await olivia.ask('harbour-homes', 'COAST1', 'summit-coast')
    expect(await list()).toEqual([])
  })

  test('shows the supplier’s catalogues once it is accepted: Public ones, and Managed ones that are granted', async () => {
    const [open, managed] = [await catalogue('Open', 'Public'), await catalogue('Closed', 'Managed')]
    const olivia = await builder()
    const sees = async (id: string) =>
      (await olivia.page()).includes(`"/suppliers/harbour-homes/summit-supplies/${id}"`)
    expect(await sees(open)).toBe(false)
    await olivia.ask('harbour-homes', 'HH1')
    const [request] = await list()
    const id = String(request?.integrationConnectionId)
    await createBuilderRequests(client.api).accept(client.source, id)
    expect([await sees(open), await sees(managed)]).toEqual([true, false])
    await grant(managed, 'HH1')
    expect(await sees(managed)).toBe(true)
  })
})

test('an event is sent to the supplier’s webhook, signed, and the same again when a person sends it again', async () => {
  const received: { signature: unknown; body: string }[] = []
  const receiver = await serve(async (req, res) => {
    received.push({ signature: req.headers['x-webhook-signature'], body: await text(req) })
    res.writeHead(202).end()
  })
  const webhook = { url: `http://127.0.0.1:${receiver.port}/hook`, secret: 'the-secret' }
  const own = await startSandbox({
    features: { 'builder-requests': { webhooks: { 'summit-ranges': webhook } } },
  })
  const marcus = await own.logIn('marcus@ridgeline.example')
  const form = { externalRef: 'RID9' }
  await marcus.post(`${own.url}/suppliers/ridgeline-build/summit-ranges/ask`, { form })
  await vi.waitFor(() => expect(received).toHaveLength(1))
  const priya = await own.logIn('priya@summit.example')
  const page = (await priya.get(`${own.url}/business-setup`)).text
  const [card = ''] = page.split('<section').filter((section) => section.includes('Webhook deliveries'))
  expect(card).toContain('Summit Ranges')
  const [again = ''] = /\/business-setup\/summit-ranges\/deliveries\/[\w-]+\/repeat/.exec(card) ?? []
  await priya.post(own.url + again)
  expect(received).toHaveLength(2)
  const [first, second] = received
  expect(second).toEqual(first)
  expect(first?.signature).toBe(
    createHmac('sha256', 'the-secret')
      .update(first?.body ?? '')
      .digest('hex'),
  )
  expect(JSON.parse(first?.body ?? '')).toMatchObject({
    id: expect.stringMatching(/^evt_/),
    type: 'integration-connection.requested',
    data: { bxcontext: 'summit-ranges', externalRef: 'RID9' },
  })
  await own.close()
  await receiver.close()
})
