import { randomUUID } from 'node:crypto'
import type { Key, Store } from '../store/store.ts'

/** Why refreshing does not work just now. */
export type Trouble = 'unavailable' | 'misconfigured'

/** Refreshing is paused after a failure. */
export interface Pause {
  because: Trouble
  /** How long from now, in ms. */
  forMs: number
}

/** The one who may refresh. Its lease is renewed while it works and is released only by itself. */
export interface Pass {
  leave(): Promise<void>
  /** Leaves, and lets nobody in for a while that grows with every failure in a row, at least `minMs`. */
  leavePaused(because: Trouble, minMs?: number): Promise<void>
}

export interface Gate {
  /** A pass; or why there is none: another process is refreshing, or refreshing is paused. */
  enter(userId: string, context: string): Promise<Pass | Pause | 'busy'>
  /** Remembers for a minute that the platform did not answer an API call; refreshing goes on as it was. */
  noteOutage(userId: string, context: string): Promise<void>
  /** What the latest refresh failed of, or a recent API call; null once a refresh has worked. */
  trouble(userId: string, context: string): Promise<Trouble | null>
  /** Ends trouble and pause: a new consent is a new start. A lease that is held stays. */
  reset(userId: string, context: string): Promise<void>
}

export interface GateOptions {
  /** How long a killed holder keeps others out, in ms. */
  leaseMs?: number
  now?: () => number
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** How long an API call that was not answered is remembered, in ms. */
const OUTAGE_MS = 60_000
/** How long a failure is remembered when nobody tries again, in ms. */
const MEMORY_MS = 24 * 3_600_000

/**
 * At most one refresh per connection among all processes, and a rest after a failure, so that an outage is not
 * hammered. One expiring value in the store says both: `held:<pass>` or `paused:<json>`. Only an optimisation:
 * correctness comes from compare-and-set on the connection itself.
 */
export function createGate(store: Store, { leaseMs = 5_000, now = Date.now }: GateOptions = {}): Gate {
  const lease = (userId: string, context: string): Key => ({ kind: 'lease', owner: userId, id: context })
  const failures = (userId: string, context: string): Key => ({
    kind: 'failures',
    owner: userId,
    id: context,
  })

  const failed = async (
    userId: string,
    context: string,
  ): Promise<{ count: number; because: Trouble | null }> => {
    const value = await store.get(failures(userId, context))
    return value === null ? { count: 0, because: null } : JSON.parse(value)
  }

  const read = (value: string | null): Pause | null => {
    if (!value?.startsWith('paused:')) return null
    const { because, until, ms } = JSON.parse(value.slice('paused:'.length))
    // The store ends the pause; our clock, which may be off, only estimates what is left of it.
    return { because, forMs: Math.min(Math.max(until - now(), 0), ms) }
  }

  function createPass(userId: string, context: string, mine: string): Pass {
    const key = lease(userId, context)
    const renewal = setInterval(() => {
      store.compareAndSet(key, mine, mine, leaseMs).catch(() => {})
    }, leaseMs / 3)
    renewal.unref()
    return {
      async leave() {
        clearInterval(renewal)
        await store.compareAndSet(key, mine, null)
        await store.delete(failures(userId, context))
      },
      async leavePaused(because, minMs = 0) {
        clearInterval(renewal)
        const { count } = await failed(userId, context)
        const ms = Math.max(minMs, Math.min(FIRST_PAUSE_MS * 2 ** count, LONGEST_PAUSE_MS))
        await store.set(failures(userId, context), JSON.stringify({ count: count + 1, because }), MEMORY_MS)
        const value = `paused:${JSON.stringify({ because, until: now() + ms, ms })}`
        await store.compareAndSet(key, mine, value, ms)
      },
    }
  }

  return {
    async enter(userId, context) {
      const mine = `held:${randomUUID()}`
      const key = lease(userId, context)
      if (await store.compareAndSet(key, null, mine, leaseMs)) return createPass(userId, context, mine)
      return read(await store.get(key)) ?? 'busy'
    },

    async noteOutage(userId, context) {
      const note = JSON.stringify({ count: 0, because: 'unavailable' })
      await store.compareAndSet(failures(userId, context), null, note, OUTAGE_MS)
    },

    trouble: async (userId, context) => (await failed(userId, context)).because,

    async reset(userId, context) {
      const value = await store.get(lease(userId, context))
      if (read(value)) await store.compareAndSet(lease(userId, context), value, null)
      await store.delete(failures(userId, context))
    },
  }
}
