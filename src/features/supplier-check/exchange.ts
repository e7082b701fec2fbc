/** Calls of the API under test, and what they returned. */

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
  granted(): Promise<IssuedToken>
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
export interface IssuedToken {
  first: Exchange
  exchange: Exchange
}

/** The time, which tests replace. */
export interface Clock {
  /** The time in ms since 1970. */
  now(): number
  sleep(ms: number): Promise<unknown>
}

/** An access token. */
export interface Token {
  value: string
  /** The token request and its response. */
  exchange: Exchange
  /** Its lifetime in seconds; undefined if the response does not say. */
  expiresIn: number | undefined
}

/** A token that was refused, though it had been accepted and had not expired. */
export interface Death {
  ageMs: number
  token: Token
  exchange: Exchange
}

/** Whether a value is a JSON object. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a status is 2xx. */
export const isSuccess = ({ status }: Exchange) => status >= 200 && status < 300

/** Whether a call with a token was refused because of the token. */
export const isRefused = ({ status }: Exchange) => status === 401 || status === 403

/** What a call returned, to complete "must return 200, not ...". */
export const describe = ({ status, text }: Exchange) => (status === 0 ? text : String(status))
