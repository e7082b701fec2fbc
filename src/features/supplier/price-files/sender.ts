/** Sends imports in the background, each in the turn of its catalogue, and settles them. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ConnectionRevokedError, PlatformError, StoreUnavailableError } from '../../../connect/errors.ts'
import type { ConnectionRef, TokenSource } from '../../../connect/index.ts'
import type { Lease } from '../../../connect/stores.ts'
import { problemOf } from '../../../web/kit.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { ImportError } from './errors.ts'
import { ended, type Import, NOTHING_SENT, progressed, takenOver } from './import.ts'
import { runImport } from './run.ts'
import type { Sending } from './stored.ts'
import { texts } from './texts.ts'
import { settle, type Turns, takeTurn } from './turns.ts'

export interface SenderOptions extends Turns {
  log: Logger
  catalogueImports: CatalogueImports
  /** Returns the token source of a connection. */
  source(ref: ConnectionRef): TokenSource
}

/** How often the progress of a running import is saved, and how often the sender looks for unfinished imports, in ms. */
const [HEARTBEAT_MS, WORK_MS] = [400, 2_000]

/** The work on an import in this process. */
interface Work {
  stop: AbortController
  done: Promise<void>
}

export class Sender {
  readonly #options: SenderOptions
  #isClosing = false
  /** The work by the id of its import. */
  readonly #working = new Map<string, Work>()

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** Continues unfinished imports until the app shuts down, also those of a process that has died. */
  async work(shutdownSignal: AbortSignal): Promise<void> {
    const { stored, log } = this.#options
    while (!shutdownSignal.aborted) {
      try {
        for (const sending of await stored.sending()) await this.#takeOver(sending)
      } catch (error) {
        const { code }: { code?: unknown } = Object(error)
        if (!shutdownSignal.aborted) log.warn({ code }, 'imports could not be looked for; retrying')
      }
      await pause(WORK_MS, undefined, { signal: shutdownSignal, ref: false }).catch(() => {})
    }
  }

  async #takeOver(sending: Sending): Promise<void> {
    const turn = this.#working.has(sending.id) ? null : await takeTurn(this.#options, sending.catalogueId)
    if (turn) this.begin(sending, turn)
  }

  /** Begins to send an import in the turn of its catalogue, which is released at the end. */
  begin({ userId, id, catalogueId }: Sending, turn: Lease): void {
    const stop = new AbortController()
    if (this.#isClosing) stop.abort()
    const done = this.#work({ userId, id, catalogueId }, AbortSignal.any([stop.signal, turn.lost]))
      // The note is still there, so the import goes on later.
      .catch(({ code }) => this.#options.log.info({ importId: id, code }, 'an import was interrupted'))
      .then(() => turn.release())
      .then(() => void this.#working.delete(id))
    this.#working.set(id, { stop, done })
  }

  /** Ends the work of this process on an import. Its record already says that it was stopped. */
  interrupt({ id }: Pick<Import, 'id'>): void {
    this.#working.get(id)?.stop.abort()
  }

  /** Ends the work of this process. The imports go on in another process, or later. */
  async close(): Promise<void> {
    this.#isClosing = true
    const works = [...this.#working.values()]
    for (const { stop } of works) stop.abort()
    await Promise.all(works.map(({ done }) => done))
  }

  async #work(sending: Sending, signal: AbortSignal): Promise<void> {
    const { stored } = this.#options
    const isRunning = async () => (await stored.find(sending))?.state === 'running'
    if (!signal.aborted && (await isRunning())) await this.#send(sending, signal)
    if (!(await isRunning())) await settle(this.#options, sending)
  }

  /** Sends an import from the first item that the platform has not accepted yet, and saves what became of it. */
  async #send(sending: Sending, stop: AbortSignal): Promise<void> {
    const { stored, log, catalogueImports, source } = this.#options
    const job = await stored.change(sending, takenOver)
    let progress = job.progress ?? NOTHING_SENT
    const changedElsewhere = new AbortController()
    const signal = AbortSignal.any([stop, changedElsewhere.signal])
    /** Ends this work if the record says that somebody has stopped or deleted the import, or has taken it over. */
    const save = async (change: (now: Import) => Import): Promise<void> => {
      try {
        const { state } = await stored.change(job, change)
        if (state === 'stopped') changedElsewhere.abort()
      } catch (error) {
        if (!(error instanceof ImportError)) throw error
        changedElsewhere.abort()
      }
    }
    const saveProgress = () => save((now) => progressed(now, job.run, progress))
    // If the store is unreachable, the next heartbeat tries again.
    const heartbeat = setInterval(() => void saveProgress().catch(() => {}), HEARTBEAT_MS)
    const end = await runImport({
      catalogueImports,
      source: source(job),
      signal,
      catalogueId: job.catalogueId,
      batchId: `${job.id}.${job.run}`,
      items: job.items,
      bodyOf: (index) => stored.body(job, index),
      accepted: progress,
      onProgress: (next) => {
        progress = next
      },
      save: saveProgress,
    })
      .then((problem) => ({ state: 'completed' as const, problem }))
      .catch((error: unknown) => {
        // Nothing is decided while the store fails: the import goes on later, as after a shutdown.
        if (error instanceof StoreUnavailableError) throw error
        const problem = signal.aborted ? null : failureOf(this.#options, job.id, error)
        return { state: 'failed' as const, problem }
      })
      .finally(() => clearInterval(heartbeat))
    // The platform may have accepted a batch since the progress was last saved.
    if (signal.aborted) return saveProgress()
    // If the store fails here, the import goes on later, and finds what is left to send.
    await save((now) => ended(now, job.run, { progress, ...end }))
    log.info({ importId: job.id, state: end.state }, 'import')
  }
}

/** Why an import failed, for its user; logs unexpected errors without their message. */
function failureOf({ log }: SenderOptions, importId: string, error: unknown): string {
  const expected = error instanceof PlatformError || error instanceof ImportError
  const { code, name } = error as { code?: unknown; name?: string }
  log.error({ importId, code, reason: expected && 'reason' in error ? error.reason : name }, 'import failed')
  if (!expected) return texts.failures.app
  return error instanceof ConnectionRevokedError ? texts.failures.revoked : problemOf(error).detail
}
