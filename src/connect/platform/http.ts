import { unzipSync } from 'node:zlib'
import type { Agent, Dispatcher } from 'undici'
import type { Platform } from './contract.ts'
import {
  MAX_RETRY_AFTER_MS,
  type OutageKind,
  PlatformError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface HttpRequest {
  method: Method
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Deadline for the whole exchange, in ms from now, if it is earlier than the pool's own. */
  deadlineMs?: number | undefined
  /** The timeout of the exchange and of each of its steps, in ms, instead of the pool's timeouts. */
  timeoutMs?: number
  /** The connection that the request belongs to, for listeners. */
  connection?: { userId: string; bxcontext: string } | undefined
}

export interface HttpResponse {
  status: number
  text: string
  /** The headers by their lower-case names. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** A header's value by its lower-case name. */
  header(name: string): string | undefined
  /** The time of a valid `Retry-After` header, in ms from now (RFC 9110 section 10.2.3), at most `MAX_RETRY_AFTER_MS`. */
  retryAfterMs: number | undefined
}

export interface Http {
  /**
   * Sends one request and resolves to the response, whatever its status. It does not follow redirects, so a bearer token never
   * reaches another address. It limits the response in size and time. Throws `PlatformUnavailableError` if the response is missing,
   * incomplete or badly compressed, and `PlatformRejectedError` if it is too large.
   */
  send(request: HttpRequest): Promise<HttpResponse>
  close(): Promise<void>
}

export interface HttpOptions {
  /** The longest wait, in ms, for a connection to the server or to a proxy, and for the proxy's answer. */
  connectTimeoutMs?: number
  /** The longest wait for headers, and between two chunks of a body, in ms. */
  stepTimeoutMs?: number
  /** The longest exchange, in ms. */
  deadlineMs?: number
  /** The most connections to one origin. */
  connections?: number
  /** The forward proxies. Null, the default, means a direct connection. */
  proxies?: Proxies | null
  /** The origins that requests go to instead of the public ones. */
  internalUrls?: InternalUrls
  /** The `User-Agent` of every request, the name of your app; `connect-starter` by default. */
  userAgent?: string
}

/** Maps an origin that browsers and settings use to the origin to which this app sends its requests. */
export type InternalUrls = Readonly<Record<string, string>>

/** Returns the address to which a request for `url` is sent. */
export function sentTo(url: string, internalUrls: InternalUrls = {}): URL {
  const address = new URL(url)
  const internal = internalUrls[address.origin]
  return internal === undefined ? address : new URL(internal + address.pathname + address.search)
}

/** Forward proxies, as the usual environment variables name them. */
export interface Proxies {
  /** The proxy for https addresses; if undefined, `httpProxy` is used. */
  httpsProxy: string | undefined
  httpProxy: string | undefined
  /** Hosts that are reached directly, separated by commas, such as `localhost,.internal.example`. */
  noProxy: string
}

/** A pool for each purpose, so that a slow API never delays a refresh. */
export interface HttpPools {
  tokens: Http
  api: Http
  close(): Promise<void>
}

export interface PoolOptions extends Pick<HttpOptions, 'proxies' | 'internalUrls' | 'userAgent'> {
  tokenTimeoutMs?: number
  apiTimeoutMs?: number
}

/**
 * Creates the pools for a platform. The app waits 32 s for the token endpoint (`tokenEndpointMs`), which may take 30 s. With a
 * shorter wait, it could lose the only copy of a rotated refresh token. API calls are usually quick, and reads are retried.
 */
export function createHttpPools(
  platform: Pick<Platform, 'tokenEndpointMs'>,
  { tokenTimeoutMs = platform.tokenEndpointMs, apiTimeoutMs = 5_000, ...common }: PoolOptions = {},
): HttpPools {
  const tokens = createHttp({
    ...common,
    stepTimeoutMs: tokenTimeoutMs,
    deadlineMs: tokenTimeoutMs + 8_000,
    connections: 512,
  })
  const api = createHttp({ ...common, stepTimeoutMs: apiTimeoutMs, connections: 1024 })
  return {
    tokens,
    api,
    close: async () => {
      await Promise.all([tokens.close(), api.close()])
    },
  }
}

/** The largest response, in bytes. */
const MAX_BYTES = 8 * 1024 * 1024
/** Some firewalls refuse requests without a `User-Agent`. */
const USER_AGENT = 'connect-starter'

/**
 * How every connection is opened. It uses HTTP/1.1 only: if an HTTP/2 connection is lost, every request on it fails, and a POST may
 * or may not have been processed. By default, Node gives each address of a host 250 ms. A handshake with a lost packet takes longer
 * (1 s, RFC 6298 section 2.1). undici uses the longer time only if `autoSelectFamily` is also set.
 */
const CONNECTING = { allowH2: false, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 2_500 }

/** Creates a keep-alive pool for calls to the platform. */
export function createHttp(options: HttpOptions = {}): Http {
  const { connectTimeoutMs = 5_000, stepTimeoutMs = 5_000, deadlineMs: longestMs = 8_000 } = options
  const settings = {
    connectTimeout: connectTimeoutMs,
    keepAliveTimeout: 30_000,
    connections: options.connections ?? 64,
    maxResponseSize: MAX_BYTES,
    ...CONNECTING,
  }
  let opening: Promise<Dispatcher> | undefined
  const open = () => (opening ??= createDispatcher(settings, options.proxies ?? null))
  return {
    send: async (request) => {
      const { timeoutMs, deadlineMs = longestMs } = request
      const times = {
        deadlineMs: timeoutMs ?? Math.min(deadlineMs, longestMs),
        stepMs: timeoutMs ?? stepTimeoutMs,
      }
      return exchange(await open(), request, times, options)
    },
    close: async () => (await open()).destroy(),
  }
}

/** Loads undici on demand, because loading it takes a tenth of the startup time of the app or a command. */
async function createDispatcher(
  options: Agent.Options & { connectTimeout: number },
  proxies: Proxies | null,
): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent, Pool } = await import('undici')
  if (!proxies) return new Agent(options)
  const { httpsProxy = '', httpProxy = '', noProxy } = proxies
  return new EnvHttpProxyAgent({
    ...options,
    httpsProxy,
    httpProxy,
    noProxy,
    proxyTls: CONNECTING,
    // Otherwise, a proxy that does not answer CONNECT would keep all requests waiting for five minutes, undici's default.
    clientFactory: (origin, client) =>
      new Pool(origin, { ...client, headersTimeout: options.connectTimeout }),
  })
}

