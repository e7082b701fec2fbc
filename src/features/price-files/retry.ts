import { setTimeout } from 'node:timers/promises'
import { PlatformUnavailableError } from '../../connect/platform/errors.ts'
import { StoreUnavailableError } from '../../connect/store/store.ts'

export interface RetryOptions {
  /** How long to keep retrying, in ms; 5 minutes by default. */
  timeoutMs?: number
  /** The first pause, in ms; doubles each time, up to 30 s. 500 by default. */
  pauseMs?: number
  signal?: AbortSignal
  /** Called before each pause with a human-readable reason. */
  onWait?(reason: string): void
}

const MAX_PAUSE_MS = 30_000

/**
 * Retries idempotent work while the platform or the store is unavailable, with exponential backoff and jitter, honouring
 * `Retry-After`. Throws `PlatformUnavailableError` and `StoreUnavailableError` on timeout, any other error of `work`, and
 * the signal's reason if aborted.
 */
export async function retry<T>(
  work: () => Promise<T>,
  { timeoutMs = 300_000, pauseMs = 500, signal, onWait }: RetryOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (let pause = pauseMs; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    signal?.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      const isOutage = error instanceof PlatformUnavailableError || error instanceof StoreUnavailableError
      if (!isOutage) throw error
      const wait = Math.max(pause * (0.5 + Math.random() / 2), error.retryAfterMs ?? 0)
      if (performance.now() + wait > deadline) throw error
      onWait?.(error.reason ?? error.message)
      await sleep(wait, signal)
    }
  }
}

/** Waits. If aborted, throws the signal's reason, whereas `setTimeout` throws an `AbortError` caused by it. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted())
}
