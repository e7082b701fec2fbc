import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { StoreUnavailableError } from '../../connect/errors.ts'
import type { ConnectionRef } from '../../connect/index.ts'
import { type KeyValueStore, scan, update, withLease } from '../../connect/stores.ts'
import { forgetUserNotice, leaveUserNotice, type UserNotice } from '../../web/notice.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import { confirmed, isComplete } from './confirmation.ts'
import { ImportError, importNotFound, stillStopping } from './errors.ts'
import {
  ACTIVE,
  activeKey,
  answered,
  checkedAgain,
  confirmedImport,
  IMPORT,
  type Import,
  importKey,
  leaseKey,
  newImport,
  parseImport,
  requireImport,
  running,
  SPACE,
  shouldRun,
  stopped,
  takenOver,
} from './import.ts'
import type { Draft } from './layout.ts'
import { addLayout } from './layouts.ts'
import { deleteParts, inParts, PARTS_MS, writeParts } from './parts.ts'
import { createRunner, type Runner, type Task } from './runner.ts'
import {
  check,
  deleteResults,
  deleteSent,
  findReading,
  type Reading,
  readReport,
  removeLeftOvers,
  send,
  type TasksOptions,
} from './tasks.ts'
import { texts } from './texts.ts'

export interface ImportsOptions extends TasksOptions {
  log: Logger
  /** Maximum size of one price file, in bytes. */
  maxBytes: number
  /** Maximum size of what the store has of one user's imports, and of all users' together, in bytes. */
  quotaBytes: number
  totalBytes: number
}

/** An import. `interrupted`: it should be running, but no process is working on it. */
export type ImportView = Import & { interrupted: boolean }

/** Finished imports kept per user. */
const MAX_FINISHED = 20
/** Imports that one user may have in progress. */
const MAX_RUNNING = 5

interface Imports extends ImportsOptions {
  runner: Runner
}

export type ImportService = ReturnType<typeof createImports>

/** An import of a user. */
const find = async (imports: Imports, userId: string, id: string) =>
  view(imports, requireImport(await imports.store.get(importKey(userId, id))))

/**
 * Imports price files into catalogues: stores, checks and sends them in the background. Its methods throw `ImportError` (404)
 * for an import that does not exist, `ImportError` (409) if its state does not allow the action, and `StoreUnavailableError`.
 */
