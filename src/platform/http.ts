import { EventEmitter } from 'node:events'
import { Agent, request } from 'undici'
import { PlatformRejected, PlatformUnavailable } from './errors.ts'

export interface HttpRequest {
  method: 'GET' | 'POST'
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Ends the whole exchange, in ms from now; the phases have limits of their own below it. */
  deadlineMs?: number
  /** For an answer that may take long to begin: the longest wait for headers, in ms, and for the whole. */
  patienceMs?: number
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
   * bounded in size and time. Throws `PlatformUnavailable` when there is no whole answer, `PlatformRejected`
   * when there is too much of it. Any status is an answer.
   */
  send(request: HttpRequest): Promise<HttpAnswer>
  close(): Promise<void>
}

export interface HttpOptions {
  /** The longest wait for a connection, for headers, and between two chunks of a body, in ms. */
  phaseMs?: number
  /** The longest exchange, in ms. */
  deadlineMs?: number
  /** The largest answer, in bytes. */
  maxBytes?: number
}

const MAX_RETRY_AFTER_MS = 3_600_000

/** Creates the keep-alive pool that every call to the platform goes through. */
export function createHttp(options: HttpOptions = {}): Http {
  const { phaseMs = 5_000, deadlineMs = 8_000, maxBytes = 8 * 1024 * 1024 } = options
  const agent = new Agent({
    connect: { timeout: phaseMs },
    headersTimeout: phaseMs,
    bodyTimeout: phaseMs,
    keepAliveTimeout: 30_000,
    connections: 64,
    maxResponseSize: maxBytes,
  })
  return {
    send({ method, url, headers, body, patienceMs, deadlineMs: limit = deadlineMs }) {
      return new Promise((resolve, reject) => {
        // An emitter rather than an AbortSignal, which costs a tenth of a whole call.
        const signal = new EventEmitter()
        const late = setTimeout(
          () => {
            // The abort frees the connection; a request that still waits for one would not notice it.
            reject(new PlatformUnavailable('no whole answer in time'))
            signal.emit('abort')
          },
          Math.max(1, patienceMs ?? Math.min(limit, deadlineMs)),
        )
        const options = {
          ...{ dispatcher: agent, method, body: body ?? null, signal },
          ...(patienceMs !== undefined && { headersTimeout: patienceMs }),
        }
        exchange(url, { ...options, headers: { accept: 'application/json', ...headers } }).then(
          (answer) => {
            clearTimeout(late)
            resolve(answer)
          },
          (error: unknown) => {
            clearTimeout(late)
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
    return new PlatformRejected('the answer is too large', 'its size')
  return new PlatformUnavailable(`no answer (${String(code ?? name ?? 'unknown fault')})`)
}

/** The text as JSON, or undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
