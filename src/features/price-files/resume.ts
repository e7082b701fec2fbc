import type { Logger } from 'pino'
import type { KeyValueStore } from '../../connect/store/store.ts'
import type { ImportService } from './import-service.ts'

/** The leases of a killed process have expired by now, in ms. */
const LEASES_EXPIRED_MS = 12_000
const RETRY_MS = 5_000

/**
 * Resumes the imports that an earlier process left: those of a clean stop at once, those of a killed process when its
 * leases have expired.
 */
export function resumeImports(
  imports: ImportService,
  store: KeyValueStore,
  shutdownSignal: AbortSignal,
  log: Logger,
): void {
  const resume = async () => {
    try {
      await store.ping()
      await imports.resume()
    } catch (error) {
      if (shutdownSignal.aborted) return
      log.warn({ code: (error as { code?: unknown }).code }, 'imports could not be resumed yet')
      setTimeout(resume, RETRY_MS).unref()
    }
  }
  void resume()
  setTimeout(resume, LEASES_EXPIRED_MS).unref()
}
