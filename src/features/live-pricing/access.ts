import type { RequestHandler } from 'express'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Clients } from './clients.ts'
import { LivePricingError } from './errors.ts'
import type { Tokens } from './tokens.ts'

/** Authenticates a call by its bearer token (RFC 6750) and enforces the client's rate limit; null: no limit. */
export function requireToken(
  tokens: Tokens,
  clients: Clients,
  rateLimit: { limit: number; windowMs: number } | null,
): RequestHandler {
  const limiter =
    rateLimit && new RateLimiterMemory({ points: rateLimit.limit, duration: rateLimit.windowMs / 1000 })
  return async (req, _res, next) => {
    const header = req.get('authorization')
    const [, token] = /^Bearer +([\w.~+/=-]+)$/i.exec(header ?? '') ?? []
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
    next()
  }
}
