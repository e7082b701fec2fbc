import { type Death, type Exchange, isRecord, isRefused, type Probe, type Token } from './exchange.ts'

interface KeeperOptions {
  /** The first token response. */
  first(): Promise<Exchange>
  /** Requests another token. */
  next(): Promise<Exchange>
  callAs: Probe['callAs']
  /** The time in ms since 1970. */
  now(): number
}

/** How long a token certainly lives, in ms: many servers count in whole seconds. */
export const certainMs = ({ expiresIn = Infinity }: Pick<Token, 'expiresIn'>) =>
  Math.max(0, expiresIn - 1) * 1000

/** The part of this time after which a token is replaced. */
const RENEW_AT = 0.9

/** Keeps a token that works: it replaces one that has expired, and one that is refused too early. */
export function createTokenKeeper({ first, next, callAs, now }: KeeperOptions) {
  const ageOf = ({ exchange }: Token) => now() - exchange.sentAt
  const deaths: Death[] = []
  let current: Token | undefined
  let accepted = false
  let started = false

  async function request(send: () => Promise<Exchange>): Promise<Token | undefined> {
    const exchange = await send()
    const value = tokenIn(exchange.json)
    if (value === undefined || exchange.status < 200 || exchange.status > 299) return undefined
    return { value, exchange, expiresIn: lifetimeIn(exchange.json) }
  }

  const newToken = () => request(next)

  async function renew(): Promise<Token | undefined> {
    accepted = false
    current = (await newToken()) ?? current
    return current
  }

  async function token(): Promise<Token | undefined> {
    if (!started) {
      started = true
      current = await request(first)
    }
    return current && ageOf(current) > certainMs(current) * RENEW_AT ? renew() : current
  }

  async function authorized(path: string, body?: unknown): Promise<Exchange | undefined> {
    const used = await token()
    if (!used) return undefined
    const exchange = await callAs(used.value, path, body)
    if (!isRefused(exchange)) {
      accepted = true
      return exchange
    }
    const ageMs = ageOf(used)
    // A slow answer may arrive when the token has expired.
    if (!accepted && ageMs < certainMs(used)) return exchange
    const again = await callAs(used.value, path, body)
    const renewed = await renew()
    if (!renewed || !isRefused(again)) return again
    const retried = await callAs(renewed.value, path, body)
    if (isRefused(retried)) return exchange
    accepted = true
    if (ageMs < certainMs(used)) deaths.push({ ageMs, token: used, exchange })
    return retried
  }

  return { token, newToken, authorized, deaths }
}

/** The token in a token response: `access_token`, or else its longest text, as the specification does not name the field. */
function tokenIn(json: unknown): string | undefined {
  if (!isRecord(json)) return undefined
  const { access_token: named, ...others } = json
  if (typeof named === 'string' && named !== '') return named
  const texts = Object.values(others).filter(
    (value): value is string => typeof value === 'string' && !/^(bearer|\d*)$/i.test(value),
  )
  return texts.sort((a, b) => b.length - a.length)[0]
}

/** What may be secret in a token response: its token and other long texts, or all of a body that is not an object. */
export function secretsIn({ status, json, text }: Exchange): string[] {
  if (status < 200 || status > 299) return []
  if (!isRecord(json)) return [typeof json === 'string' ? json : text].filter((secret) => secret.length > 3)
  const token = tokenIn(json)
  return Object.values(json).filter(
    (value): value is string => typeof value === 'string' && (value === token || value.length > 11),
  )
}

function lifetimeIn(json: unknown): number | undefined {
  const seconds = isRecord(json) ? Number(json.expires_in) : Number.NaN
  return seconds > 0 ? seconds : undefined
}
