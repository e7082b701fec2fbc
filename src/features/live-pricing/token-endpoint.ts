import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Clients } from './clients.ts'
import { TokenRequestError } from './errors.ts'
import { bodyOf } from './request-body.ts'
import { readTokenRequest } from './token-request.ts'
import type { Tokens } from './tokens.ts'

/** How many wrong credentials a minute are looked at: of one client from one address, and from one address at all. */
const GUESSES = { ofClient: 10, ofAddress: 30, windowMs: 60_000 }

/** `POST /connect/token` (specification 4.1): the client credentials grant, slow to let secrets be guessed. */
export function tokenEndpoint(tokens: Tokens, { authenticate, has }: Clients, log: Logger): RequestHandler {
  const duration = GUESSES.windowMs / 1000
  const ofClient = new RateLimiterMemory({ points: GUESSES.ofClient, duration })
  const ofAddress = new RateLimiterMemory({ points: GUESSES.ofAddress, duration })
  let warned = false

  return async (req, res) => {
    // RFC 6749 section 5.1
    res.set('Pragma', 'no-cache')
    const { clientId, clientSecret, asSent } = readTokenRequest(req.headers, bodyOf(req))
    if (!warned && req.get('x-forwarded-for') && req.ip === req.socket.remoteAddress) {
      warned = true
      log.warn(
        'a proxy stands in front, and TRUST_PROXY does not say so: all callers seem to have one address',
      )
    }
    const address = addressOf(req)
    const client = `${address} ${clientId.slice(0, 100)}`
    const held = await ofClient.get(client)
    if (held && held.consumedPoints >= GUESSES.ofClient) throw tooManyGuesses(held)
    const right = [{ clientId, clientSecret }, ...(asSent ? [asSent] : [])].find((pair) =>
      authenticate(pair.clientId, pair.clientSecret),
    )
    if (!right) {
      // Who is right is let in all the same: others at the address, or behind the same proxy, may be guessing.
      const all = await ofAddress.penalty(address)
      const over = all.consumedPoints > GUESSES.ofAddress
      // Guesses at a client always count; made-up ids, without number, only as long as the address is not over.
      if (!over || has(clientId)) await ofClient.penalty(client)
      if (over) throw tooManyGuesses(all)
      throw new TokenRequestError(401, 'invalid_client', 'The client id or the client secret is wrong.')
    }
    const token = await tokens.issue(right.clientId)
    res.json({ access_token: token, token_type: 'Bearer', expires_in: tokens.lifetime })
  }
}

function tooManyGuesses({ msBeforeNext }: RateLimiterRes): TokenRequestError {
  return new TokenRequestError(
    429,
    'temporarily_unavailable',
    'Too many wrong credentials. Try again later.',
    msBeforeNext,
  )
}

/** An address; of IPv6 the network of 64 bits, as one host has as many addresses as it likes. */
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
