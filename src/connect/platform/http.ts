import { EventEmitter } from 'node:events'
import { Agent, request } from 'undici'
import {
  MAX_RETRY_AFTER_MS,
  type OutageKind,
  PlatformRejectedError,
  PlatformUnavailableError,
} from './errors.ts'

export interface HttpRequest {
  method: 'GET' | 'POST'
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Ends the whole exchange, in ms from now, if that is earlier than the pool's own deadline. */
  deadlineMs?: number
}

export interface HttpAnswer {
  status: number
  text: string
  /** A header's value by its lower-case name. */
  header(name: string): string | undefined
  /** `Retry-After` in ms from now, when the answer has a readable one (RFC 9110 section 10.2.3). */
  retryAfterMs: number | undefined
}

export interface Http {
  /**
   * One exchange with the platform: no redirect is followed, so a bearer token never travels on; the answer is
   * bounded in size and time. Throws `PlatformUnavailableError` when there is no whole answer, `PlatformRejectedError`
   * when there is too much of it. Any status is an answer.
   */
  send(request: HttpRequest): Promise<HttpAnswer>
  close(): Promise<void>
}

export interface HttpOptions {
  /** The longest wait for a connection, in ms. */
  connectMs?: number
  /** The longest wait for headers, and between two chunks of a body, in ms. */
  answerMs?: number
  /** The longest exchange, in ms. */
  deadlineMs?: number
  /** The largest answer, in bytes. */
  maxBytes?: number
  /** The most connections to one origin. */
  connections?: number
}

/** A pool for each purpose, so that a slow API or a large upload never delays a refresh. */
export interface HttpPools {
  tokens: Http
  api: Http
  uploads: Http
  close(): Promise<void>
}

/**
 * Token requests may take 30 s to be answered: an answer that is given up on may hold the only copy of a rotated
 * refresh token. API calls are quick or repeated; uploads wait for the platform to take a whole batch.
 */
export function createHttpPools({ tokenAnswerMs = 32_000 } = {}): HttpPools {
  const tokens = createHttp({
    answerMs: tokenAnswerMs,
    deadlineMs: tokenAnswerMs + 8_000,
    connections: 512,
  })
  const api = createHttp({ connections: 1024 })
  const uploads = createHttp({ answerMs: 60_000, deadlineMs: 60_000 })
  return {
    tokens,
    api,
    uploads,
    close: async () => {
      await Promise.all([tokens.close(), api.close(), uploads.close()])
    },
  }
}

/** A deadline that is this late was not watched: the process was stopped, or busy. In ms. */
const SUSPENDED_MS = 1_000

/** Creates a keep-alive pool for calls to the platform. */
export function createHttp(options: HttpOptions = {}): Http {
  const {
    connectMs = 5_000,
    answerMs = 5_000,
    deadlineMs = 8_000,
    maxBytes = 8 * 1024 * 1024,
    connections = 64,
  } = options
  const agent = new Agent({
    connect: { timeout: connectMs },
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
    keepAliveTimeout: 30_000,
    connections,
    maxResponseSize: maxBytes,
  })
  return {
    send({ method, url, headers, body, deadlineMs: limit = deadlineMs }) {
      return new Promise((resolve, reject) => {
        // An emitter rather than an AbortSignal, which costs a tenth of a whole call.
        const signal = new EventEmitter()
        let deadline: NodeJS.Timeout
        const wait = (ms: number) => {
          const due = performance.now() + ms
          deadline = setTimeout(() => {
            // The process was stopped meanwhile: the answer may be here, unread.
            if (performance.now() - due > SUSPENDED_MS) return wait(SUSPENDED_MS)
            // The abort frees the connection; a request that still waits for one would not notice it.
            reject(new PlatformUnavailableError('no_answer', 'no whole answer in time'))
            signal.emit('abort')
          }, ms)
        }
        wait(Math.max(1, Math.min(limit, deadlineMs)))
        exchange(url, {
          dispatcher: agent,
          method,
          body: body ?? null,
          signal,
          headers: { accept: 'application/json', ...headers },
        }).then(
          (answer) => {
            clearTimeout(deadline)
            resolve(answer)
          },
          (error: unknown) => {
            clearTimeout(deadline)
            reject(explain(error))
          },
        )
      })
    },
    close: () => agent.destroy(),
  }
}

async function exchange(url: string, options: Parameters<typeof request>[1]): Promise<HttpAnswer> {
  const { statusCode, headers, body } = await request(url, options)
  const text = await body.text()
  const header = (name: string) => first(headers[name])
  return { status: statusCode, text, header, retryAfterMs: retryAfter(header('retry-after')) }
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

/**
 * Our error for a transport fault; a mistake in the request's making stays what it is. Only the fault's code is
 * kept: its message may hold the address or more.
 */
function explain(error: unknown): unknown {
  if (error instanceof TypeError || error instanceof RangeError) return error
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new PlatformRejectedError('the answer is too large', 'its size')
  return new PlatformUnavailableError('no_answer', `no answer (${String(code ?? name ?? 'unknown fault')})`)
}

/** The text as JSON, or undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What an unusable answer amounts to: too many requests, a failure of the platform's, or a body that is not JSON. */
export function outageOf(status: number, body: unknown): OutageKind {
  if (status === 429) return 'busy'
  return status < 300 && body === undefined ? 'unreadable' : 'error'
}
