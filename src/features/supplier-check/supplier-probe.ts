import { setTimeout as sleep } from 'node:timers/promises'
import { fetch as fetchByHttp } from 'undici'
import { GRANT_TYPE, PATHS } from '../../supplier-api/contract.ts'
import type { Call, Clock, Exchange, IssuedToken, Probe, TokenEncoding } from './exchange.ts'
import { createRedactor } from './redact.ts'
import { send } from './send.ts'
import { createTokenKeeper, secretsIn } from './token-keeper.ts'

export interface ProbeOptions {
  baseUrl: string
  clientId: string
  clientSecret: string
  /** Sends token requests as JSON only. By default, they are forms, or JSON if the API does not accept a form. */
  tokenJson?: boolean
  /** Timeout of each call, in ms; 15,000 by default. */
  timeoutMs?: number
  clock?: Clock
  /** Answers the calls; `fetch` of undici by default. */
  fetch?: typeof fetchByHttp
}

const REAL_CLOCK: Clock = { now: Date.now, sleep: (ms) => sleep(ms) }

const FORM_TYPE = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

/** How often a call that is limited (429) is sent, and the longest wait that is honoured, in ms. */
const MAX_ATTEMPTS = 6
const MAX_WAIT_MS = 60_000

/** How long a supplier asks to wait (RFC 9110 section 10.2.3), in ms; undefined if it does not, or for too long. */
function retryAfterMs({ headers, receivedAt }: Exchange): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - receivedAt
  return waitMs <= MAX_WAIT_MS ? Math.max(0, waitMs) + 100 : undefined
}

/** Whether a token request may have been refused because it was not JSON. */
const mayWantJson = ({ status }: Exchange) => status >= 400 && status !== 429

/** Creates a probe for the API at `baseUrl`. */
export function createProbe(options: ProbeOptions): Probe {
  const { baseUrl, clientId, clientSecret, tokenJson = false } = options
  const { timeoutMs = 15_000, clock = REAL_CLOCK, fetch = fetchByHttp } = options
  const { hide, redact } = createRedactor()
  hide(clientSecret)
  hide(Buffer.from(`${clientId}:${clientSecret}`).toString('base64'))
  const exchanges: Exchange[] = []
  const credentials = { grant_type: GRANT_TYPE, client_id: clientId, client_secret: clientSecret }
  let encoding: TokenEncoding = tokenJson ? 'json' : 'form'

  async function call(path: string, call: Call = {}): Promise<Exchange> {
    for (let attempt = 1; ; attempt++) {
      const sentAt = clock.now()
      const response = await send(path, call, { baseUrl, timeoutMs, fetch })
      const exchange = { ...response, sentAt, receivedAt: clock.now() }
      exchanges.push(exchange)
      const waitMs = response.status === 429 && attempt < MAX_ATTEMPTS ? retryAfterMs(exchange) : undefined
      if (waitMs === undefined) return exchange
      await clock.sleep(waitMs)
    }
  }

  async function requestToken(fields: Record<string, string>, as = encoding): Promise<Exchange> {
    const exchange = await call(PATHS.token, tokenCall(fields, as))
    for (const secret of secretsIn(exchange)) hide(secret)
    return exchange
  }

  const callAs: Probe['callAs'] = (bearer, path, body) => call(path, jsonCall(bearer, body))

  let grant: Promise<IssuedToken> | undefined
  async function firstGrant(): Promise<IssuedToken> {
    const first = await requestToken(credentials)
    const exchange = tokenJson || !mayWantJson(first) ? first : await requestToken(credentials, 'json')
    if (first === exchange || exchange.status !== 200) return { first, exchange: first }
    encoding = 'json'
    return { first, exchange }
  }
  const granted = () => (grant ??= firstGrant())
  const keeper = createTokenKeeper({
    first: async () => (await granted()).exchange,
    next: () => requestToken(credentials),
    callAs,
    now: clock.now,
  })
  return {
    call,
    callAs,
    requestToken,
    granted,
    ...keeper,
    clock,
    credentials,
    tokenEncoding: () => encoding,
    exchanges,
    hide,
    redact,
  }
}

function tokenCall(fields: Record<string, string>, encoding: TokenEncoding): Call {
  const headers = { 'content-type': encoding === 'json' ? JSON_TYPE : FORM_TYPE, accept: JSON_TYPE }
  const body = encoding === 'json' ? JSON.stringify(fields) : new URLSearchParams(fields).toString()
  return { method: 'POST', body, headers }
}

/** A call with a bearer token, if there is one, that posts the body, if there is one. A text is sent as it is. */
function jsonCall(bearer: string | undefined, body: unknown): Call {
  const headers = { accept: JSON_TYPE, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) }
  if (body === undefined) return { headers }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { method: 'POST', body: text, headers: { ...headers, 'content-type': JSON_TYPE } }
}
