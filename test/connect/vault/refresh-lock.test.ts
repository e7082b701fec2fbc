import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import type { KeyValueStore } from '../../../src/connect/store/store.ts'
import { createHealthRecords } from '../../../src/connect/vault/health.ts'
import { createRefreshLock, type LockHandle } from '../../../src/connect/vault/refresh-lock.ts'
import { tokens } from '../../support/token-endpoint.ts'
import { GRANTED, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

const LEASE = { kind: 'lease', owner: 'ann', id: 'ctx' }

describe('the refresh lock', () => {
  const lock = (store: KeyValueStore, leaseMs = 5_000) =>
    createRefreshLock(store, createHealthRecords(store, Date.now), { leaseMs })
  const acquire = async (store: KeyValueStore, leaseMs?: number) => {
    const handle = await lock(store, leaseMs).acquire(REF)
    if (typeof handle !== 'object' || !('release' in handle))
      throw new Error(`no lock: ${JSON.stringify(handle)}`)
    return handle as LockHandle
  }

  test('has one holder at a time', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store)
    expect(await lock(store).acquire(REF)).toBe('busy')
    await handle.release()
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
    expect(calls).toEqual(['get'])
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
