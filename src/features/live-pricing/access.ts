import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Clients } from './clients.ts'
import { LivePricingError } from './errors.ts'
import type { Tokens } from './tokens.ts'

/**
 * Returns a function that authenticates a call by its `Authorization` header, a bearer token (RFC 6750), and enforces the
 * client's rate limit; null: no limit. It throws `LivePricingError` (401, 429).
 */
export function requireToken(
  tokens: Tokens,
  clients: Clients,
  rateLimit: { limit: number; windowMs: number } | null,
): (authorization: string | undefined) => Promise<void> {
  const limiter =
    rateLimit && new RateLimiterMemory({ points: rateLimit.limit, duration: rateLimit.windowMs / 1000 })
  return async (authorization = '') => {
    const [, token] = /^Bearer +([\w.~+/=-]+)$/i.exec(authorization) ?? []
    if (!token)
      throw new LivePricingError(
        401,
        'no_token',
        'Authorization: Bearer with an access token is required. Get one from POST /connect/token.',
      )
    const client = await tokens.verify(token)
    if (client === undefined || !clients.has(client))
      throw new LivePricingError(
        401,
        'invalid_token',
        'The access token is invalid or has expired. Request a new one.',
      )
    if (limiter) {
      await limiter.consume(client).catch((exceeded: RateLimiterRes) => {
        throw new LivePricingError(429, 'too_many_requests', 'Too many requests. Try again later.', {
          retryAfterMs: exceeded.msBeforeNext,
        })
      })
    }
  }
}
