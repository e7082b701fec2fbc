import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { ConfigurationError, PlatformUnavailableError } from '../../../../src/connect/errors.ts'
import { reencrypt } from '../../../../src/connect/index.ts'
import { openSqlite } from '../../../../src/connect/stores.ts'
import { listTenants } from '../../../../src/features/supplier/first-party/first-party.ts'
import { serve } from '../../../support/ports.ts'
import { newKey } from '../../../support/vault.ts'
import { type ApiKeyAccess, CREDENTIALS, openAccess, type Platform, startPlatform } from './support.ts'

let platform: Platform
let opened: ApiKeyAccess[]
beforeEach(async () => {
  platform = await startPlatform()
  opened = []
})
afterEach(async () => {
  await Promise.all(opened.map((access) => access.close()))
  await platform.close()
})

const open = (options?: Parameters<typeof openAccess>[1]) => {
  const access = openAccess(platform.apiUrl, options)
  opened.push(access)
  return access
}
/** An API call, whose token the platform checks. */
const call = ({ api, source }: ApiKeyAccess) => listTenants(api, source)

/** Expects these answers to logins and refreshes so far, the latest first. */
async function expectAnswers(login: number[], refresh?: number[]) {
  expect(await platform.statusesOf('login')).toEqual(login)
  if (refresh) expect(await platform.statusesOf('first-party refresh')).toEqual(refresh)
}

/** First-party access, with a clock for it and its store that only `later` moves. */
function openWithClock(options: Parameters<typeof openAccess>[1] = {}) {
  let time = Date.now()
  const now = () => time
  const access = open({ store: openSqlite({ file: ':memory:', now }), now, ...options })
  return {
    ...access,
    later: (ms: number) => {
      time += ms
    },
  }
}

describe('a token', () => {
  test('comes from one login for 1000 concurrent calls, and is reused', async () => {
    const access = open()
    await Promise.all(Array.from({ length: 1000 }, () => access.source.accessToken()))
    await call(access)
    await expectAnswers([200])
  })

  test('comes from one more login when the refresh token has expired', async () => {
    const access = openWithClock()
    await call(access)
    access.later(5_000)
    await platform.post('/sandbox/expire')
    await platform.post('/sandbox/expire-refresh-tokens')
    await Promise.all(Array.from({ length: 50 }, () => call(access)))
    await expectAnswers([200, 200], [401])
  })

  test('is re-encrypted after a key rotation, without another login', async () => {
    const store = openSqlite({ file: ':memory:' })
    const [old, added] = [newKey(), newKey('k2')]
    await call(open({ store, keys: [old] }))
    expect(await Array.fromAsync(reencrypt(store, [added, old]))).toEqual(['reencrypted'])
    await call(openAccess(platform.apiUrl, { store, keys: [added] }))
    await expectAnswers([200])
  })

  test('that can no longer be decrypted is replaced by a login', async () => {
    const store = openSqlite({ file: ':memory:' })
    await open({ store }).source.accessToken()
    await openAccess(platform.apiUrl, { store, keys: [newKey()] }).source.accessToken()
    await expectAnswers([200, 200])
  })
})

describe('several processes with one store', () => {
  /** The stores of two processes, each with its own connection to the same file. */
  function openTwo(now: () => number) {
    const file = `${platform.dir}/store`
    const keys = [newKey()]
    return [0, 1].map(() => open({ store: openSqlite({ file, now }), keys, now }))
  }

  test('share the login of the first, and refresh an expired token once', async () => {
    let time = Date.now()
    const both = openTwo(() => time)
    const ask = () =>
      Promise.all(
        both.flatMap((access) =>
          Array.from({ length: 20 }, async () => {
            await call(access)
            return access.source.accessToken()
          }),
        ),
      )
    await both[0]?.source.accessToken()
    const first = await ask()
    expect(new Set(first).size, first[0]).toBe(1)
    await expectAnswers([200])
    time += 5_000
    await platform.post('/sandbox/expire')
    const second = await ask()
    expect(new Set([...first, ...second]).size, second[0]).toBe(2)
    await expectAnswers([200], [200])
  })

  test('that begin at the same moment get tokens of the platform', async () => {
    const keys = [newKey()]
    const stores = [0, 1].map(() => openSqlite({ file: `${platform.dir}/store` }))
    const [first, second] = stores.map((store) => open({ store, keys }).source)
    const login = platform.hold('/api/accounts/auth/login')
    const tokens = [first?.accessToken()]
    await expect.poll(login.arrived).toBe(1)
    // The second process has read the store before the first process wrote.
    const seen = stores[1] ?? expect.fail()
    for (const name of ['get', 'getCached'] as const) vi.spyOn(seen, name).mockResolvedValueOnce(null)
    const written = vi.spyOn(seen, 'compareAndSet')
    tokens.push(second?.accessToken())
    // It has begun, and written its own record.
    await expect.poll(() => written.mock.calls.length).toBeGreaterThan(1)
    login.release()
    for (const token of await Promise.all(tokens)) expect(token).toMatch(/^fp_/)
  })

  test('do not log in while another one is paused after a failed login', async () => {
    let time = Date.now()
    const [first, second] = openTwo(() => time)
    await platform.fault('login', '500', 1)
    await expect(first?.source.accessToken()).rejects.toBeInstanceOf(PlatformUnavailableError)
    await expect(second?.source.accessToken()).rejects.toMatchObject({ kind: 'paused' })
    time += 1_001
    expect(await second?.source.accessToken()).toMatch(/^fp_/)
    await expectAnswers([200, 500])
  })
})