export function createImports(options: ImportsOptions) {
  const { store, log } = options
  const runner = createRunner({
    store,
    log,
    // The user may have left the page while the items are sent.
    onSent: (job) => leaveUserNotice(store, job.userId, endNotice(job)),
    onCompleted: (job) => tidy(store, job),
  })
  const imports: Imports = { ...options, runner }
  return {
    /**
     * Stores an uploaded file and starts checking it. Throws `ImportError` (413, 507) if the file is too large or exceeds a
     * quota, and `ImportError` (409) if too many imports are in progress.
     */
    upload: (
      ref: ConnectionRef,
      to: { catalogue: Catalogue; fileName: string },
      bytes: AsyncIterable<Uint8Array>,
    ) => upload(imports, ref, to, bytes),
    get: (userId: string, id: string) => find(imports, userId, id),
    /** The imports of a connection, newest first. */
    list: (ref: ConnectionRef) => listOf(imports, ref),
    /** What the last check has found; null if it is gone. */
    reading: (job: Import): Promise<Reading | null> => findReading(store, job),
    /** Says how the file is to be read; null: it is read as it was received. Reads it again unless statements are missing. */
    answer: (userId: string, id: string, draft: Draft | null) => answer(imports, userId, id, draft),
    /** Confirms how the file is read. `name`: who does; `seen`: the `checkedRun` of what they have seen. */
    confirm: (userId: string, id: string, by: { name: string; seen?: number | undefined }) =>
      confirm(imports, userId, id, by),
    /** Resumes an interrupted check, or repeats one. */
    checkAgain: (userId: string, id: string) =>
      begin(imports, userId, id, (job) => checkedAgain(job, job.confirmed ? null : job.draft)),
    /**
     * Starts sending, or resumes an interrupted, stopped or failed import. Throws `ImportError` (400) if nobody has confirmed
     * how the file is read, or, with `strict`, if any row has a problem.
     */
    start: (
      userId: string,
      id: string,
      { strict = false, seen }: { strict?: boolean; seen?: number | undefined } = {},
    ) => begin(imports, userId, id, (job) => running(job, { strict, seen })),
    /** Stops sending. Items already sent are kept, and the import can be started again. */
    async stop(userId: string, id: string): Promise<void> {
      // The runner writes the record frequently, too.
      await change(imports, userId, id, stopped)
    },
    /** Deletes the import with its file and its report. */
    discard: (userId: string, id: string) => discard(imports, userId, id),
    async deleteUser(userId: string): Promise<void> {
      for (const { key, value } of await store.list(IMPORT, userId))
        await remove(imports, userId, key.id, value)
    },
    /** The CSV report on the rows with problems. Throws `ImportError` (404) if there is none. */
    async report(userId: string, id: string): Promise<AsyncIterable<Buffer>> {
      const job = await find(imports, userId, id)
      if (job.parts.report === 0) throw new ImportError(404, 'not_found', texts.errors.noReport)
      return readReport(store, job)
    },
    /** Deletes the notice that the import has ended, because its user sees that. */
    markSeen: (userId: string, id: string) => forgetUserNotice(store, userId, id),
    /** Resolves when this process is not working on the import, or after `ms` at the latest. */
    settled: (id: string, ms: number) => settled(runner, id, ms),
    /** The imports that this process is working on. */
    current: runner.current,
    /** Resumes every interrupted import, and deletes what nobody needs. Called at startup and every day. */
    resume: () => resume(imports),
    /** Takes over the imports of processes that have died. Called every few seconds. */
    takeOver: () => takeOver(imports),
    /** Stops the work of this process; it can be resumed later. */
    close: runner.close,
  }
}

/** Deletes what a completed import needs no more. */
async function tidy(store: KeyValueStore, job: Import): Promise<void> {
  await deleteSent(store, job)
  await store.delete({ ...SPACE, id: job.id })
}

async function settled(runner: Runner, id: string, ms: number): Promise<void> {
  const timer = new AbortController()
  const timeout = setTimeout(ms, undefined, { signal: timer.signal }).catch(() => {})
  await Promise.race([runner.settled(id), timeout])
  timer.abort()
}

async function discard(imports: Imports, userId: string, id: string): Promise<void> {
  const value = await imports.store.get(importKey(userId, id))
  if (value === null) throw importNotFound()
  await remove(imports, userId, id, value)
}

async function takeOver(imports: Imports): Promise<void> {
  for (const { key, value: userId } of await imports.store.list(ACTIVE.kind, ACTIVE.owner))
    await separately(imports, key.id, () => resumeImport(imports, userId, key.id))
}

async function view({ store }: Imports, job: Import): Promise<ImportView> {
  return { ...job, interrupted: shouldRun(job) && (await store.get(leaseKey(job.userId, job.id))) === null }
}

async function listOf(imports: Imports, { userId, bxcontext }: ConnectionRef): Promise<ImportView[]> {
  const jobs = await list(imports, userId)
  return Promise.all(jobs.filter((job) => job.bxcontext === bxcontext).map((job) => view(imports, job)))
}

/** All imports of a user, newest first; one that cannot be read is logged and left out. */
async function list({ store, log }: Imports, userId: string): Promise<Import[]> {
  const entries = await store.list(IMPORT, userId)
  const jobs = entries.flatMap(({ key, value }) => {
    const job = parseImport(value)
    if (!job) log.error({ code: 'import_unreadable', importId: key.id }, 'an import record cannot be read')
    return job ?? []
  })
  return jobs.sort((a, b) => b.createdAt - a.createdAt)
}

/** Changes the record. Resolves to the new one. */
async function change(
  { store }: Imports,
  userId: string,
  id: string,
  to: (job: Import) => Import,
): Promise<Import> {
  return requireImport(
    await update(store, importKey(userId, id), (value) => JSON.stringify(to(requireImport(value)))),
  )
}

const taskOf = (imports: Imports, { state }: Import): Task =>
  state === 'running' ? (job, work) => send(imports, job, work) : (job, work) => check(imports, job, work)

