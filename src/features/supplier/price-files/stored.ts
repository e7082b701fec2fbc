/**
 * What the store has of imports: their records, their files, and what was found in them, because the next request may be on another
 * machine. All of it but the records is in compressed parts.
 */
import { createReadStream } from 'node:fs'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Logger } from 'pino'
import { allOwners, appOwner, type Key, type KeyValueStore, update } from '../../../connect/stores.ts'
import { forgetUserNotice } from '../../../web/kit.ts'
import { batchCount, type Item, readBatch } from './batches.ts'
import { fileGone } from './errors.ts'
import type { Reading } from './found.ts'
import { type Import, parseImport, type Read, requireImport } from './import.ts'
import { receiveFile } from './work-folder.ts'

/** How long the store keeps the parts of an import, in ms. */
export const PARTS_MS = 31 * 86_400_000
/** How many bytes of a file one value holds, before compression: a command with it takes a few milliseconds. */
const PART_BYTES = 512 * 1024

const [compress, expand] = [promisify(gzip), promisify(gunzip)]

const IMPORT = 'import'
const importKey = (userId: string, id: string): Key => ({ kind: IMPORT, owner: userId, id })
/** How many bytes the files of all imports have that the store keeps, by import. */
const SPACE = { kind: 'import-space', owner: appOwner('imports') } as const
const spaceKey = (id: string): Key => ({ ...SPACE, id })
/** The notes of what is being sent, so that any process can go on with it. */
const ACTIVE = { kind: 'active-import', owner: appOwner('imports') } as const
const activeKey = (userId: string, id: string): Key => ({ ...ACTIVE, id: `${id} ${userId}` })
/** A part of the file, which has the name `file`, or of a reading, which has its id: what it has found, and then the items. */
const partKey = (importId: string, name: string, index: number): Key => ({
  kind: 'import-part',
  owner: importId,
  id: `${name} ${index}`,
})

/** A note that an import is being sent. It is written before the record, and removed when what was accepted is merged. */
export type Active = Pick<Import, 'userId' | 'id' | 'catalogueId'>

/** The imports in the store. Every method throws `StoreUnavailableError`. */
export class StoredImports {
  readonly #store: KeyValueStore
  readonly #log: Logger
  constructor({ store, log }: { store: KeyValueStore; log: Logger }) {
    this.#store = store
    this.#log = log
  }

