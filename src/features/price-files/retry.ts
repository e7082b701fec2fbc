import { setTimeout } from 'node:timers/promises'
import { PlatformUnavailableError } from '../../connect/platform/errors.ts'

export interface RetryOptions {
  /** How long the platform may be unavailable, in ms. */
  timeoutMs?: number
  /** The first pause, in ms; it doubles. */
  pauseMs?: number
  signal?: AbortSignal
  /** Called with the reason, for people, before each pause. */
  onWait?(reason: string): void
}

const LONGEST_PAUSE_MS = 30_000

/**
 * Repeats work that is safe to repeat while the platform is unavailable, honouring `Retry-After`.
 * Throws `PlatformUnavailableError` when it has timed out, everything else that the work throws, and the signal's reason.
 */
export async function retry<T>(
  work: () => Promise<T>,
  { timeoutMs = 300_000, pauseMs = 500, signal, onWait }: RetryOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (let pause = pauseMs; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    signal?.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof PlatformUnavailableError)) throw error
      const wait = Math.max(pause * (0.5 + Math.random() / 2), error.retryAfterMs ?? 0)
      if (performance.now() + wait > deadline) throw error
      onWait?.(error.reason ?? error.message)
      await sleep(wait, signal)
    }
  }
}

/** Throws the signal's reason, where `setTimeout` throws an `AbortError` that has it as its cause. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted())
}
