import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { type KeyValueStore, StoreUnavailableError } from '../../../src/connect/store/store.ts'
import { createHealthRecords } from '../../../src/connect/vault/health.ts'
import { createRefreshLock, type LockHandle } from '../../../src/connect/vault/refresh-lock.ts'
import { tokens } from '../../support/token-endpoint.ts'
import { GRANTED, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

const UNFINISHED = { kind: 'platform-refresh-unfinished', owner: 'ann', id: 'ctx' }
const LEASE = { kind: 'platform-refresh-lock', owner: 'ann', id: 'ctx' }

describe('the refresh lock', () => {
  const lock = (store: KeyValueStore, leaseMs = 5_000) =>
    createRefreshLock(store, createHealthRecords(store, 'platform', Date.now), { platform, leaseMs })
  const acquire = async (store: KeyValueStore, leaseMs?: number) => {
    const handle = await lock(store, leaseMs).acquire(REF)
    if (typeof handle !== 'object' || !('release' in handle))
      throw new Error(`no lock: ${JSON.stringify(handle)}`)
    return handle as LockHandle
  }

  /** A holder that has sent its request and lost its lock, and the next holder. */
  const lostWhileSent = async (store: KeyValueStore) => {
    const handle = await acquire(store, 60_000)
    await handle.confirm()
    await store.delete(LEASE)
    return [handle, await acquire(store)] as const
  }

  test('has one holder at a time', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store)
    expect(await lock(store).acquire(REF)).toBe('busy')
    await handle.release()
    await (await acquire(store)).release()
  })

  test('is not held if the store fails before its holder knows of an unfinished request', async () => {
    const store = openSqlite({ file: ':memory:' })
    const { get } = store
    const failing: KeyValueStore = {
      ...store,
      get: (key) =>
        key.kind === UNFINISHED.kind ? Promise.reject(new StoreUnavailableError('down')) : get(key),
    }
    await expect(acquire(failing)).rejects.toThrow(StoreUnavailableError)
    await (await acquire(store)).release()
  })

  test('is renewed while its holder works, however long that takes', async () => {
    const store = openSqlite({ file: ':memory:' })
    // Long enough for a busy machine to renew it in time.
    const handle = await acquire(store, 300)
    const deadline = performance.now() + 900
    while (performance.now() < deadline) {
      expect(await lock(store).acquire(REF)).toBe('busy')
      await pause(10)
    }
    await handle.release()
  })

  test('expires when its holder was killed', async () => {
    const store = openSqlite({ file: ':memory:' })
    await store.set(LEASE, 'held:by a process that was killed', 60)
    expect(await lock(store).acquire(REF)).toBe('busy')
    await vi.waitFor(async () => expect(await lock(store).acquire(REF)).toBeTypeOf('object'), {
      timeout: 5_000,
    })
  })

  test('is not taken again by its renewal once it is released', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store, 60)
    await handle.release()
    await pause(200)
    expect(await store.get(LEASE)).toBeNull()
  })

  test('is not taken back by a renewal that was on its way when it was released', async () => {
    const store = openSqlite({ file: ':memory:' })
    const [renewal, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isSent = false
    const slow: KeyValueStore = {
      ...store,
      async compareAndSet(key, expected, next, ttlMs) {
        if (isSent && expected === next) {
          renewal.resolve()
          await released.promise
        }
        return store.compareAndSet(key, expected, next, ttlMs)
      },
    }
    const handle = await acquire(slow, 600)
    await handle.confirm()
    isSent = true
    await renewal.promise
    await handle.release()
    released.resolve()
    await pause(50)
    expect(await store.get(LEASE)).toBeNull()
  })

  test('that expired before the request was sent is not taken back, since another process may have refreshed', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store, 60_000)
    // Frozen for so long that the lock expires, and another process refreshes.
    await store.delete(LEASE)
    await (await acquire(store)).release()
    expect(await handle.confirm()).toBe(false)
    expect(await store.get(LEASE)).toBeNull()
  })

  test('that expired after the request was sent is taken back, unless another process holds it', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store, 60_000)
    expect(await handle.confirm()).toBe(true)
    await store.delete(LEASE)
    await handle.releaseWithBackoff('unavailable')
    expect(await store.get(LEASE)).toMatch(/^paused:/)
  })

  test('that another process took while the request was sent is paused by its failure, since the other waits for it', async () => {
    const store = openSqlite({ file: ':memory:' })
    const [handle, waiting] = await lostWhileSent(store)
    expect(waiting.interrupted).toBe(true)
    await handle.releaseWithBackoff('unavailable', 60_000)
    expect(await waiting.previousRequest()).toBe('ended')
    expect(await waiting.confirm()).toBe(false)
    await waiting.release()
    expect(await store.get(LEASE)).toContain('"ms":60000')
  })

  test('that another process took and sent its own request with stays with it, and so does the note of that request', async () => {
    const store = openSqlite({ file: ':memory:' })
    const [handle, other] = await lostWhileSent(store)
    expect(await other.confirm()).toBe(true)
    const held = await store.get(LEASE)
    await handle.releaseWithBackoff('unavailable', 60_000)
    expect(await store.get(LEASE)).toBe(held)
    expect(await other.previousRequest()).toBe('waiting')
  })

  test('of a holder that was cut off and comes back leaves that of the next one, whose request is on its way', async () => {
    const store = openSqlite({ file: ':memory:' })
    let isCutOff = false
    const failing: ProxyHandler<KeyValueStore> = {
      get: (target, name: keyof KeyValueStore) =>
        isCutOff ? () => Promise.reject(new StoreUnavailableError('cut off')) : Reflect.get(target, name),
    }
    const handle = await acquire(new Proxy(store, failing), 90)
    await handle.confirm()
    isCutOff = true
    await store.delete(LEASE)
    const next = await acquire(store)
    expect(await next.confirm()).toBe(true)
    const [held, noted] = [await store.get(LEASE), await store.get(UNFINISHED)]
    isCutOff = false
    await pause(200)
    await handle.releaseWithBackoff('unavailable')
    expect([await store.get(LEASE), await store.get(UNFINISHED)]).toEqual([held, noted])
  })

  test('is given up if another request has begun since it was acquired, as while this process was frozen', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store)
    await store.set(UNFINISHED, 'held:another 1', 60_000)
    expect(await handle.confirm()).toBe(false)
    expect(await store.get(LEASE)).toBeNull()
    expect(await store.get(UNFINISHED)).toBe('held:another 1')
  })

  test('leaves no note of a request that was not sent because the lock was lost', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store)
    await store.set(LEASE, 'held:another', 60_000)
    expect(await handle.confirm()).toBe(false)
    expect(await store.get(UNFINISHED)).toBeNull()
  })

  test('whose request a new consent has made needless does not note it again', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store, 60)
    await handle.confirm()
    await lock(store).reset(REF)
    await pause(200)
    expect(await store.get(UNFINISHED)).toBeNull()
    await handle.release()
  })

  test('stays with its holder after a new consent, which ends a pause', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store)
    await lock(store).reset(REF)
    expect(await lock(store).acquire(REF)).toBe('busy')
    await handle.releaseWithBackoff('unavailable')
    expect(await lock(store).acquire(REF)).toMatchObject({ reason: 'unavailable' })
    await lock(store).reset(REF)
    await (await acquire(store)).release()
  })

  test('cannot be confirmed by a holder that has lost it, and is left to the other one', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store)
    await store.set(LEASE, 'held:another', 60_000)
    expect(await handle.confirm()).toBe(false)
    expect(await lock(store).manualWait(REF)).toBe(0)
    expect(await store.get(LEASE)).toBe('held:another')
  })

  test('is known to be interrupted if its holder confirmed it and did not report an outcome', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store)
    expect(handle.interrupted).toBe(false)
    await handle.confirm()
    await store.delete(LEASE)
    const next = await acquire(store)
    expect(next.interrupted).toBe(true)
    await next.release()
    const settling = await acquire(store)
    expect(settling.interrupted).toBe(true)
    await settling.release(true)
    expect((await acquire(store)).interrupted).toBe(false)
  })

  test('is paused longer after each failure, up to 30 seconds, and at least as long as asked', async () => {
    const store = openSqlite({ file: ':memory:' })
    const waits: number[] = []
    for (let failure = 0; failure < 7; failure++) {
      await (await acquire(store)).releaseWithBackoff('unavailable')
      const { ms } = JSON.parse((await store.get(LEASE))?.replace('paused:', '') ?? '{}')
      waits.push(ms)
      await lock(store).reset(REF)
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    await (await acquire(store)).releaseWithBackoff('unavailable', 60_000)
    expect(await store.get(LEASE)).toContain('"ms":60000')
  })

  test('is released, renewed and paused only by its holder', async () => {
    const store = openSqlite({ file: ':memory:' })
    const expired = await acquire(store, 30)
    await store.set(LEASE, 'held:another', 60_000)
    await pause(60)
    await expired.release()
    expect(await store.get(LEASE)).toBe('held:another')
    await expired.releaseWithBackoff('unavailable')
    expect(await store.get(LEASE)).toBe('held:another')
  })
})

