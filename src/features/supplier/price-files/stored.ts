/**
 * The imports in the store: their records, their files, and what was found in them. The store has all of it, because the next
 * request may be on another machine. Everything but the records is in compressed parts.
 */
import { createReadStream } from 'node:fs'
import * as z from 'zod'
import { parseJson } from '../../../connect/index.ts'
import { appOwner, type Key, type KeyValueStore, update } from '../../../connect/stores.ts'
import { batchCount, type Item, readBatch } from './batches.ts'
import { fileGone, importNotFound } from './errors.ts'
import type { Reading } from './found.ts'
import { type Import, type ImportRef, isOfCommandLine, parseImport, type Read } from './import.ts'
import { PART_BYTES, Parts } from './parts.ts'
import { receiveFile } from './work-folder.ts'

/** How long the store keeps the parts of an import, in ms. */
const PARTS_MS = 31 * 86_400_000
/** The same for a command that was killed, in ms: the next one, which settles it, may run a month later or more. */
const COMMAND_PARTS_MS = 400 * 86_400_000

const IMPORT = 'import'
const importKey = ({ userId, id }: ImportRef): Key => ({ kind: IMPORT, owner: userId, id })

/** Which files the store has, by import. */
const FILE = { kind: 'import-file', owner: appOwner('imports') } as const
const fileKey = (id: string): Key => ({ ...FILE, id })
const storedFileSchema = z.object({ userId: z.string(), bytes: z.number(), createdAt: z.string() })

/** The notes of what is being sent, by catalogue. */
const SENDING = { kind: 'sending-import', owner: appOwner('imports') } as const
const sendingKey = (catalogueId: string): Key => ({ ...SENDING, id: catalogueId })
const sendingSchema = z.object({ userId: z.string(), id: z.string(), catalogueId: z.string() })
/** An import that is being sent, or whose accepted items are still to be merged. */
export type Sending = z.infer<typeof sendingSchema>
const parseSending = (value: string | null): Sending | null =>
  sendingSchema.safeParse(parseJson(value ?? '')).data ?? null

/** The parts of the file. */
const fileOf = ({ id }: Pick<Import, 'id'>) => ({ owner: id, name: 'file' })
/** The parts of a reading: what it has found, and then the items, with one upload request in each part. */
const readingOf = ({ id, checkId }: Pick<Import, 'id' | 'checkId'>) => ({ owner: id, name: checkId })

/** The imports in the store. Every method throws `StoreUnavailableError`. */
export class StoredImports {
  readonly #store: KeyValueStore
  readonly #parts: Parts
  readonly #partsOfCommand: Parts
  constructor(store: KeyValueStore) {
    this.#store = store
    this.#parts = new Parts(store, 'import-part', PARTS_MS)
    this.#partsOfCommand = new Parts(store, 'import-part', COMMAND_PARTS_MS)
  }

