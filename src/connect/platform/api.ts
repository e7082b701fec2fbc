import { hash } from 'node:crypto'
import type * as z from 'zod'
import type { AppError } from '../app-error.ts'
import { retry } from '../retry.ts'
import { messageIn } from './answer-message.ts'
import type { Platform } from './contract.ts'
import {
  InsufficientScopeError,
  NotFoundError,
  OutcomeUnknownError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from './errors.ts'
import { type Http, type HttpRequest, type HttpResponse, isWebPage, type Method, outageOf } from './http.ts'
import { fieldOf, parseJson } from './json.ts'
import type { CallOutcome, TokenSource } from './token-source.ts'

export interface Call<T> {
  path: string
  /** The scope that the call needs. */
  scope: string
  /** The sentence for users if the API answers 404. Without it, a 404 throws `PlatformRejectedError`. */
  notFound?: string
  /**
   * Parses the response body into the result of the call. Use loose objects to keep unknown fields. `z.unknown()` accepts any 2xx
   * response that is not a web page.
   */
  schema: z.ZodType<T>
  /**
   * For a call with its own error format. Returns the error of an answer, or undefined to handle the answer as usual. It gets every
   * answer except those that reject the token, and those after which the outcome of a write is unknown (3xx and 5xx). `said`: the
   * readable message of the answer, without secrets (`messageIn`).
   */
  parseError?: (answer: HttpResponse, said: string) => AppError | undefined
  /** The timeout of a call that takes longer than usual, in ms. Such a call is not retried. */
  timeoutMs?: number
}

/** A body to send as JSON. A `Uint8Array` already contains JSON. */
export type Body = object | Uint8Array

export interface Page {
  /** How many items to return, 1 to 100; defaults to 25. */
  top?: number
  /** How many items to skip. */
  skip?: number
  /** The `next.after` of the previous page. */
  after?: string
  /** OData `$orderby`, for example `createdAt desc`. */
  orderBy?: string
  /** OData `$filter`, for example `status eq 'New'`. Double each quote inside a text. */
  filter?: string
}

export interface PageOf<T> {
  items: T[]
  /** The total number of items, or null if the platform does not report it. */
  total: number | null
  /** Where the next page begins; pass it to `list`. Null if this is the last page. */
  next: { skip: number; after: string } | null
  /** Whether the platform sent the previous page again, which ends the list. */
  repeated: boolean
}

/**
 * The platform's API. Every method throws `NotFoundError`, `InsufficientScopeError`, `PlatformUnavailableError`,
 * `PlatformRejectedError`, and the errors of the token source. Only reads are retried after an outage. The other methods repeat a
 * request only if the API rejects the token, once, with a new token. They throw `OutcomeUnknownError` if no usable answer arrived,
 * but the platform may have carried out the request.
 */
export interface Api {
  get<T>(source: TokenSource, call: Call<T>): Promise<T>
  /** Gets a page of a list, and the start of the next page. Throws a `TypeError` if the path has a query: use `page`. */
  list<T>(source: TokenSource, call: Call<T[]>, page: Page): Promise<PageOf<T>>
  post<T>(source: TokenSource, call: Call<T>, body: Body): Promise<T>
  put<T>(source: TokenSource, call: Call<T>, body: Body): Promise<T>
  patch<T>(source: TokenSource, call: Call<T>, body: Body): Promise<T>
  delete<T>(source: TokenSource, call: Call<T>): Promise<T>
}

export interface ApiOptions {
  platform: Platform
  /** `{base_url}`, which may have a path. */
  baseUrl: string
  http: Http
  /**
   * The deadline of a call with its retries, in ms. It does not include the wait for a token, and begins again if the call is
   * repeated with a new token.
   */
  deadlineMs?: number
}

const MAX_ATTEMPTS = 3
/** The time that another attempt needs, in ms. With less time before the deadline, a call isn't retried. */
const ATTEMPT_MS = 500
/** Statuses that reject the request itself. 401 and 403 are handled separately; any other 4xx counts as an outage. */
const REJECTIONS = new Set([400, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 422])

/**
 * Creates a client for the platform's API. If the API rejects the access token, the client refreshes it once and repeats the call
 * once. It retries reads after 5xx, 429 and lost connections, within the deadline.
 */
export function createApi(options: ApiOptions): Api {
  const { paging } = options.platform
  const send =
    (method: Method) =>
    async <T>(source: TokenSource, call: Call<T>, body?: Body): Promise<T> =>
      (await request(options, method, source, call, body)).data
  return {
    get: send('GET'),
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
    delete: send('DELETE'),

    async list(source, call, { top = 25, skip = 0, after, orderBy, filter }) {
      if (call.path.includes('?'))
        throw new TypeError('the path of a list has a query: use top, skip, orderBy and filter')
      const order = orderBy === undefined ? '' : `&${paging.orderBy}=${encodeURIComponent(orderBy)}`
      const only = filter === undefined ? '' : `&${paging.filter}=${encodeURIComponent(filter)}`
      const query = `${paging.top}=${Math.min(top, paging.maxTop)}&${paging.skip}=${skip}${order}${only}&${paging.count}=true`
      const page = { ...call, path: `${call.path}?${query}` }
      const { data, response } = await request(options, 'GET', source, page)
      return pageOf(data, response.header(paging.totalHeader) ?? '', skip, after)
    },
  }
}

/**
 * Returns a page. The next page begins after the received rows, which may be fewer than `$top`. A list ends at its total or with an
 * empty page. A total below the number of rows so far is ignored. A page that begins like the previous page also ends the list,
 * because then the platform ignores `$skip`.
 */
function pageOf<T>(rows: T[], reported: string, skip: number, before: string | undefined): PageOf<T> {
  const [first] = rows
  const { id = first } = Object(first)
  const after = hash('sha256', JSON.stringify(id) ?? '', 'base64url').slice(0, 8)
  const repeated = after === before
  const items = repeated ? [] : rows
  const end = skip + items.length
  const isTotal = /^\d+$/.test(reported) && (items.length === 0 || Number(reported) >= end)
  const total = isTotal ? Number(reported) : null
  return { items, total, next: items.length === 0 || total === end ? null : { skip: end, after }, repeated }
}

/** Sends a request, and repeats it with a new token if the API rejects the first token. Reports the outcome to the token source. */
async function request<T>(
  options: ApiOptions,
  method: Method,
  source: TokenSource,
  call: Call<T>,
  body?: Body,
): Promise<{ data: T; response: HttpResponse }> {
  if (leavesPath(call.path)) throw new NotFoundError(call.notFound)
  const { scope } = call
  const name = `${method} ${scope}`
  const errorOf = (answer: HttpResponse) =>
    leavesUnknown(method, answer)
      ? undefined
      : call.parseError?.(answer, messageIn(answer.text, secretsOf(source, token)))
  const send = (token: string) =>
    sendWithRetries(options, httpRequest(options, method, source, call, token, body), call, errorOf)
  let token = await source.accessToken()
  let response: HttpResponse | undefined
  try {
    response = await send(token)
    if (rejectsToken(response)) {
      token = await source.refresh(token)
      response = undefined
      response = await send(token)
    }
    const own = rejectsToken(response) ? undefined : errorOf(response)
    if (own) throw own
    if (response.status === 403 && !rejectsToken(response) && !isWebPage(response.text))
      throw new InsufficientScopeError(await missingScopes(response, source, scope, token))
    const data = parseResponse(options, method, response, call, secretsOf(source, token))
    await source.noteCall({ result: 'ok', call: name, scope }).catch(() => {})
    return { data, response }
  } catch (error) {
    const outcome = outcomeOf(name, response, error)
    if (outcome) await source.noteCall(outcome).catch(() => {})
    throw method === 'GET' ? error : errorOfWrite(error, response)
  }
}

/** Whether the platform may have carried out a write despite this answer, or may still carry it out. */
const leavesUnknown = (method: Method, { status }: HttpResponse): boolean =>
  method !== 'GET' && (status >= 500 || (status >= 300 && status < 400))

/** The error of a write. If the write was sent and no answer refused it, the platform may have carried it out. */
function errorOfWrite(error: unknown, response: HttpResponse | undefined): unknown {
  // A platform may carry out a request and then redirect (RFC 9110 section 15.4.4).
  const isRefused = response !== undefined && response.status >= 400 && response.status < 500
  const isOutage = error instanceof PlatformUnavailableError && error.kind !== 'busy'
  // Only the error of a 2xx with an unexpected format, or of a response that is too large, names a field.
  const isUnread = error instanceof PlatformRejectedError && error.field !== undefined
  if (isRefused || !(isOutage || isUnread)) return error
  return new OutcomeUnknownError(isOutage ? error.kind : 'unreadable', error)
}

/** Returns the outcome of a failed call for its connection, or null if the failure does not concern the connection. */
function outcomeOf(call: string, response: HttpResponse | undefined, error: unknown): CallOutcome | null {
  if (error instanceof InsufficientScopeError) return { result: 'forbidden', call, scopes: error.scopes }
  if (error instanceof PlatformUnavailableError)
    return error.kind === 'paused' ? null : { result: 'unavailable', kind: error.kind }
  if (!response) return null
  if (rejectsToken(response))
    return error instanceof PlatformRejectedError ? { result: 'unavailable', kind: 'rejected' } : null
  // The platform works, and it accepted the token.
  return REJECTIONS.has(response.status) ? { result: 'ok', call, scope: null } : null
}

/** The token, and header values of 8 characters or more. Shorter values, such as a tenant's number, aren't secret. */
const secretsOf = ({ headers = {} }: TokenSource, token: string): string[] => [
  token,
  ...Object.values(headers).filter((value) => value.length >= 8),
]

/** Whether a dot segment, a backslash or an encoded slash could lead to another path. No id has these (assumption `ids`). */
function leavesPath(path: string): boolean {
  const [pathname = ''] = path.split('?')
  return /%2f|%5c|\\/i.test(pathname) || /\/(\.|%2e){1,2}(\/|$)/i.test(pathname)
}

/** Whether this is a 401, or a 403 whose challenge names the token as the reason (RFC 6750 section 3.1 asks for a 401). */
function rejectsToken({ status, header }: HttpResponse): boolean {
  if (status !== 403) return status === 401
  return /\berror="?invalid_token\b/.test(header('www-authenticate') ?? '')
}

function httpRequest(
  { baseUrl }: ApiOptions,
  method: Method,
  { headers, connection }: TokenSource,
  { path }: Call<unknown>,
  token: string,
  body: Body | undefined,
): HttpRequest {
  const url = baseUrl.replace(/\/+$/, '') + path
  const sent = { authorization: `Bearer ${token}`, ...headers }
  if (body === undefined) return { method, url, headers: sent, connection }
  const json = body instanceof Uint8Array ? body : JSON.stringify(body)
  return { method, url, headers: { ...sent, 'content-type': 'application/json' }, body: json, connection }
}

/**
 * Retries a read after a 5xx, a 429 or a lost connection, if the deadline allows it. Sends any other request once. `errorOf`:
 * returns the error of an answer by the call's own rules.
 */
function sendWithRetries(
  { http, deadlineMs = 8_000 }: ApiOptions,
  request: HttpRequest,
  { timeoutMs }: Call<unknown>,
  errorOf: (answer: HttpResponse) => AppError | undefined,
): Promise<HttpResponse> {
  if (timeoutMs !== undefined) return http.send({ ...request, timeoutMs })
  const deadline = performance.now() + deadlineMs
  const attempt = async () => {
    const response = await http.send({ ...request, deadlineMs: deadline - performance.now() })
    const isOutage = response.status >= 500 || response.status === 429
    if (isOutage && !errorOf(response)) throw unavailable(response)
    return response
  }
  const attempts = request.method === 'GET' ? MAX_ATTEMPTS : 1
  return retry(attempt, { timeoutMs: deadlineMs - ATTEMPT_MS, attempts, pauseMs: 200 })
}

const unavailable = ({ status, retryAfterMs }: HttpResponse) =>
  new PlatformUnavailableError(outageOf(status), `the API answered ${status}`, retryAfterMs)

/** Returns the data of a response, or throws the matching error. Errors never contain the `secrets`. */
function parseResponse<T>(
  { platform }: ApiOptions,
  method: Method,
  response: HttpResponse,
  { notFound, schema }: Call<T>,
  secrets: string[],
): T {
  const { status, text } = response
  if (status === 404 && notFound) throw new NotFoundError(notFound)
  if (rejectsToken(response))
    throw new PlatformRejectedError('the API rejects a token that was just refreshed')
  if (REJECTIONS.has(status))
    throw new PlatformRejectedError(`the API answered ${status}`, undefined, messageIn(text, secrets))
  if (status >= 300) throw unavailable(response)
  const body = parseJson(text)
  if (method !== 'GET' && platform.refusalSchema.safeParse(body).success)
    throw new PlatformRejectedError(`the API refused it with ${status}`, undefined, messageIn(text, secrets))
  // The schema gets undefined only for an empty answer. It gets any other answer that isn't JSON as a text.
  const parsed = schema.safeParse(body === undefined && text !== '' ? text : body)
  // Reject a web page even if the schema is `z.unknown()`.
  const isPage = isWebPage(text)
  if (parsed.success && !isPage) return parsed.data
  const said = messageIn(text, secrets)
  const reason = 'the API answered something that is not JSON'
  if (parsed.success || body === undefined)
    throw new PlatformUnavailableError('unreadable', reason, undefined, said)
  throw new PlatformRejectedError("the API's answer has an unexpected format", fieldOf(parsed.error), said)
}

/**
 * Resolves to the missing scopes. The challenge names them (`WWW-Authenticate: Bearer scope="..."`, RFC 6750 section 3), and
 * granted scopes are left out. Without named scopes, the missing scope is that of the call, unless it was granted or the granted
 * scopes are unknown. A name that contains the token is ignored.
 */
async function missingScopes(response: HttpResponse, source: TokenSource, needed: string, token: string) {
  const challenge = response.header('www-authenticate') ?? ''
  const names = /\bscope="([\w:.\- ]{1,200})"/.exec(challenge)?.[1]?.split(' ') ?? []
  const named = names.filter((scope) => scope !== '' && !scope.includes(token))
  const granted = await source.grantedScopes()
  const needs = named.length === 0 && granted ? [needed] : named
  const missing = needs.filter((scope) => !granted?.includes(scope))
  // If the API names only granted scopes, they may have been withdrawn since, so trust the API and not our record.
  return missing.length > 0 ? missing : named
}
