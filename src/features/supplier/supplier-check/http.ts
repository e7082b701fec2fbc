import { Agent, fetch, type Headers, type RequestInit } from 'undici'

/** A request and its answer. It may hold secrets: only `SupplierClient.redact` makes its texts fit to be shown. */
export interface Exchange {
  /** The method, the path and the body; never a header. */
  request: string
  /** 0 if there was no answer. */
  status: number
  headers: Headers | undefined
  text: string
  /** The parsed body; undefined if it is not JSON in UTF-8. */
  json: unknown
  /** When the request was sent, in ms since 1970. */
  sentAt: number
}

/** Whether a status is 2xx. */
export const isSuccess = ({ status }: Exchange) => status >= 200 && status < 300

/** Whether a request was refused as it is (4xx). */
export const isClientError = ({ status }: Exchange) => status >= 400 && status < 500

/** Whether a call was refused because of its token. */
export const isRefused = ({ status }: Exchange) => status === 401 || status === 403

/** What a call returned, to complete "must return 200, not ...". */
export const describe = ({ status, text }: Exchange) => (status === 0 ? text : String(status))

/** A connection for each call, as servers close idle ones, with time for a handshake that loses a packet. */
const dispatcher = new Agent({
  allowH2: false,
  pipelining: 0,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: 2_500,
})

/** How long a call may take, in ms. */
const TIMEOUT_MS = 15_000

/** Sends a request below a base address. Never throws: without an answer, the status is 0. */
export async function send(baseUrl: string, path: string, call: RequestInit, sentAt: number, by = fetch) {
  const { method = 'GET', body = '' } = call
  const request = `${method} ${path}\n${body}`.trimEnd()
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await by(baseUrl + path, { ...call, signal, redirect: 'manual', dispatcher })
    const bytes = Buffer.from(await response.arrayBuffer())
    const { status, headers } = response
    return { request, sentAt, status, headers, text: bytes.toString('utf8'), json: parse(bytes) }
  } catch (error) {
    return { request, sentAt, status: 0, headers: undefined, text: reasonOf(error), json: undefined }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer'
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`
  const cause = error.cause instanceof Error ? error.cause : error
  return `no answer (${'code' in cause ? cause.code : cause.message})`
}

/** Parses JSON, which is UTF-8 (RFC 8259 section 8.1); a byte order mark is ignored. */
function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
