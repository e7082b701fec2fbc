import type { RequestHandler } from 'express'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Clients } from './clients.ts'
import { LivePricingError } from './errors.ts'
import type { Tokens } from './tokens.ts'

/** Whose call it is, by a bearer token (RFC 6750) in the header, and not more of their calls than the limit. */
export function requireToken(
  tokens: Tokens,
  clients: Clients,
  rateLimit: { limit: number; windowMs: number } | null,
): RequestHandler {
  const calls =
    rateLimit && new RateLimiterMemory({ points: rateLimit.limit, duration: rateLimit.windowMs / 1000 })
  return async (req, _res, next) => {
    const header = req.get('authorization')
    const [, token] = /^Bearer +([\w.~+/=-]+)$/i.exec(header ?? '') ?? []
    if (!token)
      throw new LivePricingError(
        401,
        'no_token',
        'This call needs an access token: Authorization: Bearer, from POST /connect/token.',
      )
    const client = await tokens.verify(token)
    if (client === undefined || !clients.has(client))
      throw new LivePricingError(
        401,
        'invalid_token',
        'The access token is not valid, or not any more. Ask for a new one.',
      )
    if (calls) {
      await calls.consume(client).catch((over: RateLimiterRes) => {
        throw new LivePricingError(429, 'too_many_requests', 'Too many requests. Try again later.', {
          retryAfterMs: over.msBeforeNext,
        })
      })
    }
    next()
  }
}
