import type { Response } from 'express'
import type { Logger } from 'pino'

/**
 * Returns a function that calls the price provider for a caller. The signal of a call is aborted if the caller disconnects, or
 * after `timeoutMs`. Then the function throws an error, even if the provider ignores the signal. It also throws the errors of the
 * provider. Each error is logged, unless the caller has disconnected.
 */
export function providerCalls(log: Logger, timeoutMs = 10_000) {
  return async <T>(res: Response, call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const controller = new AbortController()
    const { signal } = controller
    const tooLong = new Error(`the price provider took longer than ${timeoutMs} ms`)
    const timer = setTimeout(() => controller.abort(tooLong), timeoutMs)
    const disconnect = () => controller.abort()
    res.once('close', disconnect)
    try {
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
      return await Promise.race([call(signal), aborted])
    } catch (error) {
      const reason = reasonOf(error, 'stack') || reasonOf(error, 'message')
      if (!res.closed) log.error({ reason }, 'the price provider failed')
      throw error
    } finally {
      clearTimeout(timer)
      res.off('close', disconnect)
    }
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

/**
 * Returns the message of what a price provider threw, which may be anything, or its stack, which begins with the message. Leaves out
 * what looks like a secret, and all after 400 characters. Returns an empty text if there is no text, or if it cannot be read.
 */
export function reasonOf(error: unknown, member: 'message' | 'stack'): string {
  let text: unknown
  try {
    text = Object(error)[member]
  } catch {}
  if (typeof text !== 'string') return ''
  return text
    .slice(0, 10 * MAX_LENGTH)
    .replace(URL_CREDENTIALS, '$1[redacted]@')
    .replace(URL_QUERY, '$1[redacted]')
    .replace(SECRETS, '$1[redacted]')
    .replace(BEARER, '$1 [redacted]')
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, MAX_LENGTH)
}
