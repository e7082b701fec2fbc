/** Sends imports in the background, each in the turn of its catalogue, and merges what the platform has accepted of them. */
import type { Logger } from 'pino'
import { ConnectionRevokedError, PlatformError, StoreUnavailableError } from '../../../connect/errors.ts'
import type { ConnectionRef, TokenSource } from '../../../connect/index.ts'
import type { Lease } from '../../../connect/stores.ts'
import { leaveUserNotice, problemOf } from '../../../web/kit.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { ImportError } from './errors.ts'
import { ended, endNotice, type Import, isOfCommand, type Progress, progressed, takenOver } from './import.ts'
import { type ImportResult, runImport } from './run.ts'
import type { Active } from './stored.ts'
import { texts } from './texts.ts'
import { endImport, type Turns, takeTurn } from './turns.ts'

export interface SenderOptions extends Turns {
  log: Logger
  catalogueImports: CatalogueImports
  /** Returns the token source of a connection. */
  source(ref: ConnectionRef): TokenSource
  /** The reason why an import failed, for its user. */
  describe?: ((error: unknown) => string) | undefined
  onProgress?: ((progress: Readonly<Progress>, job: Import) => void) | undefined
}

/** How often the progress of a running import is saved, in ms. */
const HEARTBEAT_MS = 400
/** The work on an import in this process. */
interface Work {
  stop: AbortController
  done: Promise<void>
}

export class Sender {
  readonly #options: SenderOptions
  #isClosing = false
  /** By import. */
  readonly #working = new Map<string, Work>()

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** Goes on with what is being sent, also with what a process has left that has died. Throws `StoreUnavailableError`. */
  async sendWaiting(): Promise<void> {
    for (const active of await this.#options.stored.active()) await this.begin(active)
  }

  /** Begins to work on an import if no process does. `held`: the turn of its catalogue, which a request that has started it brings. */
  async begin(active: Active, held?: Lease): Promise<void> {
    const { id, catalogueId } = active
    const isFree = () => !this.#isClosing && !this.#working.has(id)
    const lease = held ?? (isFree() ? await takeTurn(this.#options, catalogueId) : null)
    if (!lease) return
    if (!isFree()) return lease.release()
    const stop = new AbortController()
    const signal = AbortSignal.any([stop.signal, lease.lost])
    const done = this.#work(active, signal, held !== undefined)
      // Its note is still there: the import goes on later.
      .catch(({ code }) => this.#options.log.info({ importId: id, code }, 'an import was interrupted'))
      .then(() => lease.release())
      .then(() => void this.#working.delete(id))
    this.#working.set(id, { stop, done })
  }

  /** Ends the work of this process on an import, which its record says already. */
  interrupt({ id }: Pick<Import, 'id'>): void {
    this.#working.get(id)?.stop.abort(new Error('the import was stopped'))
  }

  /** Resolves when this process works on an import no more. */
  async ended({ id }: Pick<Import, 'id'>): Promise<void> {
    await this.#working.get(id)?.done
  }

  /** Stops the work of this process; it goes on in another one, or later. */
  async close(): Promise<void> {
    this.#isClosing = true
    const works = [...this.#working.values()]
    for (const { stop } of works) stop.abort(new Error('this process is shutting down'))
    await Promise.all(works.map(({ done }) => done))
  }

  async #work(active: Active, stop: AbortSignal, isNew: boolean): Promise<void> {
    const { stored } = this.#options
    const { userId, id } = active
    const found = await stored.find(userId, id)
    const isOurs = isNew || !isOfCommand(active)
    if (found?.state === 'running' && isOurs)
      await this.#send(await stored.change(userId, id, takenOver), stop)
    const job = found && (await stored.find(userId, id))
    if (job?.state !== 'running' || !isOurs) await endImport(this.#options, active, job)
  }

  /** Sends an import from the first item that the platform has not accepted yet, and saves what became of it. */
  async #send(job: Import, stop: AbortSignal): Promise<void> {
    const { store, stored, log, catalogueImports, source } = this.#options
    const { id, userId, catalogueId } = job
    if (job.state !== 'running') return
    const changedElsewhere = new AbortController()
    const signal = AbortSignal.any([stop, changedElsewhere.signal])
    let { progress } = job
    /** Resolves to the new record; null, and ends this work, if somebody else has changed it meanwhile. */
    const save = (change: (now: Import) => Import): Promise<Import | null> =>
      stored.change(userId, id, change).catch((error: unknown) => {
        if (!(error instanceof ImportError)) throw error
        changedElsewhere.abort(error)
        return null
      })
    const saveProgress = async () => {
      const now = await save((record) => progressed(record, job.run, progress))
      if (now?.state === 'stopped') changedElsewhere.abort(new Error('the import was stopped'))
    }
    // If the store is unreachable, the next heartbeat tries again.
    const heartbeat = setInterval(() => void saveProgress().catch(() => {}), HEARTBEAT_MS)
    const result = await runImport({
      catalogueImports,
      source: source(job),
      signal,
      catalogueId,
      batchId: id,
      items: job.items,
      bodyOf: (index) => stored.body(job, index),
      accepted: progress,
      onProgress: (next) => {
        progress = next
        this.#options.onProgress?.(next, job)
      },
      save: saveProgress,
    })
      .catch((error: unknown) => {
        // Nothing is decided while the store fails: the import goes on later, as after a shutdown.
        if (error instanceof StoreUnavailableError) throw error
        return signal.aborted ? null : failureOf(this.#options, id, error)
      })
      .finally(() => clearInterval(heartbeat))
    // A batch may have been accepted after the last time.
    if (signal.aborted || result === null) return saveProgress()
    // If the store fails here, the import goes on later, and finds what is left to send.
    const end = await save((now) => ended(now, job.run, { progress, ...endOf(result) }))
    if (!end) return
    log.info({ importId: id, state: end.state }, 'import')
    // The user may have left the page while the items were sent.
    await leaveUserNotice(store, userId, endNotice(end)).catch(({ code }) =>
      log.warn({ importId: id, code }, 'a notice was lost'),
    )
  }
}

/** How an import ends: completed, or with the user-facing reason why it failed. */
const endOf = (result: ImportResult | string): Pick<Import, 'problems' | 'failure'> =>
  typeof result === 'string'
    ? { problems: null, failure: result }
    : { problems: result.problems, failure: null }

/** Why an import failed; logs unexpected errors without their message. */
function failureOf({ log, describe }: SenderOptions, importId: string, error: unknown): string {
  const expected = error instanceof PlatformError || error instanceof ImportError
  const { code, name } = error as { code?: unknown; name?: string }
  log.error({ importId, code, reason: expected && 'reason' in error ? error.reason : name }, 'import failed')
  if (!expected) return texts.failures.app
  if (describe) return describe(error)
  return error instanceof ConnectionRevokedError ? texts.failures.revoked : problemOf(error).detail
}