/** Moves an import to a state in which it is worked on, and begins that. */
async function begin(
  imports: Imports,
  userId: string,
  id: string,
  to: (job: Import) => Import,
): Promise<void> {
  const { store, runner } = imports
  const before = requireImport(await store.get(importKey(userId, id)))
  // Its errors come first: another process may hold the lease for long.
  if (!shouldRun(before)) to(before)
  const lease = await runner.acquireLease(userId, id)
  if (!lease && before.state === 'stopped') throw stillStopping()
  if (!lease) throw new ImportError(409, 'conflict', texts.errors.notPossible(texts.states[before.state]))
  try {
    await store.set(activeKey(id), userId)
    const job = await change(imports, userId, id, to)
    runner.run(job, lease, taskOf(imports, job))
  } catch (error) {
    await lease.release()
    throw error
  }
}

async function upload(
  imports: Imports,
  ref: ConnectionRef,
  to: { catalogue: Catalogue; fileName: string },
  bytes: AsyncIterable<Uint8Array>,
): Promise<Import> {
  const { store, log, runner } = imports
  const { userId } = ref
  const id = randomUUID()
  const job = newImport({ id, ...ref, ...to })
  const lease = await runner.acquireLease(userId, id)
  let storedBytes = 0
  const key = importKey(userId, id)
  let file = 0
  const counted = (added: number) => {
    storedBytes += added
    file++
  }
  try {
    await withLease(
      store,
      { kind: 'import-upload', owner: userId, id: '' },
      { ms: 10_000, waitMs: 10_000 },
      async () => {
        const others = (await list(imports, userId)).filter(shouldRun)
        if (others.length >= MAX_RUNNING)
          throw new ImportError(409, 'conflict', texts.errors.tooMany(MAX_RUNNING))
        // First, so that a record without its file is found if this process dies.
        await store.set(activeKey(id), userId)
        await store.set(key, JSON.stringify(job))
      },
    )
    await writeParts(store, id, 'file', inParts(limited(imports, bytes)), counted)
    await requireSpace(imports, userId, id, storedBytes)
    const received = await change(imports, userId, id, (now) => ({
      ...now,
      parts: { ...now.parts, file },
      storedBytes,
    }))
    if (lease) runner.run(received, lease, taskOf(imports, received))
    // The file is stored: who gets an error would upload it twice.
    await deleteOld(imports, userId).catch(({ code }) => log.warn({ code }, 'old imports were not deleted'))
    return received
  } catch (error) {
    await lease?.release()
    const partial = { ...job, parts: { ...job.parts, file } }
    // The user learns why the upload failed. What is left of it is found by its record, and deleted later.
    await remove(imports, userId, id, JSON.stringify(partial)).catch(() => {})
    throw error
  }
}

/** The bytes of an upload, up to the limit. */
async function* limited({ maxBytes }: Imports, bytes: AsyncIterable<Uint8Array>) {
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > maxBytes)
      throw new ImportError(413, 'payload_too_large', texts.errors.tooLarge(megabytes(maxBytes)))
    yield chunk
  }
}

const megabytes = (bytes: number) => `${Math.floor(bytes / 1_000_000)} MB`

/** Counts what an import takes in the store. Throws `ImportError` (413, 507) if that is too much. */
async function requireSpace(imports: Imports, userId: string, id: string, bytes: number): Promise<void> {
  const { store, quotaBytes, totalBytes } = imports
  await store.set({ ...SPACE, id }, String(bytes))
  const own = await list(imports, userId)
  const ofUser = own.reduce(
    (sum, { state, storedBytes }) => sum + (state === 'completed' ? 0 : storedBytes),
    bytes,
  )
  if (ofUser > quotaBytes)
    throw new ImportError(413, 'upload_quota_exceeded', texts.errors.quota(megabytes(quotaBytes)))
  const all = await store.list(SPACE.kind, SPACE.owner)
  if (all.reduce((sum, { value }) => sum + Number(value), 0) > totalBytes)
    throw new ImportError(507, 'storage_full', texts.errors.storageFull)
}

