/** Sends each import while this process holds the lease of the catalogue, and records how it ended. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AppError, ConnectionRevokedError, StoreUnavailableError } from '../../../connect/errors.ts'
import { retry, type TokenSource } from '../../../connect/index.ts'
import { problemOf } from '../../../web/feature-api.ts'
import { describeError } from '../first-party/describe-error.ts'
import { conflict } from './errors.ts'
import { type End, ended, type Import, takenOver } from './import.ts'
import { texts } from './import-texts.ts'
import { Run, RunEndedError, type RunOptions } from './run.ts'

export interface SenderOptions extends Pick<RunOptions, 'api' | 'records' | 'onProgress' | 'pauseMs'> {
  log: Logger
  /** The token source of an import; null if this process may not send the import. */
  source(job: Import): TokenSource | null
}

/** How often the app looks for abandoned imports, in ms. */
const WORK_MS = 2_000
/** How long to try to store the end of an import, in ms. After that, the import is sent again. */
const END_MS = 10_000

/** Only the process of a command can send its file, and this one was killed. */
const KILLED: End = { state: 'failed', message: texts.failures.killed }

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
      for (const job of jobs) if (job.state === 'running') void this.send(job.catalogueId)
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
      if (job?.state !== 'running' || this.#closing.signal.aborted) return
      const from = source(job)
      if (from) await this.#run(job, from, lease.lost)
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

  async #run(found: Import, source: TokenSource, lost: AbortSignal): Promise<void> {
    const job = await this.#options.records.change(found, takenOver)
    const signal = AbortSignal.any([lost, this.#closing.signal])
    const end = await new Run({ ...this.#options, source, job, signal })
      .send()
      .then((message): End => ({ state: 'completed', message }))
      .catch((error: unknown) =>
        signal.aborted || error instanceof RunEndedError ? null : this.#failed(job, error),
      )
    if (end) await this.#end(job, end)
  }

  /** The end of an import that failed. Logs unexpected errors without their message; rethrows errors of the store. */
  #failed({ id, by }: Import, error: unknown): End {
    if (error instanceof StoreUnavailableError) throw error
    const { code, name, reason = name }: { code?: unknown; name?: string; reason?: string } = Object(error)
    this.#options.log.error({ importId: id, code, reason }, 'import failed')
    const isRevoked = error instanceof ConnectionRevokedError
    const detail = by ? problemOf(error).detail : describeError(error)
    const problem = error instanceof AppError ? detail : texts.failures.app
    return { state: 'failed', message: isRevoked ? texts.failures.revoked : problem }
  }

  /** Stores the end of a run, unless another file or another run has replaced it. */
  async #end(job: Import, end: End): Promise<void> {
    const { records, log } = this.#options
    const to = (now: Import) => ended(now, job.run, end)
    await retry(() => records.change(job, to), { timeoutMs: END_MS })
    log.info({ importId: job.id, state: end.state }, 'import')
  }
}
