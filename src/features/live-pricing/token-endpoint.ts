import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { KeyValueStore } from '../../connect/stores.ts'
import type { TokenResponse } from '../../supplier-api/contract.ts'
import type { Clients } from './clients.ts'
import { LivePricingError } from './errors.ts'
import { createFailureCounter } from './failure-counter.ts'
import { bodyOf } from './request-body.ts'
import { readTokenRequest } from './token-request.ts'
import type { Tokens } from './tokens.ts'

/** Failed attempts per window that are answered with 401: per client and IP address, and per IP address. */
const MAX_FAILURES = { perClient: 10, perAddress: 30, windowMs: 60_000 }

export interface TokenEndpointOptions {
  tokens: Tokens
  clients: Clients
  /** Counts failed attempts of all processes; undefined: each process counts its own. */
  store?: KeyValueStore | undefined
  log: Logger
}

/**
 * `POST /connect/token` (specification 4.1): the client credentials grant. Failed attempts above a limit get 429, but a
 * correct secret always gets a token. Throws `LivePricingError` (400, 401, 429).
 */
export function tokenEndpoint({ tokens, clients, store, log }: TokenEndpointOptions): RequestHandler {
  const { perClient, perAddress, windowMs } = MAX_FAILURES
  const countOfClient = createFailureCounter({ name: 'client', max: perClient, windowMs, store })
  const countOfAddress = createFailureCounter({ name: 'address', max: perAddress, windowMs, store })
  let warned = false

  return async (req, res) => {
    const credentials = readTokenRequest(req.headers, bodyOf(req))
    if (!warned && isFromUntrustedProxy(req)) {
      warned = true
      log.warn(
        'requests arrive through a proxy, but TRUST_PROXY is not set: all callers appear to have the same IP address',
      )
    }
    const valid = credentials.find(({ clientId, clientSecret }) =>
      clients.authenticate(clientId, clientSecret),
    )
    if (!valid) {
      // Whoever guesses must not lock out the client, with which they may share an address or a proxy.
      const address = networkOf(req.ip ?? '')
      const clientId = credentials[0]?.clientId.slice(0, 100)
      const retryAfterMs = (await countOfAddress(address)) ?? (await countOfClient(`${address} ${clientId}`))
      throw retryAfterMs === null
        ? new LivePricingError('invalid_client')
        : new LivePricingError('temporarily_unavailable', { retryAfterMs })
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

const isFromUntrustedProxy = (req: Request) =>
  !req.app.get('trust proxy') && (req.get('forwarded') ?? req.get('x-forwarded-for')) !== undefined

/** The IPv4 address, or the /64 network of an IPv6 address, as a host can use any address in its network. */
function networkOf(ip: string): string {
  if (!ip.includes(':') || ip.startsWith('::ffff:')) return ip
  const [head = '', tail] = ip.split('::')
  const first = head.split(':').filter(Boolean)
  const last = tail?.split(':').filter(Boolean) ?? []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':')
}
