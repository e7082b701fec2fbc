import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectionRef } from '../../connect/index.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import type { CheckOptions } from './check-rows.ts'
import { confirmed } from './confirmation.ts'
import { fileGone, ImportError } from './errors.ts'
import {
  answered,
  confirmedImport,
  type Import,
  moved,
  newImport,
  type Read,
  readAgain,
  running,
  stopped,
} from './import.ts'
import type { Draft } from './layout.ts'
import { addLayout, findLayouts } from './layouts.ts'
import { isComplete } from './questions.ts'
import { createReadingPlaces } from './reading-places.ts'
import type { Reading, ReadTask } from './reading-process.ts'
import { Sender, type SenderOptions } from './sender.ts'
import type { PriceFilesSettings } from './settings.ts'
import { PARTS_MS, StoredImports } from './stored.ts'
import { texts } from './texts.ts'
import { inFolder, receiveFile } from './work-folder.ts'

export interface ImportsOptions extends SenderOptions, PriceFilesSettings {
  /** The folder for files while they are read. */
  dir: string
  /** Reads a price file: `readInProcess`. */
  read(task: ReadTask): Promise<Reading>
}

/** Imports kept per user, apart from those that are running. */
const MAX_KEPT = 20
/** Uploads of one user that a process receives or reads at the same time. */
const MAX_UPLOADS = 5
/** How often what should be running is looked for, and what nobody needs any more, in ms. */
const WORK_MS = 2_000
const CLEAN_MS = 86_400_000

/**
 * Imports price files into catalogues: reads and stores them, and sends their items in the background. Its methods throw
 * `ImportError` (404) for an import that does not exist, `ImportError` (409) if its state does not allow the action, and
 * `StoreUnavailableError`.
 */
export class Imports extends StoredImports {
  readonly #options: ImportsOptions
  /** Sends what should be running. */
  readonly sender: Sender
  readonly #inPlace = createReadingPlaces()
  /** The user of each upload that is being received or read. */
  readonly #uploads: string[] = []

  constructor(options: ImportsOptions) {
    super(options)
    this.#options = options
    this.sender = new Sender(options, this)
  }

  /** The imports of a connection, newest first. */
  async list({ userId, bxcontext }: ConnectionRef): Promise<Import[]> {
    return (await this.ofUser(userId)).filter((job) => job.bxcontext === bxcontext)
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
    const { dir, log, maxBytes, store } = this.#options
    if (this.#uploads.filter((user) => user === userId).length >= MAX_UPLOADS)
      throw new ImportError(409, 'conflict', texts.errors.tooMany(MAX_UPLOADS))
    this.#uploads.push(userId)
    try {
      return await inFolder(dir, async (folder) => {
        const path = join(folder, 'file')
        const bytes = await receiveFile(path, limited(chunks, maxBytes))
        await this.#requireSpace(userId, bytes)
        const layouts = await findLayouts(store, { bxcontext, catalogueId: catalogue.id })
        const read = await this.#read({ userId, bytes }, folder, { layouts })
        const job = newImport({ id: randomUUID(), userId, bxcontext, fileName, bytes }, catalogue, read)
        await this.add(job, path, read)
        // The file is stored: who gets an error would upload it twice.
        const warn = ({ code }: { code?: unknown }) => log.warn({ code }, 'old imports were not deleted')
        await this.#deleteOld(userId).catch(warn)
        return job
      })
    } finally {
      this.#uploads.splice(this.#uploads.indexOf(userId), 1)
    }
  }

  /** Says how the file of an import is to be read. Reads it again if that makes a difference. Throws as `upload` does. */
  async answer(job: Import, draft: Draft): Promise<Import> {
    const { userId, id, checkId } = job
    const isRead = JSON.stringify(draft) === JSON.stringify(job.draft)
    const isOpen = tablesOf(draft) === tablesOf(job.draft) && !isComplete(draft)
    if (isRead || isOpen) return this.change(userId, id, (now) => answered(now, checkId, draft))
    return inFolder(this.#options.dir, async (folder) => {
      await this.fetchFile(job, join(folder, 'file'))
      const read = await this.#read(job, folder, { draft })
      // Of two answers at once, the parts of one may stay, and so may those of one that fails: they expire.
      await this.addCheck(job, read)
      const next = await this.change(userId, id, (now) => readAgain(now, read))
      await this.deleteCheck(job)
      return next
    })
  }