async function deleteOld(imports: Imports, userId: string): Promise<void> {
  const finished = (await list(imports, userId)).filter((job) => !shouldRun(job))
  for (const job of finished.slice(MAX_FINISHED)) await remove(imports, userId, job.id, JSON.stringify(job))
}

/** Deletes an import with its parts. Its record is the last, so that a deletion that fails can be repeated. */
async function remove({ store }: Imports, userId: string, id: string, value: string): Promise<void> {
  const job = parseImport(value)
  if (job) {
    await deleteParts(store, id, 'file', job.parts.file)
    await deleteResults(store, job)
  }
  await forgetUserNotice(store, userId, id)
  await store.delete({ ...SPACE, id })
  await store.delete(activeKey(id))
  await store.delete(importKey(userId, id))
}

async function answer(imports: Imports, userId: string, id: string, draft: Draft | null): Promise<void> {
  const job = requireImport(await imports.store.get(importKey(userId, id)))
  const isSame = draft !== null && JSON.stringify(draft.sheets) === JSON.stringify(job.draft?.sheets)
  if (draft !== null && isSame && !isComplete(draft))
    await change(imports, userId, id, (now) => answered(now, draft))
  else await begin(imports, userId, id, (now) => checkedAgain(now, draft))
}

async function confirm(
  imports: Imports,
  userId: string,
  id: string,
  { name, seen }: { name: string; seen?: number | undefined },
): Promise<void> {
  const { store } = imports
  const by = { confirmedBy: name, confirmedAt: new Date().toISOString() }
  const job = await change(imports, userId, id, (now) => confirmedImport(now, by, seen))
  const reading = await findReading(store, job)
  if (reading && job.draft && isComplete(job.draft))
    await addLayout(store, job, confirmed(job.draft, reading.outline, by))
}

const endNotice = ({
  id,
  bxcontext,
  fileName,
  catalogueName,
  state,
  progress,
  failure,
}: Import): UserNotice => ({
  id,
  ...(state === 'completed'
    ? { text: texts.notice.completed(fileName, progress?.sent ?? 0, catalogueName) }
    : { text: texts.notice.stopped(fileName, failure ?? ''), tone: 'wait' }),
  link: { href: `/connections/${encodeURIComponent(bxcontext)}/imports/${id}`, label: texts.notice.open },
})

async function resume(imports: Imports): Promise<void> {
  const { store, dir } = imports
  await removeLeftOvers(dir)
  for await (const { key, value } of scan(store, IMPORT))
    await separately(imports, key.id, async () => {
      const job = parseImport(value)
      if (!job) return
      const isOld = job.state !== 'completed' && Date.now() - job.createdAt > PARTS_MS
      if (isOld) return remove(imports, key.owner, key.id, value)
      // A process may have died between the completion and the removal of the parts.
      if (job.state === 'completed' && (await store.get({ ...SPACE, id: job.id }))) await tidy(store, job)
      else await resumeImport(imports, key.owner, key.id)
    })
}

/** Works on an import that should be running, if no process does. */
async function resumeImport(imports: Imports, userId: string, id: string): Promise<void> {
  const { store, log, runner } = imports
  if (runner.isWorkingOn(id)) return
  const lease = await runner.acquireLease(userId, id, 0)
  if (!lease) return
  let isResumed = false
  try {
    // Read now that the lease is held: a list may be out of date.
    const value = await store.get(importKey(userId, id))
    const job = value === null ? null : parseImport(value)
    if (!job || !shouldRun(job)) await store.delete(activeKey(id))
    else {
      log.info({ importId: id }, 'import resumed')
      const next = await change(imports, userId, id, takenOver)
      runner.run(next, lease, taskOf(imports, next))
      isResumed = true
    }
  } finally {
    // A lease that nobody releases is renewed, and keeps every other process from the import.
    if (!isResumed) await lease.release()
  }
}

/** An import that cannot be resumed does not keep the others from it. Throws only `StoreUnavailableError`. */
async function separately({ log }: Imports, importId: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error
    const { code, name } = error as { code?: unknown; name?: string }
    log.error({ importId, code, reason: name }, 'an import could not be resumed')
  }
}