describe('the vault', () => {
  let setup: VaultSetup
  afterEach(() => setup.close())

  /** A store that records every call. */
  function counting(store: KeyValueStore): { store: KeyValueStore; calls: string[] } {
    const calls: string[] = []
    const handler: ProxyHandler<KeyValueStore> = {
      get(target, name) {
        const value = target[name as keyof KeyValueStore]
        if (typeof value !== 'function') return value
        return (...args: never[]) => {
          calls.push(String(name))
          return (value as (...args: never[]) => unknown).apply(target, args)
        }
      },
    }
    return { store: new Proxy(store, handler), calls }
  }

  test('reads the store once for a valid token, writes nothing, and does not decrypt it again', async () => {
    const { store, calls } = counting(openSqlite({ file: ':memory:' }))
    setup = await vaultSetup({ store, now: Date.now })
    await setup.vault.connect(REF, GRANTED)
    await setup.vault.accessToken(REF)
    const decrypt = vi.spyOn(JSON, 'parse')
    calls.length = 0
    await setup.vault.accessToken(REF)
    expect(calls).toEqual(['getCached'])
    expect(decrypt).not.toHaveBeenCalled()
    decrypt.mockRestore()
  })

  test("sees another process's refresh and disconnect at once", async () => {
    setup = await vaultSetup()
    const another = setup.anotherVault()
    await setup.vault.connect(REF, GRANTED)
    expect(await setup.vault.accessToken(REF)).toBe('access-0')
    setup.endpoint.answers(tokens({ access_token: 'theirs' }))
    await another.refresh(REF)
    expect(await setup.vault.accessToken(REF)).toBe('theirs')
    await another.disconnect(REF)
    await expect(setup.vault.accessToken(REF)).rejects.toMatchObject({ code: 'not_connected' })
  })

  test('waits for another process until its timeout at most, and keeps the connection', async () => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, { ...GRANTED, expiresIn: 0 })
    await setup.store.set(LEASE, 'held:forever', 3_600_000)
    const waiting = setup.vault.accessToken(REF)
    const outcome = expect(waiting).rejects.toMatchObject({ code: 'platform_unavailable' })
    await pause(200)
    setup.later(21)
    await outcome
    expect(await setup.vault.find(REF)).toMatchObject({ status: 'active' })
  })

  test('uses the tokens that another process stored while it waited', async () => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, { ...GRANTED, expiresIn: 0 })
    await setup.store.set(LEASE, 'held:by another', 3_600_000)
    const waiting = setup.vault.accessToken(REF)
    await setup.anotherVault().connect(REF, { ...GRANTED, accessToken: 'theirs' })
    expect(await waiting).toBe('theirs')
    expect(setup.endpoint.requests).toEqual([])
  })
})
