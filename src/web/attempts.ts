import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { WebError } from './errors.ts'
import { networkOf } from './network.ts'
import { texts } from './texts.ts'

/** How many sign-ins may fail in so many seconds, for each process. A guess from one network locks nobody out elsewhere. */
const MAX_FAILURES = { perAccountAndNetwork: 10, perNetwork: 50, perAccount: 100, seconds: 900 }

/**
 * Returns a function that runs a sign-in from an IP address (null: it failed), unless too many have failed: then it throws
 * `too_many_attempts` (429). An attempt counts from its start, so that many at once are no way around, unless it succeeds or throws.
 */
export function createAttempts() {
  const { perAccountAndNetwork, perNetwork, perAccount, seconds: duration } = MAX_FAILURES
  const limiter = (points: number) => new RateLimiterMemory({ points, duration })
  const ofBoth = limiter(perAccountAndNetwork)
  const ofNetwork = limiter(perNetwork)
  const ofAccount = limiter(perAccount)

  return async <T>(ip: string, account: string, attempt: () => Promise<T | null>): Promise<T | null> => {
    const [network, name] = [networkOf(ip), account.toLowerCase().slice(0, 100)]
    // The narrowest first: what it refuses does not count for other users of the network.
    const counts = [
      { limiter: ofBoth, key: `${network} ${name}` },
      { limiter: ofNetwork, key: network },
      { limiter: ofAccount, key: name },
    ]
    for (const { limiter, key } of counts) await limiter.consume(key).catch(refuse)
    let hasFailed = false
    try {
      const result = await attempt()
      hasFailed = result === null
      return result
    } finally {
      if (!hasFailed) for (const { limiter, key } of counts) await limiter.reward(key)
    }
  }
}

function refuse(exceeded: unknown): never {
  if (!(exceeded instanceof RateLimiterRes)) throw exceeded
  const { msBeforeNext: retryAfterMs } = exceeded
  const message = texts.signIn.tooManyAttempts(Math.ceil(retryAfterMs / 60_000))
  throw new WebError(429, 'too_many_attempts', message, { retryAfterMs })
}
