import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { StoreUnavailableError } from '../../connect/errors.ts'
import type { ConnectionRef } from '../../connect/index.ts'
import { allOwners, type KeyValueStore, update } from '../../connect/stores.ts'
import { forgetUserNotice, leaveUserNotice, type UserNotice } from '../../web/notice.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import { confirmed, isComplete } from './confirmation.ts'
import { ImportError, importNotFound, stillStopping } from './errors.ts'
import {
  ACTIVE,
  activeKey,
  answered,
  confirmedImport,
  IMPORT,
  type Import,
  importKey,
  newImport,
  parseImport,
  readAgain,
  requireImport,
  running,
  SPACE,
  stopped,
  takenOver,
} from './import.ts'
import type { Draft } from './layout.ts'
import { addLayout, findLayouts } from './layouts.ts'
import { createLimiter, type Limiter } from './limiter.ts'
import { PARTS_MS } from './parts.ts'
import {
  deleteFile,
  deleteItems,
  deleteReading,
  fetchFile,
  findReading,
  inFolder,
  type Reading,
  readIn,
  receiveFile,
  removeLeftOvers,
  storeFile,
  storeReading,
} from './reading.ts'
import { createRunner, type Runner } from './runner.ts'
import { type SendingOptions, send } from './sending.ts'
import { texts } from './texts.ts'

export interface ImportsOptions extends SendingOptions {
  log: Logger
  /** The folder for files while they are read. */
  dir: string
  /** Maximum size of one price file, in bytes. */
  maxBytes: number
  /** Maximum size of the files that the store keeps of one user, and of all users together, in bytes. */
  quotaBytes: number
  totalBytes: number
}

/** Finished imports kept per user. */
const MAX_FINISHED = 20
/** Uploads of one user that a process receives or reads at the same time. */
const MAX_UPLOADS = 5
/** Files that a process reads at the same time, each in a process of its own; of one user, only one. */
const MAX_CHECKS = 2

interface Imports extends ImportsOptions {
  runner: Runner
  /** The user of each upload that is being received or read. */
  uploads: string[]
  reading: Limiter
}

export type ImportService = ReturnType<typeof createImports>

/** An import of a user. */
const find = async (imports: Imports, userId: string, id: string) =>
  requireImport(await imports.store.get(importKey(userId, id)))

/**
 * Imports price files into catalogues: reads and stores them, and sends their items in the background. Its methods throw
 * `ImportError` (404) for an import that does not exist, `ImportError` (409) if its state does not allow the action, and
 * `StoreUnavailableError`.
 */
