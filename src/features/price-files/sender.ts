/** Sends imports in the background: each that should be running, when it is its turn in its catalogue. */
import type { Logger } from 'pino'
import { ConnectionRevokedError, PlatformError, StoreUnavailableError } from '../../connect/errors.ts'
import type { ConnectionRef, TokenSource } from '../../connect/index.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import { leaveUserNotice, problemOf, sentencesOf } from '../../web/kit.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { ImportError } from './errors.ts'
import { ended, endNotice, type Import, progressed, takenOver } from './import.ts'
import { runImport, takeTurn } from './run.ts'
import type { Active, StoredImports } from './stored.ts'
import { texts } from './texts.ts'

export interface SenderOptions {
  store: KeyValueStore
  log: Logger
  catalogueImports: CatalogueImports
  /** Returns the token source of a connection. */
  source(ref: ConnectionRef): TokenSource
  /** How long the turn of a killed process keeps others from importing, in ms; 10 s by default. */
  turnMs?: number
}

/** How often the progress of a running import is saved, in ms. */
const HEARTBEAT_MS = 400
/** How many imports run at the same time, and how many of one user: the others wait. */
const [MAX_IMPORTS, MAX_IMPORTS_OF_USER] = [20, 5]

export class Sender {
  readonly #options: SenderOptions
  readonly #stored: StoredImports
  readonly #closing = new AbortController()
  /** The work of this process, by the import. */
  readonly #working = new Map<string, { userId: string; done: Promise<void> }>()

  constructor(options: SenderOptions, stored: StoredImports) {
    this.#options = options
    this.#stored = stored
  }

  /** Begins what should be running, also what a process has left that has died. Throws `StoreUnavailableError`. */
  async sendWaiting(): Promise<void> {
    for (const active of await this.#stored.active()) await this.begin(active)
  }

  /** Begins to send an import if it should be running, no process works on it, and it is its turn. */
  async begin(active: Active): Promise<void> {
    const { userId, id } = active
    const ofUser = [...this.#working.values()].filter((work) => work.userId === userId).length
    const hasRoom = this.#working.size < MAX_IMPORTS && ofUser < MAX_IMPORTS_OF_USER
    if (this.#closing.signal.aborted || this.#working.has(id) || !hasRoom) return
    const found = await this.#stored.find(userId, id)
    if (found?.state !== 'running') return this.#end(active, found)
    const lease = await takeTurn(this.#options.store, found.catalogueId, this.#options.turnMs)
    if (!lease) return
    const job = await this.#stored.change(userId, id, takenOver).catch(() => null)
    if (job?.state !== 'running') return lease.release()
    const stop = AbortSignal.any([this.#closing.signal, lease.lost])
    const done = this.#send(job, stop)
      // It is still among those that should be running: the import goes on later.
      .catch(({ code }) => this.#options.log.info({ importId: id, code }, 'an import was interrupted'))
      .then(async () => {
        await lease.release()
        this.#working.delete(id)
        void this.sendWaiting().catch(() => {})
      })
    this.#working.set(id, { userId, done })
  }

  /** Stops the work of this process; it goes on in another one, or later. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('this process is shutting down'))
    await Promise.all([...this.#working.values()].map(({ done }) => done))
  }

  /** Removes an import from those that should be running. One that is just being started is not yet. */
  async #end(active: Active, job: Import | null): Promise<void> {
    if (job && job.run < active.run) return
    if (job?.state === 'completed') await this.#stored.deleteSent(job)
    await this.#stored.endActive(active)
  }

  /** Sends an import from the first item that the platform has not accepted yet, and saves what became of it. */
  async #send(job: Import, stop: AbortSignal): Promise<void> {
    const { store, log, catalogueImports, source } = this.#options
    const { id, userId, catalogueId } = job
    const changedElsewhere = new AbortController()
    const signal = AbortSignal.any([stop, changedElsewhere.signal])
    let { progress } = job
    /** Resolves to the new record; null, and ends this work, if somebody else has changed it meanwhile. */
    const save = (change: (now: Import) => Import): Promise<Import | null> =>
      this.#stored.change(userId, id, change).catch((error: unknown) => {
        if (!(error instanceof ImportError)) throw error
        changedElsewhere.abort(error)
        return null
      })
    const saveProgress = async () => void (await save((now) => progressed(now, job.run, progress)))
    const saveEnd = (failure: string | null) => save((now) => ended(now, job.run, { progress, failure }))
    // If the store is unreachable, the next heartbeat tries again.
    const heartbeat = setInterval(() => void saveProgress().catch(() => {}), HEARTBEAT_MS)
    const failure = await runImport({
      catalogueImports,
      source: source(job),
      signal,
      catalogueId,
      batchId: id,
      items: job.validRows,
      bodyOf: (index) => this.#stored.body(job, index),
      accepted: progress,
      onProgress: (next) => {
        progress = next
      },
      save: saveProgress,
    })
      .then(() => null)
      .catch((error: unknown) => {
        // Nothing is decided while the store fails: the import goes on later, as after a shutdown.
        if (signal.aborted || error instanceof StoreUnavailableError) throw error
        return failureOf(log, id, error)
      })
      .finally(() => clearInterval(heartbeat))
    if (signal.aborted) return
    // If the store fails here, the import goes on later, and finds what is left to send.
    const end = await saveEnd(failure)
    if (!end) return
    log.info({ importId: id, state: end.state }, 'import')
    // The user may have left the page while the items were sent.
    await leaveUserNotice(store, userId, endNotice(end)).catch(({ code }) =>
      log.warn({ importId: id, code }, 'a notice was lost'),
    )
  }
}

/** The user-facing reason why an import failed; logs unexpected errors without their message. */
function failureOf(log: Logger, importId: string, error: unknown): string {
  const expected = error instanceof PlatformError || error instanceof ImportError
  const { code, name } = error as { code?: unknown; name?: string }
  log.error({ importId, code, reason: expected && 'reason' in error ? error.reason : name }, 'import failed')
  if (error instanceof ConnectionRevokedError) return texts.failures.revoked
  return expected ? sentencesOf(problemOf(error)) : texts.failures.app
}
