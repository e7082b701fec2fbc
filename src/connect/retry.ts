import { setTimeout } from 'node:timers/promises'
import { AppError } from './app-error.ts'

export interface RetryOptions {
  /** How long to keep retrying, in ms; 5 minutes by default. */
  timeoutMs?: number
  /** The maximum number of attempts; limited only by the time by default. */
  attempts?: number
  /** The first pause, in ms; doubles each time, up to `maxPauseMs`. 500 by default. */
  pauseMs?: number
  /** The longest pause without a `Retry-After`, in ms; 30 s by default. */
  maxPauseMs?: number
  signal?: AbortSignal | undefined
  /** Called before each pause with a reason for the log, and the error. */
  onWait?(reason: string, error: AppError): void
}

/**
 * Retries idempotent work while it fails with an `AppError` of status 503 (the platform or the store is unavailable). Waits with
 * exponential backoff and jitter, and honours `Retry-After`. Throws the last such error when the time or the attempts run out.
 * Throws any other error immediately, and the signal's reason if aborted.
 *
 * @example
 * await retry(() => store.set(key, value), { timeoutMs: 60_000 })
 */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { timeoutMs = 300_000, attempts = Infinity, pauseMs = 500, maxPauseMs = 30_000, signal } = options
  const deadline = performance.now() + timeoutMs
  for (let attempt = 1, pause = pauseMs; ; attempt++, pause = Math.min(pause * 2, maxPauseMs)) {
    signal?.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 503) throw error
      const wait = Math.max(pause * (0.5 + Math.random() / 2), error.retryAfterMs ?? 0)
      if (attempt === attempts || performance.now() + wait > deadline) throw error
      options.onWait?.(error.reason ?? error.message, error)
      await sleep(wait, signal)
    }
  }
}

/** Waits. If aborted, throws the signal's reason, which `setTimeout` would wrap in an `AbortError`. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted())
}
