import { createHmac, generateKeySync } from 'node:crypto'
import type { RequestHandler } from 'express'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { field } from '../../../web/feature-api.ts'
import type { TokenResponse } from '../api/contract.ts'
import { type ErrorCode, LivePricingError } from './errors.ts'
import { networkOf } from './network.ts'
import { bodyOf } from './request-body.ts'
import { type Credentials, readTokenRequest } from './token-request.ts'
import type { Tokens } from './tokens.ts'

/** A caller of the live pricing API. During rotation, two clients have the same id. */
export interface Client {
  id: string
  secret: string
}

/** How many failed attempts in 60 seconds each process answers with 401: per client and IP address, and per IP address. */
const MAX_FAILURES = { perClient: 10, perAddress: 30 }

/**
 * `POST /connect/token` (specification 4.1): the client credentials grant. Failed attempts above a limit get 429, but a
 * correct secret always gets a token. Throws `LivePricingError` (400, 401, 429).
 */
export function tokenEndpoint(tokens: Tokens, clients: readonly Client[]): RequestHandler {
  const ofClient = new RateLimiterMemory({ points: MAX_FAILURES.perClient, duration: 60 })
  const ofAddress = new RateLimiterMemory({ points: MAX_FAILURES.perAddress, duration: 60 })
  const areValid = knownCredentials(clients)

  return async (req, res) => {
    const credentials = readTokenRequest(req.get('content-type'), bodyOf(req))
    if (!areValid(credentials)) {
      // An attacker who guesses secrets must not lock out the real client, which may share the address or the proxy.
      const address = networkOf(req.ip ?? '')
      await count(ofAddress, address, 'temporarily_unavailable')
      await count(ofClient, `${address} ${credentials.clientId.slice(0, 100)}`, 'temporarily_unavailable')
      throw new LivePricingError('invalid_client')
    }
    // RFC 6749 section 5.1
    res.set('Pragma', 'no-cache')
    const access_token = await tokens.issue(credentials.clientId)
    const answer: TokenResponse = { access_token, token_type: 'Bearer', expires_in: tokens.lifetime }
    res.json(answer)
  }
}

/** Looks up HMACs under a random key, so that neither timing nor length reveals anything about a secret. */
function knownCredentials(clients: readonly Client[]) {
  const key = generateKeySync('hmac', { length: 256 })
  const digest = (...pair: [id: string, secret: string]) =>
    createHmac('sha256', key).update(JSON.stringify(pair)).digest('base64')
  const known = new Set(clients.map(({ id, secret }) => digest(id, secret)))
  return ({ clientId, clientSecret }: Credentials) => known.has(digest(clientId, clientSecret))
}

/**
 * Authenticates a call by its bearer token (RFC 6750), and enforces the client's rate limit (null: no limit). Throws
 * `LivePricingError` (401, 429).
 */
export function requireToken(
  tokens: Tokens,
  clients: readonly Client[],
  rateLimit: field.RateLimit | null,
): RequestHandler {
  const limiter =
    rateLimit && new RateLimiterMemory({ points: rateLimit.limit, duration: rateLimit.windowMs / 1000 })
  return async (req, _res, next) => {
    const [, token] = /^Bearer +([\w.~+/=-]+)$/i.exec(req.get('authorization') ?? '') ?? []
    if (!token) throw new LivePricingError('no_token')
    const caller = await tokens.verify(token)
    if (caller === undefined || !clients.some(({ id }) => id === caller))
      throw new LivePricingError('invalid_token')
    if (limiter) await count(limiter, caller, 'too_many_requests')
    next()
  }
}

/** Counts a call or an attempt of `id` in this process. Throws `LivePricingError` with this code if there were too many. */
async function count(limiter: RateLimiterMemory, id: string, code: ErrorCode): Promise<void> {
  await limiter.consume(id).catch((exceeded: unknown) => {
    if (!(exceeded instanceof RateLimiterRes)) throw exceeded
    throw new LivePricingError(code, { retryAfterMs: exceeded.msBeforeNext })
  })
}