/**
 * Sends a request and reads the whole response. After `deadlineMs`, aborts the request, which frees its connection. If the request
 * is still waiting for a connection then, undici's `request` would close that connection, but `dispatch` doesn't.
 */
async function exchange(
  dispatcher: Dispatcher,
  { method, url, headers, body }: HttpRequest,
  { deadlineMs, stepMs }: { deadlineMs: number; stepMs: number },
  { userAgent = USER_AGENT, internalUrls }: HttpOptions,
): Promise<HttpResponse> {
  const { origin, pathname, search } = sentTo(url, internalUrls)
  const accept = { accept: 'application/json', 'accept-encoding': 'identity' }
  const sent = { ...accept, ...headers, 'user-agent': userAgent }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let controller: Dispatcher.DispatchController | undefined
  let status = 0
  let received: Headers = {}
  const chunks: Buffer[] = []
  let late: PlatformUnavailableError | undefined
  const expire = () => {
    late = new PlatformUnavailableError('no_answer', 'no complete answer before the deadline')
    reject(late)
    controller?.abort(late)
  }
  // If the process was suspended, an answer may have arrived in the meantime. The immediate runs after Node has read it.
  const timer = setTimeout(() => setImmediate(expire), Math.max(1, deadlineMs))
  dispatcher.dispatch(
    {
      origin,
      path: pathname + search,
      method,
      headers: sent,
      body: body ?? null,
      headersTimeout: stepMs,
      bodyTimeout: stepMs,
    },
    {
      onRequestStart(started) {
        controller = started
        // The deadline passed while the request waited for a connection. Throwing leaves that connection to the next request.
        if (late) throw late
      },
      onResponseStart(_controller, statusCode, responseHeaders) {
        status = statusCode
        received = responseHeaders
      },
      onResponseData(started, chunk) {
        if (chunks.push(chunk) > MAX_CHUNKS) started.abort(tooLarge())
      },
      onResponseEnd: () => resolve(),
      onResponseError: (_controller, error) => reject(error),
    },
  )
  try {
    await promise
    return toResponse(status, received, Buffer.concat(chunks))
  } catch (error) {
    throw transportError(error)
  } finally {
    clearTimeout(timer)
  }
}

