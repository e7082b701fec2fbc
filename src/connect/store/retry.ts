import { setTimeout } from 'node:timers/promises'
import { AppError } from '../app-error.ts'
import { type KeyValueStore, StoreUnavailableError } from './store.ts'

export interface RetryOptions {
  /** How long to keep retrying, in ms; 5 minutes by default. */
  timeoutMs?: number
  /** The first pause, in ms; doubles each time, up to `maxPauseMs`. 500 by default. */
  pauseMs?: number
  /** The longest pause without a `Retry-After`, in ms; 30 s by default. */
  maxPauseMs?: number
  signal?: AbortSignal | undefined
  /** Called before each pause with a reason for the log, and the error. */
  onWait?(reason: string, error: AppError): void
}

/**
 * Retries idempotent work while it fails with an `AppError` of status 503 (the platform or the store is unavailable), with
 * exponential backoff and jitter, honouring the platform's `Retry-After`. Throws that error on timeout, any other error of
 * `work`, and the signal's reason if aborted.
 *
 * @example
 * await retry(() => store.set(key, value), { timeoutMs: 60_000 })
 */
export async function retry<T>(
  work: () => Promise<T>,
  { timeoutMs = 300_000, pauseMs = 500, maxPauseMs = 30_000, signal, onWait }: RetryOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (let pause = pauseMs; ; pause = Math.min(pause * 2, maxPauseMs)) {
    signal?.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 503) throw error
      // `retryAfterMs` of a store's error is for the clients of this app.
      const askedMs = error instanceof StoreUnavailableError ? 0 : (error.retryAfterMs ?? 0)
      const wait = Math.max(pause * (0.5 + Math.random() / 2), askedMs)
      if (performance.now() + wait > deadline) throw error
      onWait?.(error.reason ?? error.message, error)
      await sleep(wait, signal)
    }
  }
}

/** Waits for the store for two seconds, since Redis connects in the background. Throws `StoreUnavailableError`. */
export const ready = (store: KeyValueStore): Promise<void> =>
  retry(() => store.ping(), { timeoutMs: 2_000, pauseMs: 100, maxPauseMs: 100 })

/** Waits. If aborted, throws the signal's reason; `setTimeout` would throw an `AbortError` caused by it. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted())
}
