import { setTimeout as sleep } from 'node:timers/promises'
import type { fetch, RequestInit } from 'undici'
import { GRANT_TYPE, NEAREST, PATHS } from '../api/contract.ts'
import type { Place } from './geography.ts'
import { describe, type Exchange, isRefused, isSuccess, send } from './http.ts'
import { firstOf, UnprovenError, WrongError } from './outcomes.ts'
import {
  type AnsweredLine,
  type FoundStore,
  type Line,
  readAnswers,
  readStores,
  readTokens,
  type StoreId,
  secretsIn,
  type Token,
} from './read.ts'
import { redact } from './redact.ts'

/** The time, which tests replace. */
export interface Clock {
  /** The time in ms since 1970. */
  now(): number
  sleep(ms: number): Promise<unknown>
}

export interface ClientOptions {
  baseUrl: string
  clientId: string
  clientSecret: string
  /** Sends token requests as JSON only. By default, they are forms, or JSON if the supplier does not accept a form. */
  tokenJson?: boolean
  clock?: Clock
  /** Answers the calls; `fetch` of undici by default. */
  fetch?: typeof fetch
}

/** The fields of a complete token request (specification 4.1). */
export type Credentials = Readonly<Record<'grant_type' | 'client_id' | 'client_secret', string>>

/** A search with the stores that it found; none unless its answer is 200 with an array. */
export interface Search {
  place: Place
  exchange: Exchange
  stores: FoundStore[]
}

/** A price request. `answers`: one for each line; empty unless the call returned exactly one object for each line. */
export interface PriceRequest {
  lines: readonly Line[]
  exchange: Exchange
  answers: AnsweredLine[]
}

const REAL_CLOCK: Clock = { now: Date.now, sleep: (ms) => sleep(ms) }
const [JSON_TYPE, FORM_TYPE] = ['application/json', 'application/x-www-form-urlencoded']

/** How many times at most a limited call (429) is sent, and the longest wait that the check accepts, in ms. */
const [MAX_ATTEMPTS, MAX_WAIT_MS] = [6, 60_000]

/** The part of its lifetime after which a token is replaced. */
const RENEW_AT = 0.9

/** How long a token certainly lives, in ms: many servers count in whole seconds. */
export const certainMs = ({ expiresIn }: Token) => Math.max(0, expiresIn - 1) * 1000

/** The path of a search. */
export const searchPath = ({ latitude, longitude, radius }: Place) =>
  `${PATHS.nearest}?${new URLSearchParams({
    [NEAREST.latitude]: String(latitude),
    [NEAREST.longitude]: String(longitude),
    [NEAREST.radius]: String(radius),
  })}`

/** The path of a store. */
export const storePath = (id: StoreId) =>
  PATHS.store.replace('{id}', () => encodeURIComponent(String(id).toWellFormed()))

/** Calls a supplier as the platform does, and keeps what it answered as evidence. */
export class SupplierClient {
  readonly searches: Search[] = []
  readonly priceRequests: PriceRequest[] = []
  /** Every token, in the order of issue. */
  readonly tokens: Token[] = []
  /** Refusals of tokens whose lifetime had not passed, while other tokens were accepted. */
  readonly earlyEnds: WrongError[] = []
  readonly credentials: Credentials
  readonly clock: Clock
  readonly #send: (path: string, call: RequestInit) => Promise<Exchange>
  readonly #secrets = new Set<string>()
  readonly #encodings: readonly ('form' | 'json')[]
  /** The encoding of token requests that the supplier accepts. */
  encoding: 'form' | 'json' = 'form'
  #granted: Promise<Exchange> | undefined
  #current: Token | undefined

  constructor(options: ClientOptions) {
    const { baseUrl, clientId, clientSecret, tokenJson = false, clock = REAL_CLOCK } = options
    this.credentials = { grant_type: GRANT_TYPE, client_id: clientId, client_secret: clientSecret }
    this.clock = clock
    this.#send = (path, call) => send(baseUrl, path, call, clock.now(), options.fetch)
    this.#encodings = tokenJson ? ['json'] : ['form', 'json']
    this.#secrets.add(Buffer.from(`${clientId}:${clientSecret}`).toString('base64'))
  }

