import { createClient } from 'redis'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { type Key, type Store, StoreUnavailableError } from '../../../src/connect/store/store.ts'
import { connectionKey } from '../../../src/connect/vault/records.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../../support/redis.ts'
import { oauthError, type Scripted, tokens } from '../../support/token-endpoint.ts'
import { GRANTED, newKey, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const token = () => setup.vault.accessToken('ann', 'ctx')
const sent = () => setup.endpoint.requests.map(({ refresh_token }) => refresh_token)

/** An answer before which something happens. */
const answered =
  (body: object, before: () => unknown): Scripted =>
  async (res) => {
    await before()
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

/** A good answer that comes after `ms`. */
const delayed =
  (ms: number, answer: Scripted): Scripted =>
  async (res) => {
    await new Promise((resolve) => setTimeout(resolve, ms))
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify((answer as { json: unknown }).json))
  }

describe('a token endpoint that is slow', () => {
  test('may take 6 s: the caller gets the token, and a rotated refresh token is used from then on', async () => {
    setup = await vaultSetup()
    await setup.vault.connect('ann', 'ctx', GRANTED)
    setup.later(301)
    setup.endpoint.answers(delayed(6_000, tokens({ access_token: 'slow', refresh_token: 'refresh-1' })))
    expect(await token()).toBe('slow')
    setup.later(301)
    setup.endpoint.answers(tokens())
    await token()
    expect(sent()).toEqual(['refresh-0', 'refresh-1'])
  })

  test('is waited for although no caller does: the answer is stored', async () => {
    setup = await vaultSetup({ waitMs: 100 })
    await setup.vault.connect('ann', 'ctx', GRANTED)
    setup.later(301)
    setup.endpoint.answers(delayed(500, tokens({ access_token: 'slow', refresh_token: 'refresh-1' })))
    await expect(token()).rejects.toMatchObject({ code: 'platform_unavailable' })
    await setup.vault.idle()
    expect(await token()).toBe('slow')
    expect(sent()).toEqual(['refresh-0'])
  })
})

/** Makes the store refuse every write from now on, or take them again. */
interface Refusing {
  store: Store
  refuse(refusing: boolean): Promise<unknown>
}

describe.skipIf(!REDIS)(`a store that takes no writes${withRedis}`, () => {
  let server: RedisServer
  let closeAdmin: () => void
  afterEach(async () => {
    closeAdmin()
    await server.close()
  })

  /** A Redis that is out of memory, or a demoted replica, on request. */
  async function redis(kind: 'full' | 'read-only'): Promise<Refusing> {
    server = await startRedis()
    const admin = await createClient({ url: server.url }).connect()
    closeAdmin = () => admin.destroy()
    const commands = {
      full: (on: boolean) => admin.configSet('maxmemory', on ? '1' : '0'),
      'read-only': (on: boolean) =>
        admin.sendCommand(['REPLICAOF', ...(on ? ['127.0.0.1', '1'] : ['NO', 'ONE'])]),
    }
    return { store: await ready(openRedis({ urls: [server.url] })), refuse: commands[kind] }
  }

  test.each(['full', 'read-only'] as const)(
    '(%s) loses no tokens of a refresh: this process uses them, and writes them as soon as it can',
    async (kind) => {
      const { store, refuse } = await redis(kind)
      // Redis has its own clock, which `later` does not move.
      setup = await vaultSetup({ store, leaseMs: 60_000, minIntervalMs: 0 })
      await setup.vault.connect('ann', 'ctx', GRANTED)
      setup.later(301)
      setup.endpoint.answers(
        answered({ access_token: 'next', refresh_token: 'refresh-1', expires_in: 300 }, () => refuse(true)),
      )
      expect(await token()).toBe('next')
      expect(await token()).toBe('next')
      expect(await setup.vault.list('ann')).toMatchObject([{ status: 'active', problem: null }])
      // Another process may not send the refresh token that is used up.
      await expect(setup.anotherVault({ waitMs: 100 }).accessToken('ann', 'ctx')).rejects.toMatchObject({
        status: 503,
      })
      setup.endpoint.answers(tokens({ access_token: 'later' }))
      await refuse(false)
      await vi.waitFor(
        async () => expect(await setup.anotherVault().accessToken('ann', 'ctx')).toBe('next'),
        {
          timeout: 15_000,
        },
      )
      expect(sent()).toEqual(['refresh-0'])
      await setup.vault.idle()
      setup.later(301)
      expect(await setup.anotherVault().accessToken('ann', 'ctx')).toBe('later')
      expect(sent()).toEqual(['refresh-0', 'refresh-1'])
      expect(setup.logLines.join()).toContain('tokens_unsaved')
      expect(setup.logLines.join()).not.toMatch(/refresh-\d|"next"/)
    },
    30_000,
  )

  test('loses no tokens of a new consent', async () => {
    const { store, refuse } = await redis('full')
    setup = await vaultSetup({ store })
    await refuse(true)
    expect(await setup.vault.connect('ann', 'ctx', GRANTED)).toBe('pending')
    expect(await token()).toBe('access-0')
    await refuse(false)
    await setup.vault.idle()
    expect(await setup.anotherVault().accessToken('ann', 'ctx')).toBe('access-0')
  })

  test('until the app is stopped costs the tokens, and the log says so at error level without them', async () => {
    const { store, refuse } = await redis('full')
    setup = await vaultSetup({ store })
    await refuse(true)
    await setup.vault.connect('ann', 'ctx', GRANTED)
    await setup.vault.close(100)
    const lost = setup.logLines.filter((line) => line.includes('tokens_lost'))
    expect(lost).toHaveLength(1)
    expect(lost[0]).toContain('"level":"error"')
    expect(lost[0]).not.toMatch(/access-0|refresh-0/)
  })

  test('does not bring a connection back that was disconnected meanwhile', async () => {
    const { store, refuse } = await redis('full')
    setup = await vaultSetup({ store })
    await setup.vault.connect('ann', 'ctx', GRANTED)
    setup.later(301)
    setup.endpoint.answers(answered({ access_token: 'next', expires_in: 300 }, () => refuse(true)))
    await token()
    await refuse(false)
    await setup.vault.disconnect('ann', 'ctx')
    await setup.vault.idle()
    expect(await setup.store.get(connectionKey('ann', 'ctx'))).toBeNull()
  })
})

describe('a grant without a refresh token', () => {
  const renew = () => setup.vault.tokenSource('ann', 'ctx').refresh('access-0')
  const grant = async (expiresIn: number | undefined) => {
    setup = await vaultSetup()
    await setup.vault.connect('ann', 'ctx', { ...GRANTED, refreshToken: undefined, expiresIn })
  }

  test('survives a 401 of the API', async () => {
    await grant(3600)
    await expect(renew()).rejects.toMatchObject({ code: 'platform_rejected' })
    expect(await token()).toBe('access-0')
  })

  test('survives any number of 401s within a minute, and two more a minute apart', async () => {
    await grant(3600)
    for (let call = 0; call < 20; call++) await renew().catch(() => {})
    setup.later(61)
    await expect(renew()).rejects.toMatchObject({ code: 'platform_rejected' })
    expect(await token()).toBe('access-0')
  })

  test('ends at the third 401 that is at least a minute after the one before', async () => {
    await grant(3600)
    for (let call = 0; call < 2; call++) {
      await renew().catch(() => {})
      setup.later(61)
    }
    await expect(renew()).rejects.toMatchObject({ code: 'connection_revoked' })
  })

  test('starts to count anew after a call that succeeds', async () => {
    await grant(3600)
    for (let call = 0; call < 2; call++) {
      await renew().catch(() => {})
      setup.later(61)
    }
    await setup.vault.tokenSource('ann', 'ctx').noteCall({ result: 'ok', call: 'GET leads', scope: 'leads' })
    await expect(renew()).rejects.toMatchObject({ code: 'platform_rejected' })
  })

  test('and without expires_in stays, and is not shown with an expiry', async () => {
    await grant(undefined)
    setup.later(24 * 3600)
    expect(await token()).toBe('access-0')
    expect(await setup.vault.find('ann', 'ctx')).toMatchObject({ status: 'active', expiresAt: null })
  })
})

describe('refreshes of one connection', () => {
  const renew = (rejected: string) => setup.vault.tokenSource('ann', 'ctx').refresh(rejected)

  test('are one in 30 s, however often the API answers 401', async () => {
    setup = await vaultSetup()
    await setup.vault.connect('ann', 'ctx', GRANTED)
    const call = async () => renew(await token()).catch((error: unknown) => error)
    await call()
    for (let time = 0; time < 50; time++)
      expect(await call()).toMatchObject({ code: 'platform_unavailable', retryAfterMs: expect.any(Number) })
    expect(sent()).toHaveLength(1)
    setup.later(31)
    await call()
    for (let time = 0; time < 50; time++) await call()
    expect(sent()).toHaveLength(2)
  })

  test('are one in 30 s with expires_in 0, and the token is used meanwhile', async () => {
    setup = await vaultSetup()
    await setup.vault.connect('ann', 'ctx', { ...GRANTED, expiresIn: 0 })
    setup.endpoint.answers(tokens({ access_token: 'short', expires_in: 0 }))
    for (let call = 0; call < 40; call++) expect(await token()).toBe('short')
    expect(sent()).toHaveLength(1)
    setup.later(31)
    await token()
    expect(sent()).toHaveLength(2)
  })

  test('are one in 5 s when a person asks, who is told when the next one is possible', async () => {
    setup = await vaultSetup()
    await setup.vault.connect('ann', 'ctx', GRANTED)
    await setup.vault.refresh('ann', 'ctx')
    for (let press = 0; press < 20; press++)
      await expect(setup.vault.refresh('ann', 'ctx')).rejects.toMatchObject({
        code: 'refresh_too_soon',
        status: 429,
        retryAfterMs: 5_000,
      })
    expect(await setup.vault.find('ann', 'ctx')).toMatchObject({ refreshableInMs: 5_000 })
    setup.later(5.1)
    await setup.vault.refresh('ann', 'ctx')
    expect(sent()).toHaveLength(2)
  })

  test('wait at most 5 minutes for a Retry-After, and 5 s when a person asks', async () => {
    setup = await vaultSetup()
    await setup.vault.connect('ann', 'ctx', GRANTED)
    setup.later(301)
    setup.endpoint.answers({ status: 429, json: {}, headers: { 'retry-after': '86400' } })
    await expect(token()).rejects.toMatchObject({ retryAfterMs: 300_000 })
    setup.later(5.1)
    setup.endpoint.answers(tokens({ access_token: 'asked' }))
    await expect(token()).rejects.toMatchObject({ code: 'platform_unavailable' })
    await setup.vault.refresh('ann', 'ctx')
    expect(await token()).toBe('asked')
    setup.later(301)
    setup.endpoint.answers({ status: 429, json: {}, headers: { 'retry-after': '86400' } })
    await token().catch(() => {})
    setup.later(301)
    setup.endpoint.answers(tokens({ access_token: 'automatic' }))
    expect(await token()).toBe('automatic')
  })
})

describe('tokens that cannot be used', () => {
  test.each([
    ['a line break', 'a\nb'],
    ['a control character', 'a\u0001b'],
    ['a character that is not ASCII', 'tökén'],
    ['a space', 'a b'],
    ['seven megabytes', 'x'.repeat(7_000_000)],
  ])('(%s) are rejected by their field, and the connection is untouched', async (_what, bad) => {
    for (const field of ['access_token', 'refresh_token']) {
      setup = await vaultSetup()
      await setup.vault.connect('ann', 'ctx', GRANTED)
      setup.endpoint.answers(tokens({ [field]: bad }))
      await expect(setup.vault.refresh('ann', 'ctx')).rejects.toMatchObject({
        code: 'platform_rejected',
        field,
      })
      expect(await token()).toBe('access-0')
      await setup.close()
    }
  })
})

describe('two processes while keys rotate', () => {
  const [older, newer] = [newKey('older'), newKey('newer')]

  test.each([
    ['the new key is added last', [older], [older, newer]],
    ['the new key is moved to the front', [older, newer], [newer, older]],
  ])('(%s) read what the other writes', async (_step, before, now) => {
    setup = await vaultSetup({ keys: before })
    const other = setup.anotherVault({ keys: now })
    await setup.vault.connect('ann', 'one', GRANTED)
    await other.connect('ann', 'two', GRANTED)
    for (const vault of [setup.vault, other])
      for (const context of ['one', 'two']) expect(await vault.accessToken('ann', context)).toBe('access-0')
  })
})

describe('how a connection is shown', () => {
  const source = () => setup.vault.tokenSource('ann', 'ctx')
  const shown = (vault = setup.vault) => vault.find('ann', 'ctx')
  const OK = { result: 'ok', call: 'GET leads', scope: 'leads' } as const
  const connect = async () => {
    setup = await vaultSetup()
    await setup.vault.connect('ann', 'ctx', GRANTED)
  }

  test('is by the last thing that happened: a call that succeeds ends an outage at once', async () => {
    await connect()
    await source().noteCall({ result: 'unavailable', kind: 'error' })
    expect(await shown()).toMatchObject({ problem: 'error' })
    await source().noteCall(OK)
    expect(await shown()).toMatchObject({ problem: null })
  })

  test('is the same in every process', async () => {
    await connect()
    const other = setup.anotherVault()
    await source().noteCall({ result: 'unavailable', kind: 'no_answer' })
    expect(await shown(other)).toMatchObject({ problem: 'no_answer' })
    await other.tokenSource('ann', 'ctx').noteCall(OK)
    expect(await shown()).toMatchObject({ problem: null })
  })

  test('names a scope that the API missed, until a call with that scope succeeds', async () => {
    await connect()
    await source().noteCall({ result: 'forbidden', call: 'GET leads', scope: 'leads' })
    await source().noteCall({ result: 'ok', call: 'GET catalogues', scope: 'catalogues' })
    expect(await shown()).toMatchObject({ problem: null, forbidden: ['leads'] })
    await source().noteCall(OK)
    expect(await shown()).toMatchObject({ forbidden: [] })
  })

  test('keeps our own wrong credentials in view until a refresh works', async () => {
    await connect()
    setup.later(250)
    setup.endpoint.answers(oauthError('invalid_client', 401), tokens())
    await token()
    await setup.vault.idle()
    await source().noteCall(OK)
    expect(await shown()).toMatchObject({ problem: 'misconfigured' })
    setup.later(60)
    await token()
    expect(await shown()).toMatchObject({ problem: null })
  })

  test('does not depend on a helper record that cannot be read', async () => {
    await connect()
    await setup.store.set({ kind: 'failures', owner: 'ann', id: 'ctx' }, '{"broken')
    expect(await setup.vault.list('ann')).toMatchObject([{ status: 'active', problem: null }])
  })
})

/** The store, which refuses writes of connections, or of everything, while it is told to. */
function refusing(inner: Store) {
  const refuses = { connections: false, all: false }
  const guarded =
    <A extends unknown[], T>(write: (key: Key, ...rest: A) => Promise<T>) =>
    async (key: Key, ...rest: A): Promise<T> => {
      if (refuses.all || (refuses.connections && key.kind === 'connection'))
        throw new StoreUnavailableError('full')
      return write(key, ...rest)
    }
  const store: Store = {
    ...inner,
    set: guarded(inner.set),
    compareAndSet: guarded(inner.compareAndSet),
    delete: guarded(inner.delete),
  }
  return { store, refuses }
}

describe('a store that refuses writes for a moment', () => {
  const memory = () => refusing(openSqlite({ file: ':memory:' }))

  test('while a refresh fails does not leave the connection locked', async () => {
    const { store, refuses } = memory()
    setup = await vaultSetup({ store, leaseMs: 200, now: Date.now })
    await setup.vault.connect('ann', 'ctx', { ...GRANTED, expiresIn: 0 })
    setup.endpoint.answers(
      (res) => {
        refuses.all = true
        res.writeHead(500).end()
      },
      tokens({ access_token: 'next' }),
    )
    await token().catch(() => {})
    refuses.all = false
    await vi.waitFor(async () => expect(await token()).toBe('next'), { timeout: 5_000 })
  })

  test('keeps a new consent that waits for it, although a refresh of the grant before ends meanwhile', async () => {
    const { store, refuses } = memory()
    setup = await vaultSetup({ store, now: Date.now })
    await setup.vault.connect('ann', 'ctx', { ...GRANTED, expiresIn: 0 })
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      setup.endpoint.answers(async (res) => {
        resolve()
        await new Promise<void>((release) => (answer = release))
        res.writeHead(200, { 'content-type': 'application/json' })
        res.end(JSON.stringify({ access_token: 'of the old grant'.replaceAll(' ', '-'), expires_in: 300 }))
      })
    })
    const refreshing = token()
    await asked
    refuses.connections = true
    const consent = { ...GRANTED, accessToken: 'newer' }
    expect(await setup.vault.connect('ann', 'ctx', consent)).toBe('pending')
    refuses.connections = false
    answer()
    await refreshing
    await setup.vault.idle()
    expect(await token()).toBe('newer')
    expect(await setup.anotherVault().accessToken('ann', 'ctx')).toBe('newer')
  })

  test('keeps a new consent that comes after a held refresh of the grant before, though that was sent later', async () => {
    const { store, refuses } = memory()
    let time = Date.now()
    setup = await vaultSetup({ store, now: () => time })
    await setup.vault.connect('ann', 'ctx', { ...GRANTED, expiresIn: 0 })
    const codeSentAt = time + 1_000
    time += 2_000
    setup.endpoint.answers(
      answered({ access_token: 'older', expires_in: 300 }, () => {
        refuses.connections = true
      }),
    )
    expect(await token()).toBe('older')
    const consent = { ...GRANTED, accessToken: 'newer' }
    expect(await setup.vault.connect('ann', 'ctx', consent, codeSentAt)).toBe('pending')
    refuses.connections = false
    await setup.vault.idle()
    expect(await setup.anotherVault().accessToken('ann', 'ctx')).toBe('newer')
  })

  test('again and again, briefly working, does not let another process send a used-up refresh token', async () => {
    const { store, refuses } = memory()
    setup = await vaultSetup({ store, minIntervalMs: 0, leaseMs: 50 })
    await setup.vault.connect('ann', 'ctx', GRANTED)
    setup.later(301)
    setup.endpoint.answers(
      answered({ access_token: 'next', refresh_token: 'refresh-1', expires_in: 300 }, () => {
        refuses.all = true
      }),
      oauthError('invalid_grant'),
    )
    expect(await token()).toBe('next')
    const other = setup.anotherVault()
    // The other process gets the lock and can do nothing with it: writes of connections are still refused.
    refuses.connections = true
    refuses.all = false
    await setup.store.delete({ kind: 'lease', owner: 'ann', id: 'ctx' })
    const waiting = other.accessToken('ann', 'ctx').catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 200))
    refuses.all = true
    await waiting
    refuses.all = false
    const key = { kind: 'refresh-unfinished', owner: 'ann', id: 'ctx' }
    expect(await setup.store.get(key)).not.toBeNull()
    refuses.connections = false
    await setup.vault.idle()
    expect(await other.accessToken('ann', 'ctx')).toBe('next')
    expect(sent()).toEqual(['refresh-0'])
  }, 30_000)

  test('says at once that a token cannot be refreshed while it is not stored', async () => {
    const { store, refuses } = memory()
    setup = await vaultSetup({ store })
    refuses.connections = true
    await setup.vault.connect('ann', 'ctx', GRANTED)
    await expect(setup.vault.refresh('ann', 'ctx')).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(setup.vault.tokenSource('ann', 'ctx').refresh('access-0')).rejects.toMatchObject({
      status: 503,
    })
    refuses.connections = false
    await setup.vault.idle()
  })

  test('does not send a used-up refresh token when the held access token expires meanwhile', async () => {
    const { store, refuses } = memory()
    setup = await vaultSetup({ store, minIntervalMs: 0, leaseMs: 100 })
    await setup.vault.connect('ann', 'ctx', GRANTED)
    setup.later(301)
    setup.endpoint.answers(
      answered({ access_token: 'next', refresh_token: 'refresh-1', expires_in: 10 }, () => {
        refuses.connections = true
      }),
      tokens({ access_token: 'later' }),
    )
    expect(await token()).toBe('next')
    setup.later(11)
    await expect(token()).rejects.toMatchObject({ status: 503 })
    refuses.connections = false
    await setup.vault.idle()
    expect(await token()).toBe('later')
    expect(sent()).toEqual(['refresh-0', 'refresh-1'])
  })

  test('does not let another process send a used-up refresh token although the lock was lost', async () => {
    const { store, refuses } = memory()
    setup = await vaultSetup({ store, minIntervalMs: 0, leaseMs: 100 })
    await setup.vault.connect('ann', 'ctx', GRANTED)
    setup.later(301)
    setup.endpoint.answers(
      answered({ access_token: 'next', refresh_token: 'refresh-1', expires_in: 300 }, () => {
        refuses.all = true
      }),
      oauthError('invalid_grant'),
    )
    expect(await token()).toBe('next')
    await new Promise((resolve) => setTimeout(resolve, 300))
    await setup.store.delete({ kind: 'lease', owner: 'ann', id: 'ctx' }).catch(() => {})
    refuses.all = false
    const other = setup.anotherVault()
    const all = await Promise.all(Array.from({ length: 20 }, () => other.accessToken('ann', 'ctx')))
    expect(new Set(all)).toEqual(new Set(['next']))
    expect(sent()).toEqual(['refresh-0'])
  })

  test('does not bring back what is disconnected while it is written', async () => {
    const { store, refuses } = memory()
    let release = () => {}
    const written: boolean[] = []
    const writing = new Promise<void>((begun) => {
      const { compareAndSet } = store
      store.compareAndSet = async (...args) => {
        if (args[0].kind === 'connection' && !refuses.connections) {
          begun()
          await new Promise<void>((resolve) => (release = resolve))
          const stored = await compareAndSet(...args)
          written.push(stored)
          return stored
        }
        return compareAndSet(...args)
      }
    })
    setup = await vaultSetup({ store })
    refuses.connections = true
    await setup.vault.connect('ann', 'ctx', GRANTED)
    refuses.connections = false
    await writing
    expect(await setup.vault.disconnect('ann', 'ctx')).toBe(true)
    release()
    await vi.waitFor(() => expect(written).toEqual([true]))
    await vi.waitFor(async () => expect(await store.get(connectionKey('ann', 'ctx'))).toBeNull())
  })
})

