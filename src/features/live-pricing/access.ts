import type { RequestHandler } from 'express'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { field } from '../../web/kit.ts'
import type { Clients } from './clients.ts'
import { type ErrorCode, LivePricingError } from './errors.ts'
import type { Tokens } from './tokens.ts'

/**
 * Authenticates a call by its bearer token (RFC 6750), and enforces the client's rate limit; null: no limit. Throws
 * `LivePricingError` (401, 429).
 */
export function requireToken(
  tokens: Tokens,
  clients: Clients,
  rateLimit: field.RateLimit | null,
): RequestHandler {
  const limiter =
    rateLimit && new RateLimiterMemory({ points: rateLimit.limit, duration: rateLimit.windowMs / 1000 })
  return async (req, _res, next) => {
    const [, token] = /^Bearer +([\w.~+/=-]+)$/i.exec(req.get('authorization') ?? '') ?? []
    if (!token) throw new LivePricingError('no_token')
    const client = await tokens.verify(token)
    if (client === undefined || !clients.has(client)) throw new LivePricingError('invalid_token')
    if (limiter) await count(limiter, client, 'too_many_requests')
    next()
  }
}

/** Counts a call or an attempt of `id` in this process. Throws `LivePricingError` with this code if there were too many. */
export async function count(limiter: RateLimiterMemory, id: string, code: ErrorCode): Promise<void> {
  await limiter.consume(id).catch((exceeded: unknown) => {
    if (!(exceeded instanceof RateLimiterRes)) throw exceeded
    throw new LivePricingError(code, { retryAfterMs: exceeded.msBeforeNext })
  })
}
