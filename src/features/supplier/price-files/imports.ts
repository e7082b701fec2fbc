import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ConnectionRef } from '../../../connect/index.ts'
import type { KeyValueStore } from '../../../connect/stores.ts'
import { badInput } from '../../../web/kit.ts'
import type { Catalogue } from '../../catalogues/contract.ts'
import type { Item } from './batches.ts'
import type { Draft } from './choice.ts'
import { fileGone, ImportError } from './errors.ts'
import type { Reading, ReadOptions } from './found.ts'
import {
  type Import,
  newImport,
  type Read,
  readAgain,
  requireState,
  resumed,
  started,
  stopped,
} from './import.ts'
import { createReadingPlaces } from './reading-places.ts'
import { ReceivedStore } from './received-store.ts'
import { Sender, type SenderOptions } from './sender.ts'
import type { PriceFilesSettings } from './settings.ts'
import { PARTS_MS, StoredImports } from './stored.ts'
import { texts } from './texts.ts'
import { type Turns, takeFreeTurn } from './turns.ts'
import { inFolder, receiveFile } from './work-folder.ts'

export interface ImportsOptions
  extends PriceFilesSettings,
    Pick<SenderOptions, 'catalogueImports' | 'source' | 'describe' | 'onProgress' | 'turnMs'> {
  store: KeyValueStore
  log: Logger
  /** The address of the platform's API: with a catalogue's id, it identifies what was received. */
  apiUrl: string
  /** The folder for files while they are read. */
  dir: string
  /** Reads a price file, in a process of its own. */
  read(task: ReadOptions & { path: string }): Promise<Reading>
}

/** What became of *Send*: if nothing was sent, the page is shown anew, because it says something else by now. */
export interface SendResult {
  job: Import
  isSent: boolean
}

/** What a person sends. */
export interface SendRequest {
  /** The `checkId` of the page. */
  seen: string
  /** The codes of the rows that are ticked to be left out. */
  leftOut: readonly string[]
  /** Whether the box is ticked. */
  confirmed: boolean
}

/** Imports kept per user, apart from those that are running. */
const MAX_KEPT = 20
/** Uploads of one user that a process receives or reads at the same time. */
const MAX_UPLOADS = 5
/** How often what is being sent is looked for, and what nobody needs any more, in ms. */
const WORK_MS = 2_000
const CLEAN_MS = 86_400_000

/**
 * Imports price files into catalogues: reads and stores them, and sends their items in the background. Its methods throw
 * `ImportError` (404) for an import that does not exist, `ImportError` (409) if its state does not allow the action, and
 * `StoreUnavailableError`.
 */
export class Imports {
  readonly #options: ImportsOptions
  readonly #stored: StoredImports
  readonly #received: ReceivedStore
  readonly #turns: Turns
  readonly #sender: Sender
  readonly #inPlace = createReadingPlaces()
  /** The user of each upload that is being received or read. */
  readonly #uploads: string[] = []

  constructor(options: ImportsOptions) {
    const { store, apiUrl, turnMs } = options
    this.#options = options
    this.#stored = new StoredImports(options)
    this.#received = new ReceivedStore(store, apiUrl)
    this.#turns = { store, stored: this.#stored, received: this.#received, turnMs }
    this.#sender = new Sender({ ...options, ...this.#turns })
  }

  /** An import of a user. */
  get(userId: string, id: string): Promise<Import> {
    return this.#stored.get(userId, id)
  }

