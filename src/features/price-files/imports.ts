import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectionRef } from '../../connect/index.ts'
import { allOwners, type KeyValueStore } from '../../connect/stores.ts'
import { forgetUserNotice } from '../../web/notice.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import type { CheckTask } from './check-file.ts'
import type { Check, CheckOptions } from './check-rows.ts'
import { confirmed } from './confirmation.ts'
import { ImportError, importNotFound } from './errors.ts'
import {
  answered,
  confirmedImport,
  type Import,
  moved,
  newImport,
  parseImport,
  type Read,
  readAgain,
  running,
  stopped,
} from './import.ts'
import type { Draft } from './layout.ts'
import { addLayout, findLayouts } from './layouts.ts'
import { createLimiter } from './limiter.ts'
import { isComplete } from './questions.ts'
import { activeKey, createSender, noteActive, type SenderOptions } from './sender.ts'
import type { PriceFilesSettings } from './settings.ts'
import {
  changeImport,
  deleteCheck,
  deleteSent,
  fetchFile,
  findCheck,
  findImport,
  IMPORT,
  importKey,
  PARTS_MS,
  SPACE,
  spaceKey,
  storeCheck,
  storeFile,
} from './stored.ts'
import { texts } from './texts.ts'
import { inFolder, receiveFile, removeLeftOvers } from './work-folder.ts'

export interface ImportsOptions extends SenderOptions, PriceFilesSettings {
  /** The folder for files while they are read. */
  dir: string
  /** Reads a price file: `checkFile`, in a process of its own. */
  read(task: CheckTask): Promise<Check>
}

/** Finished imports kept per user. */
const MAX_FINISHED = 20
/** Uploads of one user that a process receives or reads at the same time. */
const MAX_UPLOADS = 5
/** Files that a process reads at the same time, each in a process of its own; of one user, only one. */
const MAX_CHECKS = 2
/** How often what should be running is looked for, and what nobody needs any more, in ms. */
const WORK_MS = 2_000
const CLEAN_MS = 86_400_000

type ReadFile = Read & { itemsPath: string }

/**
 * Imports price files into catalogues: reads and stores them, and sends their items in the background. Its methods throw
 * `ImportError` (404) for an import that does not exist, `ImportError` (409) if its state does not allow the action, and
 * `StoreUnavailableError`.
 */
export class Imports {
  readonly #options: ImportsOptions
  readonly #store: KeyValueStore
  /** Sends what should be running. */
  readonly sender: ReturnType<typeof createSender>
  readonly #inTurn = createLimiter(MAX_CHECKS, 1)
  /** The user of each upload that is being received or read. */
  readonly #uploads: string[] = []

  constructor(options: ImportsOptions) {
    this.#options = options
    this.#store = options.store
    this.sender = createSender(options)
  }

