import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { acquireLease } from '../../../src/connect/store/lease.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import type { Key } from '../../../src/connect/store/store.ts'
import { refusingStore } from '../../support/vault.ts'

const KEY: Key = { kind: 'lease-test', owner: 'all', id: '' }

test('a lease is held by one process, as long as it is not released', async () => {
  const store = openSqlite({ file: ':memory:' })
  const written = vi.spyOn(store, 'compareAndSet')
  const lease = await acquireLease(store, KEY, 1_500)
  // Four times a third of its life: without its holder it would be over.
  await expect.poll(() => written.mock.calls.length).toBe(5)
  expect(await acquireLease(store, KEY, 1_500)).toBeNull()
  await lease?.release()
  expect(await acquireLease(store, KEY, 1_500)).not.toBeNull()
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
  const { store, refuses } = refusingStore()
  const lease = await acquireLease(store, KEY, 3_000)
  refuses.writes = true
  await pause(300)
  expect(lease?.lost.aborted).toBe(false)
  await expect.poll(() => lease?.lost.aborted).toBe(true)
})