  /** An import of a user; null if there is none that this version can read. */
  async find(ref: ImportRef): Promise<Import | null> {
    return parseImport(await this.#store.get(importKey(ref)))
  }

  /** Resolves to an import of a user. Throws `ImportError` (404) if there is none. */
  async get(ref: ImportRef): Promise<Import> {
    return required(await this.find(ref))
  }

  /** Changes the record. Resolves to the new one. Throws what `to` and `get` throw. */
  async change(ref: ImportRef, to: (job: Import) => Import): Promise<Import> {
    const change = (value: string | null) => JSON.stringify(to(required(parseImport(value))))
    return required(parseImport(await update(this.#store, importKey(ref), change)))
  }

  /** All imports of a user that this version can read, newest first. */
  async ofUser(userId: string): Promise<Import[]> {
    const entries = await this.#store.list(IMPORT, userId)
    const jobs = entries.flatMap(({ value }) => parseImport(value) ?? [])
    return jobs.sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
  }

  /** How many bytes the files of all users have, and how many the files of one user have. */
  async bytes(userId: string): Promise<{ all: number; ofUser: number }> {
    const sum = { all: 0, ofUser: 0 }
    for (const { key, value } of await this.#store.list(FILE.kind, FILE.owner)) {
      const { data: file } = storedFileSchema.safeParse(parseJson(value))
      // The parts of this file have expired.
      if (!file || Date.now() - Date.parse(file.createdAt) > PARTS_MS) await this.#store.delete(key)
      else {
        sum.all += file.bytes
        if (file.userId === userId) sum.ofUser += file.bytes
      }
    }
    return sum
  }

  /**
   * Stores an import, with the file at `path` unless that is null. The record is written first. If the process dies, the record leads
   * to the parts that were written.
   */
  async add(job: Import, path: string | null, read: Read): Promise<void> {
    try {
      await this.#store.set(importKey(job), JSON.stringify(job))
      if (path !== null) await this.#addFile(job, path)
      await this.addReading(job, read)
    } catch (error) {
      // The user learns why the upload failed, not that the deletion fails too. The record leads to what is left.
      await this.delete(job).catch(() => {})
      throw error
    }
  }

  async #addFile({ id, userId, bytes, createdAt }: Import, path: string): Promise<void> {
    await this.#store.set(fileKey(id), JSON.stringify({ userId, bytes, createdAt }))
    let index = 0
    for await (const chunk of createReadStream(path, { highWaterMark: PART_BYTES }))
      await this.#parts.write(fileOf({ id }), index++, chunk)
  }

  /** Writes the file of an import to a path. Throws `ImportError` (409) if it is gone. */
  async fetchFile(job: Import, path: string): Promise<void> {
    const parts = this.#parts
    async function* bytes() {
      for (let index = 0; index < fileParts(job); index++)
        yield (await parts.read(fileOf(job), index)) ?? throwGone()
    }
    await receiveFile(path, bytes())
  }

  /** Stores the items, and then what was found, without which nothing can be sent. */
  async addReading(job: ImportRef, { checkId, reading, itemsPath }: Read): Promise<void> {
    const of = readingOf({ id: job.id, checkId })
    const parts = isOfCommandLine(job) ? this.#partsOfCommand : this.#parts
    for (let index = 0; index < batchCount(reading.found?.items ?? 0); index++)
      await parts.write(of, index + 1, await readBatch(itemsPath, index))
    await parts.write(of, 0, Buffer.from(JSON.stringify(reading)))
  }

  /** What was found in the file; null if it is gone. */
  async reading(job: Import): Promise<Reading | null> {
    const part = await this.#parts.read(readingOf(job), 0)
    return part && JSON.parse(part.toString())
  }

  /** The upload request with this number, from 0. Throws `ImportError` (409) if it is gone. */
  async body(job: Import, index: number): Promise<Buffer> {
    return (await this.#parts.read(readingOf(job), index + 1)) ?? throwGone()
  }

  /** The items of the first upload requests. Throws `ImportError` (409) if they are gone. */
  async *items(job: Import, batches = batchCount(job.items)): AsyncGenerator<Item> {
    for (let index = 0; index < batches; index++)
      yield* JSON.parse((await this.body(job, index)).toString()).items
  }

  /** Deletes what a reading has found and its items. */
  deleteReading(job: Import): Promise<void> {
    return this.#parts.delete(readingOf(job), 0, 1 + batchCount(job.items))
  }

  /** Deletes what a completed import no longer needs: its file and its items. Its page still shows what was found. */
  async deleteSent(job: Import): Promise<void> {
    await this.#parts.delete(fileOf(job), 0, fileParts(job))
    await this.#parts.delete(readingOf(job), 1, 1 + batchCount(job.items))
    await this.#store.delete(fileKey(job.id))
  }

  /** Deletes an import with its parts. The record is deleted last, so that a deletion that fails can be repeated. */
  async delete(job: Import): Promise<void> {
    await this.deleteSent(job)
    await this.deleteReading(job)
    await this.#store.delete(importKey(job))
  }

  /** All that is being sent. */
  async sending(): Promise<Sending[]> {
    const all = await this.#store.list(SENDING.kind, SENDING.owner)
    return all.flatMap(({ value }) => parseSending(value) ?? [])
  }

  /** The import that is being sent into a catalogue; null if there is none. */
  async sendingInto(catalogueId: string): Promise<Sending | null> {
    return parseSending(await this.#store.get(sendingKey(catalogueId)))
  }

  /** Notes that an import is being sent, before its record says so. */
  noteSending(sending: Sending): Promise<void> {
    return this.#store.set(sendingKey(sending.catalogueId), noteOf(sending))
  }

  /** Removes the note of an import, unless the catalogue now has the note of another one. */
  async forgetSending(sending: Sending): Promise<void> {
    await this.#store.compareAndSet(sendingKey(sending.catalogueId), noteOf(sending), null)
  }
}

const noteOf = ({ userId, id, catalogueId }: Sending) => JSON.stringify({ userId, id, catalogueId })
const fileParts = ({ bytes }: Import) => Math.ceil(bytes / PART_BYTES)

function required(job: Import | null): Import {
  if (!job) throw importNotFound()
  return job
}

function throwGone(): never {
  throw fileGone()
}
