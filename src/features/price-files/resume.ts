import type { Logger } from 'pino'
import type { KeyValueStore } from '../../connect/store/store.ts'
import type { ImportService } from './import-service.ts'

/** Delay after which the leases of a killed process have expired, in ms. */
const LEASES_EXPIRED_MS = 12_000
const RETRY_MS = 5_000

/**
 * Resumes the imports of an earlier process: immediately after a clean shutdown, or once the leases have expired if the
 * process was killed. Retries in the background until the store is reachable.
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
      log.warn({ code: (error as { code?: unknown }).code }, 'imports could not be resumed; retrying')
      setTimeout(resume, RETRY_MS).unref()
    }
  }
  void resume()
  setTimeout(resume, LEASES_EXPIRED_MS).unref()
}
