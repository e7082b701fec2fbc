import { afterEach, describe, expect, test, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import type { Store } from '../../../src/connect/store/store.ts'
import { createHealthRecords } from '../../../src/connect/vault/health.ts'
import { createRefreshLock, type LockHandle } from '../../../src/connect/vault/refresh-lock.ts'
import { tokens } from '../../support/token-endpoint.ts'
import { GRANTED, type VaultSetup, vaultSetup } from '../../support/vault.ts'

const LEASE = { kind: 'lease', owner: 'ann', id: 'ctx' }

describe('the refresh lock', () => {
  const lock = (store: Store, leaseMs = 5_000) =>
    createRefreshLock(store, createHealthRecords(store, Date.now), { leaseMs })
  const acquire = async (store: Store, leaseMs?: number) => {
    const handle = await lock(store, leaseMs).acquire('ann', 'ctx')
    if (typeof handle !== 'object' || !('release' in handle))
      throw new Error(`no lock: ${JSON.stringify(handle)}`)
    return handle as LockHandle
  }

  test('is given to one at a time', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store)
    expect(await lock(store).acquire('ann', 'ctx')).toBe('busy')
    await handle.release()
    await (await acquire(store)).release()
  })

  test('is renewed while its holder works, however long that takes', async () => {
    const store = openSqlite({ file: ':memory:' })
    const handle = await acquire(store, 90)
    const ends = performance.now() + 500
    while (performance.now() < ends) {
      expect(await lock(store).acquire('ann', 'ctx')).toBe('busy')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await handle.release()
  })

  test('ends by itself when its holder is gone', async () => {
    const store = openSqlite({ file: ':memory:' })
    await store.set(LEASE, 'held:by a process that was killed', 60)
    expect(await lock(store).acquire('ann', 'ctx')).toBe('busy')
    await vi.waitFor(async () => expect(await lock(store).acquire('ann', 'ctx')).toBeTypeOf('object'))
  })

  test('is released, renewed and paused only by its owner', async () => {
    const store = openSqlite({ file: ':memory:' })
    const outlived = await acquire(store, 30)
    await store.set(LEASE, 'held:somebody else', 60_000)
    await new Promise((resolve) => setTimeout(resolve, 60))
    await outlived.release()
    expect(await store.get(LEASE)).toBe('held:somebody else')
    await outlived.releaseWithBackoff('unavailable')
    expect(await store.get(LEASE)).toBe('held:somebody else')
  })
})

describe('the vault', () => {
  let setup: VaultSetup
  afterEach(() => setup.close())

  /** The store, with every call written down. */
  function counting(store: Store): { store: Store; calls: string[] } {
    const calls: string[] = []
    const handler: ProxyHandler<Store> = {
      get(target, name) {
        const value = target[name as keyof Store]
        if (typeof value !== 'function') return value
        return (...args: never[]) => {
          calls.push(String(name))
          return (value as (...args: never[]) => unknown).apply(target, args)
        }
      },
    }
    return { store: new Proxy(store, handler), calls }
  }

  test('takes one store read and no write for a fresh token, and does not decrypt it again', async () => {
    const { store, calls } = counting(openSqlite({ file: ':memory:' }))
    setup = await vaultSetup({ store, now: Date.now })
    await setup.vault.connect('ann', 'ctx', GRANTED)
    await setup.vault.accessToken('ann', 'ctx')
    const decrypt = vi.spyOn(JSON, 'parse')
    calls.length = 0
    await setup.vault.accessToken('ann', 'ctx')
    expect(calls).toEqual(['get'])
    expect(decrypt).not.toHaveBeenCalled()
    decrypt.mockRestore()
  })

  test("sees another process's refresh and disconnect at once", async () => {
    setup = await vaultSetup()
    const another = setup.anotherVault()
    await setup.vault.connect('ann', 'ctx', GRANTED)
    expect(await setup.vault.accessToken('ann', 'ctx')).toBe('access-0')
    setup.endpoint.answers(tokens({ access_token: 'theirs' }))
    await another.refresh('ann', 'ctx')
    expect(await setup.vault.accessToken('ann', 'ctx')).toBe('theirs')
    await another.disconnect('ann', 'ctx')
    await expect(setup.vault.accessToken('ann', 'ctx')).rejects.toMatchObject({ code: 'not_connected' })
  })

  test('waits for another process no longer than the deadline of a refresh, and keeps the connection', async () => {
    setup = await vaultSetup()
    await setup.vault.connect('ann', 'ctx', { ...GRANTED, expiresIn: 0 })
    await setup.store.set(LEASE, 'held:for ever', 3_600_000)
    const waiting = setup.vault.accessToken('ann', 'ctx')
    const outcome = expect(waiting).rejects.toMatchObject({ code: 'platform_unavailable' })
    await new Promise((resolve) => setTimeout(resolve, 200))
    setup.later(21)
    await outcome
    expect(await setup.vault.find('ann', 'ctx')).toMatchObject({ status: 'active' })
  })

  test('uses what another process got while it waited', async () => {
    setup = await vaultSetup()
    await setup.vault.connect('ann', 'ctx', { ...GRANTED, expiresIn: 0 })
    await setup.store.set(LEASE, 'held:by another', 3_600_000)
    const waiting = setup.vault.accessToken('ann', 'ctx')
    await setup.anotherVault().connect('ann', 'ctx', { ...GRANTED, accessToken: 'theirs' })
    expect(await waiting).toBe('theirs')
    expect(setup.endpoint.requests).toEqual([])
  })
})
