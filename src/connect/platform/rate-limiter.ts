import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { appOwner, type Key, type KeyValueStore } from '../store/store.ts'
import { claim } from '../store/update.ts'
import type { ReleasePermit, TokenSource } from './token-source.ts'

export interface RateLimit {
  /** How many requests the platform accepts from one credential in any `windowMs`. */
  limit: number
  windowMs: number
}

export interface RateLimiter {
  /**
   * Waits until one more request of this credential is allowed, among all processes that share the store.
   * Throws `StoreUnavailableError`.
   */
  acquire(credential: string): Promise<ReleasePermit>
}

/** How long the permit of a killed process outlives its window, in ms: longer than any request lasts. */
const LONGEST_REQUEST_MS = 60_000
/** A request counts as received by the platform this long after it was sent, in ms, even if the answer takes longer. */
const ARRIVED_MS = 500
/** What a store's clock may lose by rounding, in ms. */
const ROUNDING_MS = 2
/** How many credentials this process remembers. The store has the permits of all. */
const MAX_CREDENTIALS = 1_000
/** The share of the limit that is spread over the rest of the window. */
const SPREAD = 0.25

/**
 * Client-side rate limiter: uses the full quota, and never exceeds it if requests arrive within half a second. The last
 * quarter of the permits is spread evenly over the rest of the window.
 *
 * There are `limit` permits. A used permit is free again one window after its request was *answered*, or half a second after
 * it was sent, if that is earlier. The platform has counted the request by then, so it counts at most `limit` in any window,
 * sliding or fixed. A permit is an expiring value in the store, which frees it by its own clock: the clocks of processes need
 * not agree.
 *
 * Libraries such as rate-limiter-flexible count fixed windows, which allows twice the limit around a boundary.
 */
export function createRateLimiter(store: KeyValueStore, rateLimit: RateLimit): RateLimiter {
  const limiters = new LRUCache<string, () => Promise<ReleasePermit>>({ max: MAX_CREDENTIALS })
  return {
    acquire(credential) {
      const acquire = limiters.get(credential) ?? limitCredential(store, rateLimit, credential)
      limiters.set(credential, acquire)
      return acquire()
    },
  }
}

/** The permits of a credential, as this process sees them. Times are of `performance.now()`. */
interface PermitState extends RateLimit {
  readonly store: KeyValueStore
  readonly credential: string
  /** For each permit, when to ask the store for it again; 0: at any time. */
  readonly retryAt: Float64Array
  /** The permit to try next. */
  next: number
  /** When this process acquired its permits of the last window, the oldest first. */
  readonly acquired: number[]
  /** Aborts when a permit is released. */
  released: AbortController
}

function limitCredential(store: KeyValueStore, rateLimit: RateLimit, credential: string) {
  const state: PermitState = {
    ...rateLimit,
    store,
    credential,
    retryAt: new Float64Array(rateLimit.limit),
    next: Math.floor(Math.random() * rateLimit.limit),
    acquired: [],
    released: new AbortController(),
  }
  let queue: Promise<unknown> = Promise.resolve()
  return async (): Promise<ReleasePermit> => {
    // One at a time: callers are served in order and do not compete for the same permit.
    const found = queue.then(() => findPermit(state))
    queue = found.catch(() => {})
    const permit = await found
    const acquiredAt = performance.now()
    state.acquired.push(acquiredAt)
    return (sentAt = acquiredAt) => {
      const index = sentAt === null ? state.acquired.lastIndexOf(acquiredAt) : -1
      if (index >= 0) state.acquired.splice(index, 1)
      // A permit that cannot be released expires.
      void release(state, permit, sentAt).catch(() => {})
    }
  }
}

const permitKey = ({ credential }: PermitState, permit: number): Key => ({
  kind: 'permit',
  owner: appOwner(credential),
  id: String(permit),
})

async function findPermit(state: PermitState): Promise<number> {
  const { limit, retryAt } = state
  await spread(state)
  for (;;) {
    for (let tried = 0; tried < limit; tried++) {
      const permit = state.next
      state.next = (state.next + 1) % limit
      if ((retryAt[permit] ?? 0) <= performance.now() && (await claimPermit(state, permit))) return permit
    }
    const soonest = retryAt.reduce((min, time) => Math.min(min, time), Number.POSITIVE_INFINITY)
    const waitMs = Math.max(1, soonest - performance.now())
    // A permit that is released in the meantime may be free sooner.
    await pause(waitMs, undefined, { signal: state.released.signal }).catch(() => {})
  }
}

/**
 * Spreads the last permits over the time until the first one is free again, if this process uses the credential alone: a
 * platform may close an import that sends nothing for most of a window.
 */
async function spread({ acquired, limit, windowMs }: PermitState): Promise<void> {
  const now = performance.now()
  while ((acquired[0] ?? now) <= now - windowMs) acquired.shift()
  const left = limit - acquired.length
  const [oldest = now] = acquired
  if (left <= 0 || left > limit * SPREAD) return
  const gapMs = (oldest + windowMs - now) / left
  await pause(Math.max(0, (acquired.at(-1) ?? now) + gapMs - now))
}

async function claimPermit(state: PermitState, permit: number): Promise<boolean> {
  const { store, windowMs, retryAt } = state
  const key = permitKey(state, permit)
  const until = await store.get(key)
  const ttlMs = windowMs + LONGEST_REQUEST_MS
  if (until === null && (await claim(store, key, String(Date.now() + windowMs), ttlMs))) {
    retryAt[permit] = performance.now() + ttlMs
    return true
  }
  // Another process has it. Its clock may be off, so its value only suggests when to look again.
  const remainingMs = until === null ? windowMs : Number(until) - Date.now()
  retryAt[permit] = performance.now() + Math.min(Math.max(remainingMs, windowMs / 200, 2), windowMs / 4)
  return false
}

async function release(state: PermitState, permit: number, sentAt: number | null): Promise<void> {
  const { store, windowMs, retryAt } = state
  const elapsedMs = sentAt === null ? windowMs : Math.max(0, performance.now() - sentAt - ARRIVED_MS)
  const ttlMs = Math.max(1, Math.ceil(windowMs + ROUNDING_MS - elapsedMs))
  await store.set(permitKey(state, permit), String(Date.now() + ttlMs), ttlMs)
  retryAt[permit] = performance.now() + ttlMs
  state.released.abort()
  state.released = new AbortController()
}

/**
 * Makes API calls wait for the rate limit of their credential, which all processes share; null: no limit. Returns a
 * function that wraps a token source.
 */
export function rateLimited(store: KeyValueStore, rateLimit: RateLimit | null) {
  const limiter = rateLimit && createRateLimiter(store, rateLimit)
  return (source: TokenSource, credential: string): TokenSource =>
    limiter ? { ...source, acquirePermit: () => limiter.acquire(credential) } : source
}
