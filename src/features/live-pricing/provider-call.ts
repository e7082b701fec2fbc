import type { Response } from 'express'
import type { Logger } from 'pino'

/** What the endpoints need to ask a price provider. */
export interface Asking {
  /** The response to the caller, for whom it is asked. */
  res: Response
  /** How long the price provider may take, in ms. */
  timeoutMs: number
  log: Logger
}

/**
 * Calls the price provider with a signal, which is aborted if the caller disconnects, or after `timeoutMs`. Throws the errors
 * of the provider, and an error if it takes longer, even if it ignores the signal. Each is logged, unless the caller has
 * disconnected.
 */
export async function askProvider<T>(
  { res, timeoutMs, log }: Asking,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const disconnect = () => controller.abort()
  res.once('close', disconnect)
  const timer = setTimeout(
    () => controller.abort(new Error(`the price provider took longer than ${timeoutMs} ms`)),
    timeoutMs,
  )
  try {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
    return await Promise.race([call(signal), aborted])
  } catch (error) {
    if (!res.closed) log.error({ reason: describeProviderError(error) }, 'the price provider failed')
    throw error
  } finally {
    clearTimeout(timer)
    res.off('close', disconnect)
  }
}

/** The longest description of an error that is logged, in characters. */
const MAX_LENGTH = 400
/** A name that says that its value is a secret, and the value. */
const SECRETS =
  /([\w-]*(?:pass|pwd|secret|token|key|cookie|auth|credential|signature|\bsig)[\w-]*["']?\s*[=:]\s*)(?:(?:bearer|basic)\s+)?("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[^\s,;&]+)/gi
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]+/gi
/** The user and the password in a URL, and its query. */
const URL_CREDENTIALS = /(\w+:\/\/)\S*@/g
const URL_QUERY = /(\w+:\/\/[^\s?]+\?)\S+/g

/** An error of a price provider for the log: its name, its message without what looks like a secret, and its place. */
function describeProviderError(error: unknown): string {
  const frame = textOf(error, 'stack')
    .split('\n')
    .find((line) => /^\s+at .*:\d+:\d+\)?$/.test(line))
  return redact(
    `${textOf(error, 'name') || 'Error'}: ${textOf(error, 'message')} ${frame?.trim() ?? ''}`.trim(),
  )
}

/** Why a result of a price provider is invalid, for the log. */
export const describeInvalid = (error: unknown): string => redact(textOf(error, 'message') || 'unknown')

/** A member of what the provider threw, which may be anything; empty if it is no text or cannot be read. */
function textOf(error: unknown, name: 'name' | 'message' | 'stack'): string {
  try {
    const text: unknown = Object(error)[name]
    return typeof text === 'string' ? text : ''
  } catch {
    return ''
  }
}

function redact(text: string): string {
  return text
    .slice(0, 10 * MAX_LENGTH)
    .replace(URL_CREDENTIALS, '$1[redacted]@')
    .replace(URL_QUERY, '$1[redacted]')
    .replace(SECRETS, '$1[redacted]')
    .replace(BEARER, '$1 [redacted]')
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, MAX_LENGTH)
}
