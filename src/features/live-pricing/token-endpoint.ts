import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import type { KeyValueStore } from '../../connect/stores.ts'
import type { TokenResponse } from '../../supplier-api/contract.ts'
import type { Clients } from './clients.ts'
import { TokenRequestError } from './errors.ts'
import { createFailureCounter } from './failure-counter.ts'
import { readTokenRequest } from './token-request.ts'
import type { Tokens } from './tokens.ts'

/** Failed attempts per window that are answered with 401: per client and IP address, and per IP address. */
const MAX_FAILURES = { perClient: 10, perAddress: 30, windowMs: 60_000 }

export interface TokenEndpointOptions {
  tokens: Tokens
  clients: Clients
  /** How many reverse proxies are in front of the app; their `X-Forwarded-For` is trusted. */
  trustProxy: number
  /** Counts failed attempts of all processes; undefined: each process counts its own. */
  store?: KeyValueStore | undefined
  log: Logger
}

/**
 * `POST /connect/token` (specification 4.1): the client credentials grant. Failed attempts above a limit get 429, but a
 * correct secret always gets a token. Returns a function that resolves to the token response or throws `TokenRequestError` (400, 401, 429).
 */
export function tokenEndpoint({ tokens, clients, trustProxy, store, log }: TokenEndpointOptions) {
  const { perClient, perAddress, windowMs } = MAX_FAILURES
  const countOfClient = createFailureCounter({ name: 'client', max: perClient, windowMs, store })
  const countOfAddress = createFailureCounter({ name: 'address', max: perAddress, windowMs, store })
  let warned = false

  return async (req: IncomingMessage, body: Buffer): Promise<TokenResponse> => {
    const { clientId, clientSecret, undecoded } = readTokenRequest(req.headers, body)
    const { 'x-forwarded-for': xForwardedFor, forwarded = xForwardedFor } = req.headers
    if (!warned && trustProxy === 0 && forwarded !== undefined) {
      warned = true
      log.warn(
        'requests arrive through a proxy, but TRUST_PROXY is not set: all callers appear to have the same IP address',
      )
    }
    const valid = [{ clientId, clientSecret }, ...(undecoded ? [undecoded] : [])].find((pair) =>
      clients.authenticate(pair.clientId, pair.clientSecret),
    )
    // Whoever guesses must not lock out the client, with which they may share an address or a proxy.
    if (!valid) throw await countFailure(networkOf(clientAddress(req, trustProxy)), clientId)
    const token = await tokens.issue(valid.clientId)
    return { access_token: token, token_type: 'Bearer', expires_in: tokens.lifetime }
  }

  /** Counts a failed attempt. Resolves to the error for it: 401, or 429 above a limit. */
  async function countFailure(address: string, clientId: string): Promise<TokenRequestError> {
    const waitMs =
      (await countOfAddress(address)) ?? (await countOfClient(`${address} ${clientId.slice(0, 100)}`))
    if (waitMs !== null)
      return new TokenRequestError(
        429,
        'temporarily_unavailable',
        'Too many failed attempts. Try again later.',
        waitMs,
      )
    return new TokenRequestError(401, 'invalid_client', 'The client id or client secret is incorrect.')
  }
}

/** The caller's address: that of the socket, or the one reported by the outermost trusted proxy. */
function clientAddress({ socket, headers }: IncomingMessage, trustProxy: number): string {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join().split(',')
  const addresses = [...forwarded.map((part) => part.trim()).filter(Boolean), socket.remoteAddress ?? '']
  return addresses.at(-1 - trustProxy) ?? addresses[0] ?? ''
}

/** The IPv4 address, or the /64 network of an IPv6 address, as a host can use any address in its network. */
function networkOf(ip: string): string {
  if (!ip.includes(':') || ip.startsWith('::ffff:')) return ip
  const [head = '', tail] = ip.split('::')
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean)) as [
    string[],
    string[],
  ]
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length
  return [...first, ...Array<string>(Math.max(0, zeros)).fill('0'), ...last].slice(0, 4).join(':')
}
