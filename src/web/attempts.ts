import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { WebError } from './errors.ts'
import { networkOf } from './network.ts'
import { texts } from './texts.ts'

/** How many sign-ins may fail within `seconds`, as each process counts them. Guesses from one network lock out nobody in another. */
const MAX_FAILURES = { perAccountAndNetwork: 10, perNetwork: 50, perAccount: 100, seconds: 900 }

/**
 * Returns a function that runs `attempt`, a sign-in that resolves to null if it fails. If too many have failed from this IP address
 * or for this account, it throws `too_many_attempts` (429) instead. An attempt counts as failed from its start, so that many at
 * once do not pass the limit. An attempt that succeeds or throws no longer counts.
 */
export function createAttempts() {
  const { perAccountAndNetwork, perNetwork, perAccount, seconds: duration } = MAX_FAILURES
  const limiter = (points: number) => new RateLimiterMemory({ points, duration })
  const ofBoth = limiter(perAccountAndNetwork)
  const ofNetwork = limiter(perNetwork)
  const ofAccount = limiter(perAccount)

  return async <T>(ip: string, account: string, attempt: () => Promise<T | null>): Promise<T | null> => {
    const [network, name] = [networkOf(ip), account.toLowerCase().slice(0, 100)]
    // The narrowest limit comes first, so that what it refuses does not count for other users of the network.
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
