/** How many calls one credential may make in any window of this length. */
export interface RateLimit {
  limit: number
  windowMs: number
}

/** A sliding window: rejects a call when the window that ends with it already has `limit` accepted calls. */
export function createRateLimiter({ limit, windowMs }: RateLimit) {
  const accepted = new Map<string, number[]>()
  return {
    /** 0 to accept the call; otherwise ms until the next one can be accepted. */
    wait(credential: string): number {
      const now = performance.now()
      const times = accepted.get(credential) ?? []
      accepted.set(credential, times)
      while (times[0] !== undefined && times[0] <= now - windowMs) times.shift()
      if (times.length >= limit) return (times[0] ?? now) + windowMs - now
      times.push(now)
      return 0
    },
  }
}
