import type { Logger } from 'pino'
import { ConnectionRevokedError, PlatformError, StoreUnavailableError } from '../../connect/errors.ts'
import { retry } from '../../connect/index.ts'
import { acquireLease, type KeyValueStore, type Lease, update } from '../../connect/stores.ts'
import { problemOf, sentencesOf } from '../../web/errors.ts'
import { ImportError } from './errors.ts'
import { activeKey, type Import, importKey, leaseKey, requireImport } from './import.ts'
import { createLimiter } from './limiter.ts'
import { texts } from './texts.ts'

/** What the work on an import uses to keep its record up to date. */
export interface Work {
  /** Aborts when the process stops, the lease is lost, or the import was changed elsewhere. */
  signal: AbortSignal
  /** Changes the record, which is written with the next heartbeat. */
  report(change: Partial<Import>): void
  /** Writes the record now. Throws `StoreUnavailableError`. */
  save(): Promise<void>
}

export interface RunnerOptions {
  store: KeyValueStore
  log: Logger
  /** Sends an import. Throws the signal's reason if aborted. */
  send(job: Import, work: Work): Promise<void>
  /** Called before the state of an import that has been sent, or could not be, is saved. */
  onSent(job: Import): Promise<void>
  /** Called when an import has completed. */
  onCompleted(job: Import): Promise<void>
}

/** This process is shutting down, or the import was changed elsewhere. */
class InterruptedError extends Error {}

/** How long a lease lasts unless renewed, in ms. */
const LEASE_MS = 10_000
/** How often the record of a running import is saved, in ms. */
const HEARTBEAT_MS = 400
/** How long the final state is tried to be saved while the store is unavailable, in ms. */
const PERSIST_MS = 60_000
/** How many imports run at the same time, and how many of one user: the others wait. */
const [MAX_IMPORTS, MAX_IMPORTS_OF_USER] = [20, 5]

export type Runner = ReturnType<typeof createRunner>

/** Works on imports in the background. A lease ensures that only one process works on an import at a time. */
export function createRunner(options: RunnerOptions) {
  const { store } = options
  const closing = new AbortController()
  const working = new Map<string, Promise<void>>()
  const inTurn = createLimiter(MAX_IMPORTS, MAX_IMPORTS_OF_USER)
  return {
    /** Takes the lease of an import. Resolves to null if another process holds it for longer than `waitMs`. */
    acquireLease: (userId: string, id: string, waitMs = 3_000): Promise<Lease | null> =>
      acquireLease(store, leaseKey(userId, id), LEASE_MS, waitMs),
    /**
     * Works on an import whose lease is held, and releases it. Stops if the lease is lost, or if the record is changed
     * elsewhere, for example because the user stops the import.
     */
    run(job: Import, lease: Lease): void {
      const record = createRecord(store, job)
      const lost = new AbortController()
      lease.lost.addEventListener('abort', () => lost.abort(new InterruptedError()))
      const signal = AbortSignal.any([closing.signal, record.changedElsewhere, lost.signal])
      // If the store fails here, the lease expires and the import can be resumed.
      const finished = work(options, record, signal, () =>
        inTurn(job.userId, () => options.send(job, { ...record, signal }), signal),
      )
        .catch(() => {})
        .then(() => lease.release())
        .finally(() => working.delete(job.id))
      working.set(job.id, finished)
    },
    isWorkingOn: (id: string) => working.has(id),
    /** Resolves when the work on the import ends in this process; undefined if there is none. */
    settled: (id: string): Promise<void> | undefined => working.get(id),
    /** Stops the work of this process; it can be resumed later. */
    async close(): Promise<void> {
      closing.abort(new InterruptedError())
      await Promise.allSettled(working.values())
    },
  }
}

/** Does the work and saves the outcome. */
async function work(
  { store, log, onSent, onCompleted }: RunnerOptions,
  record: ReturnType<typeof createRecord>,
  signal: AbortSignal,
  task: () => Promise<void>,
): Promise<void> {
  const job = record.current()
  const { id } = job
  // If the store is unreachable, the next heartbeat tries again.
  const heartbeat = setInterval(() => record.save().catch(() => {}), HEARTBEAT_MS)
  const failure = await task()
    .then(() => null)
    .catch((error: unknown) => (signal.aborted ? null : failureOf(log, id, error)))
    .finally(() => clearInterval(heartbeat))
  if (signal.aborted) return
  record.report({ state: failure === null ? 'completed' : 'failed', failure, endedAt: Date.now() })
  await onSent(record.current()).catch(({ code }) => log.warn({ importId: id, code }, 'a notice was lost'))
  await retry(record.save, { timeoutMs: PERSIST_MS, pauseMs: 1_000, maxPauseMs: 1_000, signal })
  await store.delete(activeKey(id)).catch(() => {})
  if (signal.aborted) return
  const { state } = record.current()
  log.info({ importId: id, state }, 'import')
  if (state === 'completed') await onCompleted(record.current())
}

/**
 * The record of a running import. It is written only while it has the run and the state that this work began with: otherwise
 * somebody else has changed it, and `changedElsewhere` aborts.
 */
function createRecord(store: KeyValueStore, job: Import) {
  const changedElsewhere = new AbortController()
  let current = job
  /** The last write; each waits for the one before. */
  let writing = Promise.resolve()

  async function write(): Promise<void> {
    try {
      await update(store, importKey(job.userId, job.id), (value) => {
        const { run, state } = requireImport(value)
        // The answer to the write of a final state may be lost: its repetition finds that state.
        if (run !== job.run || (state !== job.state && state !== current.state)) throw new InterruptedError()
        return JSON.stringify(current)
      })
    } catch (error) {
      if (error instanceof InterruptedError || error instanceof ImportError)
        return changedElsewhere.abort(new InterruptedError())
      throw error
    }
  }

  return {
    changedElsewhere: changedElsewhere.signal,
    current: () => current,
    report(change: Partial<Import>) {
      current = { ...current, ...change }
    },
    save(): Promise<void> {
      const written = writing.then(write)
      writing = written.catch(() => {})
      return written
    },
  }
}

/** The user-facing reason why an import failed; logs unexpected errors without their message. */
function failureOf(log: Logger, importId: string, error: unknown): string {
  const expected =
    error instanceof PlatformError || error instanceof StoreUnavailableError || error instanceof ImportError
  const { code, name } = error as { code?: unknown; name?: string }
  log.error({ importId, code, reason: expected && 'reason' in error ? error.reason : name }, 'import failed')
  if (error instanceof ConnectionRevokedError) return texts.failures.revoked
  return expected ? sentencesOf(problemOf(error)) : texts.failures.app
}
