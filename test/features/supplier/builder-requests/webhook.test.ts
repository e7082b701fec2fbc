import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { texts } from '../../../../src/features/supplier/builder-requests/texts.ts'
import { createEvents } from '../../../../src/features/supplier/builder-requests/webhook-events.ts'
import simulated from '../../../../src/sandbox/features/supplier/builder-requests/index.ts'
import { type Running, startAll } from '../../../support/app.ts'
import { createFaultyStore, forEachFault } from '../../../support/faulty-store.ts'
import { connected, logIn } from '../../../support/flow.ts'
import { createVisitor, type Visitor } from '../../../support/visitor.ts'

const SUPPLIER = { name: 'sam', bxcontext: 'summit-supplies', email: 'priya@summit.example' }

const WEBHOOK_SECRET = simulated.demoEnv.PLATFORM_WEBHOOK_SECRET

const DAY_MS = 24 * 3_600_000

let app: Running
let supplier: Visitor
beforeAll(async () => {
  app = await startAll({ PLATFORM_WEBHOOK_SECRET: `${WEBHOOK_SECRET},an-older-secret-of-ours` })
  supplier = await connected(app, SUPPLIER)
})
afterAll(() => app.close())
beforeEach(() => fetch(`${app.platform}/sandbox/faults`, { method: 'DELETE' }))

let number = 0
const event = (more: object = {}) => ({
  id: `evt_test_${number++}`,
  type: 'integration-connection.requested',
  occurredAt: new Date().toISOString(),
  data: { bxcontext: 'summit-supplies', integrationConnectionId: 'x' },
  ...more,
})
const otherEvent = () => event({ type: 'catalogue.archived' })
const signature = (body: string | Buffer, secret = WEBHOOK_SECRET) =>
  createHmac('sha256', secret).update(body).digest('hex')

/** Delivers a body, with the right signature unless `more` replaces it. */
async function deliver(body: string | Buffer<ArrayBuffer>, more: Record<string, string> = {}, { url } = app) {
  const headers = { 'content-type': 'application/json', 'x-webhook-signature': signature(body), ...more }
  const answer = await fetch(`${url}/webhooks/platform`, { method: 'POST', body, headers })
  const text = await answer.text()
  return { status: answer.status, text, json: text.startsWith('{') ? JSON.parse(text) : null }
}
const stored = async (id: string) =>
  (await createEvents(app.services.store).recent('summit-supplies')).some((event) => event.id === id)
/** How often the app requested a list from the platform. */
const lists = async () => (await app.calls()).filter(({ endpoint }) => endpoint === 'catalogues').length
const page = () => `${app.url}/connections/summit-supplies/builder-requests`

/** The version of what an open page shows. */
const versionOf = async (url: string, visitor: Visitor) => (await visitor.get(`${url}/live`)).json().version