describe('a login', () => {
  test.each([
    ['API key', { apiKey: 'wrong' }],
    ['subscription key', { subscriptionKey: 'wrong' }],
    ['email', { email: 'nobody@example.com' }],
    ['tenant', { tenantId: '00000000-0000-0000-0000-000000000000' }],
  ])('with a wrong %s fails at once, says so, and is not repeated', async (name, wrong) => {
    const access = open({ credentials: { ...CREDENTIALS, ...wrong } })
    const error = await call(access).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(ConfigurationError)
    expect((error as ConfigurationError).reason).toContain(name)
    expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(CREDENTIALS.apiKey)
    await call(access).catch(() => {})
    await expectAnswers([401])
  })

  test('that fails with 500 pauses, longer after each failure, and then works', async () => {
    await platform.fault('login', '500', 2)
    const { source, later } = openWithClock()
    for (const pauseMs of [1_000, 2_000]) {
      await expect(source.accessToken()).rejects.toMatchObject({ kind: 'error' })
      const calls = (await platform.calls()).length
      later(pauseMs - 1)
      await expect(source.accessToken()).rejects.toMatchObject({ kind: 'paused', retryAfterMs: 1 })
      expect(await platform.calls()).toHaveLength(calls)
      later(2)
    }
    expect(await source.accessToken()).toMatch(/^fp_/)
    await expectAnswers([200, 500, 500])
  })
})

test('the subscription key is sent with every call, including login and refresh', async () => {
  const seen: [string, unknown, unknown][] = []
  const { port, close } = await serve((req, res) => {
    const { 'ocp-apim-subscription-key': key, 'content-type': type } = req.headers
    seen.push([`${req.method} ${req.url?.split('?')[0]}`, key, type])
    res.setHeader('content-type', 'application/json')
    if (req.url === '/accounts/auth/login')
      res.end('{"accessToken":"a","refreshToken":"r","expiresIn":60,"isSuccessful":true}')
    else if (req.url?.endsWith('refresh-token'))
      res.end('{"accessToken":"b","refreshToken":"r2","expiresIn":60}')
    else if (req.headers.authorization === 'Bearer a') res.writeHead(401).end()
    else res.end(req.method === 'POST' ? '{"id":1}' : '[]')
  })
  let time = Date.now()
  const { api, source, close: closeAccess } = openAccess(`http://127.0.0.1:${port}`, { now: () => time })
  await source.accessToken()
  // The API rejects the token, which is then replaced at most once in 5 s.
  time += 5_000
  const call = { path: '/anything', scope: '', schema: z.unknown() }
  await api.get(source, call)
  await api.post(source, call, {})
  await api.post(
    source,
    { ...call, path: '/uploads', timeoutMs: 60_000 },
    { json: new Uint8Array([123, 125]) },
  )
  await listTenants(api, source)
  expect(seen.map(([called]) => called)).toEqual([
    'POST /accounts/auth/login',
    'GET /anything',
    'POST /accounts/auth/refresh-token',
    'GET /anything',
    'POST /anything',
    'POST /uploads',
    'GET /accounts/tenants',
  ])
  for (const [called, key, type] of seen) {
    expect(key, called).toBe(CREDENTIALS.subscriptionKey)
    expect(type, called).toBe('application/json')
  }
  await closeAccess()
  await close()
})

test('the tenants of the key are listed', async () => {
  const tenants = await call(open())
  expect(tenants.map(({ name }) => name)).toEqual([
    'Summit Building Supplies',
    'Summit Coast',
    'Summit Ranges',
  ])
})
