import { setTimeout as sleep } from 'node:timers/promises'
import { GRANT_TYPE, PATHS } from '../contract.ts'
import { createRedactor } from './redact.ts'
import { send } from './send.ts'
import { createTokenKeeper, type Death, secretsIn, type Token } from './token-keeper.ts'

/** A request and its response. They may hold secrets: only `Probe.redact` makes them fit to be shown. */
export interface Exchange {
  request: string
  /** 0 if there was no response. */
  status: number
  headers: Headers
  text: string
  /** The parsed body; undefined if it is not JSON. */
  json: unknown
  /** Whether the body is valid UTF-8. */
  isUtf8: boolean
  /** When the request was sent and its response received, in ms since 1970. */
  sentAt: number
  receivedAt: number
}

export interface Call {
  method?: string
  body?: string
  headers?: Record<string, string>
}

/** Calls the API under test and records every exchange. */
export interface Probe {
  /** Calls a path below the base URL. Never throws: without a response, the status of the exchange is 0. */
  call(path: string, call?: Call): Promise<Exchange>
  /** Sends a token request with these fields, by default in the encoding that the API accepts. */
  requestToken(fields: Record<string, string>, encoding?: TokenEncoding): Promise<Exchange>
  /** Requests a token with the valid credentials. Later calls return the first result. */
  granted(): Promise<Grant>
  /** Requests another token; resolves to undefined if none is issued. */
  newToken(): Promise<Token | undefined>
  /** The current token, renewed if it has expired; undefined if none is issued. */
  token(): Promise<Token | undefined>
  /** Calls a path with the current token; resolves to undefined if there is no token. */
  authorized(path: string, body?: unknown): Promise<Exchange | undefined>
  /** Calls a path with a text as the bearer token, or with none. */
  callAs(bearer: string | undefined, path: string, body?: unknown): Promise<Exchange>
  /** Tokens that were refused, though they had been accepted and had not expired. */
  deaths: readonly Death[]
  credentials: { grant_type: string; client_id: string; client_secret: string }
  /** The encoding of token requests that the API accepts. */
  tokenEncoding(): TokenEncoding
  clock: Clock
  /** Every exchange so far. */
  exchanges: readonly Exchange[]
  /** Hides a text from everything that is shown. */
  hide(secret: string): void
  /** Removes all secrets from a text. */
  redact(text: string): string
}

export type TokenEncoding = 'form' | 'json'

/** The first token requests: `first` in the encoding that was asked for, `exchange` the one that succeeded, if any. */
export interface Grant {
  first: Exchange
  exchange: Exchange
}

/** The time, which tests replace. */
export interface Clock {
  /** The time in ms since 1970. */
  now(): number
  sleep(ms: number): Promise<unknown>
}

export interface ProbeOptions {
  baseUrl: string
  clientId: string
  clientSecret: string
  /** Sends token requests as JSON only. By default, they are forms, or JSON if the API does not accept a form. */
  tokenJson?: boolean
  /** Timeout of each call, in ms; 15,000 by default. */
  timeoutMs?: number
  clock?: Clock
}

const REAL_CLOCK: Clock = { now: Date.now, sleep: (ms) => sleep(ms) }

const FORM_TYPE = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

/** Whether a token request may have been refused because it was not JSON. */
const mayWantJson = ({ status }: Exchange) => status >= 400 && status !== 429

/** Creates a probe for the API at `baseUrl`. */
export function createProbe(options: ProbeOptions): Probe {
  const { baseUrl, clientId, clientSecret, tokenJson = false } = options
  const { timeoutMs = 15_000, clock = REAL_CLOCK } = options
  const { hide, redact } = createRedactor()
  hide(clientSecret)
  hide(Buffer.from(`${clientId}:${clientSecret}`).toString('base64'))
  const exchanges: Exchange[] = []
  const credentials = { grant_type: GRANT_TYPE, client_id: clientId, client_secret: clientSecret }
  let encoding: TokenEncoding = tokenJson ? 'json' : 'form'

  async function call(path: string, call: Call = {}): Promise<Exchange> {
    const sentAt = clock.now()
    const response = await send(baseUrl, path, call, timeoutMs)
    const exchange = { ...response, sentAt, receivedAt: clock.now() }
    exchanges.push(exchange)
    return exchange
  }

  async function requestToken(fields: Record<string, string>, as = encoding): Promise<Exchange> {
    const body = as === 'json' ? JSON.stringify(fields) : new URLSearchParams(fields).toString()
    const type = as === 'json' ? JSON_TYPE : FORM_TYPE
    const headers = { 'content-type': type, accept: JSON_TYPE }
    const exchange = await call(PATHS.token, { method: 'POST', body, headers })
    for (const secret of secretsIn(exchange)) hide(secret)
    return exchange
  }

  const callAs: Probe['callAs'] = (bearer, path, body) => call(path, jsonCall(bearer, body))

  let grant: Promise<Grant> | undefined
  async function firstGrant(): Promise<Grant> {
    const first = await requestToken(credentials)
    const exchange = tokenJson || !mayWantJson(first) ? first : await requestToken(credentials, 'json')
    if (first === exchange || exchange.status !== 200) return { first, exchange: first }
    encoding = 'json'
    return { first, exchange }
  }
  const granted = () => {
    grant ??= firstGrant()
    return grant
  }
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

/** A call with a bearer token, if there is one, that posts the body, if there is one. A text is sent as it is. */
function jsonCall(bearer: string | undefined, body: unknown): Call {
  const headers = { accept: JSON_TYPE, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) }
  if (body === undefined) return { headers }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { method: 'POST', body: text, headers: { ...headers, 'content-type': JSON_TYPE } }
}
