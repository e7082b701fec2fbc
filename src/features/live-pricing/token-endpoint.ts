import type { RequestHandler } from 'express'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { TokenResponse } from '../../supplier-api/contract.ts'
import { networkOf } from '../../web/kit.ts'
import { count } from './access.ts'
import type { Clients } from './clients.ts'
import { LivePricingError } from './errors.ts'
import { bodyOf } from './request-body.ts'
import { readTokenRequest } from './token-request.ts'
import type { Tokens } from './tokens.ts'

/** Failed attempts in so many seconds that each process answers with 401: per client and IP address, and per IP address. */
const MAX_FAILURES = { perClient: 10, perAddress: 30, seconds: 60 }

/**
 * `POST /connect/token` (specification 4.1): the client credentials grant. Failed attempts above a limit get 429, but a
 * correct secret always gets a token. Throws `LivePricingError` (400, 401, 429).
 */
export function tokenEndpoint(tokens: Tokens, clients: Clients): RequestHandler {
  const { perClient, perAddress, seconds: duration } = MAX_FAILURES
  const ofClient = new RateLimiterMemory({ points: perClient, duration })
  const ofAddress = new RateLimiterMemory({ points: perAddress, duration })

  return async (req, res) => {
    const credentials = readTokenRequest(req.headers, bodyOf(req))
    const valid = credentials.find(({ clientId, clientSecret }) =>
      clients.authenticate(clientId, clientSecret),
    )
    if (!valid) {
      // Whoever guesses must not lock out the client, with which they may share an address or a proxy.
      const address = networkOf(req.ip ?? '')
      await count(ofAddress, address, 'temporarily_unavailable')
      await count(ofClient, `${address} ${credentials[0]?.clientId.slice(0, 100)}`, 'temporarily_unavailable')
      throw new LivePricingError('invalid_client')
    }
    // RFC 6749 section 5.1
    res.set('Pragma', 'no-cache')
    const answer: TokenResponse = {
      access_token: await tokens.issue(valid.clientId),
      token_type: 'Bearer',
      expires_in: tokens.lifetime,
    }
    res.json(answer)
  }
}