  get(userId: string, id: string): Promise<Import> {
    return findImport(this.#store, userId, id)
  }

  /** The imports of a connection, newest first. */
  async list({ userId, bxcontext }: ConnectionRef): Promise<Import[]> {
    return (await this.#listOf(userId)).filter((job) => job.bxcontext === bxcontext)
  }

  /** What the last check has found; null if it is gone. */
  reading(job: Import): Promise<Check | null> {
    return findCheck(this.#store, job)
  }

  /**
   * Reads an uploaded file and stores it. Throws `UnreadableFileError`, and `ImportError` (409, 413, 507) if the file is too
   * large, exceeds a quota, or if too many of the user's files are being read.
   */
  async upload(
    { userId, bxcontext }: ConnectionRef,
    { catalogue, fileName }: { catalogue: Catalogue; fileName: string },
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<Import> {
    const { dir, log, maxBytes } = this.#options
    if (this.#uploads.filter((user) => user === userId).length >= MAX_UPLOADS)
      throw new ImportError(409, 'conflict', texts.errors.tooMany(MAX_UPLOADS))
    this.#uploads.push(userId)
    try {
      return await inFolder(dir, async (folder) => {
        const path = join(folder, 'file')
        const bytes = await receiveFile(path, limited(chunks, maxBytes))
        await this.#requireSpace(userId, bytes)
        const layouts = await findLayouts(this.#store, { bxcontext, catalogueId: catalogue.id })
        const read = await this.#read(userId, folder, { layouts })
        const job = newImport({ id: randomUUID(), userId, bxcontext, fileName, bytes }, catalogue, read)
        await this.#storeUpload(job, path, read)
        // The file is stored: who gets an error would upload it twice.
        const warn = ({ code }: { code?: unknown }) => log.warn({ code }, 'old imports were not deleted')
        await this.#deleteOld(userId).catch(warn)
        return job
      })
    } finally {
      this.#uploads.splice(this.#uploads.indexOf(userId), 1)
    }
  }

  /** Says how the file is to be read. Reads it again if that makes a difference. Throws as `upload` does. */
  async answer(userId: string, id: string, draft: Draft): Promise<Import> {
    const store = this.#store
    const job = await changeImport(store, userId, id, (now) => answered(now, now.draft))
    const isRead = JSON.stringify(draft) === JSON.stringify(job.draft)
    const isOpen = tablesOf(draft) === tablesOf(job.draft) && !isComplete(draft)
    if (isRead || isOpen) return changeImport(store, userId, id, (now) => answered(now, draft))
    return inFolder(this.#options.dir, async (folder) => {
      await fetchFile(store, job, join(folder, 'file'))
      const read = await this.#read(userId, folder, { draft })
      let replaced = job
      try {
        await storeCheck(store, id, read)
        const next = await changeImport(store, userId, id, (now) => {
          replaced = now
          return readAgain(now, read)
        })
        await deleteCheck(store, replaced)
        return next
      } catch (error) {
        // What stays expires with the parts.
        await deleteCheck(store, readAgain(job, read)).catch(() => {})
        throw error
      }
    })
  }

  /** Moves an import that has not been sent into another catalogue. */
  move(userId: string, id: string, catalogue: Catalogue): Promise<Import> {
    return changeImport(this.#store, userId, id, (now) => moved(now, catalogue))
  }

  /** Confirms how the file is read. `name`: who does; `seen`: the `checkId` of what they have seen. */
  async confirm(userId: string, id: string, { name, seen }: { name: string; seen?: string | undefined }) {
    const by = { confirmedBy: name, confirmedAt: new Date().toISOString() }
    const job = await changeImport(this.#store, userId, id, (now) => confirmedImport(now, by, seen))
    const check = await findCheck(this.#store, job)
    if (check && isComplete(job.draft))
      await addLayout(this.#store, job, confirmed(job.draft, check.outline, by))
    return job
  }

  /**
   * Starts sending, or resumes a stopped or failed import. Throws `ImportError` (400) if nobody has confirmed
   * how the file is read.
   */
  async start(userId: string, id: string, seen?: string): Promise<Import> {
    const { run } = running(await this.get(userId, id), seen)
    await noteActive(this.#store, id, { userId, run })
    const job = await changeImport(this.#store, userId, id, (now) => running(now, seen))
    // If the store fails here, it is begun with what is waiting.
    await this.sender.begin(id, { userId, run }).catch(() => {})
    return job
  }

  /** Stops sending. Items already sent are kept, and the import can be started again. */
  stop(userId: string, id: string): Promise<Import> {
    return changeImport(this.#store, userId, id, stopped)
  }

  /** Deletes the import with its file. Resolves to what it was; null if its record could not be read. */
  async discard(userId: string, id: string): Promise<Import | null> {
    const value = await this.#store.get(importKey(userId, id))
    if (value === null) throw importNotFound()
    const job = parseImport(value)
    await this.#remove(userId, id, job)
    return job
  }

  async deleteUser(userId: string): Promise<void> {
    for (const { key, value } of await this.#store.list(IMPORT, userId))
      await this.#remove(userId, key.id, parseImport(value))
  }

  /** Deletes the notice that the import has ended, because its user sees that. */
  markSeen(userId: string, id: string): Promise<void> {
    return forgetUserNotice(this.#store, userId, id)
  }

  /** Deletes what killed processes have left, and the imports that nobody has finished for as long as their parts are kept. */
  async clean(): Promise<void> {
    await removeLeftOvers(this.#options.dir)
    for await (const userId of allOwners(this.#store, IMPORT))
      for (const job of await this.#listOf(userId)) {
        const isOld = job.state !== 'completed' && Date.now() - job.createdAt > PARTS_MS
        if (isOld) await this.#remove(userId, job.id, job)
      }
  }

  /** Looks for work until the app shuts down. While the store is unreachable, tries again. */
  async work(shutdownSignal: AbortSignal): Promise<void> {
    let cleanedAt = Number.NEGATIVE_INFINITY
    while (!shutdownSignal.aborted) {
      try {
        await this.sender.sendWaiting()
        if (performance.now() - cleanedAt > CLEAN_MS) {
          await this.clean()
          cleanedAt = performance.now()
        }
      } catch (error) {
        const { code } = Object(error) as { code?: unknown }
        if (!shutdownSignal.aborted)
          this.#options.log.warn({ code }, 'imports could not be looked for; retrying')
      }
      await pause(WORK_MS, undefined, { signal: shutdownSignal, ref: false }).catch(() => {})
    }
  }

  /** All imports of a user, newest first; one that cannot be read is logged and left out. */
  async #listOf(userId: string): Promise<Import[]> {
    const entries = await this.#store.list(IMPORT, userId)
    const jobs = entries.flatMap(({ key, value }) => {
      const job = parseImport(value)
      const code = 'import_unreadable'
      if (!job) this.#options.log.error({ code, importId: key.id }, 'an import record cannot be read')
      return job ?? []
    })
    return jobs.sort((a, b) => b.createdAt - a.createdAt)
  }

  /** Reads the file of a folder. Throws `UnreadableFileError`, and `StoreUnavailableError` if the disk is full. */
  async #read(userId: string, folder: string, how: CheckOptions): Promise<ReadFile> {
    const itemsPath = join(folder, 'items')
    const task = { path: join(folder, 'file'), itemsPath, ...how }
    const check = await this.#inTurn(userId, () => this.#options.read(task))
    return { checkId: randomUUID(), check, itemsPath }
  }

  /** Throws `ImportError` (413, 507) if the store has no space for a file of this size. */
  async #requireSpace(userId: string, bytes: number): Promise<void> {
    const { quotaBytes, totalBytes } = this.#options
    const own = await this.#listOf(userId)
    const ofUser = own.reduce((sum, job) => sum + (job.state === 'completed' ? 0 : job.bytes), bytes)
    if (ofUser > quotaBytes)
      throw new ImportError(413, 'upload_quota_exceeded', texts.errors.quota(megabytes(quotaBytes)))
    const all = await this.#store.list(SPACE.kind, SPACE.owner)
    if (all.reduce((sum, { value }) => sum + Number(value), bytes) > totalBytes)
      throw new ImportError(507, 'storage_full', texts.errors.storageFull)
  }

  /** Stores the record first, so that what a process stores that dies meanwhile is found by it. */
  async #storeUpload(job: Import, path: string, read: ReadFile): Promise<void> {
    const store = this.#store
    try {
      await store.set(spaceKey(job.id), String(job.bytes))
      await store.set(importKey(job.userId, job.id), JSON.stringify(job))
      await storeFile(store, job.id, path)
      await storeCheck(store, job.id, read)
    } catch (error) {
      // The user learns why the upload failed. What is left of it is found by its record, and deleted later.
      await this.#remove(job.userId, job.id, job).catch(() => {})
      throw error
    }
  }

  /** Deletes an import with its parts. Its record is the last, so that a deletion that fails can be repeated. */
  async #remove(userId: string, id: string, job: Import | null): Promise<void> {
    const store = this.#store
    if (job) {
      await deleteSent(store, job)
      await deleteCheck(store, job)
    }
    await forgetUserNotice(store, userId, id)
    await store.delete(spaceKey(id))
    await store.delete(activeKey(id))
    await store.delete(importKey(userId, id))
  }

  async #deleteOld(userId: string): Promise<void> {
    const finished = (await this.#listOf(userId)).filter(({ state }) => state !== 'running')
    for (const job of finished.slice(MAX_FINISHED)) await this.#remove(userId, job.id, job)
  }
}

/** What decides which rows are in the tables: the rest of the file is shown as what it says. */
const tablesOf = ({ sheets }: Draft) =>
  JSON.stringify(
    sheets.map(({ name, headingsRow, columns }) => [name, headingsRow, columns.map(({ use }) => use)]),
  )

/** The bytes of an upload, up to the limit. Throws `ImportError` (413). */
async function* limited(bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > maxBytes)
      throw new ImportError(413, 'payload_too_large', texts.errors.tooLarge(megabytes(maxBytes)))
    yield chunk
  }
}

const megabytes = (bytes: number) => `${Math.floor(bytes / 1_000_000)} MB`
