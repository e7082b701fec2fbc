/** How many calls one credential may make in any window of this length. */
export interface RateLimit {
  limit: number
  windowMs: number
}

/** A sliding window: a call is refused when `limit` calls were let through in the window that ends with it. */
export function createRateLimiter({ limit, windowMs }: RateLimit) {
  const passed = new Map<string, number[]>()
  return {
    /** 0 when the call may pass; otherwise ms until one may. */
    wait(credential: string): number {
      const now = performance.now()
      const times = passed.get(credential) ?? []
      passed.set(credential, times)
      while (times[0] !== undefined && times[0] <= now - windowMs) times.shift()
      if (times.length >= limit) return (times[0] ?? now) + windowMs - now
      times.push(now)
      return 0
    },
  }
}
