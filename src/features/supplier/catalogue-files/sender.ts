/** Sends each import while this process holds the lease of the catalogue, and records how it ended. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AppError, ConnectionRevokedError, StoreUnavailableError } from '../../../connect/errors.ts'
import { retry, type TokenSource } from '../../../connect/index.ts'
import { problemOf } from '../../../web/feature-api.ts'
import { describeError } from '../first-party/describe-error.ts'
import { conflict, ImportError } from './errors.ts'
import { type End, ended, type Import, isUnderWay, type Progress, progressed, takenOver } from './import.ts'
import { texts } from './import-texts.ts'
import { COMPLETED_MS, type Records } from './records.ts'
import { type RunOptions, sendAll } from './run.ts'

export interface SenderOptions extends Pick<RunOptions, 'api' | 'pauseMs'> {
  records: Records
  log: Logger
  /** The token source of an import; null if this process may not send the import. */
  source(job: Import): TokenSource | null
  onProgress?(progress: Progress): void
}

/** How often a running import is saved and checked, and how often the app looks for abandoned imports, in ms. */
const [TICK_MS, WORK_MS] = [500, 2_000]
/** How long to try to store the end of an import, in ms. After that, the import is sent again. */
const END_MS = 10_000

const STOPPED: End = { state: 'stopped', problem: null, said: null }
/** Only the process of a command can send its file, and this one was killed. */
const KILLED: End = { state: 'failed', problem: texts.failures.killed, said: null }

export class Sender {
  readonly #options: SenderOptions
  readonly #closing = new AbortController()
  /** The imports that this process is sending, by catalogue. */
  readonly #working = new Map<string, Promise<void>>()

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** Until the app shuts down, continues imports that no process is sending, such as those of a process that has died. */
  async work(shutdownSignal: AbortSignal): Promise<void> {
    const { records, log } = this.#options
    while (!shutdownSignal.aborted) {
      const jobs = await records.list().catch(({ code }) => {
        log.warn({ code }, 'the list of imports could not be read; retrying')
        return []
      })
      for (const job of jobs) if (isUnderWay(job)) void this.send(job.catalogueId)
      await pause(WORK_MS, undefined, { signal: shutdownSignal, ref: false }).catch(() => {})
    }
  }

  /** Sends the whole import of a catalogue, unless another process does. Resolves when this process has stopped working on it. */
  send(catalogueId: string): Promise<void> {
    const working = this.#working.get(catalogueId)
    if (working) return working
    const work = this.begin(catalogueId)
      // The record still has the state `running`, so the import continues later or in another process.
      .catch(({ code }) => this.#options.log.info({ catalogueId, code }, 'an import was not sent to its end'))
      .then(() => void this.#working.delete(catalogueId))
    this.#working.set(catalogueId, work)
    return work
  }

  /**
   * Calls `start`, which starts an import that only this process can send, and then does the same. Throws the errors of `start`,
   * `ImportError` (409) if another process has the lease, and `StoreUnavailableError`.
   */
  async begin(catalogueId: string, start?: () => Promise<unknown>): Promise<void> {
    const { records, source } = this.#options
    const lease = await records.lease(catalogueId)
    if (!lease && start) throw conflict(texts.errors.otherRunning)
    if (!lease) return
    try {
      await start?.()
      const job = await records.find(catalogueId)
      if (!job || !isUnderWay(job) || this.#closing.signal.aborted) return
      const from = job.state === 'running' ? source(job) : null
      if (from) await this.#run(job, from, lease.lost)
      else if (job.state === 'stopping') await this.#end(job, STOPPED)
      else if (job.by === null) await this.#end(job, KILLED)
    } finally {
      await lease.release()
    }
  }

  /** Stops sending in this process. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#working.values())
  }

  /** Sends all items of an import as a new job on the platform, so that a late upload of an earlier run has no effect. */
  async #run(found: Import, source: TokenSource, lost: AbortSignal): Promise<void> {
    const { records, onProgress, ...options } = this.#options
    const job = await records.change(found, takenOver)
    const { catalogueId } = job
    const elsewhere = new AbortController()
    const signal = AbortSignal.any([lost, this.#closing.signal, elsewhere.signal])
    let { progress } = job
    /** Saves the progress. Stops this run if a user has stopped the import, or if another process is sending it now. */
    const save = async () => {
      const to = (now: Import) => progressed(now, job.run, progress)
      const saved = await records.change(job, to).catch((error: unknown) => {
        if (!(error instanceof ImportError)) throw error
      })
      if (saved?.state !== 'running') elsewhere.abort()
    }
    // If the store is unreachable, the next call tries again.
    const ticker = setInterval(() => void save().catch(() => {}), TICK_MS)
    const run: RunOptions = {
      ...options,
      source,
      catalogueId,
      batchId: `${job.id}.${job.run}`,
      items: job.items,
      batchAt: (from) => records.batch(job.id, from),
      onProgress: (next) => {
        progress = next
        onProgress?.(next)
      },
      save,
      signal,
    }
    const end = await records
      .keepItems(job)
      .then(() => sendAll(run))
      .then((outcome): End => ({ state: 'completed', ...outcome }))
      .catch((error: unknown) => (signal.aborted ? null : this.#failed(job, error)))
      .finally(() => clearInterval(ticker))
    if (end) return this.#end(job, end)
    // Another process may be sending this import now.
    if (lost.aborted) return
    // A batch may have been accepted since the progress was last saved.
    await save()
    if ((await records.find(catalogueId))?.state === 'stopping') await this.#end(job, STOPPED)
  }

  /** The end of an import that failed. Logs unexpected errors without their message; rethrows errors of the store. */
  #failed({ id, by }: Import, error: unknown): End {
    if (error instanceof StoreUnavailableError) throw error
    const { code, name, reason = name }: { code?: unknown; name?: string; reason?: string } = Object(error)
    this.#options.log.error({ importId: id, code, reason }, 'import failed')
    const isRevoked = error instanceof ConnectionRevokedError
    const detail = by ? problemOf(error).detail : describeError(error)
    const problem = error instanceof AppError ? detail : texts.failures.app
    return { state: 'failed', problem: isRevoked ? texts.failures.revoked : problem, said: null }
  }

  /** Stores the received items first, and then the end of the import, because another import may begin after that. */
  async #end({ catalogueId, id, run }: Import, end: End): Promise<void> {
    const { records, log } = this.#options
    const isCompleted = end.state === 'completed'
    const to = (job: Import) => ended(job, run, end, new Date())
    const store = async () => {
      const job = await records.find(catalogueId)
      if (job?.id !== id || job.run !== run || !isUnderWay(job)) return
      await records.addReceived(job, isCompleted).catch((error: unknown) => {
        // Expired items cannot be stored as received.
        if (!(error instanceof ImportError)) throw error
      })
      await records.change(job, to, isCompleted ? COMPLETED_MS : undefined)
    }
    await retry(store, { timeoutMs: END_MS })
    log.info({ importId: id, state: end.state }, 'import')
  }
}
