import { Agent, type fetch, type Response } from 'undici'
import type { Call, Exchange } from './exchange.ts'

/** A request and its response, without the times. */
type Sent = Omit<Exchange, 'sentAt' | 'receivedAt'>

/** Where calls go. `fetch` is that of undici; tests answer in its place. */
export interface Target {
  baseUrl: string
  timeoutMs: number
  fetch: typeof fetch
}

/** How a connection ends that the server has closed while it was idle. */
const CLOSED = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

/** HTTP/1.1, and for each address of the host longer than a handshake with one lost packet takes, as the app's own calls. */
const openConnections = () =>
  new Agent({ allowH2: false, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 2_500 })
const connections = openConnections()

/**
 * Sends a request. Never throws: without a response, the status of the exchange is 0. If the connection was closed before
 * any answer, it may have been idle for too long: the request, which changes nothing, is sent once more, by a new connection.
 */
export async function send(path: string, call: Call, to: Target): Promise<Sent> {
  const { isClosed, ...sent } = await sendOnce(path, call, to, connections)
  if (!isClosed) return sent
  const fresh = openConnections()
  const { isClosed: _, ...again } = await sendOnce(path, call, to, fresh)
  await fresh.close()
  return again
}

async function sendOnce(
  path: string,
  call: Call,
  { baseUrl, timeoutMs, fetch }: Target,
  dispatcher: Agent,
): Promise<Sent & { isClosed: boolean }> {
  const { method = 'GET', body, headers = {} } = call
  const request = `${method} ${path}${body ? `\n${body}` : ''}`
  let isClosed = true
  try {
    const response = await fetch(baseUrl + path, {
      method,
      headers,
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'manual',
      dispatcher,
      ...(body !== undefined && { body }),
    })
    isClosed = false
    const bytes = await read(response)
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
    const { status, headers: received } = response
    return { request, status, headers: received, text, json: parse(text), isUtf8: isUtf8(bytes), isClosed }
  } catch (error) {
    const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } }
    const text =
      name === 'TimeoutError'
        ? `no response within ${timeoutMs / 1000} s`
        : `no response (${cause?.code ?? cause?.message ?? name})`
    isClosed &&= CLOSED.includes(cause?.code ?? '')
    return { request, status: 0, headers: new Headers(), text, json: undefined, isUtf8: true, isClosed }
  }
}

const MAX_BODY_BYTES = 5_000_000

/** Reads a body, up to `MAX_BODY_BYTES`. */
async function read(response: Response): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    parts.push(part)
    size += part.length
    if (size > MAX_BODY_BYTES) break
  }
  return Buffer.concat(parts)
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}
