import type { Key, Store } from '../store/store.ts'
import type { TokenSource } from './token-source.ts'

export interface RateLimit {
  /** How many requests the other side takes from one credential in any `windowMs`. */
  limit: number
  windowMs: number
}

export interface RateLimiter {
  /**
   * Waits until one more request of this credential is allowed, among all processes that share the store; what it
   * resolves to must be called when the request has been answered or has failed, with the time at which it was sent
   * (`performance.now()`; absent: at once). Throws `StoreUnavailableError`.
   */
  acquire(credential: string): Promise<(sentAt?: number) => void>
}

/** How long a killed process keeps a permit beyond its window, in ms: longer than any request lasts. */
const LONGEST_REQUEST_MS = 60_000
/** A request is taken to have been counted this long after it was sent, in ms, even if its answer takes longer. */
const ARRIVED_MS = 500
/** What a store's clock may round away, in ms. */
const ROUNDING_MS = 2

/**
 * Client-side rate limiter: uses the full quota, never exceeds it. There are `limit` permits; one that was used is free again a window
 * after its request was *answered*, or half a second after it was sent, if that is earlier. The other side counted that
 * request before, so in no window, sliding or fixed, does it count more than `limit`. A permit is an expiring value in
 * the store, which frees it by its own clock: processes need not agree on the time.
 *
 * Libraries count fixed windows (rate-limiter-flexible), which lets twice the limit pass around their boundary.
 */
export function createRateLimiter(store: Store, { limit, windowMs }: RateLimit): RateLimiter {
  const credentials = new Map<string, ReturnType<typeof createRing>>()

  function createRing(owner: string) {
    const key = (permit: number): Key => ({ kind: 'permit', owner, id: String(permit) })
    /** When a permit is worth asking for, by our own clock; 0: nothing is known of it. */
    const freeAt = new Float64Array(limit)
    let next = Math.floor(Math.random() * limit)
    let queue: Promise<unknown> = Promise.resolve()
    let wake = () => {}

    async function wait(): Promise<number> {
      for (;;) {
        for (let tried = 0; tried < limit; tried++) {
          const permit = next
          next = (next + 1) % limit
          if ((freeAt[permit] ?? 0) <= performance.now() && (await claim(permit))) return permit
        }
        const soonest = freeAt.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY)
        // A permit that is released meanwhile may be free sooner.
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.max(1, soonest - performance.now()))
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
    }

    async function claim(permit: number): Promise<boolean> {
      const until = await store.get(key(permit))
      const mine = String(Date.now() + windowMs)
      const held = windowMs + LONGEST_REQUEST_MS
      if (until === null && (await store.compareAndSet(key(permit), null, mine, held))) {
        freeAt[permit] = performance.now() + held
        return true
      }
      // Another process has it. Its clock may be off, so what it wrote only says when to look again.
      const left = until === null ? windowMs : Number(until) - Date.now()
      freeAt[permit] = performance.now() + Math.min(Math.max(left, windowMs / 200, 2), windowMs / 4)
      return false
    }

    /** The request is over: the window counts from when it must have been counted. */
    async function release(permit: number, sentAt: number): Promise<void> {
      const late = Math.max(0, performance.now() - sentAt - ARRIVED_MS)
      const left = Math.max(1, Math.ceil(windowMs + ROUNDING_MS - late))
      await store.set(key(permit), String(Date.now() + left), left)
      freeAt[permit] = performance.now() + left
      wake()
    }

    return {
      acquire(): Promise<(sentAt?: number) => void> {
        // One at a time: who came first goes first, and nobody asks the store for what another just took.
        const taken = queue.then(wait)
        queue = taken.catch(() => {})
        // A permit that cannot be released frees itself later.
        return taken.then((permit) => {
          const takenAt = performance.now()
          return (sentAt = takenAt) => void release(permit, sentAt).catch(() => {})
        })
      },
    }
  }

  return {
    acquire(credential) {
      const ring = credentials.get(credential) ?? createRing(credential)
      credentials.set(credential, ring)
      return ring.acquire()
    },
  }
}

/** Makes calls wait for the platform's rate limit, which all processes share; without a limit they do not wait. */
export function rateLimited(store: Store, limit: RateLimit | null) {
  const limiter = limit && createRateLimiter(store, limit)
  return (source: TokenSource, credential: string): TokenSource =>
    limiter ? { ...source, pace: () => limiter.acquire(credential) } : source
}
