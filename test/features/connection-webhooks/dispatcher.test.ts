import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createHttp } from '../../../src/connect/index.ts'
import { type KeyValueStore, openSqlite } from '../../../src/connect/stores.ts'
import {
  createDispatcher,
  type Dispatcher,
  type DispatcherOptions,
} from '../../../src/features/connection-webhooks/dispatcher.ts'
import { OUTBOX_OWNER } from '../../../src/features/connection-webhooks/outbox.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { serve } from '../../support/ports.ts'
import { refusingStore } from '../../support/vault.ts'

interface Received {
  headers: Record<string, string>
  body: string
}
const SECRETS = [randomBytes(32), randomBytes(24)]
const EVENT = {
  type: 'revoked',
  userId: 'ann',
  bxcontext: 'ctx',
  at: 1_800_000_000_000,
  reason: 'gone',
} as const

let store: KeyValueStore
let receiver: Awaited<ReturnType<typeof serve>>
let received: Received[]
/** The statuses of the next answers; the last one is repeated. */
let statuses: number[]
let logLines: string[]
let opened: Dispatcher[]
beforeEach(async () => {
  ;[store, received, statuses, logLines, opened] = [openSqlite({ file: ':memory:' }), [], [204], [], []]
  receiver = await serve(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    received.push({ headers: req.headers as Record<string, string>, body })
    res.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 204).end()
  })
})
afterEach(async () => {
  await Promise.all(opened.map((dispatcher) => dispatcher.close()))
  await receiver.close()
  await store.close()
})

function open(options: Partial<DispatcherOptions> = {}): Dispatcher {
  const dispatcher = createDispatcher({
    store,
    http: createHttp(),
    log: createLog('info', { write: (line) => void logLines.push(line) }),
    url: `http://127.0.0.1:${receiver.port}/hooks`,
    secrets: SECRETS,
    pollMs: 50,
    ...options,
  })
  opened.push(dispatcher)
  return dispatcher
}
const waiting = async () => (await store.list('webhook-delivery', OUTBOX_OWNER)).length
const deliveredAll = () => expect.poll(waiting).toBe(0)

test('an event is delivered as Standard Webhooks, signed with each secret', async () => {
  const dispatcher = open()
  dispatcher.start()
  await dispatcher.add(EVENT)
  await deliveredAll()
  const [{ headers, body } = { headers: {}, body: '' }] = received
  for (const secret of SECRETS) {
    const verified = new Webhook(secret.toString('base64')).verify(body, headers)
    expect(verified).toEqual({
      type: 'connection.revoked',
      timestamp: '2027-01-15T08:00:00.000Z',
      data: { userId: 'ann', bxcontext: 'ctx', reason: 'gone' },
    })
  }
  expect(() => new Webhook(randomBytes(32).toString('base64')).verify(body, headers)).toThrow()
  expect(received).toHaveLength(1)
})

describe('a delivery that fails', () => {
  test('is repeated with the same id and body until it is accepted', async () => {
    statuses = [500, 302, 200]
    const dispatcher = open({ retryMs: [10, 10, 10] })
    dispatcher.start()
    await dispatcher.add(EVENT)
    await deliveredAll()
    expect(received).toHaveLength(3)
    expect(new Set(received.map(({ headers, body }) => headers['webhook-id'] + body)).size).toBe(1)
  })

  test('waits for its turn, and does not delay others', async () => {
    statuses = [500, 204]
    const dispatcher = open({ retryMs: [60_000] })
    dispatcher.start()
    await dispatcher.add(EVENT)
    await expect.poll(() => received.length).toBe(1)
    await dispatcher.add({ ...EVENT, userId: 'bob' })
    await expect.poll(() => received.length).toBe(2)
    await pause(300)
    expect(received).toHaveLength(2)
    expect(await waiting()).toBe(1)
  })

  test.each([
    ['after the last repetition', [500], 3],
    ['at once when the receiver is gone (410)', [410], 1],
  ])('is given up %s, which the log says', async (_when, answers, attempts) => {
    statuses = answers
    const dispatcher = open({ retryMs: [10, 10] })
    dispatcher.start()
    await dispatcher.add(EVENT)
    await deliveredAll()
    expect(received).toHaveLength(attempts)
    expect(logLines.join('')).toContain('webhook_undeliverable')
    expect(logLines.join('')).not.toContain('ann')
  })
})