describe('a clock that is ten minutes ahead on another machine', () => {
  const ahead = () => setup.anotherVault({ now: () => Date.now() + 600_000 })

  test('does not keep a new consent from counting', async () => {
    setup = await vaultSetup({ now: Date.now })
    await ahead().connect('ann', 'ctx', { ...GRANTED, accessToken: 'from-the-future' })
    await setup.vault.connect('ann', 'ctx', { ...GRANTED, accessToken: 'newest' })
    expect(await token()).toBe('newest')
  })

  test('does not keep a revoked connection from being reconnected', async () => {
    setup = await vaultSetup({ now: Date.now })
    const other = ahead()
    await other.connect('ann', 'ctx', { ...GRANTED, expiresIn: 0 })
    setup.endpoint.answers(oauthError('invalid_grant'))
    await other.accessToken('ann', 'ctx').catch(() => {})
    await setup.vault.connect('ann', 'ctx', GRANTED)
    expect(await token()).toBe('access-0')
  })
})

test('a person’s refresh and an API call’s do not get each other’s errors', async () => {
  setup = await vaultSetup()
  await setup.vault.connect('ann', 'ctx', GRANTED)
  await setup.vault.refresh('ann', 'ctx')
  const access = await token()
  const [asked, called] = await Promise.allSettled([
    setup.vault.refresh('ann', 'ctx'),
    setup.vault.tokenSource('ann', 'ctx').refresh(access),
  ])
  expect(asked).toMatchObject({ reason: { code: 'refresh_too_soon' } })
  expect(called).toMatchObject({ reason: { code: 'platform_unavailable' } })
})
