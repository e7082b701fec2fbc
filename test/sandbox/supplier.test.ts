import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createBuilderRequests } from '../../src/features/builder-requests/builder-requests.ts'
import { createAccessControls } from '../../src/features/catalogues/access-controls.ts'
import {
  CREDENTIALS,
  openSupplier,
  type Supplier,
  type SupplierPlatform,
  startPlatform,
} from '../features/price-files/support.ts'
import { serve } from '../support/ports.ts'
import { createVisitor } from '../support/visitor.ts'

let platform: SupplierPlatform
let supplier: Supplier
beforeAll(async () => {
  platform = await startPlatform()
  supplier = openSupplier(platform.apiUrl)
})
afterAll(async () => {
  await supplier.close()
  await platform.close()
})

/** A builder in the sandbox's pages; contexts of Olivia's are harbour-homes and harbour-renovations. */
async function builder(email = 'olivia@harbour.example') {
  const visitor = createVisitor()
  await visitor.post(`${platform.url}/login`, { form: { email, password: 'sandbox' } })
  return {
    ask: (context: string, externalRef: string, to = 'summit-supplies') =>
      visitor.post(`${platform.url}/suppliers/${context}/${to}/ask`, { form: { externalRef } }),
    page: async () => (await visitor.get(`${platform.url}/suppliers`)).text,
    visitor,
  }
}

describe('a builder’s request (specification 3)', () => {
  test('is pending, then accepted or rejected once, and may come again after a rejection', async () => {
    const requests = createBuilderRequests(supplier.api)
    const marcus = await builder('marcus@ridgeline.example')
    await marcus.ask('ridgeline-build', 'RID1')
    await marcus.ask('ridgeline-build', 'RID1')
    const pending = await requests.list(supplier.source)
    expect(pending).toMatchObject([
      { externalRef: 'RID1', builder: { name: 'Ridgeline Build', email: 'marcus@ridgeline.example' } },
    ])
    const id = String(pending[0]?.integrationConnectionId)
    await requests.reject(supplier.source, id)
    await expect(requests.accept(supplier.source, id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await marcus.page()).toContain('rejected')
    await marcus.ask('ridgeline-build', 'RID1')
    const [again] = await requests.list(supplier.source)
    await requests.accept(supplier.source, String(again?.integrationConnectionId))
    expect(await requests.list(supplier.source)).toEqual([])
    expect(await marcus.page()).toContain('connected')
  })

  test('with a pre-approved ExternalRef is accepted by itself', async () => {
    const id = await supplier.newCatalogue('Pre-approved')
    const access = createAccessControls(supplier.api)
    await access.create(supplier.source, id, { externalRef: 'PRE1', isPreApproved: true })
    const olivia = await builder()
    await olivia.ask('harbour-renovations', 'PRE1')
    expect(await createBuilderRequests(supplier.api).list(supplier.source)).toEqual([])
    expect(await olivia.page()).toContain('as account <code>PRE1</code>')
  })

  test('of another supplier is none of this one’s', async () => {
    const olivia = await builder()
    await olivia.ask('harbour-homes', 'COAST1', 'summit-coast')
    expect(await createBuilderRequests(supplier.api).list(supplier.source)).toEqual([])
  })
})

test('a Public catalogue is visible to every connected builder, a Managed one only to those granted', async () => {
  const { catalogues, source, api } = supplier
  const open = await catalogues.create(source, { name: 'Open list', scope: 'Public' })
  const closed = await catalogues.create(source, { name: 'Closed list', scope: 'Managed' })
  const olivia = await builder()
  const sees = async ({ id }: { id: string | number }) =>
    (await olivia.page()).includes(`"/suppliers/harbour-homes/summit-supplies/${id}"`)
  expect(await sees(open)).toBe(false)
  await olivia.ask('harbour-homes', 'HH1')
  const [request] = await createBuilderRequests(api).list(source)
  await createBuilderRequests(api).accept(source, String(request?.integrationConnectionId))
  expect([await sees(open), await sees(closed)]).toEqual([true, false])
  const access = createAccessControls(api)
  await access.create(source, String(closed.id), { externalRef: 'OTHER', isPreApproved: false })
  expect(await sees(closed)).toBe(false)
  const page = (id: string | number) =>
    olivia.visitor.get(`${platform.url}/suppliers/harbour-homes/summit-supplies/${id}`)
  expect((await page(closed.id)).status).toBe(404)
  await access.create(source, String(closed.id), { externalRef: 'HH1', isPreApproved: false })
  expect(await sees(closed)).toBe(true)
  expect((await page(open.id)).status).toBe(200)
})

test.each(['', 'a b', 'x'.repeat(256), 'ref-1', 'é'])(
  'ExternalRef %j is refused before any request is made',
  async (externalRef) => {
    const access = createAccessControls(supplier.api)
    const before = (await platform.calls()).length
    await expect(access.create(supplier.source, '1', { externalRef, isPreApproved: false })).rejects.toThrow(
      'letters and digits',
    )
    expect((await platform.calls()).length).toBe(before)
  },
)

describe('the API', () => {
  const call = async (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${platform.apiUrl}${path}`, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: {
        ...{ 'content-type': 'application/json', 'ocp-apim-subscription-key': CREDENTIALS.subscriptionKey },
        ...{ authorization: `Bearer ${await supplier.source.accessToken()}`, ...headers },
      },
    })

  test('refuses a batch of more than 1000 items, and takes one of 1000', async () => {
    const id = await supplier.newCatalogue('Batches')
    await supplier.catalogues.startImport(supplier.source, id, 'b')
    const items = (count: number) => Array.from({ length: count }, (_, at) => ({ code: `C${at}`, price: 1 }))
    expect((await call(`/catalogues/${id}/import/b/items`, { items: items(1001) })).status).toBe(400)
    expect((await platform.items(id)).size).toBe(0)
    expect((await call(`/catalogues/${id}/import/b/items`, { items: items(1000) })).status).toBe(202)
    expect((await platform.items(id)).size).toBe(1000)
    await expect(supplier.catalogues.uploadItems(supplier.source, id, 'b', items(1001))).rejects.toThrow(
      RangeError,
    )
  })

  test('refuses a first-party token without the subscription key', async () => {
    expect(
      (await call('/catalogues', { name: 'x', scope: 'Public' }, { 'ocp-apim-subscription-key': '' })).status,
    ).toBe(401)
  })

  test('refuses a batch id that is in use, and the client finds its job', async () => {
    const id = await supplier.newCatalogue('Twice')
    const start = () => supplier.catalogues.startImport(supplier.source, id, 'same')
    expect(await start()).toMatchObject({ batchId: 'same', status: 'Started' })
    expect((await call(`/catalogues/${id}/import/start`, { batchId: 'same' })).status).toBe(409)
    expect(await start()).toMatchObject({ batchId: 'same', itemsReceived: 0 })
  })

  test('of another’s catalogue is 404', async () => {
    expect(
      (
        await call('/catalogues/harbour-homes-C100/accesscontrols', {
          externalRef: 'A',
          isPreApproved: false,
        })
      ).status,
    ).toBe(404)
  })
})

test('the rate limit lets so many calls pass in any window, and tells when to come back', async () => {
  const limited = await startPlatform({ rateLimit: { limit: 5, windowMs: 2_000 } })
  const { catalogues, source, close } = openSupplier(limited.apiUrl)
  await source.accessToken()
  for (let time = 0; time < 5; time++) await catalogues.list(source)
  const headers = { authorization: `Bearer ${await source.accessToken()}`, ...source.headers }
  const refused = await fetch(`${limited.apiUrl}/catalogues`, { headers })
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  await vi.waitFor(
    async () => expect((await fetch(`${limited.apiUrl}/catalogues`, { headers })).status).toBe(200),
    {
      timeout: 5_000,
    },
  )
  await close()
  await limited.close()
})

test('of 201 refresh tokens the oldest is deactivated', async () => {
  const headers = {
    'content-type': 'application/json',
    'ocp-apim-subscription-key': CREDENTIALS.subscriptionKey,
  }
  const { email, apiKey } = CREDENTIALS
  const ask = async (path: string, body: object) => {
    const answer = await fetch(`${platform.apiUrl}/accounts/auth/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ email, apiKey, ...body }),
    })
    return { status: answer.status, body: (await answer.json()) as { refreshToken: string } }
  }
  const first = (await ask('login', {})).body.refreshToken
  const second = (await ask('login', {})).body.refreshToken
  for (let count = 0; count < 199; count++) await ask('login', {})
  expect((await ask('refresh-token', { refreshToken: first })).status).toBe(401)
  expect((await ask('refresh-token', { refreshToken: second })).status).toBe(200)
  expect((await ask('refresh-token', { refreshToken: second })).status).toBe(401)
})

