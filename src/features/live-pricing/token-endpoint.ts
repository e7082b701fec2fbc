import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Clients } from './clients.ts'
import { TokenRequestError } from './errors.ts'
import { bodyOf } from './request-body.ts'
import { readTokenRequest } from './token-request.ts'
import type { Tokens } from './tokens.ts'

/** Failed attempts allowed per window: per client and IP address, and per IP address. */
const MAX_FAILURES = { perClient: 10, perAddress: 30, windowMs: 60_000 }

/** `POST /connect/token` (specification 4.1): the client credentials grant, with rate limiting of failed attempts. */
export function tokenEndpoint(tokens: Tokens, { authenticate, has }: Clients, log: Logger): RequestHandler {
  const duration = MAX_FAILURES.windowMs / 1000
  const clientFailures = new RateLimiterMemory({ points: MAX_FAILURES.perClient, duration })
  const addressFailures = new RateLimiterMemory({ points: MAX_FAILURES.perAddress, duration })
  let warned = false

  return async (req, res) => {
    // RFC 6749 section 5.1
    res.set('Pragma', 'no-cache')
    const { clientId, clientSecret, undecoded } = readTokenRequest(req.headers, bodyOf(req))
    if (!warned && req.get('x-forwarded-for') && req.ip === req.socket.remoteAddress) {
      warned = true
      log.warn(
        'requests arrive through a proxy, but TRUST_PROXY is not set: all callers appear to have the same IP address',
      )
    }
    const address = addressOf(req)
    const client = `${address} ${clientId.slice(0, 100)}`
    const failures = await clientFailures.get(client)
    if (failures && failures.consumedPoints >= MAX_FAILURES.perClient) throw tooManyFailures(failures)
    const valid = [{ clientId, clientSecret }, ...(undecoded ? [undecoded] : [])].find((pair) =>
      authenticate(pair.clientId, pair.clientSecret),
    )
    if (!valid) {
      // The limit per address applies only to failures: other clients may share the address or proxy.
      const total = await addressFailures.penalty(address)
      const exceeded = total.consumedPoints > MAX_FAILURES.perAddress
      // Count every failure of an existing client. Unlimited made-up ids count only until the address is over its
      // limit.
      if (!exceeded || has(clientId)) await clientFailures.penalty(client)
      if (exceeded) throw tooManyFailures(total)
      throw new TokenRequestError(401, 'invalid_client', 'The client id or client secret is incorrect.')
    }
    const token = await tokens.issue(valid.clientId)
    res.json({ access_token: token, token_type: 'Bearer', expires_in: tokens.lifetime })
  }
}

function tooManyFailures({ msBeforeNext }: RateLimiterRes): TokenRequestError {
  return new TokenRequestError(
    429,
    'temporarily_unavailable',
    'Too many failed attempts. Try again later.',
    msBeforeNext,
  )
}

/** The IPv4 address, or the /64 network of an IPv6 address, as a host can use any address in its network. */
function addressOf({ ip = '' }: Request): string {
  if (!ip.includes(':') || ip.startsWith('::ffff:')) return ip
  const [head = '', tail] = ip.split('::')
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean)) as [
    string[],
    string[],
  ]
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length
  return [...first, ...Array<string>(Math.max(0, zeros)).fill('0'), ...last].slice(0, 4).join(':')
}
