import type { Call, Exchange } from './exchange.ts'

/** A request and its response, without the times. */
type Sent = Omit<Exchange, 'sentAt' | 'receivedAt'>

/** Sends a request. Never throws: without a response, the status of the exchange is 0. */
export async function send(baseUrl: string, path: string, call: Call, timeoutMs: number): Promise<Sent> {
  const { method = 'GET', body, headers = {} } = call
  const request = `${method} ${path}${body ? `\n${body}` : ''}`
  try {
    const response = await fetch(baseUrl + path, {
      method,
      headers,
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'manual',
      ...(body !== undefined && { body }),
    })
    const bytes = await read(response)
    const text = new TextDecoder().decode(bytes)
    const { status, headers: received } = response
    return { request, status, headers: received, text, json: parse(text), isUtf8: isUtf8(bytes) }
  } catch (error) {
    const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } }
    const text =
      name === 'TimeoutError'
        ? `no response within ${timeoutMs / 1000} s`
        : `no response (${cause?.code ?? cause?.message ?? name})`
    return { request, status: 0, headers: new Headers(), text, json: undefined, isUtf8: true }
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
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