  /** Moves an import that has not been sent into another catalogue. */
  move(userId: string, id: string, catalogue: Catalogue): Promise<Import> {
    return this.change(userId, id, (now) => moved(now, catalogue))
  }

  /** Confirms how the file is read. `seen`: the `checkId` of what the user has seen. */
  async confirm(userId: string, id: string, seen?: string): Promise<Import> {
    const at = new Date().toISOString()
    const job = await this.get(userId, id)
    const check = await this.reading(job)
    if (!check) throw fileGone()
    const { draft, outline } = check
    const confirm = (now: Import) => confirmedImport(now, { checkId: seen ?? job.checkId, draft }, at)
    confirm(job)
    // The layout first: a process may die between the two.
    if (isComplete(draft)) await addLayout(this.#options.store, job, confirmed(draft, outline, at))
    return this.change(userId, id, confirm)
  }

  /**
   * Starts sending, or resumes a stopped or failed import. Throws `ImportError` (400) if nobody has confirmed
   * how the file is read.
   */
  async start(userId: string, id: string, seen?: string): Promise<Import> {
    const { run } = running(await this.get(userId, id), seen)
    const active = { userId, id, run }
    await this.noteActive(active)
    const job = await this.change(userId, id, (now) => running(now, seen))
    // If the store fails here, it is begun with what is waiting.
    await this.sender.begin(active).catch(() => {})
    return job
  }

  /** Stops sending. Items already sent are kept, and the import can be started again. */
  stop(userId: string, id: string): Promise<Import> {
    return this.change(userId, id, stopped)
  }

  /** Deletes the old imports of all users. */
  async clean(): Promise<void> {
    for await (const userId of this.users()) await this.#deleteOld(userId)
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
        const { code }: { code?: unknown } = Object(error)
        if (!shutdownSignal.aborted)
          this.#options.log.warn({ code }, 'imports could not be looked for; retrying')
      }
      await pause(WORK_MS, undefined, { signal: shutdownSignal, ref: false }).catch(() => {})
    }
  }

  /** Reads the file of a folder. Throws `UnreadableFileError`, and `StoreUnavailableError` if the disk is full. */
  async #read(file: { userId: string; bytes: number }, folder: string, how: CheckOptions): Promise<Read> {
    const itemsPath = join(folder, 'items')
    const task = { path: join(folder, 'file'), itemsPath, ...how }
    const check = await this.#inPlace(file, () => this.#options.read(task))
    return { checkId: randomUUID(), check, itemsPath }
  }

  /** Throws `ImportError` (413, 507) if the store has no space for a file of this size. */
  async #requireSpace(userId: string, bytes: number): Promise<void> {
    const { quotaBytes, totalBytes } = this.#options
    const own = await this.ofUser(userId)
    const ofUser = own.reduce((sum, job) => sum + (job.state === 'completed' ? 0 : job.bytes), bytes)
    if (ofUser > quotaBytes)
      throw new ImportError(413, 'upload_quota_exceeded', texts.errors.quota(megabytes(quotaBytes)))
    if ((await this.bytes()) + bytes > totalBytes)
      throw new ImportError(507, 'storage_full', texts.errors.storageFull)
  }

  /** Deletes all but the last imports of a user, and what nobody has finished for as long as its parts are kept, or can read. */
  async #deleteOld(userId: string): Promise<void> {
    const idle = (await this.ofUser(userId)).filter(({ state }) => state !== 'running')
    const replaced = idle.slice(MAX_KEPT).map(({ id }) => id)
    const isOld = (job: Import) =>
      job.state !== 'completed' && Date.now() - Date.parse(job.createdAt) > PARTS_MS
    await this.deleteAll(
      userId,
      (job) => isOld(job) || (replaced.includes(job.id) && job.state !== 'running'),
    )
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