  /** An import of a user; null if there is none that this version can read. */
  async find(userId: string, id: string): Promise<Import | null> {
    return parseImport(await this.#store.get(importKey(userId, id)))
  }

  /** An import of a user. Throws `ImportError` if there is none that this version can read. */
  async get(userId: string, id: string): Promise<Import> {
    return requireImport(await this.#store.get(importKey(userId, id)))
  }

  /** Changes the record. Resolves to the new one. Throws what `to` throws, and as `get`. */
  async change(userId: string, id: string, to: (job: Import) => Import): Promise<Import> {
    const change = (value: string | null) => JSON.stringify(to(requireImport(value)))
    return requireImport(await update(this.#store, importKey(userId, id), change))
  }

  /** All imports of a user, newest first, but those that another version has written. */
  async ofUser(userId: string): Promise<Import[]> {
    const entries = await this.#store.list(IMPORT, userId)
    const jobs = entries.flatMap(({ value }) => parseImport(value) ?? [])
    return jobs.sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
  }

  /** The users who have imports. */
  users(): AsyncIterable<string> {
    return allOwners(this.#store, IMPORT)
  }

  /** How many bytes the files of all users have. */
  async bytes(): Promise<number> {
    const all = await this.#store.list(SPACE.kind, SPACE.owner)
    return all.reduce((sum, { value }) => sum + Number(value), 0)
  }

  /** Stores an import with its file. The record is the first, so that what a process stores that dies meanwhile is found by it. */
  async add(job: Import, path: string, read: Read): Promise<void> {
    const { id, userId, bytes } = job
    try {
      await this.#store.set(importKey(userId, id), JSON.stringify(job))
      await this.#store.set(spaceKey(id), String(bytes))
      let index = 0
      for await (const chunk of createReadStream(path, { highWaterMark: PART_BYTES }))
        await this.#writePart(id, 'file', index++, chunk)
      await this.addReading(job, read)
    } catch (error) {
      // The user learns why the upload failed. What is left of it is found by its record, and deleted later.
      await this.discard(userId, id).catch(() => {})
      throw error
    }
  }

  /** Writes the file of an import to a path. Throws `ImportError` (409) if it is gone. */
  async fetchFile({ id, bytes }: Import, path: string): Promise<void> {
    const readPart = (index: number) => this.#requirePart(id, 'file', index)
    async function* parts() {
      for (let index = 0; index < fileParts(bytes); index++) yield await readPart(index)
    }
    await receiveFile(path, parts())
  }

  /** Stores what was found and the items. The former last: without it, nothing can be sent. */
  async addReading({ id }: Pick<Import, 'id'>, { checkId, reading, itemsPath }: Read): Promise<void> {
    for (let index = 0; index < batchCount(reading.found?.items ?? 0); index++)
      await this.#writePart(id, checkId, index + 1, await readBatch(itemsPath, index))
    await this.#writePart(id, checkId, 0, Buffer.from(JSON.stringify(reading)))
  }

  /** What was found in the file; null if it is gone. */
  async reading({ id, checkId }: Import): Promise<Reading | null> {
    const part = await this.#readPart(id, checkId, 0)
    return part && JSON.parse(part.toString())
  }

  /** The upload request with this number, from 0. Throws `ImportError` (409) if it is gone. */
  body({ id, checkId }: Import, index: number): Promise<Buffer> {
    return this.#requirePart(id, checkId, index + 1)
  }

  /** The items of the first upload requests. Throws `ImportError` (409) if they are gone. */
  async *items(job: Import, batches = batchCount(job.items)): AsyncGenerator<Item> {
    for (let index = 0; index < batches; index++)
      yield* JSON.parse((await this.body(job, index)).toString()).items
  }

  /** Deletes what a reading has found and its items. */
  deleteReading({ id, checkId, items }: Pick<Import, 'id' | 'checkId' | 'items'>): Promise<void> {
    return this.#deleteParts(id, checkId, 0, 1 + batchCount(items))
  }

  /** Deletes what an import needs no more when it is completed: all but its record, and what was found for the report. */
  async deleteSent({ id, bytes, checkId, items }: Import): Promise<void> {
    await this.#deleteParts(id, 'file', 0, fileParts(bytes))
    await this.#deleteParts(id, checkId, 1, 1 + batchCount(items))
    await this.#store.delete(spaceKey(id))
  }

  /** Deletes an import with its parts. Resolves to what it was. Throws `ImportError` if there is none. */
  async discard(userId: string, id: string): Promise<Import> {
    const job = await this.get(userId, id)
    await this.#delete(userId, id, job)
    return job
  }

  /** Deletes all imports of a user, or those that are due, and those that another version has written, which are logged. */
  async deleteAll(userId: string, isDue: (job: Import) => boolean = () => true): Promise<void> {
    for (const { key, value } of await this.#store.list(IMPORT, userId)) {
      const job = parseImport(value)
      if (job && !isDue(job)) continue
      await this.#delete(userId, key.id, job)
      if (!job) this.#log.error({ importId: key.id }, 'an import record that cannot be read was deleted')
    }
  }

  /** The record is the last, so that a deletion that fails can be repeated. The parts of one that cannot be read expire. */
  async #delete(userId: string, id: string, job: Import | null): Promise<void> {
    if (job) {
      await this.deleteSent(job)
      await this.deleteReading(job)
    } else await this.#store.delete(spaceKey(id))
    await this.markSeen(userId, id)
    await this.#store.delete(activeKey(userId, id))
    await this.#store.delete(importKey(userId, id))
  }

  /** Deletes the notice that the import has ended, because its user sees that. */
  markSeen(userId: string, id: string): Promise<void> {
    return forgetUserNotice(this.#store, userId, id)
  }

  /** The imports that are being sent, or those into one catalogue. */
  async active(catalogueId?: string): Promise<Active[]> {
    const all = await this.#store.list(ACTIVE.kind, ACTIVE.owner)
    return all
      .filter(({ value }) => catalogueId === undefined || value === catalogueId)
      .map(({ key, value }) => {
        const [id = '', ...userId] = key.id.split(' ')
        return { id, userId: userId.join(' '), catalogueId: value }
      })
  }

  /** Notes that an import is being sent, before its record says so. */
  noteActive({ userId, id, catalogueId }: Active): Promise<void> {
    return this.#store.set(activeKey(userId, id), catalogueId)
  }

  /** Removes that note. */
  async endActive({ userId, id }: Active): Promise<void> {
    await this.#store.delete(activeKey(userId, id))
  }

  async #writePart(importId: string, name: string, index: number, bytes: Uint8Array): Promise<void> {
    const text = (await compress(bytes, { level: 1 })).toString('base64')
    await this.#store.set(partKey(importId, name, index), text, PARTS_MS)
  }

  /** A part; null if it is gone. */
  async #readPart(importId: string, name: string, index: number): Promise<Buffer | null> {
    const text = await this.#store.get(partKey(importId, name, index))
    return text === null ? null : expand(Buffer.from(text, 'base64'))
  }

  async #requirePart(importId: string, name: string, index: number): Promise<Buffer> {
    const part = await this.#readPart(importId, name, index)
    if (!part) throw fileGone()
    return part
  }

  async #deleteParts(importId: string, name: string, from: number, to: number): Promise<void> {
    for (let index = from; index < to; index++) await this.#store.delete(partKey(importId, name, index))
  }
}

const fileParts = (bytes: number) => Math.ceil(bytes / PART_BYTES)