  /** The imports of a connection, newest first. */
  async list({ userId, bxcontext }: ConnectionRef): Promise<Import[]> {
    return (await this.#stored.ofUser(userId)).filter((job) => job.bxcontext === bxcontext)
  }

  /** What was found in the file; null if it is gone. */
  async reading(job: Import): Promise<Reading | null> {
    const reading = await this.#stored.reading(job)
    const lastChoice = reading?.outline.lastChoice
    if (!lastChoice) return reading
    // What is stored names nobody.
    const by = await this.#received.senderOf(job.catalogueId, lastChoice.at)
    return { ...reading, outline: { ...reading.outline, lastChoice: { ...lastChoice, by } } }
  }

  /** All items that *Send* sends, in the order of the file. */
  items(job: Import): AsyncIterable<Item> {
    return this.#stored.items(job)
  }

  /** Deletes the notice that the import has ended, because its user sees that. */
  markSeen({ userId, id }: Import): Promise<void> {
    return this.#stored.markSeen(userId, id)
  }

  /**
   * Reads an uploaded file and stores it. Call it when the platform has shown the catalogue to the user. `draft`: how it is read,
   * instead of as the last choice says. Throws
   * `UnreadableFileError`, and `ImportError` (409, 413, 507) if the file is too large, exceeds a quota, or if too many of the user's
   * files are being read.
   */
  async upload(
    { userId, bxcontext }: ConnectionRef,
    { catalogue, fileName, draft = null }: { catalogue: Catalogue; fileName: string; draft?: Draft | null },
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
        const how = { draft, goOn: draft !== null, leftOut: [] }
        const read = await this.#read({ userId, bytes, catalogueId: catalogue.id }, folder, how)
        const job = newImport({ id: randomUUID(), userId, bxcontext, fileName, bytes }, catalogue, read)
        await this.#stored.add(job, path, read)
        // The file is stored: who gets an error would upload it twice.
        const warn = ({ code }: { code?: unknown }) => log.warn({ code }, 'old imports were not deleted')
        await this.#deleteOld(userId).catch(warn)
        return job
      })
    } finally {
      this.#uploads.splice(this.#uploads.indexOf(userId), 1)
    }
  }

  /** Reads the file again as a person says. `goOn`: goes on to page two. Throws as `upload` does. */
  choose(job: Import, { draft, goOn }: { draft: Draft; goOn: boolean }): Promise<Import> {
    requireState(job, 'ready')
    return this.#readAgain(job, { draft, goOn, leftOut: job.leftOut })
  }

  /**
   * Sends what a page has shown, and nothing else: if the file was read again meanwhile, if other rows are left out, or if the
   * catalogue has received something else, nothing is sent. Throws `ImportError` (409) if an import into the catalogue is running,
   * and `invalid_input` (400) if the box is not ticked or there is nothing to send.
   */
  async send(job: Import, { seen, leftOut, confirmed }: SendRequest): Promise<SendResult> {
    requireState(job, 'ready')
    const reading = await this.#stored.reading(job)
    if (!reading) throw fileGone()
    if (seen !== job.checkId || !reading.found) return { job, isSent: false }
    const again = { draft: reading.found.choice, goOn: true, leftOut }
    if (codesOf(leftOut) !== codesOf(job.leftOut))
      return { job: await this.#readAgain(job, again), isSent: false }
    started(job, seen)
    if (reading.found.box.length > 0 && !confirmed) throw badInput('confirm', texts.rules.confirm)
    const isSame = async () =>
      (await this.#received.latest(job.catalogueId)).revision === job.receivedRevision
    return this.#start(job, isSame, (now) => started(now, seen), again)
  }

  /**
   * Sends the rest of an import that has failed or was stopped. If something else was sent into the catalogue meanwhile, the file is
   * read again instead, to be looked at. Throws `ImportError` (409) if an import into the catalogue is running.
   */
  resume(job: Import): Promise<SendResult> {
    const isSame = async () => {
      const { revision, importId } = await this.#received.latest(job.catalogueId)
      return revision === job.receivedRevision || importId === job.id
    }
    return this.#start(job, isSame, resumed, { draft: job.choice, goOn: true, leftOut: job.leftOut })
  }

  /** Stops sending. Items already sent are kept, and the import can be resumed. */
  async stop({ userId, id }: Import): Promise<Import> {
    const job = await this.#stored.change(userId, id, stopped)
    this.#sender.interrupt(job)
    return job
  }

  /** Deletes an import with its file, and stops it first. Resolves to what it was. What the platform has accepted is remembered. */
  async discard(job: Import): Promise<Import> {
    const { userId, id, catalogueId } = job
    if (job.state === 'running') await this.stop(job)
    const isActive = async () => (await this.#stored.active(catalogueId)).some((active) => active.id === id)
    // Whoever takes the turn merges what the platform has accepted.
    if (await isActive()) await (await takeFreeTurn(this.#turns, catalogueId)).release()
    return this.#stored.discard(userId, id)
  }

  /** Deletes the old imports of all users. */
  async clean(): Promise<void> {
    for await (const userId of this.#stored.users()) await this.#deleteOld(userId)
  }

  /** Looks for work until the app shuts down. While the store is unreachable, tries again. */
  async work(shutdownSignal: AbortSignal): Promise<void> {
    let cleanedAt = Number.NEGATIVE_INFINITY
    while (!shutdownSignal.aborted) {
      try {
        await this.#sender.sendWaiting()
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

  /** Resolves to what an import is when this process works on it no more. */
  async ended(job: Import): Promise<Import> {
    await this.#sender.ended(job)
    return this.get(job.userId, job.id)
  }

  /** Ends the work of this process; it goes on in another one, or later. */
  close(): Promise<void> {
    return this.#sender.close()
  }

  /** Starts an import in the turn of its catalogue, or reads its file again. The turn is the sender's from then on. */
  async #start(
    job: Import,
    isSame: () => Promise<boolean>,
    to: (now: Import) => Import,
    again: HowToRead,
  ): Promise<SendResult> {
    const { userId, id, catalogueId } = job
    const active = { userId, id, catalogueId }
    const turn = await takeFreeTurn(this.#turns, catalogueId)
    try {
      if (await isSame()) {
        await this.#stored.noteActive(active)
        const next = await this.#stored.change(userId, id, to)
        await this.#sender.begin(active, turn)
        return { job: next, isSent: true }
      }
    } catch (error) {
      // If its record says that it is running, it is begun with what is waiting.
      await turn.release()
      throw error
    }
    await turn.release()
    return { job: await this.#readAgain(job, again), isSent: false }
  }

  /** Reads the file of an import again, and stores what was found. */
  #readAgain(job: Import, how: HowToRead): Promise<Import> {
    const { userId, id } = job
    return inFolder(this.#options.dir, async (folder) => {
      await this.#stored.fetchFile(job, join(folder, 'file'))
      const read = await this.#read(job, folder, how)
      await this.#stored.addReading(job, read)
      // Of two readings at once, the parts of one may stay: they expire.
      const next = await this.#stored.change(userId, id, (now) => readAgain(now, job.run, read))
      await this.#stored.deleteReading(job)
      return next
    })
  }

  /** Reads the file of a folder. Throws `UnreadableFileError`, and `StoreUnavailableError` if the disk is full. */
  async #read(
    { userId, bytes, catalogueId }: Pick<Import, 'userId' | 'bytes' | 'catalogueId'>,
    folder: string,
    { leftOut, ...how }: HowToRead,
  ): Promise<Read> {
    const { revision, received } = await this.#received.read(catalogueId)
    const itemsPath = join(folder, 'items')
    const task = { path: join(folder, 'file'), itemsPath, received, leftOut, ...how }
    const reading = await this.#inPlace({ userId, bytes }, () => this.#options.read(task))
    return { checkId: randomUUID(), reading, itemsPath, leftOut: [...leftOut], receivedRevision: revision }
  }

  /** Throws `ImportError` (413, 507) if the store has no space for a file of this size. */
  async #requireSpace(userId: string, bytes: number): Promise<void> {
    const { quotaBytes, totalBytes } = this.#options
    const own = await this.#stored.ofUser(userId)
    const ofUser = own.reduce((sum, job) => sum + (job.state === 'completed' ? 0 : job.bytes), bytes)
    if (ofUser > quotaBytes)
      throw new ImportError(413, 'upload_quota_exceeded', texts.errors.quota(megabytes(quotaBytes)))
    if ((await this.#stored.bytes()) + bytes > totalBytes)
      throw new ImportError(507, 'storage_full', texts.errors.storageFull)
  }

  /** Deletes all but the last imports of a user, and what nobody has finished for as long as its parts are kept, or can read. */
  async #deleteOld(userId: string): Promise<void> {
    const idle = (await this.#stored.ofUser(userId)).filter(({ state }) => state !== 'running')
    const replaced = idle.slice(MAX_KEPT).map(({ id }) => id)
    const isOld = (job: Import) =>
      job.state !== 'completed' && Date.now() - Date.parse(job.createdAt) > PARTS_MS
    await this.#stored.deleteAll(
      userId,
      (job) => isOld(job) || (replaced.includes(job.id) && job.state !== 'running'),
    )
  }
}

type HowToRead = Pick<ReadOptions, 'draft' | 'goOn' | 'leftOut'>

/** The same text for the same codes: capitals and order do not tell them apart. */
const codesOf = (codes: readonly string[]) =>
  JSON.stringify([...new Set(codes.map((code) => code.toLowerCase()))].sort())

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