  /** Removes all secrets from a text. */
  redact = (text: string): string => redact(text, this.#secrets)

  /** Throws `UnprovenError` if the supplier limits the number of calls, and says no wait that the check accepts. */
  async call(path: string, call: RequestInit): Promise<Exchange> {
    for (let attempt = 1; ; attempt++) {
      const exchange = await this.#send(path, call)
      if (exchange.status !== 429) return exchange
      const waitMs = attempt < MAX_ATTEMPTS ? this.#retryAfterMs(exchange) : undefined
      if (waitMs === undefined)
        throw new UnprovenError('the supplier limits the number of calls (429); run the check again later')
      await this.clock.sleep(waitMs)
    }
  }

  /** How long the supplier asks to wait (RFC 9110 section 10.2.3), in ms; undefined if it does not, or for too long. */
  #retryAfterMs({ headers }: Exchange): number | undefined {
    const value = headers?.get('retry-after') ?? ''
    const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - this.clock.now()
    return waitMs <= MAX_WAIT_MS ? Math.max(0, waitMs) + 100 : undefined
  }

  /** Sends a token request with these fields, or with this text as its body. */
  async requestToken(sent: Readonly<Record<string, string>> | string, as = this.encoding): Promise<Exchange> {
    const isJson = as === 'json'
    if (typeof sent !== 'string') this.#secrets.add(sent.client_secret ?? '')
    const encoded = isJson ? JSON.stringify(sent) : new URLSearchParams(sent).toString()
    const exchange = await this.call(PATHS.token, {
      method: 'POST',
      body: typeof sent === 'string' ? sent : encoded,
      headers: { 'content-type': isJson ? JSON_TYPE : FORM_TYPE, accept: JSON_TYPE },
    })
    for (const secret of secretsIn(exchange)) this.#secrets.add(secret)
    this.tokens.push(...readTokens(exchange))
    return exchange
  }

  /** The answer to the first token request, in the encoding that the supplier accepts. */
  grant = (): Promise<Exchange> => (this.#granted ??= this.#grant())

  async #grant(): Promise<Exchange> {
    const answers: Exchange[] = []
    for (const encoding of this.#encodings) {
      this.encoding = encoding
      const answer = await this.requestToken(this.credentials)
      if (isSuccess(answer)) return answer
      answers.push(answer)
    }
    return firstOf(answers, 'no token request was sent')
  }

  /** The first token. Throws `UnprovenError` if none was issued. */
  firstToken = async (): Promise<Token> => this.#issuedBy(await this.grant())

  /** Requests another token. Throws `UnprovenError` if none is issued. */
  newToken = async (): Promise<Token> => this.#issuedBy(await this.requestToken(this.credentials))

  #issuedBy(exchange: Exchange): Token {
    const tokens = this.tokens.filter((token) => token.exchange === exchange)
    return firstOf(tokens, `a token request returns no token (${describe(exchange)})`)
  }

  /** Calls a path with a text as the bearer token, or with none. A body is sent as JSON. */
  withBearer(bearer: string | undefined, path: string, body?: unknown): Promise<Exchange> {
    this.#secrets.add(bearer ?? '')
    const headers = { accept: JSON_TYPE, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) }
    if (body === undefined) return this.call(path, { headers })
    const typed = { ...headers, 'content-type': JSON_TYPE }
    return this.call(path, { method: 'POST', body: JSON.stringify(body), headers: typed })
  }

  /** How old a token is, in ms. */
  ageMs = ({ exchange }: Token): number => this.clock.now() - exchange.sentAt

  /** Calls a path with a token. Replaces the token when most of its life is over, or if it is refused and a new one is not. */
  async withToken(path: string, body?: unknown): Promise<Exchange> {
    let token = this.#current ?? (await this.firstToken())
    if (this.ageMs(token) > certainMs(token) * RENEW_AT) token = await this.newToken()
    this.#current = token
    const exchange = await this.withBearer(token.value, path, body)
    if (!isRefused(exchange)) return exchange
    const ageMs = this.ageMs(token)
    const renewed = await this.newToken()
    const again = await this.withBearer(renewed.value, path, body)
    if (isRefused(again)) return exchange
    const message = `A token is refused after ${ageMs / 1000} s, though it is valid for ${token.expiresIn} s.`
    if (ageMs < certainMs(token)) this.earlyEnds.push(new WrongError(exchange, message))
    this.#current = renewed
    return again
  }

  /** Searches for stores. */
  async search(place: Place): Promise<Search> {
    const exchange = await this.withToken(searchPath(place))
    const search = { place, exchange, stores: readStores(exchange) }
    this.searches.push(search)
    return search
  }

  /** Looks a store up. */
  lookUp = (id: StoreId): Promise<Exchange> => this.withToken(storePath(id))

  /** Requests prices; without a member number by default. */
  async requestPrices(lines: readonly Line[], memberNumber?: string): Promise<PriceRequest> {
    const body = { ...(memberNumber !== undefined && { memberNumber }), items: lines }
    const exchange = await this.withToken(PATHS.prices, body)
    const request = { lines, exchange, answers: readAnswers(exchange, lines) }
    this.priceRequests.push(request)
    return request
  }
}
