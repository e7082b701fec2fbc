import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { type Exchange, type ExchangeListener, platform } from '../../../src/connect/index.ts'
import { type KeyValueStore, openSqlite } from '../../../src/connect/stores.ts'
import type { Step } from '../../../src/features/flow-inspector/flow.ts'
import { createFlowStore, type FlowStore } from '../../../src/features/flow-inspector/flow-store.ts'
import { createMasking } from '../../../src/features/flow-inspector/masking.ts'
import { Recorder } from '../../../src/features/flow-inspector/recorder.ts'

const TOKEN = 'the-access-token'
const NEVER = 3_600_000
const STEP: Step = {
  at: new Date().toISOString(),
  ms: 0,
  from: 'browser',
  to: 'app',
  topic: 'connect_started',
  title: 'A visit',
}
let store: KeyValueStore
let flows: FlowStore
let recorder: Recorder
/** The number of listeners for changes of connections. */
let following: number
let listeners: Set<ExchangeListener>
/** The time in ms since 1970: at first, the beginning of a minute. */
let time: number
const now = () => time
beforeEach(() => {
  time = Math.floor(Date.now() / 60_000) * 60_000
  listeners = new Set()
  const onPlatformRequest = (listener: ExchangeListener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  store = openSqlite({ file: ':memory:', now })
  flows = createFlowStore(store, now)
  following = 0
  const onChange = () => {
    following++
    return () => void following--
  }
  recorder = new Recorder(
    {
      connect: { onPlatformRequest, vault: { onChange } },
      masking: createMasking(platform, [{ id: 'k1', secret: Buffer.alloc(32, 1) }]),
      flows,
      log: pino({ level: 'silent' }),
    },
    NEVER,
    now,
  )
})
afterEach(() => recorder.close())

/** An API call, as the core reports it. */
function call(status: number, requestId: string | undefined, userId = 'ann', bxcontext = 'b') {
  const headers = { 'content-type': 'application/json' }
  const exchange: Exchange = {
    purpose: 'api',
    context: { userId, bxcontext, ...(requestId && { requestId }) },
    at: time,
    ms: 1,
    request: {
      method: 'GET',
      url: 'https://api.example/leads',
      headers: { authorization: `Bearer ${TOKEN}` },
    },
    response: {
      status,
      text: JSON.stringify({
        error: 'invalid_request',
        error_description: `no ${TOKEN}`,
        business_name: 'Ann Builder',
      }),
      headers,
      header: () => undefined,
      retryAfterMs: undefined,
    },
  }
  for (const listener of listeners) listener(exchange)
}

test('of calls that succeed at once, 60 a minute are recorded for each user; of all others, every one', async () => {
  for (let number = 0; number < 100; number++) call(200, `good-${number}`)
  await recorder.flush()
  expect(await flows.list('ann')).toHaveLength(60)
  for (let number = 0; number < 10; number++) call(500, `bad-${number}`)
  await recorder.flush()
  expect(await flows.list('ann')).toHaveLength(70)
  time += 60_000
  call(200, 'a minute later')
  await recorder.flush()
  expect(await flows.list('ann')).toHaveLength(71)
})

test('the events of one request are one flow; those of a connect flow are one, whatever the request', async () => {
  call(401, 'one')
  call(200, 'one')
  call(500, 'two')
  for (const requestId of ['three', 'four'])
    recorder.add('ann', { requestId, flowId: 'connecting' }, () => [STEP, STEP])
  await recorder.flush()
  const ids = (await flows.list('ann')).map(({ id }) => id)
  expect(ids.toSorted()).toEqual(['connecting', 'one', 'two'])
  expect((await flows.find('ann', 'connecting'))?.steps).toHaveLength(4)
})

test('work outside a request is one flow for each connection, until it pauses for 30 s', async () => {
  const work = (bxcontext: string) => call(500, undefined, 'ann', bxcontext)
  work('b')
  // Flows that begin in the same millisecond have no order.
  time += 1
  work('a')
  time += 20_000
  work('a')
  time += 40_000
  work('a')
  await recorder.flush()
  const found = await flows.list('ann')
  expect(found.map(({ bxcontext, steps }) => [bxcontext, steps])).toEqual([
    ['a', 1],
    ['a', 2],
    ['b', 1],
  ])
})

test('a store that is unavailable loses flows, and nothing else; later ones are recorded', async () => {
  const { get } = store
  store.get = () => Promise.reject(new StoreUnavailableError('down'))
  call(500, 'lost')
  await expect(recorder.flush()).resolves.toBeUndefined()
  store.get = get
  call(500, 'kept')
  await recorder.flush()
  expect((await flows.list('ann')).map(({ id }) => id)).toEqual(['kept'])
})

test('a recorded call has neither its token, in whatever part, nor the data of the answer', async () => {
  call(400, 'one')
  await recorder.flush()
  const recorded = JSON.stringify(await flows.find('ann', 'one'))
  expect(recorded).toContain('invalid_request')
  expect(recorded).not.toMatch(/the-access-token|Ann Builder/)
})

test('after close, nobody listens', async () => {
  expect([listeners.size, following]).toEqual([1, 1])
  await recorder.close()
  expect([listeners.size, following]).toEqual([0, 0])
})

test('a user with thousands of events between two flushes takes no room of the others', async () => {
  for (let number = 0; number < 6_000; number++) call(500, `flood-${number % 40}`)
  call(500, 'other', 'ben')
  await recorder.flush()
  expect(await flows.list('ben')).toHaveLength(1)
})
