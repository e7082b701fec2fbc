import type * as z from 'zod'
import { createBulkhead } from './bulkhead.ts'
import { MAX_PAGE, PAGING, TOTAL_HEADER } from './contract.ts'
import {
  InsufficientScopeError,
  NotFoundError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from './errors.ts'
import { type Http, type HttpAnswer, type HttpRequest, outageOf, parseJson } from './http.ts'
import type { CallOutcome, TokenSource } from './token-source.ts'

export interface Call<T> {
  path: string
  /** The scope that the call needs. */
  scope: string
  /** User-facing name of the resource, for 404 messages: `lead`. */
  what?: string
  /**
   * What the answer must look like. It is only checked, not copied: unknown fields stay, nothing is transformed.
   * Without one, any 2xx with JSON or an empty body is accepted.
   */
  schema?: z.ZodType<T>
  /** A large body, whose answer may take long: it goes through the pool for uploads. */
  upload?: boolean
}

/** A pre-serialised JSON body. */
export interface Ready {
  json: string | Uint8Array
}

export interface Page {
  /** At most this many, 1 to 100. */
  top?: number
  /** Leave out this many first. */
  skip?: number
  /** OData `$orderby`, for example `createdAt desc`. */
  orderBy?: string
}

export interface PageOf<T> {
  items: T[]
  /** How many there are in all, or null when the platform does not say. */
  total: number | null
}

export interface Api {
  get<T>(source: TokenSource, call: Call<T>): Promise<T>
  /** A page of a list, with the total. */
  list<T>(source: TokenSource, call: Call<T[]>, page: Page): Promise<PageOf<T>>
  /** Not retried: the request may not be idempotent. */
  post<T>(source: TokenSource, call: Call<T>, body: object | Ready): Promise<T>
}

export interface ApiOptions {
  /** `{base_url}`, may carry a path. */
  baseUrl: string
  /** For everything but uploads. */
  http: Http
  /** For uploads; absent: the same. */
  uploads?: Http
  /** A call with all its retries and pauses ends by then, in ms; a token and a permit have deadlines of their own. */
  deadlineMs?: number
}

const TRIES = 3
/** Answers that speak about the request itself; any other 4xx has no meaning that we know. */
const REJECTIONS = new Set([400, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 422])

/**
 * Calls the platform's API with a bearer token. After a 401 it refreshes the token once and repeats once;
 * reads are repeated on 5xx, 429 and lost connections, within the deadline.
 * Throws `NotFoundError`, `InsufficientScopeError`, `PlatformUnavailableError`, `PlatformRejectedError`, and whatever the source throws.
 */
export function createApi({ baseUrl, http, uploads = http, deadlineMs = 8_000 }: ApiOptions): Api {
  const base = baseUrl.replace(/\/+$/, '')
  const bulkhead = createBulkhead()

  /** A GET; with a body, a POST. */
  async function call<T>(source: TokenSource, { path, upload, ...rest }: Call<T>, json?: Ready['json']) {
    // A dot segment or an encoded slash could lead out of the path; no id of the platform's has one.
    if (/\/\.\.?(\/|\?|$)|%2f|%5c/i.test(path)) throw new NotFoundError(rest.what ?? 'thing')
    const request: HttpRequest = { method: json === undefined ? 'GET' : 'POST', url: base + path }
    if (json !== undefined) request.body = json
    const send = (token: string): Promise<HttpAnswer> => {
      request.headers = { authorization: `Bearer ${token}`, ...source.headers }
      if (json !== undefined) request.headers['content-type'] = 'application/json'
      if (upload) return sendOnce(source, request, uploads)
      const deadline = { ends: performance.now() + deadlineMs }
      const once = () => sendOnce(source, request, http, deadline)
      return json === undefined ? repeated(once, deadline) : once()
    }
    const name = `${request.method} ${rest.scope}`
    const note = (outcome: CallOutcome) => source.noteCall(outcome).catch(() => {})
    const token = await source.accessToken()
    let status = 0
    try {
      let answer = await send(token)
      status = answer.status
      if (answer.status === 401) answer = await send(await source.refresh(token))
      status = answer.status
      if (answer.status === 403) {
        const scope = await missingScope(answer, source, rest.scope)
        await note({ result: 'forbidden', call: name, scope: scope ?? null })
        throw new InsufficientScopeError(scope)
      }
      const data = judge(answer, rest)
      await note({ result: 'ok', call: name, scope: rest.scope })
      return { data, answer }
    } catch (error) {
      if (error instanceof PlatformUnavailableError) await note({ result: 'unavailable', kind: error.kind })
      else if (status === 401 && error instanceof PlatformRejectedError)
        await note({ result: 'unavailable', kind: 'rejected' })
      // The platform works, and understood who asks.
      else if (REJECTIONS.has(status)) await note({ result: 'ok', call: name, scope: rest.scope })
      throw error
    }
  }

  /** Sends a request when the credential's rate limit allows it and the account has room. */
  async function sendOnce(
    source: TokenSource,
    request: HttpRequest,
    pool: Http,
    deadline?: { ends: number },
  ): Promise<HttpAnswer> {
    const asked = performance.now()
    const release = source.pace && (await source.pace())
    // The wait for a permit is ours, not the platform's.
    if (deadline && release) deadline.ends += performance.now() - asked
    let sentAt: number | undefined
    let leave: (() => void) | undefined
    try {
      const waitMs = deadline ? deadline.ends - performance.now() : deadlineMs
      const entered = bulkhead.enter(source.account, waitMs)
      // Usually there is room at once.
      leave = typeof entered === 'function' ? entered : await entered
      sentAt = performance.now()
      if (deadline) request.deadlineMs = deadline.ends - sentAt
      return await pool.send(request)
    } finally {
      leave?.()
      release?.(sentAt)
    }
  }

  return {
    get: async (source, wanted) => (await call(source, wanted)).data,

    async list(source, wanted, { top = 25, skip = 0, orderBy }) {
      const order = orderBy === undefined ? '' : `&${PAGING.orderBy}=${encodeURIComponent(orderBy)}`
      const query = `${PAGING.top}=${Math.min(top, MAX_PAGE)}&${PAGING.skip}=${skip}${order}&${PAGING.count}=true`
      const { data, answer } = await call(source, { ...wanted, path: `${wanted.path}?${query}` })
      const total = answer.header(TOTAL_HEADER)
      return { items: data, total: total !== undefined && /^\d+$/.test(total) ? Number(total) : null }
    },

    post: async (source, wanted, body) =>
      (await call(source, wanted, 'json' in body ? body.json : JSON.stringify(body))).data,
  }
}

/** Repeats a safe request with growing, jittered pauses while an answer is worth waiting for. */
async function repeated(
  once: () => Promise<HttpAnswer>,
  deadline: { readonly ends: number },
): Promise<HttpAnswer> {
  for (let tried = 1; ; tried++) {
    let result: HttpAnswer | PlatformUnavailableError
    try {
      result = await once()
      if (result.status < 500 && result.status !== 429) return result
    } catch (error) {
      if (!(error instanceof PlatformUnavailableError)) throw error
      result = error
    }
    const asked = result instanceof Error ? undefined : result.retryAfterMs
    const pause = asked ?? 100 * 2 ** tried * (0.5 + Math.random() / 2)
    if (tried === TRIES || performance.now() + pause > deadline.ends - 500) {
      if (result instanceof Error) throw result
      return result
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

const AT_LIMIT =
  'The platform is busy: it takes no more requests for this account right now, perhaps because of an import.'

/** What the answer means: the data, or the one typed error for it. */
function judge<T>(answer: HttpAnswer, { what, schema }: Pick<Call<T>, 'what' | 'schema'>): T {
  const { status } = answer
  if (status === 404 && what) throw new NotFoundError(what)
  if (status === 401) throw new PlatformRejectedError('the API rejects a token that was just refreshed')
  if (status === 429)
    throw new PlatformUnavailableError('busy', 'the API answered 429', answer.retryAfterMs, AT_LIMIT)
  if (REJECTIONS.has(status)) throw new PlatformRejectedError(`the API answered ${status}`)
  if (status < 200 || status >= 300)
    throw new PlatformUnavailableError('error', `the API answered ${status}`, answer.retryAfterMs)
  if (!schema && answer.text === '') return undefined as T
  const body = parseJson(answer.text)
  if (body === undefined)
    throw new PlatformUnavailableError(outageOf(status, body), 'the API answered something that is not JSON')
  if (!schema) return undefined as T
  const parsed = schema.safeParse(body)
  if (!parsed.success)
    throw new PlatformRejectedError('the API answered in an unknown shape', fieldOf(parsed.error))
  return body as T
}

/** The first field that a schema objects to, as a path such as `0.name`. */
export function fieldOf(error: z.ZodError): string {
  return error.issues[0]?.path.map(String).join('.') || 'the whole answer'
}

/**
 * The missing scope, when we know it: the challenge names it (`WWW-Authenticate: Bearer scope="..."`, RFC 6750
 * section 3), or the one that the call needs was not granted.
 */
async function missingScope(
  answer: HttpAnswer,
  source: TokenSource,
  needed: string,
): Promise<string | undefined> {
  const named = /\bscope="([\w:.\- ]{1,200})"/.exec(answer.header('www-authenticate') ?? '')?.[1]
  if (named) return named
  const granted = await source.grantedScopes()
  return granted && !granted.includes(needed) ? needed : undefined
}