test('an event goes to the registered webhook, signed, and again until it is taken', async () => {
  const received: { signature: unknown; body: string }[] = []
  const receiver = await serve((req, res) => {
    let body = ''
    req.on('data', (chunk) => {
      body += chunk
    })
    req.on('end', () => {
      received.push({ signature: req.headers['x-webhook-signature'], body })
      res.writeHead(received.length === 1 ? 503 : 202).end()
    })
  })
  const priya = await builder('priya@summit.example')
  const form = { url: `http://127.0.0.1:${receiver.port}/hook`, secret: 'the-secret' }
  await priya.visitor.post(`${platform.url}/business-setup/summit-ranges/webhook`, { form })
  await (await builder('marcus@ridgeline.example')).ask('ridgeline-build', 'RID9', 'summit-ranges')
  await vi.waitFor(() => expect(received).toHaveLength(2), { timeout: 5_000 })
  const [first, second] = received
  expect(second).toEqual(first)
  expect(first?.signature).toBe(
    createHmac('sha256', 'the-secret')
      .update(first?.body ?? '')
      .digest('hex'),
  )
  expect(JSON.parse(first?.body ?? '')).toMatchObject({
    ...{ id: expect.stringMatching(/^evt_/), type: 'integration-connection.requested' },
    data: { bxcontext: 'summit-ranges', externalRef: 'RID9' },
  })
  await receiver.close()
})
