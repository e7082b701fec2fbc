import { createHmac } from 'node:crypto'
import express from 'express'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { createBuilderRequests } from '../../../src/features/builder-requests/builder-requests.ts'
import { createDecisions } from '../../../src/features/builder-requests/decisions.ts'
import { createPending } from '../../../src/features/builder-requests/pending.ts'
import { builderRequestsRoutes } from '../../../src/features/builder-requests/routes.ts'
import { createEvents } from '../../../src/features/builder-requests/webhook-events.ts'
import { createGrants } from '../../../src/features/catalogues/grants.ts'
import { type Running, startAll } from '../../support/app.ts'
import { WEBHOOK_SECRET } from '../../support/env.ts'
import { createFaultyStore, forEachFault } from '../../support/faulty-store.ts'
import { connected, logIn } from '../../support/flow.ts'
import { serve } from '../../support/ports.ts'
import { createVisitor, type Visitor } from '../../support/visitor.ts'

let app: Running
let supplier: Visitor
beforeAll(async () => {
  app = await startAll({ PLATFORM_WEBHOOK_SECRET: `${WEBHOOK_SECRET},an-older-secret-of-ours` })
  supplier = await connected(app, {
    name: 'sam',
    bxcontext: 'summit-supplies',
    email: 'priya@summit.example',
  })
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
/** One that fetches nothing, which another test could count. */
const otherEvent = () => event({ type: 'catalogue.archived' })
const signature = (body: string, secret = WEBHOOK_SECRET) =>
  createHmac('sha256', secret).update(body).digest('hex')

/** Delivers a body, signed as it should be unless `headers` says otherwise. */
async function deliver(body: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${app.url}/webhooks/platform`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-webhook-signature': signature(body), ...headers },
  })
  const text = await answer.text()
  return { status: answer.status, text, json: text.startsWith('{') ? JSON.parse(text) : null }
}
const stored = async (id: string) =>
  (await createEvents(app.services.store).recent('summit-supplies')).some((event) => event.id === id)
/** What the app knows of the pending requests. */
const pending = () => {
  const { store, connect } = app.services
  const builderRequests = createBuilderRequests(connect.api)
  return createPending({ store, builderRequests, source: connect.vault.tokenSource })
}
const lists = async () => (await app.calls()).filter(({ endpoint }) => endpoint === 'catalogues').length

describe('a delivery', () => {
  test('with a good signature is stored and answered at once; then the list is fetched', async () => {
    const listed = await lists()
    const sent = event()
    expect(await deliver(JSON.stringify(sent))).toMatchObject({ status: 202, json: { fresh: true } })
    expect(await stored(sent.id)).toBe(true)
    await vi.waitFor(async () => expect(await lists()).toBe(listed + 1), { timeout: 5_000 })
  })

  test.each([
    ['with the signature of another secret', (body: string) => signature(body, 'other')],
    ['with a truncated signature', (body: string) => signature(body).slice(0, 62)],
    ['with a signature that is not hex', () => 'z'.repeat(64)],
    ['with an empty signature', () => ''],
  ])('%s is refused and not stored', async (_name, sign) => {
    const sent = event()
    const body = JSON.stringify(sent)
    expect(await deliver(body, { 'x-webhook-signature': sign(body) })).toMatchObject({ status: 401 })
    expect(await stored(sent.id)).toBe(false)
  })

  test('without a signature is rejected', async () => {
    const body = JSON.stringify(event())
    const answer = await fetch(`${app.url}/webhooks/platform`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
    })
    expect(answer.status).toBe(401)
    expect(await answer.json()).toMatchObject({ code: 'invalid_signature' })
  })

  test('with any byte of its body changed is rejected', async () => {
    const sent = event()
    const body = JSON.stringify(sent)
    for (let at = 0; at < body.length; at += 7) {
      const changed = `${body.slice(0, at)}${body[at] === 'x' ? 'y' : 'x'}${body.slice(at + 1)}`
      expect((await deliver(changed, { 'x-webhook-signature': signature(body) })).status).toBe(401)
    }
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
    const listed = await lists()
    const body = JSON.stringify(event())
    const answers = await Promise.all(Array.from({ length: 50 }, () => deliver(body)))
    for (let again = 0; again < 50; again++) answers.push(await deliver(body))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(99)
    await vi.waitFor(async () => expect(await lists()).toBe(listed + 1), { timeout: 5_000 })
  })

  test('of an unknown event is accepted, stored and shown as unknown', async () => {
    const listed = await lists()
    expect((await deliver(JSON.stringify(otherEvent()))).status).toBe(202)
    expect(await lists()).toBe(listed)
    const page = await supplier.get(`${app.url}/connections/summit-supplies/builder-requests`)
    expect(page.text).toMatch(/catalogue\.archived<\/code> <span class="badge">unknown/)
  })

  test.each([
    ['not JSON', '{"id":', 'the body: must be a JSON object.'],
    ['not an object', '[]', 'the body: must be a JSON object.'],
    ['with an id that is too long', `{"id":"${'x'.repeat(201)}"}`, 'id: must be text of 1 to 200 characters'],
    ['with an empty id', '{"id":""}', 'id: must be text of 1 to 200 characters'],
    ['with an id that is a list', '{"id":[]}', 'id: must be text of 1 to 200 characters'],
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

  test('leaves neither its secret nor its signature in the log', async () => {
    const body = JSON.stringify(otherEvent())
    await deliver(body)
    await deliver(body, { 'x-webhook-signature': 'wrong' })
    const log = app.logLines.join()
    for (const secret of [WEBHOOK_SECRET, signature(body)]) expect(log).not.toContain(secret)
  })
})

test('an event of an unexpected shape is stored once as unknown, and the list is fetched', async () => {
  const listed = await lists()
  const body = JSON.stringify({ eventId: number++, event: 'integration-connection.requested' })
  expect((await deliver(body)).status).toBe(202)
  expect((await deliver(body)).status).toBe(200)
  await vi.waitFor(async () => expect(await lists()).toBe(listed + 1), { timeout: 5_000 })
})

test('two events whose ids are different numbers above 2^53 are two', async () => {
  for (const id of ['9007199254740993', '9007199254740992'])
    expect((await deliver(`{"id":${id},"type":"other"}`)).status).toBe(202)
})

test('a replay is recognised after hundreds of other events', async () => {
  const events = createEvents(app.services.store)
  expect(await events.add({ id: 'bulk_0', type: 'bulk' })).toBe(true)
  for (let at = 1; at < 600; at++) await events.add({ id: `bulk_${at}`, type: 'bulk' })
  expect(await events.add({ id: 'bulk_0', type: 'bulk' })).toBe(false)
  expect(await events.recent('summit-supplies')).toHaveLength(10)
})

test('after a fault of the store, the next delivery stores the event, once', () =>
  forEachFault(async (failing, moment) => {
    let time = Date.now()
    const { store, failOnce, heal, count } = createFaultyStore(() => time)
    const events = createEvents(store)
    const add = () => events.add({ id: 'evt', type: 'bulk' })
    failOnce(failing, moment)
    await add().catch((error) => expect(error).toMatchObject({ code: 'store_unavailable' }))
    const operations = count()
    heal()
    // The platform repeats a delivery that failed.
    time += 20_000
    await add()
    expect(await add()).toBe(false)
    expect(await events.recent('any')).toHaveLength(1)
    await store.close()
    return operations
  }))

test('a delivery of an event that is just being stored is repeated later', async () => {
  const { store } = createFaultyStore()
  const events = createEvents(store)
  const both = await Promise.allSettled([1, 2].map(() => events.add({ id: 'evt', type: 'bulk' })))
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  await store.close()
})

test('an event of one business does not affect the connections of others', async () => {
  await connected(app, { name: 'olive' })
  const listed = await lists()
  await deliver(JSON.stringify(event()))
  await vi.waitFor(async () => expect(await lists()).toBeGreaterThan(listed), { timeout: 5_000 })
  expect(await lists()).toBe(listed + 1)
})

test('a request of the sandbox’s builder arrives as an event and is in the list', async () => {
  const builder = createVisitor()
  await logIn(app, builder)
  const form = { externalRef: 'CUST77' }
  await builder.post(`${app.platform}/suppliers/harbour-homes/summit-supplies/ask`, { form })
  await vi.waitFor(
    async () => expect(await pending().count({ userId: 'sam', bxcontext: 'summit-supplies' })).toBe(1),
    { timeout: 5_000 },
  )
  const page = await supplier.get(`${app.url}/connections/summit-supplies/builder-requests`, {
    accept: 'application/json',
  })
  expect(page.json().items).toMatchObject([{ externalRef: 'CUST77', builder: { name: 'Harbour Homes' } }])
})

test('without a secret there is no webhook, and the open page asks the platform itself', async () => {
  const polling = await startAll({ PLATFORM_WEBHOOK_SECRET: '' })
  const visitor = await connected(polling, {
    name: 'sam',
    bxcontext: 'summit-supplies',
    email: 'priya@summit.example',
  })
  const body = JSON.stringify(event())
  const answer = await fetch(`${polling.url}/webhooks/platform`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-webhook-signature': signature(body) },
  })
  expect(answer.status).toBe(404)
  expect(await answer.json()).toMatchObject({ code: 'webhook_disabled' })
  const page = await visitor.get(`${polling.url}/connections/summit-supplies/builder-requests`)
  expect(page.text).toContain('Checked every few seconds')
  await polling.close()
})

describe('many webhooks', () => {
  test('with 5,000 other connections are as fast as with none, and fetch only the lists they concern', async () => {
    const { vault } = app.services.connect
    const tokens = { accessToken: 'a', refreshToken: 'r', expiresIn: 3600, scopes: undefined }
    for (let at = 0; at < 5_000; at++)
      await vault.connect({ userId: `user-${at}`, bxcontext: `business-${at}` }, tokens)
    const listed = await lists()
    const scan = vi.spyOn(app.services.store, 'owners')
    await deliver(JSON.stringify(event()))
    await vi.waitFor(async () => expect(await lists()).toBe(listed + 1), { timeout: 5_000 })
    expect(scan).not.toHaveBeenCalled()
    scan.mockRestore()
  })

  test('for one connection at the same time cause few fetches', async () => {
    const listed = await lists()
    const startedAt = performance.now()
    const answers = await Promise.all(Array.from({ length: 300 }, () => deliver(JSON.stringify(event()))))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(300)
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const fetched = (await lists()) - listed
    expect(fetched).toBeGreaterThan(0)
    // At most one in half a second, however long the deliveries take.
    expect(fetched).toBeLessThan((performance.now() - startedAt) / 500 + 2)
  })
})

test.each([-301, 301])('a signed time %i s from ours is rejected', async (seconds) => {
  const occurredAt = new Date(Date.now() + seconds * 1000).toISOString()
  expect(await deliver(JSON.stringify(event({ occurredAt })))).toMatchObject({
    status: 400,
    json: { code: 'stale_event' },
  })
})

test('an open page polls the platform even with a webhook, because a delivery may be lost', async () => {
  let asked = 0
  const routes = builderRequestsRoutes({
    builderRequests: createBuilderRequests(app.services.connect.api),
    decisions: createDecisions(app.services.store),
    grants: createGrants(app.services.store),
    events: createEvents(app.services.store),
    vault: app.services.connect.vault,
    sendChanges: app.services.context.sendChanges,
    pending: {
      ...pending(),
      fetch: async () => {
        asked++
        return []
      },
    },
    hasWebhook: true,
    pollMs: 100,
  })
  const server = express()
  const session = { sessionID: 's', session: { user: { id: 'sam', name: 'sam' } } }
  const sessionStore = {
    get: (_id: string, found: (error: null, session: object) => void) => found(null, {}),
  }
  server.use((req, _res, next) => {
    Object.assign(req, session, { sessionStore, log: app.services.log })
    next()
  })
  server.use(routes)
  const { server: http, port, close } = await serve()
  http.on('request', server)
  const stream = await fetch(`http://127.0.0.1:${port}/connections/summit-supplies/builder-requests/live`)
  await vi.waitFor(() => expect(asked).toBeGreaterThan(1), { timeout: 5_000 })
  await stream.body?.cancel()
  await close()
})

test('an event that could not be stored is new when it is delivered again', async () => {
  const { store } = app.services
  const { compareAndSet } = store
  const failing = vi.spyOn(store, 'compareAndSet').mockImplementation(async (key, ...rest) => {
    if (key.kind === 'webhook-recent') throw new StoreUnavailableError('full')
    return compareAndSet(key, ...rest)
  })
  const lost = event()
  const body = JSON.stringify(lost)
  expect((await deliver(body)).status).toBe(503)
  failing.mockRestore()
  // The id is forgotten right after the answer, long before the platform delivers again.
  const seen = () => store.get({ kind: 'webhook-seen', owner: lost.id, id: '' })
  await vi.waitFor(async () => expect(await seen()).toBeNull())
  expect(await deliver(body)).toMatchObject({ status: 202, json: { fresh: true } })
})

// The last test: the app asks for the list again when it gives up waiting, which another test could count.
test('a delivery gets its response before the list is fetched, however long that takes', async () => {
  await app.fault('catalogues', 'stall', 1)
  const listed = await lists()
  const answered = deliver(JSON.stringify(event())).then(({ status }) => status)
  // The app gives up waiting for the list after 8 s, and asks again.
  const askedAgain = vi.waitFor(async () => expect(await lists()).toBeGreaterThan(listed + 1))
  expect(await Promise.race([answered, askedAgain])).toBe(202)
  await answered
})
