import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ImportService } from './imports.ts'

/** How often jobs of processes that have died are looked for, in ms. Their leases last 10 s. */
const TAKE_OVER_MS = 8_000
/** How often all jobs are looked through, and old files deleted, in ms. */
const RESUME_MS = 86_400_000

/**
 * Resumes the imports of an earlier process, and then takes over those of processes that die, within 20 s. Retries while
 * the store is unreachable. Resolves when the app shuts down.
 */
export async function resumeImports(
  imports: ImportService,
  shutdownSignal: AbortSignal,
  log: Logger,
): Promise<void> {
  let resumedAt = Number.NEGATIVE_INFINITY
  while (!shutdownSignal.aborted) {
    try {
      if (performance.now() - resumedAt < RESUME_MS) await imports.takeOver()
      else {
        await imports.resume()
        resumedAt = performance.now()
      }
    } catch (error) {
      if (shutdownSignal.aborted) return
      log.warn({ code: (error as { code?: unknown }).code }, 'imports could not be resumed; retrying')
    }
    await pause(TAKE_OVER_MS, undefined, { signal: shutdownSignal, ref: false }).catch(() => {})
  }
}
