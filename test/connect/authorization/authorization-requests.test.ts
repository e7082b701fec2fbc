import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  type AuthorizationRequests,
  type Consent,
  createAuthorizationRequests,
} from '../../../src/connect/authorization/authorization-requests.ts'
import { ConnectError, consentFailure } from '../../../src/connect/authorization/errors.ts'
import { platform } from '../../../src/connect/index.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import type { KeyValueStore } from '../../../src/connect/store/store.ts'
import { createRecordCipher } from '../../../src/connect/vault/encryption.ts'
import { newKey } from '../../support/vault.ts'

const ANN = { userId: 'ann', session: 'session' }
const MINUTE = 60_000

/** Binds `ctx` to a request that expects no other bxcontext. */
async function consent(requests: AuthorizationRequests): Promise<Consent> {
  const bound = await requests.bindBxcontext(ANN, 'ctx')
  if ('id' in bound) throw new Error('another bxcontext was expected')
  return bound
}

/** How long a token request lasts at most: short, because a second callback waits longer than that. */
const PLATFORM = { ...platform, tokenEndpointMs: 0 }

function setup() {
  let time = Date.now()
  const now = () => time
  const store = openSqlite({ file: ':memory:', now })
  return {
    store,
    requests: createAuthorizationRequests(PLATFORM, store, createRecordCipher([newKey()]), now),
    later: (ms: number) => {
      time += ms
    },
  }
}

test('a request expires 15 minutes after its start if no bxcontext arrives', async () => {
  const { requests, later } = setup()
  await requests.start(ANN)
  later(15 * MINUTE + 1)
  await expect(requests.bindBxcontext(ANN, 'ctx')).rejects.toMatchObject({
    code: 'missing_authorization_request',
  })
})

test('a request expires 15 minutes after its start if no callback arrives', async () => {
  const { requests, later } = setup()
  await requests.start(ANN)
  later(14 * MINUTE)
  const { state } = await consent(requests)
  later(MINUTE + 1)
  await expect(requests.consume(ANN, state)).rejects.toMatchObject({ code: 'invalid_state' })
})

test('a request lives its own 15 minutes, whatever requests were abandoned before', async () => {
  const { requests, later } = setup()
  await requests.start(ANN)
  later(14.9 * MINUTE)
  await requests.start(ANN)
  const { state } = await consent(requests)
  later(14.9 * MINUTE)
  expect(await requests.consume(ANN, state)).toMatchObject({ bxcontext: 'ctx' })
})

test('a request expires after exactly 15 minutes, even if a later one keeps the list of its session', async () => {
  const { requests, later } = setup()
  const first = await requests.start(ANN)
  later(1)
  const second = await requests.start(ANN)
  later(15 * MINUTE - 1)
  const bound = await Promise.all([consent(requests), consent(requests)])
  expect(bound.map(({ authorizationRequestId }) => authorizationRequestId)).toEqual([second, second])
  expect(first).not.toBe(second)
})

test('of several requests, a bxcontext belongs to the one that expects it, else to the latest', async () => {
  const { requests } = setup()
  const expecting = await requests.start(ANN, 'ctx')
  const latest = await requests.start(ANN)
  expect((await requests.bindBxcontext(ANN, 'ctx')).authorizationRequestId).toBe(expecting)
  expect((await requests.bindBxcontext(ANN, 'other')).authorizationRequestId).toBe(latest)
})

test('the answer to a question concerns its own request only', async () => {
  const { requests } = setup()
  await requests.start(ANN, 'expected')
  const question = await requests.bindBxcontext(ANN, 'ctx')
  const waiting = await requests.start(ANN)
  if (!('id' in question)) throw new Error('a question was expected')
  await requests.confirm(ANN, question.id)
  expect((await requests.bindBxcontext(ANN, 'third')).authorizationRequestId).toBe(waiting)
})

test('of many callers, one consumes a request and the others get its outcome', async () => {
  const { requests } = setup()
  await requests.start(ANN)
  const { state, codeVerifier } = await consent(requests)
  const consumed = Promise.all(
    Array.from({ length: 20 }, async () => {
      const exchange = await requests.consume(ANN, state)
      if (!('end' in exchange)) return exchange.outcome
      expect(exchange).toMatchObject({ bxcontext: 'ctx', codeVerifier })
      await exchange.end({ connected: 'ctx' })
      return 'exchanged'
    }),
  )
  const results = await consumed
  expect(results.filter((result) => result === 'exchanged')).toHaveLength(1)
  expect(results.filter((result) => result !== 'exchanged')).toEqual(Array(19).fill({ connected: 'ctx' }))
})