type Headers = Dispatcher.ResponseData['headers']

/** The most chunks of a response, because each takes memory in addition to its bytes. */
const MAX_CHUNKS = 100_000

/** Throws an error of zlib if the body cannot be decompressed. */
function toResponse(status: number, headers: Headers, bytes: Buffer): HttpResponse {
  const header = (name: string) => {
    const value = headers[name]
    if (!Array.isArray(value)) return value
    // Several lines of challenges form one list (RFC 9110 section 5.3). For any other header, the first value counts.
    return name === 'www-authenticate' ? value.join(', ') : value[0]
  }
  // We ask for an uncompressed answer, but some servers compress it anyway.
  const isPacked = /gzip|deflate/i.test(header('content-encoding') ?? '') && bytes.length > 0
  const content = isPacked ? unzipSync(bytes, { maxOutputLength: MAX_BYTES }) : bytes
  return {
    status,
    // A byte order mark is not part of the text.
    text: content.toString().replace(/^\ufeff/, ''),
    headers,
    header,
    retryAfterMs: parseRetryAfter(header('retry-after'), header('date')),
  }
}

/** Returns ms. `date`: the `Date` header, which uses the same clock as a date in `Retry-After`. */
function parseRetryAfter(value: string | undefined, date: string | undefined): number | undefined {
  const text = value ?? ''
  // The third form of a date has no zone (RFC 9110 section 5.6.7). `Date.parse` also reads `-5` and `10, 20` as dates.
  const dated = /^[a-z]{3} [a-z]{3} [ \d]\d [\d:]{8} \d{4}$/i.test(text) ? `${text} GMT` : text
  const at = /\bGMT$/.test(dated) ? Date.parse(dated) : Number.NaN
  const ms = /^[\d.]+$/.test(text) ? Number(text) * 1000 : at - (Date.parse(date ?? '') || Date.now())
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

/**
 * Maps an error of undici or zlib to one of ours, and keeps only its code, since its message may contain the address or more. A
 * `TypeError` or `RangeError`, for example for an invalid URL, is a bug and passes unchanged.
 */
function transportError(error: unknown): unknown {
  const { code, name, message } = Object(error)
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || code === 'ERR_BUFFER_TOO_LARGE') return tooLarge()
  if (/^Z_/.test(code))
    return new PlatformUnavailableError('unreadable', 'the answer is not what its Content-Encoding says')
  if (error instanceof PlatformError || error instanceof TypeError || error instanceof RangeError)
    return error
  // Only the message of undici's error shows that a forward proxy refused the request. 407: the proxy needs credentials.
  const [, status] = /^Proxy [\w ]+\((\d{3})\)/.exec(message) ?? []
  const cure = status === '407' ? ': it needs a user and a password in its URL' : ''
  if (status !== undefined)
    return new PlatformUnavailableError('no_answer', `the forward proxy answered ${status}${cure}`)
  return new PlatformUnavailableError('no_answer', `no answer (${String(code ?? name ?? 'unknown error')})`)
}

const tooLarge = () => new PlatformRejectedError('the answer is too large', 'its size')

/** Whether an answer is a web page, which comes from a proxy, a firewall or a server under maintenance instead of JSON. */
export const isWebPage = (text: string): boolean => /^\s*<(!doctype\s+html|html)\b/i.test(text)

/** The kind of outage for the status of an unusable response. */
export function outageOf(status: number): OutageKind {
  if (status === 429) return 'busy'
  return status < 300 ? 'unreadable' : 'error'
}