describe('a delivery', () => {
  test('with a good signature is stored and answered, and the platform is not asked', async () => {
    const listed = await lists()
    const sent = event()
    expect(await deliver(JSON.stringify(sent))).toMatchObject({ status: 202, json: { fresh: true } })
    expect(await stored(sent.id)).toBe(true)
    expect(await lists()).toBe(listed)
  })

  test.each([
    ['with the signature of another secret', (body: string) => signature(body, 'other')],
    ['with a truncated signature', (body: string) => signature(body).slice(0, 62)],
    ['with a signature that is not hex', () => 'z'.repeat(64)],
    ['with an empty signature', () => ''],
  ])('%s is refused and not stored', async (_name, sign) => {
    const sent = event()
    const body = JSON.stringify(sent)
    const answer = await deliver(body, { 'x-webhook-signature': sign(body) })
    expect(answer).toMatchObject({ status: 401, json: { code: 'invalid_signature' } })
    expect(await stored(sent.id)).toBe(false)
  })

  test('with a signature in upper case, prefixed by sha256= or made with an older secret is accepted', async () => {
    for (const sign of [
      (body: string) => `sha256=${signature(body)}`,
      (body: string) => signature(body).toUpperCase(),
      (body: string) => signature(body, 'an-older-secret-of-ours'),
    ]) {
      const body = JSON.stringify(otherEvent())
      expect((await deliver(body, { 'x-webhook-signature': sign(body) })).status).toBe(202)
    }
  })

  test('repeated 100 times, concurrently and again, is stored once', async () => {
    const { id, ...rest } = event()
    const body = JSON.stringify({ id, ...rest })
    const answers = await Promise.all(Array.from({ length: 50 }, () => deliver(body)))
    for (let again = 0; again < 50; again++) answers.push(await deliver(body))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(99)
    const kept = await createEvents(app.services.store).recent('summit-supplies')
    expect(kept.filter((event) => event.id === id)).toHaveLength(1)
  })

  test('of an unknown event is accepted, stored and shown as unknown', async () => {
    expect((await deliver(JSON.stringify(otherEvent()))).status).toBe(202)
    const shown = `catalogue.archived</code> <span class="badge">${texts.events.unknown}</span>`
    expect((await supplier.get(page())).text).toContain(shown)
  })

  test.each([
    ['not JSON', '{"id":', 'the body: must be a JSON object.'],
    ['not an object', '[]', 'the body: must be a JSON object.'],
  ])('that is signed but %s is 400 in plain words, and not stored', async (_name, body, words) => {
    const detail = expect.stringContaining(words)
    expect(await deliver(body)).toMatchObject({ status: 400, json: { code: 'invalid_event', detail } })
  })

  test('over 256 kB returns 413, and one of another type 415', async () => {
    const large = JSON.stringify(event({ data: { text: 'x'.repeat(256 * 1024) } }))
    expect((await deliver(large)).status).toBe(413)
    const body = JSON.stringify(otherEvent())
    expect((await deliver(body, { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await deliver(body, { 'content-type': 'application/json; charset=utf-8' })).status).toBe(202)
  })
})

test.each([
  ['another shape', `{"eventId":${number++},"event":"integration-connection.requested"}`],
  ['an id that is too long', `{"id":"${'x'.repeat(201)}"}`],
  ['an id that is a list', '{"id":[]}'],
  ['an id above 2^53', '{"id":9007199254740993}'],
  ['another id above 2^53', '{"id":9007199254740992}'],
])('an event of %s is one of an unknown type, known by its body when it comes again', async (_, body) => {
  expect((await deliver(body)).status).toBe(202)
  expect((await deliver(body)).status).toBe(200)
})

test('an event that comes days late is accepted once', async () => {
  const late = event({ occurredAt: new Date(Date.now() - 6 * DAY_MS).toISOString() })
  expect((await deliver(JSON.stringify(late))).status).toBe(202)
  expect((await deliver(JSON.stringify(late))).status).toBe(200)
  expect(await stored(late.id)).toBe(true)
})

test('an event is remembered for seven days, whatever its time', async () => {
  let now = Date.now()
  const { store } = createFaultyStore(() => now)
  const events = createEvents(store)
  const add = () => events.add({ id: 'evt', type: 'bulk' })
  expect(await add()).toBe(true)
  now += 7 * DAY_MS - 1_000
  expect(await add()).toBe(false)
  now += 2_000
  expect(await add()).toBe(true)
  await store.close()
})

describe('a CloudEvent in structured mode', () => {
  const type = { 'content-type': 'application/cloudevents+json; charset=utf-8' }

  test('is stored under the business of its data', async () => {
    const { occurredAt: time, ...rest } = event()
    const sent = { specversion: '1.0', source: '/platform', ...rest, time }
    expect((await deliver(JSON.stringify(sent), type)).status).toBe(202)
    expect(await stored(sent.id)).toBe(true)
  })
})

describe('a delivery in gzip', () => {
  const zipped = (body: Buffer<ArrayBuffer>) =>
    deliver(body, { 'content-encoding': 'gzip', 'x-webhook-signature': signature(body) })

  test('is read; the bytes that were sent are signed', async () => {
    const sent = event()
    const json = JSON.stringify(sent)
    const body = gzipSync(json)
    const wrong = { 'content-encoding': 'gzip', 'x-webhook-signature': signature(json) }
    expect((await deliver(body, wrong)).status).toBe(401)
    expect((await zipped(body)).status).toBe(202)
    expect(await stored(sent.id)).toBe(true)
  })

  test.each([
    ['has more than 256 kB unzipped', gzipSync(JSON.stringify(event({ text: 'x'.repeat(256 * 1024) })))],
    ['is no gzip', Buffer.from('{}')],
  ])('that %s is rejected', async (_what, body) => {
    const detail = 'the body: must be gzip of at most 256 kB.'
    expect(await zipped(body)).toMatchObject({ status: 400, json: { code: 'invalid_event', detail } })
  })

  test('of another encoding is 415', async () => {
    const body = JSON.stringify(event())
    expect((await deliver(body, { 'content-encoding': 'br' })).status).toBe(415)
  })
})

test('a replay is recognised after hundreds of other events', async () => {
  const events = createEvents(app.services.store)
  expect(await events.add({ id: 'bulk_0', type: 'bulk' })).toBe(true)
  for (let at = 1; at < 600; at++) await events.add({ id: `bulk_${at}`, type: 'bulk' })
  expect(await events.add({ id: 'bulk_0', type: 'bulk' })).toBe(false)
  expect(await events.recent('any')).toHaveLength(10)
})

test('after a fault of the store, the next delivery stores the event, once', () =>
  forEachFault(async (failing, moment) => {
    const { store, failOnce, heal, count } = createFaultyStore()
    const events = createEvents(store)
    const add = () => events.add({ id: 'evt', type: 'bulk' })
    failOnce(failing, moment)
    await add().catch((error) => expect(error).toMatchObject({ code: 'store_unavailable' }))
    const operations = count()
    heal()
    // The platform repeats a delivery that failed.
    await add()
    expect(await add()).toBe(false)
    expect(await events.recent('any')).toHaveLength(1)
    await store.close()
    return operations
  }))

describe('an open page', () => {
  test.each([
    ['of its business', () => event()],
    ['of its business and an unknown type', otherEvent],
    ['that names no business', () => event({ data: {} })],
  ])(
    'is out of date after an event %s, and the platform is asked only when it is fetched',
    async (_which, sent) => {
      await supplier.get(page())
      const [version, listed] = [await versionOf(page(), supplier), await lists()]
      await deliver(JSON.stringify(sent()))
      expect(await versionOf(page(), supplier)).not.toBe(version)
      expect(await lists()).toBe(listed)
      await supplier.get(page())
      expect(await lists()).toBe(listed + 1)
    },
  )

  test('of another business is not affected', async () => {
    const olive = await connected(app, { name: 'olive' })
    const other = `${app.url}/connections/harbour-homes/builder-requests`
    const version = await versionOf(other, olive)
    await deliver(JSON.stringify(event()))
    expect(await versionOf(other, olive)).toBe(version)
  })
})

describe('the number on the card', () => {
  const REF = { userId: 'sam', bxcontext: 'summit-supplies' }
  const numberOnCard = async () => {
    const links = await Promise.all(app.services.parts.map((part) => part.connectionLinks?.(REF) ?? []))
    return links.flat().find(({ path }) => path === '/builder-requests')?.count
  }

  test('counts the requests of the latest list and those announced since, and asks for no list', async () => {
    const { items } = (await supplier.get(page(), { accept: 'application/json' })).json()
    expect(await numberOnCard()).toBe(items.length)
    const listed = await lists()
    for (const sent of [event(), event(), otherEvent(), event({ data: {} })])
      await deliver(JSON.stringify(sent))
    expect(await numberOnCard()).toBe(items.length + 2)
    expect(await lists()).toBe(listed)
    // None of these events was about a real request.
    await supplier.get(page())
    expect(await numberOnCard()).toBe(items.length)
  })

  test('counts a request of the sandbox’s builder once, before and after the list is fetched', async () => {
    await supplier.get(page())
    const builder = createVisitor()
    await logIn(app, builder)
    const form = { externalRef: 'CUST77' }
    await builder.post(`${app.platform}/suppliers/harbour-homes/summit-supplies/ask`, { form })
    await vi.waitFor(async () => expect(await numberOnCard()).toBe(1))
    const { items } = (await supplier.get(page(), { accept: 'application/json' })).json()
    expect(items).toMatchObject([{ externalRef: 'CUST77', builder: { name: 'Harbour Homes' } }])
    expect(await numberOnCard()).toBe(1)
  })
})

test('without a secret there is no webhook, and the open page asks the platform itself', async () => {
  const polling = await startAll({ PLATFORM_WEBHOOK_SECRET: '' })
  const visitor = await connected(polling, SUPPLIER)
  const refused = await deliver(JSON.stringify(event()), {}, polling)
  expect(refused).toMatchObject({ status: 404, json: { code: 'webhook_disabled' } })
  const shown = await visitor.get(`${polling.url}/connections/summit-supplies/builder-requests`)
  expect(shown.text).toContain(texts.updatedByPolling)
  await polling.close()
})

test('open pages poll the platform once a minute even with a webhook, because a delivery may be lost', async () => {
  await supplier.get(page())
  const listed = await lists()
  await versionOf(page(), supplier)
  expect(await lists()).toBe(listed)
  const now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => now + 61_000)
  for (let pages = 0; pages < 3; pages++) await versionOf(page(), supplier)
  expect(await lists()).toBe(listed + 1)
  vi.restoreAllMocks()
})
