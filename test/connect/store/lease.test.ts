import { expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { acquireLease } from '../../../src/connect/store/lease.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import type { Key } from '../../../src/connect/store/store.ts'

const KEY: Key = { kind: 'lease-test', owner: 'all', id: '' }

test('a lease is held by one process, as long as it is not released', async () => {
  let time = 0
  const store = openSqlite({ file: ':memory:', now: () => time })
  const written = vi.spyOn(store, 'compareAndSet')
  const lease = await acquireLease(store, KEY, 600)
  // Four times two thirds of the lease's duration by the store's clock. Without renewals, the lease would have expired.
  for (let renewals = 1; renewals <= 4; renewals++) {
    await expect.poll(() => written.mock.calls.length, { interval: 10 }).toBeGreaterThan(renewals)
    time += 400
  }
  expect(await acquireLease(store, KEY, 600)).toBeNull()
  await lease?.release()
  expect(await acquireLease(store, KEY, 600)).not.toBeNull()
})

test('a lease whose value another process has written is lost, and its release leaves the other one', async () => {
  const store = openSqlite({ file: ':memory:' })
  const lease = await acquireLease(store, KEY, 150)
  await store.set(KEY, 'other', 60_000)
  await expect.poll(() => lease?.lost.aborted).toBe(true)
  await lease?.release()
  expect(await store.get(KEY)).toBe('other')
})

test('a lease is lost when the store was unreachable for as long as it lasts, not before', async () => {
  const store = openSqlite({ file: ':memory:' })
  const startedAt = performance.now()
  const lease = await acquireLease(store, KEY, 600)
  const wasLost: unknown[] = []
  vi.spyOn(store, 'compareAndSet').mockImplementation(async () => {
    wasLost.push(lease?.lost.aborted)
    throw new StoreUnavailableError('unreachable')
  })
  await expect.poll(() => lease?.lost.aborted).toBe(true)
  expect(wasLost[0]).toBe(false)
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(600)
})