export function createImports(options: ImportsOptions) {
  const { store, log } = options
  const runner = createRunner({
    store,
    log,
    send: (job, work) => send(options, job, work),
    // The user may have left the page while the items are sent.
    onSent: (job) => leaveUserNotice(store, job.userId, endNotice(job)),
    onCompleted: (job) => tidy(store, job),
  })
  const imports: Imports = { ...options, runner, uploads: [], reading: createLimiter(MAX_CHECKS, 1) }
  return {
    /**
     * Reads an uploaded file and stores it. Throws `UnreadableFileError`, and `ImportError` (409, 413, 507) if the file is too
     * large, exceeds a quota, or if too many of the user's files are being read.
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
    /** Says how the file is to be read. Reads it again, unless statements are missing. Throws as `upload` does. */
    answer: (userId: string, id: string, draft: Draft) => answer(imports, userId, id, draft),
    /** Confirms how the file is read. `name`: who does; `seen`: the `checkId` of what they have seen. */
    confirm: (userId: string, id: string, by: { name: string; seen?: string | undefined }) =>
      confirm(imports, userId, id, by),
    /**
     * Starts sending, or resumes a stopped or failed import. Throws `ImportError` (400) if nobody has confirmed
     * how the file is read.
     */
    start: (userId: string, id: string, seen?: string) => start(imports, userId, id, seen),
    /** Stops sending. Items already sent are kept, and the import can be started again. */
    async stop(userId: string, id: string): Promise<void> {
      // The runner writes the record frequently, too.
      await change(imports, userId, id, stopped)
    },
    /** Deletes the import with its file. */
    discard: (userId: string, id: string) => discard(imports, userId, id),
    async deleteUser(userId: string): Promise<void> {
      for (const { key, value } of await store.list(IMPORT, userId))
        await remove(imports, userId, key.id, value)
    },
    /** Deletes the notice that the import has ended, because its user sees that. */
    markSeen: (userId: string, id: string) => forgetUserNotice(store, userId, id),
    /** Resolves when this process is not working on the import. */
    settled: async (id: string) => runner.settled(id),
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
  await deleteFile(store, job)
  await deleteItems(store, job.id, job)
  await store.delete({ ...SPACE, id: job.id })
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

async function listOf(imports: Imports, { userId, bxcontext }: ConnectionRef): Promise<Import[]> {
  return (await list(imports, userId)).filter((job) => job.bxcontext === bxcontext)
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

async function start(imports: Imports, userId: string, id: string, seen: string | undefined): Promise<void> {
  const { store, runner } = imports
  const before = requireImport(await store.get(importKey(userId, id)))
  // Its errors come first: another process may hold the lease for long.
  running(before, seen)
  const lease = await runner.acquireLease(userId, id)
  if (!lease && before.state === 'stopped') throw stillStopping()
  if (!lease) throw new ImportError(409, 'conflict', texts.errors.notPossible(texts.states[before.state]))
  try {
    await store.set(activeKey(id), userId)
    runner.run(await change(imports, userId, id, (job) => running(job, seen)), lease)
  } catch (error) {
    await lease.release()
    throw error
  }
}

async function upload(
  imports: Imports,
  ref: ConnectionRef,
  to: { catalogue: Catalogue; fileName: string },
  chunks: AsyncIterable<Uint8Array>,
): Promise<Import> {
  const { dir, log, reading, store, uploads } = imports
  const { userId } = ref
  if (uploads.filter((user) => user === userId).length >= MAX_UPLOADS)
    throw new ImportError(409, 'conflict', texts.errors.tooMany(MAX_UPLOADS))
  uploads.push(userId)
  try {
    return await inFolder(dir, async (folder) => {
      const bytes = await receiveFile(folder, limited(imports, chunks))
      await requireSpace(imports, userId, bytes)
      const layouts = await findLayouts(store, { ...ref, catalogueId: to.catalogue.id })
      const read = await reading(userId, () => readIn(folder, randomUUID(), { layouts }))
      const job = newImport({ id: randomUUID(), ...ref, ...to, bytes, ...read.checked })
      await storeUpload(imports, job, folder, read)
      // The file is stored: who gets an error would upload it twice.
      await deleteOld(imports, userId).catch(({ code }) => log.warn({ code }, 'old imports were not deleted'))
      return job
    })
  } finally {
    uploads.splice(uploads.indexOf(userId), 1)
  }
}

/** Stores the record first, so that what a process stores that dies meanwhile is found by it. */
async function storeUpload(
  imports: Imports,
  job: Import,
  folder: string,
  read: Awaited<ReturnType<typeof readIn>>,
): Promise<void> {
  const { store } = imports
  const record = JSON.stringify(job)
  try {
    await store.set({ ...SPACE, id: job.id }, String(job.bytes))
    await store.set(importKey(job.userId, job.id), record)
    await storeFile(store, job.id, folder)
    await storeReading(store, job.id, folder, read)
  } catch (error) {
    // The user learns why the upload failed. What is left of it is found by its record, and deleted later.
    await remove(imports, job.userId, job.id, record).catch(() => {})
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

/** Throws `ImportError` (413, 507) if the store has no space for a file of this size. */
async function requireSpace(imports: Imports, userId: string, bytes: number): Promise<void> {
  const { store, quotaBytes, totalBytes } = imports
  const own = await list(imports, userId)
  const ofUser = own.reduce((sum, job) => sum + (job.state === 'completed' ? 0 : job.bytes), bytes)
  if (ofUser > quotaBytes)
    throw new ImportError(413, 'upload_quota_exceeded', texts.errors.quota(megabytes(quotaBytes)))
  const all = await store.list(SPACE.kind, SPACE.owner)
  if (all.reduce((sum, { value }) => sum + Number(value), bytes) > totalBytes)
    throw new ImportError(507, 'storage_full', texts.errors.storageFull)
}

async function deleteOld(imports: Imports, userId: string): Promise<void> {
  const finished = (await list(imports, userId)).filter(({ state }) => state !== 'running')
  for (const job of finished.slice(MAX_FINISHED)) await remove(imports, userId, job.id, JSON.stringify(job))
}

/** Deletes an import with its parts. Its record is the last, so that a deletion that fails can be repeated. */
async function remove({ store }: Imports, userId: string, id: string, value: string): Promise<void> {
  const job = parseImport(value)
  if (job) {
    await deleteFile(store, job)
    await deleteItems(store, id, job)
    await deleteReading(store, id, job)
  }
  await forgetUserNotice(store, userId, id)
  await store.delete({ ...SPACE, id })
  await store.delete(activeKey(id))
  await store.delete(importKey(userId, id))
}

async function answer(imports: Imports, userId: string, id: string, draft: Draft): Promise<void> {
  const { store, dir, reading } = imports
  const job = await change(imports, userId, id, (now) => answered(now, now.draft))
  const isSame = JSON.stringify(draft.sheets) === JSON.stringify(job.draft.sheets)
  if (isSame && !isComplete(draft))
    return void (await change(imports, userId, id, (now) => answered(now, draft)))
  await inFolder(dir, async (folder) => {
    await fetchFile(store, job, folder)
    const read = await reading(userId, () => readIn(folder, randomUUID(), { draft }))
    let replaced = job
    try {
      await storeReading(store, id, folder, read)
      await change(imports, userId, id, (now) => {
        replaced = now
        return readAgain(now, read.checked)
      })
    } catch (error) {
      await deleteResults(store, id, read.checked).catch(() => {})
      throw error
    }
    await deleteResults(store, id, replaced)
  })
}

async function deleteResults(store: KeyValueStore, id: string, checked: Parameters<typeof deleteItems>[2]) {
  await deleteItems(store, id, checked)
  await deleteReading(store, id, checked)
}

async function confirm(
  imports: Imports,
  userId: string,
  id: string,
  { name, seen }: { name: string; seen?: string | undefined },
): Promise<void> {
  const { store } = imports
  const by = { confirmedBy: name, confirmedAt: new Date().toISOString() }
  const job = await change(imports, userId, id, (now) => confirmedImport(now, by, seen))
  const reading = await findReading(store, job)
  if (reading && isComplete(job.draft)) await addLayout(store, job, confirmed(job.draft, reading.outline, by))
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
  for await (const owner of allOwners(store, IMPORT))
    for (const { key, value } of await store.list(IMPORT, owner))
      await separately(imports, key.id, async () => {
        const job = parseImport(value)
        if (!job) return
        const isOld = job.state !== 'completed' && Date.now() - job.createdAt > PARTS_MS
        if (isOld) return remove(imports, key.owner, key.id, value)
        // A process may have died between the completion and the removal of the parts.
        if (job.state === 'completed' && (await store.get({ ...SPACE, id: job.id }))) await tidy(store, job)
        else if (job.state === 'running') await resumeImport(imports, key.owner, key.id)
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
    if (job?.state !== 'running') await store.delete(activeKey(id))
    else {
      log.info({ importId: id }, 'import resumed')
      runner.run(await change(imports, userId, id, takenOver), lease)
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
