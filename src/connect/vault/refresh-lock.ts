import { randomUUID } from 'node:crypto'
import type { Key, Store } from '../store/store.ts'
import type { HealthRecords } from './health.ts'

/** Refreshing is paused: after a failure, or because the connection was refreshed a moment ago. */
export interface Backoff {
  because: 'recent' | 'unavailable' | 'misconfigured'
  /** How long from now, in ms. */
  forMs: number
}

/** A held lock. It is renewed while its holder works and is released only by its holder. */
export interface LockHandle {
  /** The holder before sent a request and never said how it ended: it may still come, with tokens. */
  readonly interrupted: boolean
  /** To be called right before the request is sent. False: the lock was lost meanwhile, and somebody else may refresh. */
  confirm(): Promise<boolean>
  /** `settled`: the request that was unfinished has ended, as the record shows. */
  release(settled?: boolean): Promise<void>
  /** Releases after a refresh; the next automatic one waits until 30 s after this one was sent. */
  releaseAfterRefresh(sentAt: number): Promise<void>
  /** Releases after a failure, and pauses for a time that grows with every failure in a row, at least `minMs`. */
  releaseWithBackoff(because: 'unavailable' | 'misconfigured', minMs?: number): Promise<void>
}

export interface RefreshLock {
  /**
   * The lock; or why it cannot be had: another process is refreshing, or refreshing is paused. A person's request
   * overrides a pause once 5 s have passed since the last request.
   */
  acquire(userId: string, context: string, manual?: boolean): Promise<LockHandle | Backoff | 'busy'>
  /** How long until a person may ask for a refresh, in ms; 0 when at once. */
  manualWait(userId: string, context: string): Promise<number>
  /** Ends a pause, and forgets an unfinished request: a new consent is a new start. A lock that is held stays. */
  reset(userId: string, context: string): Promise<void>
}

export interface RefreshLockOptions {
  /** How long a killed holder keeps others out, in ms. */
  leaseMs?: number
  /** The shortest time between two automatic refreshes of a connection, in ms. */
  minIntervalMs?: number
  now?: () => number
}

const FIRST_BACKOFF_MS = 1_000
const MAX_BACKOFF_MS = 30_000
const MIN_INTERVAL_MS = 30_000
/** The shortest time between two refreshes that a person asks for, in ms. */
const MANUAL_INTERVAL_MS = 5_000
/** How long it is remembered that a request was sent and not finished, in ms: longer than tokens are held in memory. */
const UNFINISHED_MS = 660_000

/**
 * At most one refresh per connection among all processes, at most one in 30 s, and a pause after a failure, so that an
 * outage is not hammered. One expiring value in the store says which: `held:<id>` or `paused:<json>`. Only an
 * optimisation: correctness comes from compare-and-set on the connection itself.
 */
export function createRefreshLock(
  store: Store,
  health: HealthRecords,
  { leaseMs = 5_000, minIntervalMs = MIN_INTERVAL_MS, now = Date.now }: RefreshLockOptions = {},
): RefreshLock {
  const lockKey = (userId: string, context: string): Key => ({ kind: 'lease', owner: userId, id: context })
  /** When the last request was sent; expires when a person may ask again. */
  const sentKey = (userId: string, context: string): Key => ({
    kind: 'refresh-sent',
    owner: userId,
    id: context,
  })

  /** There while a request is unfinished; it outlives the lock of a holder that cannot reach the store. */
  const unfinishedKey = (userId: string, context: string): Key => ({
    kind: 'refresh-unfinished',
    owner: userId,
    id: context,
  })

  /** What is left of a time. The store ends it by its clock; ours, which may be off, only estimates. */
  const rest = (until: number, ms: number) => Math.min(Math.max(until - now(), 0), ms)

  function readPause(value: string | null): Backoff | null {
    if (!value?.startsWith('paused:')) return null
    try {
      const { because, until, ms } = JSON.parse(value.slice('paused:'.length))
      return { because, forMs: rest(until, ms) }
    } catch {
      return null
    }
  }

  async function manualWait(userId: string, context: string): Promise<number> {
    const sentAt = await store.get(sentKey(userId, context))
    return sentAt === null ? 0 : rest(Number(sentAt) + MANUAL_INTERVAL_MS, MANUAL_INTERVAL_MS)
  }

  async function createHandle(userId: string, context: string, token: string): Promise<LockHandle> {
    const key = lockKey(userId, context)
    const interrupted = (await store.get(unfinishedKey(userId, context))) !== null
    let held = true
    let unfinished = false
    const renew = async () => {
      if (!held) return false
      // A store that was away or failed over may have lost the lock; it is still ours if nobody else took it.
      return (
        (await store.compareAndSet(key, token, token, leaseMs)) ||
        (await store.compareAndSet(key, null, token, leaseMs))
      )
    }
    const renewal = setInterval(() => renew().catch(() => {}), leaseMs / 3)
    renewal.unref()
    const stopRenewing = () => {
      held = false
      clearInterval(renewal)
    }
    const finish = async () => {
      if (unfinished) await store.delete(unfinishedKey(userId, context))
    }
    const pause = async (because: Backoff['because'], ms: number) => {
      stopRenewing()
      await finish()
      const value = `paused:${JSON.stringify({ because, until: now() + ms, ms })}`
      if (ms <= 0) return void (await store.compareAndSet(key, token, null))
      // The lock may have expired while the store was away.
      const paused = await store.compareAndSet(key, token, value, ms)
      if (!paused) await store.compareAndSet(key, null, value, ms)
    }
    return {
      interrupted,
      async confirm() {
        if (!(await renew())) {
          stopRenewing()
          return false
        }
        await Promise.all([
          store.set(sentKey(userId, context), String(now()), MANUAL_INTERVAL_MS),
          store.set(unfinishedKey(userId, context), '1', UNFINISHED_MS),
        ])
        unfinished = true
        return true
      },
      async release(settled = false) {
        stopRenewing()
        unfinished ||= settled
        await finish()
        await store.compareAndSet(key, token, null)
      },
      releaseAfterRefresh: (sentAt) => pause('recent', Math.max(0, sentAt + minIntervalMs - now())),
      async releaseWithBackoff(because, minMs = 0) {
        stopRenewing()
        const failures = await health.refreshFailed(userId, context).catch(() => 1)
        await pause(
          because,
          Math.max(minMs, Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS)),
        )
      },
    }
  }

  return {
    manualWait,

    async acquire(userId, context, manual = false) {
      const key = lockKey(userId, context)
      const token = `held:${randomUUID()}`
      if (manual) {
        const forMs = await manualWait(userId, context)
        if (forMs > 0) return { because: 'recent', forMs }
      }
      if (await store.compareAndSet(key, null, token, leaseMs)) return createHandle(userId, context, token)
      const value = await store.get(key)
      const pause = readPause(value)
      if (!pause) return 'busy'
      if (manual && (await store.compareAndSet(key, value, token, leaseMs)))
        return createHandle(userId, context, token)
      return pause
    },

    async reset(userId, context) {
      const value = await store.get(lockKey(userId, context))
      if (readPause(value)) await store.compareAndSet(lockKey(userId, context), value, null)
      await Promise.all([
        store.delete(unfinishedKey(userId, context)),
        store.delete(sentKey(userId, context)),
      ])
    },
  }
}