test('a request whose exchange was interrupted by a crash is never exchanged again', async () => {
  const { requests, later } = setup()
  await requests.start(ANN)
  const { state } = await consent(requests)
  await requests.consume(ANN, state)
  const second = requests.consume(ANN, state)
  later(46_000)
  await expect(second).rejects.toMatchObject({ code: 'exchange_incomplete', status: 503 })
})

test('a session has at most 20 pending requests', async () => {
  const { requests } = setup()
  for (let started = 0; started < 30; started++) await requests.start(ANN)
  const bound = new Set<string>()
  for (let used = 0; used < 30; used++) bound.add((await consent(requests)).authorizationRequestId)
  expect(bound.size).toBe(20)
})

test('a session that starts and chooses again and again stores at most 20 requests, each with 20 choices', async () => {
  const { requests, store } = setup()
  const keys = new Set<string>()
  const { set, delete: remove } = store
  store.set = (key, ...rest) => {
    if (key.kind === 'platform-authorization-request') keys.add(key.id)
    return set(key, ...rest)
  }
  store.delete = (key) => {
    keys.delete(key.id)
    return remove(key)
  }
  for (let started = 0; started < 22; started++) {
    await requests.start(ANN)
    for (let chosen = 0; chosen < 22; chosen++) await requests.bindBxcontext(ANN, `ctx-${chosen}`)
  }
  expect(keys.size).toBe(400)
})

test.each([
  [
    'of an earlier version of the app',
    '{"phase":"consenting","session":"session","context":"ctx","expiresAt":9e15}',
  ],
  ['that is not JSON', '{"phase'],
  ['that is null', 'null'],
])('a stored request %s is refused as an unknown one', async (_what, value) => {
  const { store, requests } = setup()
  const id = createHash('sha256').update('state').digest('base64url')
  await store.set({ kind: 'platform-authorization-request', owner: 'ann', id }, value, 60_000)
  await expect(requests.consume(ANN, 'state')).rejects.toMatchObject({ code: 'invalid_state', status: 400 })
  for (const request of [requests.confirm(ANN, 'state'), requests.mismatch(ANN, 'state')])
    await expect(request).rejects.toMatchObject({ code: 'missing_authorization_request', status: 400 })
})

test.each(['[{"begun":1}]', '{"a', '7'])(
  'an unreadable list of pending requests (%s) counts as empty',
  async (value) => {
    const { store, requests } = setup()
    await store.set({ kind: 'platform-pending-authorization', owner: 'ann', id: 'session' }, value, 60_000)
    await expect(requests.bindBxcontext(ANN, 'ctx')).rejects.toMatchObject({
      code: 'missing_authorization_request',
    })
    await requests.start(ANN)
    expect(await consent(requests)).toMatchObject({ bxcontext: 'ctx' })
  },
)

test('the store holds neither the state nor the code verifier of a request', async () => {
  const entries: string[] = []
  const { store, requests } = setup()
  const { set } = store
  store.set = (key, value, ttlMs) => {
    entries.push(JSON.stringify(key), value)
    return set(key, value, ttlMs)
  }
  await requests.start(ANN)
  const { state, codeVerifier } = await consent(requests)
  expect(entries.length).toBeGreaterThan(0)
  expect(entries.join()).not.toContain(state)
  expect(entries.join()).not.toContain(codeVerifier)
})

test('callers wait for an exchange for as long as the token endpoint may take', async () => {
  const { requests, later } = setup()
  await requests.start(ANN)
  const { state } = await consent(requests)
  const exchange = await requests.consume(ANN, state)
  const second = requests.consume(ANN, state)
  later(platform.tokenEndpointMs + 12_000)
  await pause(150)
  if ('end' in exchange) await exchange.end({ connected: 'ctx' })
  expect(await second).toMatchObject({ outcome: { connected: 'ctx' } })
})