test('no more than a maximum waits; what is dropped is logged', async () => {
  const dispatcher = open({ maxPending: 3 })
  for (let event = 0; event < 5; event++) await dispatcher.add(EVENT)
  expect(await waiting()).toBe(3)
  expect(logLines.filter((line) => line.includes('webhook_dropped'))).toHaveLength(2)
})

test('an event that comes while the store is unavailable is stored when it is back', async () => {
  const refusing = refusingStore()
  const dispatcher = open({ store: refusing.store })
  refusing.refuses.all = true
  const added = dispatcher.add(EVENT)
  await pause(300)
  refusing.refuses.all = false
  await added
  expect(await refusing.store.list('webhook-delivery', OUTBOX_OWNER)).toHaveLength(1)
})

test('an event that comes while the store is unavailable is stored when the app stops', async () => {
  const { store: failing, refuses } = refusingStore()
  store = failing
  refuses.all = true
  const dispatcher = open({ pollMs: 10_000 })
  const added = dispatcher.add(EVENT)
  // The first attempt has failed, and the next one is 10 s away.
  await pause(50)
  refuses.all = false
  await dispatcher.close()
  await added
  expect(await waiting()).toBe(1)
})

test('deliveries that were made no longer count as waiting', async () => {
  const dispatcher = open({ maxPending: 10 })
  dispatcher.start()
  for (let event = 0; event < 8; event++) await dispatcher.add(EVENT)
  await expect.poll(() => received.length).toBe(8)
  for (let event = 0; event < 8; event++) await dispatcher.add(EVENT)
  expect(logLines.join('')).not.toContain('webhook_dropped')
})

test('the deliveries about a user can be deleted, except for those about a deletion', async () => {
  const dispatcher = open()
  for (const userId of ['ann', 'bob']) await dispatcher.add({ ...EVENT, userId })
  await dispatcher.add({ ...EVENT, type: 'disconnected' })
  await dispatcher.deleteUser('ann')
  const left = (await store.list('webhook-delivery', OUTBOX_OWNER)).map(({ value }) => value).join()
  expect(left).toMatch(/disconnected/)
  expect(left).toMatch(/bob/)
  expect(left.match(/ann/g)).toHaveLength(1)
})

test('a process whose lease another one has taken stops delivering', async () => {
  const dispatcher = open()
  dispatcher.start()
  await dispatcher.add(EVENT)
  await deliveredAll()
  await store.set({ kind: 'webhook-lease', owner: OUTBOX_OWNER, id: '' }, 'another process', 3_600_000)
  // Until the next renewal, this process cannot know.
  await vi.waitFor(
    async () => {
      await dispatcher.add(EVENT)
      await pause(500)
      expect(await waiting()).toBeGreaterThan(0)
    },
    { timeout: 20_000, interval: 10 },
  )
  const before = received.length
  await pause(500)
  expect(received).toHaveLength(before)
})

describe('several processes', () => {
  test('deliver each event once', async () => {
    const dispatchers = [open(), open(), open()]
    for (const dispatcher of dispatchers) dispatcher.start()
    await Promise.all(
      Array.from({ length: 30 }, (_, event) =>
        dispatchers[event % 3]?.add({ ...EVENT, userId: `user ${event}` }),
      ),
    )
    await deliveredAll()
    expect(received).toHaveLength(30)
    expect(new Set(received.map(({ body }) => body)).size).toBe(30)
  })

  test('continue for one that has stopped', async () => {
    statuses = [500, 204]
    const stopped = open({ retryMs: [500] })
    stopped.start()
    await stopped.add(EVENT)
    await expect.poll(() => received.length).toBe(1)
    await stopped.close()
    open().start()
    await deliveredAll()
    expect(received).toHaveLength(2)
  })
})
