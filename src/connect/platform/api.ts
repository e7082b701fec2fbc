import { setTimeout as pause } from 'node:timers/promises'
import type * as z from 'zod'
import { apiCallChannel, withoutEffect } from '../events.ts'
import { publishApiCall } from './api-events.ts'
import { type Bulkhead, createBulkhead } from './bulkhead.ts'
import type { Platform } from './contract.ts'
import {
  InsufficientScopeError,
  NotFoundError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from './errors.ts'
import {
  type Http,
  type HttpRequest,
  type HttpResponse,
  mayHaveLargeNumbers,
  outageOf,
  parseJson,
  parseJsonExactly,
} from './http.ts'
import { acquireCredential, type CallCredential, type TokenSource } from './token-source.ts'

export interface Call<T> {
  path: string
  /** The scope that the call needs. */
  scope: string
  /** What users read if the API answers 404, as a sentence. Without it, a 404 is an unexpected answer. */
  notFound?: string
  /** @deprecated The name of what is called for, such as `lead`: `notFound` has the whole sentence. */
  resource?: string
  /**
   * Parses the response body; what it returns is the result. Use loose objects to keep unknown fields.
   * Without a schema, any 2xx response that is not a web page is accepted.
   */
  schema?: z.ZodType<T>
  /** Sends the call through the pool for uploads, which allows more time. */
  upload?: boolean
}

/** A pre-serialised JSON body. */
export interface SerializedBody {
  json: string | Uint8Array
}

export interface Page {
  /** How many items to return, 1 to 100; defaults to 25. */
  top?: number
  /** How many items to skip. */
  skip?: number
  /** OData `$orderby`, for example `createdAt desc`. */
  orderBy?: string
}

export interface PageOf<T> {
  items: T[]
  /** The total number of items, or null if the platform does not report it. */
  total: number | null
}

/**
 * The platform's API. Every method throws `NotFoundError`, `InsufficientScopeError`, `PlatformUnavailableError`,
 * `PlatformRejectedError`, and the errors of the token source.
 */
export interface Api {
  get<T>(source: TokenSource, call: Call<T>): Promise<T>
  /** Gets one page of a list, with the total. */
  list<T>(source: TokenSource, call: Call<T[]>, page: Page): Promise<PageOf<T>>
  /** Sent again only after a 401, once, with a new token: the request may not be idempotent. */
  post<T>(source: TokenSource, call: Call<T>, body: object | SerializedBody): Promise<T>
}

export interface ApiOptions {
  platform: Platform
  /** `{base_url}`, may carry a path. */
  baseUrl: string
  /** The pool for everything but uploads. */
  http: Http
  /** The pool for uploads; defaults to `http`. */
  uploads?: Http
  /** The deadline of a call with all its retries, in ms. Waiting for a token or the rate limit is not included. */
  deadlineMs?: number
}

interface ApiClient extends Required<ApiOptions> {
  bulkhead: Bulkhead
}

/** A platform that ignores the size of a page may answer with this many of the largest: more would only fill memory. */
const MANY_PAGES = 10

/** A point in time, by `performance.now()`. */
interface Deadline {
  at: number
}

const MAX_ATTEMPTS = 3
/** Statuses that concern the request itself; any other 4xx is treated as an outage. */
const REJECTIONS = new Set([400, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 422])

/**
 * Creates a client for the platform's API. After a 401 it refreshes the access token once and repeats the call once.
 * It retries reads after 5xx, 429 and lost connections, within the deadline.
 */
export function createApi({ platform, baseUrl, http, uploads = http, deadlineMs = 8_000 }: ApiOptions): Api {
  const { paging } = platform
  const client: ApiClient = {
    platform,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    http,
    uploads,
    deadlineMs,
    bulkhead: createBulkhead(),
  }
  return {
    get: async (source, call) => (await request(client, source, call)).data,

    async list(source, call, { top = 25, skip = 0, orderBy }) {
      const order = orderBy === undefined ? '' : `&${paging.orderBy}=${encodeURIComponent(orderBy)}`
      const query = `${paging.top}=${Math.min(top, paging.maxTop)}&${paging.skip}=${skip}${order}&${paging.count}=true`
      const { data, response } = await request(client, source, { ...call, path: `${call.path}?${query}` })
      if (data.length > MANY_PAGES * paging.maxTop)
        throw new PlatformRejectedError(`the API answered with ${data.length} items`, 'the number of items')
      const total = response.header(paging.totalHeader)
      return { items: data, total: total !== undefined && /^\d+$/.test(total) ? Number(total) : null }
    },

    post: async (source, call, body) =>
      (await request(client, source, call, 'json' in body ? body.json : JSON.stringify(body))).data,
  }
}

/** Sends a GET or, with a body, a POST, and reports to the token source how it ended. */
async function request<T>(
  client: ApiClient,
  source: TokenSource,
  call: Call<T>,
  json?: SerializedBody['json'],
): Promise<{ data: T; response: HttpResponse }> {
  const { path, scope } = call
  if (leavesPath(path)) throw new NotFoundError(call.notFound)
  const name = `${json === undefined ? 'GET' : 'POST'} ${scope}`
  let credential = await acquireCredential(source, () => source.accessToken())
  let status = 0
  try {
    let response = await send(client, source, call, credential, json)
    status = response.status
    if (status === 401) {
      const { token: rejected } = credential
      credential = await acquireCredential(source, () => source.refresh(rejected))
      response = await send(client, source, call, credential, json)
    }
    status = response.status
    if (status === 403)
      throw new InsufficientScopeError(await missingScope(response, source, scope, credential.token))
    const data = parseResponse(response, call)
    await source.noteCall({ result: 'ok', call: name, scope }).catch(() => {})
    return { data, response }
  } catch (error) {
    await noteFailure(source, name, scope, status, error).catch(() => {})
    throw error
  }
}

/** A dot segment, a backslash or an encoded slash could lead to another path. No id contains one (assumption `ids`). */
function leavesPath(path: string): boolean {
  const [pathname = ''] = path.split('?')
  return /%2f|%5c|\\/i.test(pathname) || /\/(\.|%2e){1,2}(\/|$)/i.test(pathname)
}

async function noteFailure(source: TokenSource, call: string, scope: string, status: number, error: unknown) {
  if (error instanceof InsufficientScopeError)
    await source.noteCall({ result: 'forbidden', call, scope: error.scope ?? null })
  else if (error instanceof PlatformUnavailableError)
    await source.noteCall({ result: 'unavailable', kind: error.kind })
  else if (status === 401 && error instanceof PlatformRejectedError)
    await source.noteCall({ result: 'unavailable', kind: 'rejected' })
  // The platform works, and it accepted the token.
  else if (REJECTIONS.has(status)) await source.noteCall({ result: 'ok', call, scope })
}

/** Sends the request; a read with retries. */
function send(
  client: ApiClient,
  source: TokenSource,
  { path, upload }: Call<unknown>,
  credential: CallCredential,
  json: SerializedBody['json'] | undefined,
): Promise<HttpResponse> {
  const authorization = { authorization: `Bearer ${credential.token}`, ...source.headers }
  const url = client.baseUrl + path
  const request: HttpRequest =
    json === undefined
      ? { method: 'GET', url, headers: authorization }
      : { method: 'POST', url, body: json, headers: { ...authorization, 'content-type': 'application/json' } }
  if (upload) return sendWithPermit(client, source, client.uploads, request, credential)
  const deadline = { at: performance.now() + client.deadlineMs }
  const attempt = () => sendWithPermit(client, source, client.http, request, credential, deadline)
  return json === undefined ? withRetry(attempt, deadline) : attempt()
}

/** Sends a request as soon as the rate limit of its credential allows it and its account has room. */
async function sendWithPermit(
  client: ApiClient,
  source: TokenSource,
  pool: Http,
  request: HttpRequest,
  credential: CallCredential,
  deadline?: Deadline,
): Promise<HttpResponse> {
  const startedAt = performance.now()
  const release = credential.permit ?? (source.acquirePermit && (await source.acquirePermit()))
  credential.permit = undefined
  // The deadline limits the platform's time; waiting for a permit does not count.
  if (deadline && release) deadline.at += performance.now() - startedAt
  let sentAt: number | null = null
  let leave: (() => void) | undefined
  try {
    const entered = client.bulkhead.enter(
      source.account,
      deadline ? deadline.at - performance.now() : client.deadlineMs,
    )
    // No await if there is room at once, which is the usual case.
    leave = typeof entered === 'function' ? entered : await entered
    sentAt = performance.now()
    if (deadline) request.deadlineMs = deadline.at - sentAt
    return apiCallChannel.hasSubscribers
      ? await sendAndPublish(client.platform, pool, request, source)
      : await pool.send(request)
  } finally {
    leave?.()
    release?.(sentAt)
  }
}

async function sendAndPublish(
  platform: Platform,
  pool: Http,
  request: HttpRequest,
  source: TokenSource,
): Promise<HttpResponse> {
  const startedAt = Date.now()
  let response: HttpResponse | undefined
  try {
    response = await pool.send(request)
    return response
  } finally {
    withoutEffect(() => publishApiCall(platform, request, response, source, startedAt))
  }
}

/**
 * Retries after a 5xx, a 429 or a lost connection, while the deadline allows it, with growing, jittered pauses, or after
 * `Retry-After` if that is longer.
 */
async function withRetry(attempt: () => Promise<HttpResponse>, deadline: Readonly<Deadline>) {
  for (let attempts = 1; ; attempts++) {
    let result: HttpResponse | PlatformUnavailableError
    try {
      result = await attempt()
      if (result.status < 500 && result.status !== 429) return result
    } catch (error) {
      if (!(error instanceof PlatformUnavailableError)) throw error
      result = error
    }
    const retryAfterMs = result instanceof Error ? 0 : (result.retryAfterMs ?? 0)
    const pauseMs = Math.max(100 * 2 ** attempts * (0.5 + Math.random() / 2), retryAfterMs)
    if (attempts === MAX_ATTEMPTS || performance.now() + pauseMs > deadline.at - 500) {
      if (result instanceof Error) throw result
      return result
    }
    await pause(pauseMs)
  }
}

const RATE_LIMITED =
  'The platform is busy: it accepts no more requests for this account right now, perhaps because of an import.'

/** Resolves a response to its data, or throws the error that it stands for. */
function parseResponse<T>(response: HttpResponse, { notFound, resource, schema }: Call<T>): T {
  const { status, text, retryAfterMs } = response
  if (status === 404 && resource) throw new NotFoundError(`There is no such ${resource} in this account.`)
  if (status === 404 && notFound) throw new NotFoundError(notFound)
  if (status === 401) throw new PlatformRejectedError('the API rejects a token that was just refreshed')
  if (status === 429)
    throw new PlatformUnavailableError('busy', 'the API answered 429', retryAfterMs, RATE_LIMITED)
  if (REJECTIONS.has(status)) throw new PlatformRejectedError(`the API answered ${status}`)
  if (status < 200 || status >= 300)
    throw new PlatformUnavailableError('error', `the API answered ${status}`, retryAfterMs)
  // Only a proxy or a maintenance page answers an API call with HTML.
  // Without a schema, the answer is what it is, and may be empty.
  if (!schema && !/^\s*<(!doctype\s+)?html/i.test(text)) return parseJsonExactly(text) as T
  const body = parseJson(text)
  if (body === undefined)
    throw new PlatformUnavailableError(outageOf(status, body), 'the API answered something that is not JSON')
  if (!schema) return undefined as T
  const first = schema.safeParse(body)
  // Looking for large numbers in each answer would cost 15 % of a call (npm run bench, row `api.list`).
  const mayBeInexact = !first.success && mayHaveLargeNumbers(text)
  const parsed = mayBeInexact ? schema.safeParse(parseJsonExactly(text)) : first
  if (!parsed.success)
    throw new PlatformRejectedError("the API's answer has an unexpected format", fieldOf(parsed.error))
  return parsed.data
}

/** The first field that fails validation, as a path such as `0.name`. */
export function fieldOf(error: z.ZodError): string {
  return error.issues[0]?.path.map(String).join('.') || 'the whole answer'
}

/**
 * The missing scope: the one that the challenge names (`WWW-Authenticate: Bearer scope="..."`, RFC 6750 section 3), or
 * the one that the call needs if it was not granted; otherwise undefined. A scope that contains the token is no scope.
 */
async function missingScope(response: HttpResponse, source: TokenSource, needed: string, token: string) {
  const named = /\bscope="([\w:.\- ]{1,200})"/.exec(response.header('www-authenticate') ?? '')?.[1]
  if (named && !named.includes(token)) return named
  const granted = await source.grantedScopes()
  return granted && !granted.includes(needed) ? needed : undefined
}