test('an outcome is shown for 15 minutes after the exchange, and then no more', async () => {
  const { requests, later } = setup()
  await requests.start(ANN)
  later(14 * MINUTE)
  const { state } = await consent(requests)
  const exchange = await requests.consume(ANN, state)
  if ('end' in exchange) await exchange.end({ connected: 'ctx' })
  later(14.9 * MINUTE)
  expect(await requests.consume(ANN, state)).toMatchObject({ outcome: { connected: 'ctx' } })
  later(0.2 * MINUTE)
  await expect(requests.consume(ANN, state)).rejects.toMatchObject({ code: 'invalid_state' })
})

test('a list of pending requests that is empty is not stored', async () => {
  const { store, requests } = setup()
  await requests.start(ANN)
  const { state } = await consent(requests)
  await requests.consume(ANN, state)
  const key = { kind: 'platform-pending-authorization', owner: 'ann', id: 'session' }
  expect(await store.get(key)).toBeNull()
})

describe('a user who goes back and chooses again', () => {
  test('continues with the other business; the consent of the first one is refused', async () => {
    const { requests } = setup()
    await requests.start(ANN)
    const first = await consent(requests)
    const second = await requests.bindBxcontext(ANN, 'other')
    expect(second).toMatchObject({ authorizationRequestId: first.authorizationRequestId, bxcontext: 'other' })
    await expect(requests.consume(ANN, first.state)).rejects.toMatchObject({ code: 'bxcontext_replaced' })
    if ('id' in second) throw new Error('no question was expected')
    expect(await requests.consume(ANN, second.state)).toMatchObject({ bxcontext: 'other' })
    await expect(requests.bindBxcontext(ANN, 'third')).rejects.toMatchObject({
      code: 'missing_authorization_request',
    })
  })

  test('and comes back with the same business can answer either consent page', async () => {
    const { requests } = setup()
    await requests.start(ANN)
    const first = await consent(requests)
    await consent(requests)
    expect(await requests.consume(ANN, first.state)).toMatchObject({ bxcontext: 'ctx' })
  })

  test('while the question whether it is the right business is open: that question is refused', async () => {
    const { requests } = setup()
    await requests.start(ANN, 'expected')
    const question = await requests.bindBxcontext(ANN, 'other')
    const { state } = (await requests.bindBxcontext(ANN, 'expected')) as Consent
    if (!('id' in question)) throw new Error('a question was expected')
    await expect(requests.confirm(ANN, question.id)).rejects.toMatchObject({ code: 'bxcontext_replaced' })
    expect(await requests.consume(ANN, state)).toMatchObject({ bxcontext: 'expected' })
  })

  test('after the question was answered: the consent that followed is refused', async () => {
    const { requests } = setup()
    await requests.start(ANN, 'expected')
    const question = await requests.bindBxcontext(ANN, 'other')
    if (!('id' in question)) throw new Error('a question was expected')
    const { state } = await requests.confirm(ANN, question.id)
    await requests.bindBxcontext(ANN, 'expected')
    await expect(requests.consume(ANN, state)).rejects.toMatchObject({ code: 'bxcontext_replaced' })
  })

  test('while the first choice is being stored: that one is refused', async () => {
    const { store, requests } = setup()
    await requests.start(ANN)
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow: KeyValueStore = {
      ...store,
      async set(...args) {
        begun.resolve()
        await goOn.promise
        await store.set(...args)
      },
    }
    const elsewhere = createAuthorizationRequests(PLATFORM, slow, createRecordCipher([newKey()]))
    const first = elsewhere.bindBxcontext(ANN, 'ctx')
    await begun.promise
    const second = (await requests.bindBxcontext(ANN, 'other')) as Consent
    goOn.resolve()
    await expect(first).rejects.toMatchObject({ code: 'bxcontext_replaced' })
    expect(await requests.consume(ANN, second.state)).toMatchObject({ bxcontext: 'other' })
  })

  test('while the callback of the first choice is being handled gets one of the two', async () => {
    const { store, requests } = setup()
    await requests.start(ANN)
    const first = await consent(requests)
    const [removed, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow: KeyValueStore = {
      ...store,
      async compareAndSet(...args) {
        const isDone = await store.compareAndSet(...args)
        // It has removed the request from the pending ones.
        if (args[2] === null) {
          removed.resolve()
          await goOn.promise
        }
        return isDone
      },
    }
    const elsewhere = createAuthorizationRequests(PLATFORM, slow, createRecordCipher([newKey()]))
    let consuming: ReturnType<AuthorizationRequests['consume']> | undefined
    const interrupted: KeyValueStore = {
      ...store,
      async compareAndSet(...args) {
        const isDone = await store.compareAndSet(...args)
        consuming ??= elsewhere.consume(ANN, first.state)
        await removed.promise
        return isDone
      },
    }
    const other = createAuthorizationRequests(PLATFORM, interrupted, createRecordCipher([newKey()]))
    const second = (await other.bindBxcontext(ANN, 'other')) as Consent
    goOn.resolve()
    await expect(consuming).rejects.toMatchObject({ code: 'bxcontext_replaced' })
    expect(second).toMatchObject({ bxcontext: 'other' })
  })

  test('does not disturb a flow in another tab that waits for its business', async () => {
    const { requests } = setup()
    await requests.start(ANN)
    const first = await consent(requests)
    await requests.start(ANN)
    await requests.bindBxcontext(ANN, 'other')
    expect(await requests.consume(ANN, first.state)).toMatchObject({ bxcontext: 'ctx' })
  })
})

test('a failure is remembered for 15 minutes, for its own session', async () => {
  const { requests, later } = setup()
  await requests.noteFailure(ANN, { code: 'consent_denied', requestId: 'r1', expected: 'ctx' })
  expect(await requests.lastFailure({ ...ANN, session: 'another' })).toBeNull()
  later(15 * MINUTE - 1)
  expect(await requests.lastFailure(ANN)).toEqual({
    code: 'consent_denied',
    requestId: 'r1',
    expected: 'ctx',
  })
  later(1)
  expect(await requests.lastFailure(ANN)).toBeNull()
})

test('a callback cannot stand in for the answer to a question, nor the other way round', async () => {
  const { requests } = setup()
  await requests.start(ANN, 'expected')
  const mismatch = await requests.bindBxcontext(ANN, 'ctx')
  if (!('id' in mismatch)) throw new Error('the same bxcontext was expected')
  await expect(requests.consume(ANN, mismatch.id)).rejects.toMatchObject({ code: 'invalid_state' })
  const { state } = await requests.confirm(ANN, mismatch.id)
  await expect(requests.confirm(ANN, state)).rejects.toMatchObject({ code: 'invalid_state' })
  expect(await requests.consume(ANN, state)).toMatchObject({ bxcontext: 'ctx' })
})

describe('a failure of the flow', () => {
  test('says when to try again only if it is temporary', () => {
    expect(new ConnectError('platform_unavailable').retryAfterMs).toBe(1_000)
    expect(new ConnectError('code_rejected').retryAfterMs).toBeUndefined()
  })

  test.each([
    ['server_error', 'consent_unavailable', 'the consent page returned server_error'],
    ['invalid_target', 'consent_misconfigured', 'the consent page returned invalid_target'],
    ['<of anyone>', 'consent_unavailable', 'the consent page returned an unknown error code'],
  ])('on the consent page (%s) is logged with a code that is known', (error, code, reason) => {
    expect(consentFailure(error)).toMatchObject({ code, reason })
  })

  test.each([
    [400, ['invalid_bxcontext', 'missing_authorization_request', 'invalid_callback', 'invalid_state']],
    [400, ['code_rejected', 'not_a_navigation', 'bxcontext_replaced']],
    [403, ['consent_denied']],
    [500, ['misconfigured', 'consent_misconfigured']],
    [502, ['platform_rejected', 'consent_unavailable']],
    [503, ['not_saved_yet', 'exchange_incomplete', 'platform_unavailable']],
  ] as const)('has the status %i if it is %s', (status, codes) => {
    for (const code of codes) expect(new ConnectError(code).status).toBe(status)
  })
})

test('nothing of a request stays in the store for longer than 15 minutes, whether it was finished or not', async () => {
  const { store, requests, later } = setup()
  await requests.start(ANN)
  await requests.start(ANN)
  await requests.start(ANN, 'expected')
  await requests.bindBxcontext(ANN, 'ctx')
  const { state } = await consent(requests)
  await consent(requests)
  await requests.bindBxcontext(ANN, 'a later choice')
  await requests.consume(ANN, state)
  expect((await store.ofOwner('ann')).length).toBeGreaterThan(0)
  later(15 * MINUTE)
  expect(await store.ofOwner('ann')).toEqual([])
})
