import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { withTimeout } from '../timeouts.ts'
import type { Key, KeyValueStore } from './store.ts'

/** Lets only one process at a time do some work. It is renewed until it is released. */
export interface Lease {
  /** Aborts when the lease ends: it was released or taken, or it expired because the store was unreachable for too long. */
  readonly lost: AbortSignal
  /** Never throws: a lease that cannot be released expires. */
  release(): Promise<void>
}

/**
 * Takes a lease that expires after `ms` unless it is renewed, so that another process can take over if this one is killed. Resolves
 * to null if another process holds it. Throws `StoreUnavailableError`.
 */
export async function acquireLease(store: KeyValueStore, key: Key, ms: number): Promise<Lease | null> {
  const token = randomUUID()
  const startedAt = performance.now()
  const isTaken = await store.compareAndSet(key, null, token, ms)
  return isTaken ? keepLease(store, key, token, ms, startedAt) : null
}

/** Renews a lease until it is released or lost. `acquiredAt`: when the lease was requested, by `performance.now()`. */
function keepLease(store: KeyValueStore, key: Key, token: string, ms: number, acquiredAt: number): Lease {
  const lost = new AbortController()
  let until = acquiredAt + ms
  const leftMs = () => until - performance.now()
  const renew = async () => {
    const startedAt = performance.now()
    // Without an answer of the store, the lease remains valid until it expires.
    const renewed = await withTimeout(store.compareAndSet(key, token, token, ms), leftMs()).catch(() => null)
    if (renewed) until = startedAt + ms
    if (renewed === false || leftMs() <= 0) lost.abort()
  }
  const keep = async () => {
    while (!lost.signal.aborted) {
      await pause(Math.min(ms / 3, leftMs()), undefined, { ref: false })
      if (!lost.signal.aborted) await renew()
    }
  }
  void keep()
  return {
    lost: lost.signal,
    async release() {
      lost.abort()
      await store.compareAndSet(key, token, null).catch(() => {})
    },
  }
}
