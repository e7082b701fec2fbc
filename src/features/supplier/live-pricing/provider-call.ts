import type { Response } from 'express'
import type { Logger } from 'pino'
import { PriceProviderError } from './price-provider.ts'

/**
 * Returns a function that calls the price provider for a caller. The signal of a call is aborted if the caller disconnects, or
 * after `timeoutMs`. Then the function throws an error, even if the provider ignores the signal. It also throws the errors of the
 * provider. Each error is logged, unless the caller has disconnected.
 */
export function providerCalls(log: Logger, timeoutMs = 10_000) {
  return async <T>(res: Response, call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const controller = new AbortController()
    const { signal } = controller
    const tooLong = new PriceProviderError(`it took longer than ${timeoutMs} ms`)
    const timer = setTimeout(() => controller.abort(tooLong), timeoutMs)
    const disconnect = () => controller.abort()
    res.once('close', disconnect)
    try {
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
      return await Promise.race([call(signal), aborted])
    } catch (error) {
      if (!res.closed) log.error({ reason: reasonOf(error) }, 'the price provider failed')
      throw error
    } finally {
      clearTimeout(timer)
      res.off('close', disconnect)
    }
  }
}

/**
 * Describes an error for the log. Because the message of an unknown error may contain secrets, logs only its type, its code and
 * its location.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof PriceProviderError) return error.message
  if (!(error instanceof Error)) return `a value of type ${typeof error} was thrown`
  const code = 'code' in error ? ` ${error.code}` : ''
  const [, frame = ''] = /^\s+(at .+)$/m.exec(error.stack ?? '') ?? []
  return `${error.name}${code} ${frame}`.trim()
}
