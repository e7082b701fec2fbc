/** Sends imports in the background: each that should be running, when it is its turn in its catalogue. */
import type { Logger } from 'pino'
import * as z from 'zod'
import { ConnectionRevokedError, PlatformError, StoreUnavailableError } from '../../connect/errors.ts'
import { type ConnectionRef, parseJson, retry, type TokenSource } from '../../connect/index.ts'
import { appOwner, type Key, type KeyValueStore, type Lease, update } from '../../connect/stores.ts'
import { problemOf, sentencesOf } from '../../web/errors.ts'
import { leaveUserNotice } from '../../web/notice.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { ImportError } from './errors.ts'
import { ended, endNotice, type Import, parseImport, takenOver } from './import.ts'
import { runImport } from './run.ts'
import { changeImport, deleteSent, importKey, readStoredBatches } from './stored.ts'
import { texts } from './texts.ts'
import { takeTurn } from './turn.ts'

export interface SenderOptions {
  store: KeyValueStore
  log: Logger
  catalogueImports: CatalogueImports
  /** Returns the token source of a connection. */
  source(ref: ConnectionRef): TokenSource
}

/** This process is shutting down, or the import was changed elsewhere. */
class InterruptedError extends Error {}

/** How often the progress of a running import is saved, in ms. */
const HEARTBEAT_MS = 400
/** How long the final state is tried to be saved while the store is unavailable, in ms. */
const PERSIST_MS = 60_000
/** How many imports run at the same time, and how many of one user: the others wait. */
const [MAX_IMPORTS, MAX_IMPORTS_OF_USER] = [20, 5]

/** The imports that should be running, by id, so that any process can send them. */
const ACTIVE = { kind: 'active-import', owner: appOwner('imports') } as const
export const activeKey = (id: string): Key => ({ ...ACTIVE, id })
const activeSchema = z.object({ userId: z.string(), run: z.number() })
type Active = z.infer<typeof activeSchema>

/** Notes that an import should be running, before its record says so. `run`: the number that this run will have. */
export const noteActive = (store: KeyValueStore, id: string, active: Active): Promise<void> =>
  store.set(activeKey(id), textOf(active))

const textOf = ({ userId, run }: Active) => JSON.stringify({ userId, run })

export function createSender(options: SenderOptions) {
  const { store, log } = options
  const closing = new AbortController()
  const working = new Map<string, { userId: string; done: Promise<void> }>()

  const hasRoom = (userId: string) => {
    const ofUser = [...working.values()].filter((work) => work.userId === userId).length
    return working.size < MAX_IMPORTS && ofUser < MAX_IMPORTS_OF_USER
  }

  /** Begins to send an import if it should be running, no process works on it, and it is its turn. */
  async function begin(id: string, active: Active): Promise<void> {
    const { userId } = active
    if (closing.signal.aborted || working.has(id) || !hasRoom(userId)) return
    const value = await store.get(importKey(userId, id))
    const found = value === null ? null : parseImport(value)
    if (found?.state !== 'running') return end(id, active, found)
    const lease = await takeTurn(store, found.catalogueId)
    if (!lease) return
    const job = await changeImport(store, userId, id, takenOver).catch(() => null)
    if (job?.state !== 'running') return lease.release()
    const done = sendImport(options, job, AbortSignal.any([closing.signal, lease.lost]))
      // It is still among those that should be running: the import goes on later.
      .catch(({ code }) => log.info({ importId: id, code }, 'an import was interrupted'))
      .then(() => finish(id, lease))
    working.set(id, { userId, done })
  }

  async function finish(id: string, lease: Lease): Promise<void> {
    await lease.release()
    working.delete(id)
    void sendWaiting().catch(() => {})
  }

  /** Removes an import from those that should be running. One that is just being started is not yet. */
  async function end(id: string, active: Active, job: Import | null): Promise<void> {
    if (job && job.run < active.run) return
    if (job?.state === 'completed') await deleteSent(store, job)
    // Unless it was started again meanwhile.
    await update(store, activeKey(id), (value) => (value === textOf(active) ? null : value))
  }

  /** Begins what is waiting, also what a process has left that has died. Throws `StoreUnavailableError`. */
  async function sendWaiting(): Promise<void> {
    for (const { key, value } of await store.list(ACTIVE.kind, ACTIVE.owner)) {
      const active = activeSchema.safeParse(parseJson(value)).data
      // One that cannot be read must not keep the others waiting.
      if (active) await begin(key.id, active)
      else await store.delete(key)
    }
  }

  return {
    begin,
    sendWaiting,
    /** Resolves when the work on the import ends in this process. */
    settled: async (id: string): Promise<void> => working.get(id)?.done,
    /** Stops the work of this process; it goes on in another one, or later. */
    async close(): Promise<void> {
      closing.abort(new InterruptedError())
      await Promise.allSettled([...working.values()].map(({ done }) => done))
    },
  }
}

/** Sends an import from the first item that the platform has not accepted yet, and saves what became of it. */
async function sendImport(
  { store, log, catalogueImports, source }: SenderOptions,
  job: Import,
  stop: AbortSignal,
): Promise<void> {
  const { id, userId, bxcontext, catalogueId } = job
  const changedElsewhere = new AbortController()
  const signal = AbortSignal.any([stop, changedElsewhere.signal])
  let { progress } = job
  /** Writes the record, if it still has the run that this work began with: otherwise somebody else has changed it. */
  const save = async (change: (now: Import) => Import = (now) => ({ ...now, progress })) => {
    try {
      await changeImport(store, userId, id, (now) => {
        if (now.run !== job.run || now.state !== 'running') throw new InterruptedError()
        return change(now)
      })
    } catch (error) {
      if (!(error instanceof InterruptedError || error instanceof ImportError)) throw error
      changedElsewhere.abort(error)
    }
  }
  // If the store is unreachable, the next heartbeat tries again.
  const heartbeat = setInterval(() => void save().catch(() => {}), HEARTBEAT_MS)
  const failure = await runImport({
    catalogueImports,
    source: source({ userId, bxcontext }),
    signal,
    catalogueId,
    batchId: id,
    batches: (skip) => readStoredBatches(store, job, skip),
    accepted: progress,
    onProgress: (next) => {
      progress = { ...next }
    },
    save: () => save(),
  })
    .then(() => null)
    .catch((error: unknown) => {
      // Nothing is decided while the store fails: the import goes on later, as after a shutdown.
      if (signal.aborted || error instanceof StoreUnavailableError) throw error
      return failureOf(log, id, error)
    })
    .finally(() => clearInterval(heartbeat))
  if (signal.aborted) return
  const last = (now: Import) => ended({ ...now, progress }, failure)
  // The user may have left the page while the items were sent.
  await leaveUserNotice(store, userId, endNotice(last(job))).catch(({ code }) =>
    log.warn({ importId: id, code }, 'a notice was lost'),
  )
  await retry(() => save(last), { timeoutMs: PERSIST_MS, pauseMs: 1_000, maxPauseMs: 1_000, signal })
  log.info({ importId: id, state: last(job).state }, 'import')
}

/** The user-facing reason why an import failed; logs unexpected errors without their message. */
function failureOf(log: Logger, importId: string, error: unknown): string {
  const expected = error instanceof PlatformError || error instanceof ImportError
  const { code, name } = error as { code?: unknown; name?: string }
  log.error({ importId, code, reason: expected && 'reason' in error ? error.reason : name }, 'import failed')
  if (error instanceof ConnectionRevokedError) return texts.failures.revoked
  return expected ? sentencesOf(problemOf(error)) : texts.failures.app
}
