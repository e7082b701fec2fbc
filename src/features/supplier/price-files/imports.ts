import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { ConnectionRef } from '../../../connect/index.ts'
import type { KeyValueStore } from '../../../connect/stores.ts'
import { badInput } from '../../../web/kit.ts'
import type { Catalogue } from '../../catalogues/contract.ts'
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
import { readInProcess } from './read-in-process.ts'
import { createReadingPlaces } from './reading-places.ts'
import type { ReadTask } from './reading-process.ts'
import { Sender, type SenderOptions } from './sender.ts'
import type { PriceFilesSettings } from './settings.ts'
import type { StoredImports } from './stored.ts'
import { texts } from './texts.ts'
import { deleteImport, openTurns, type Turns, takeFreeTurn } from './turns.ts'
import { inFolder, receiveFile } from './work-folder.ts'

export interface ImportsOptions
  extends PriceFilesSettings,
    Pick<SenderOptions, 'catalogueImports' | 'source' | 'turnMs'> {
  store: KeyValueStore
  log: Logger
  /** The address of the platform's API. */
  apiUrl: string
  /** The folder for files while they are read. */
  dir: string
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

/**
 * What users do with imports: they upload price files, have them read, and send their items in the background. Methods throw
 * `ImportError` (404) if an import does not exist and (409) if its state does not allow the action, and `StoreUnavailableError`.
 */
export class Imports {
  readonly stored: StoredImports
  readonly sender: Sender
  readonly #options: ImportsOptions
  readonly #turns: Turns
  readonly #inPlace = createReadingPlaces()
  /** The user of each upload that is being received or read. */
  readonly #uploads: string[] = []

  constructor(options: ImportsOptions) {
    this.#options = options
    this.#turns = openTurns(options.store, options.apiUrl, options.turnMs)
    this.stored = this.#turns.stored
    this.sender = new Sender({ ...options, ...this.#turns })
  }

  /** The imports of a connection, newest first. */
  async list({ userId, bxcontext }: ConnectionRef): Promise<Import[]> {
    return (await this.stored.ofUser(userId)).filter((job) => job.bxcontext === bxcontext)
  }

  /** What was found in the file; null if it is gone. */
  async reading(job: Import): Promise<Reading | null> {
    const reading = await this.stored.reading(job)
    const lastChoice = reading?.outline.lastChoice
    if (!lastChoice) return reading
    // The stored reading names nobody.
    const by = await this.#turns.received.senderOf(job.catalogueId, lastChoice.at)
    return { ...reading, outline: { ...reading.outline, lastChoice: { ...lastChoice, by } } }
  }

  /**
   * Reads an uploaded file as the last choice says, and stores it. Call it only after the platform has shown the catalogue to the
   * user. Throws `UnreadableFileError`. Throws `ImportError` if too many of the user's files are being read (409), the file is too
   * large (413), or there is no space for it (507).
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
        const how = { draft: null, goOn: false, leftOut: [] }
        const read = await this.#read({ userId, bytes, catalogueId: catalogue.id }, folder, how)
        const job = newImport({ id: randomUUID(), userId, bxcontext, fileName, bytes }, catalogue, read)
        await this.stored.add(job, path, read)
        // The file is stored: if the user got an error here, they would upload it twice.
        const warn = ({ code }: { code?: unknown }) => log.warn({ code }, 'old imports were not deleted')
        await this.#deleteOld(userId).catch(warn)
        return job
      })
    } finally {
      this.#uploads.splice(this.#uploads.indexOf(userId), 1)
    }
  }

  /** Reads the file again as a person says. `goOn`: goes on to page two. Throws as `upload` does. */
  async choose(job: Import, { draft, goOn }: { draft: Draft; goOn: boolean }): Promise<Import> {
    requireState(job, 'ready')
    return this.#readAgain(job, { draft, goOn, leftOut: job.leftOut })
  }

  /**
   * Sends what a page has shown, and nothing else. Resolves to null, without sending, if the page is out of date: the file was
   * read again, other rows are left out, or the catalogue has received something else. Throws `ImportError` (409) if an import
   * into the catalogue is running, and `invalid_input` (400) if the box is not ticked or there is nothing to send.
   */
  async send(job: Import, { seen, leftOut, confirmed }: SendRequest): Promise<Import | null> {
    requireState(job, 'ready')
    const reading = await this.stored.reading(job)
    if (!reading) throw fileGone()
    if (seen !== job.checkId || !reading.found) return null
    const again = { draft: reading.found.choice, goOn: true, leftOut }
    if (codesOf(leftOut) !== codesOf(job.leftOut)) {
      await this.#readAgain(job, again)
      return null
    }
    const start = (now: Import) => started(now, seen)
    start(job)
    if (reading.found.box.length > 0 && !confirmed) throw badInput('confirm', texts.rules.confirm)
    return this.#start(job, start, again)
  }

  /**
   * Sends the rest of an import that has failed or was stopped. If something else was sent into the catalogue meanwhile, reads the
   * file again for a person to look at, and resolves to null. Throws `ImportError` (409) if an import into the catalogue is
   * running.
   */
  resume(job: Import): Promise<Import | null> {
    return this.#start(job, resumed, { draft: job.choice, goOn: true, leftOut: job.leftOut })
  }

  /** Stops sending. Items already sent are kept, and the import can be resumed. */
  async stop(job: Import): Promise<Import> {
    const next = await this.stored.change(job, stopped)
    this.sender.interrupt(job)
    return next
  }

  /** Deletes an import with its file. Resolves to the deleted import. What the platform has accepted of it is remembered. */
  async discard(job: Import): Promise<Import> {
    requireState(job, 'ready', 'completed', 'failed', 'stopped')
    await deleteImport(this.#turns, job)
    return job
  }

  /**
   * Starts an import in the turn of its catalogue, and passes the turn to the sender. If the catalogue has received something since
   * the file was read, reads the file again instead, and resolves to null.
   */
  async #start(job: Import, to: (now: Import) => Import, again: HowToRead): Promise<Import | null> {
    const turn = await takeFreeTurn(this.#turns, job.catalogueId)
    try {
      // Taking the turn may have merged what this import has sent before, so its record is read again.
      const { receivedRevision } = await this.stored.get(job)
      if (receivedRevision === (await this.#turns.received.revision(job.catalogueId))) {
        await this.stored.noteSending(job)
        const next = await this.stored.change(job, to)
        this.sender.begin(job, turn)
        return next
      }
    } catch (error) {
      // If the record already says that the import is running, the sender finds its note and goes on.
      await turn.release()
      throw error
    }
    await turn.release()
    await this.#readAgain(job, again)
    return null
  }

  /** Reads the file of an import again, and stores what was found. */
  #readAgain(job: Import, how: HowToRead): Promise<Import> {
    return inFolder(this.#options.dir, async (folder) => {
      await this.stored.fetchFile(job, join(folder, 'file'))
      const read = await this.#read(job, folder, how)
      await this.stored.addReading(job, read)
      // If two readings run at once, the parts of one may stay until they expire.
      const next = await this.stored.change(job, (now) => readAgain(now, job.run, read))
      await this.stored.deleteReading(job)
      return next
    })
  }

  /** Reads the file in a folder. Throws `UnreadableFileError`, and `StoreUnavailableError` if the items cannot be written. */
  async #read(
    { userId, bytes, catalogueId }: Pick<Import, 'userId' | 'bytes' | 'catalogueId'>,
    folder: string,
    { leftOut, ...how }: HowToRead,
  ): Promise<Read> {
    const { revision, received } = await this.#turns.received.read(catalogueId)
    const itemsPath = join(folder, 'items')
    const task = { path: join(folder, 'file'), itemsPath, received, leftOut, ...how }
    const reading = await this.#inPlace({ userId, bytes }, () => this.readFile(task))
    return { checkId: randomUUID(), reading, itemsPath, leftOut: [...leftOut], receivedRevision: revision }
  }

  /** Reads a price file in a process of its own. Tests that are not about that process replace this method. */
  readFile(task: ReadTask): Promise<Reading> {
    return readInProcess(task)
  }

  /** Throws `ImportError` (507) if the store has no space for a file of this size. One user can fill a quarter of it. */
  async #requireSpace(userId: string, bytes: number): Promise<void> {
    const { totalBytes } = this.#options
    const { all, ofUser } = await this.stored.bytes(userId)
    if (all + bytes > totalBytes || ofUser + bytes > totalBytes / 4)
      throw new ImportError(507, 'storage_full', texts.errors.storageFull)
  }

  /** Deletes the old imports of a user. Keeps those that are running, and the last 20 others. */
  async #deleteOld(userId: string): Promise<void> {
    const idle = (await this.stored.ofUser(userId)).filter(({ state }) => state !== 'running')
    for (const job of idle.slice(MAX_KEPT)) await deleteImport(this.#turns, job)
  }
}

type HowToRead = Pick<ReadOptions, 'draft' | 'goOn' | 'leftOut'>

/** The codes as one text, without regard to capitals and order, to compare them. */
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
