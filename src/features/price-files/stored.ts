/**
 * What the store has of an import: its record, its file, and what was found in it, because the next request may be on another
 * machine. All of it but the record is in compressed parts.
 */
import { createReadStream } from 'node:fs'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { appOwner, type Key, type KeyValueStore, update } from '../../connect/stores.ts'
import { type Batch, batchCount, readBodies, toBatches } from './batches.ts'
import type { Check } from './check-rows.ts'
import { ImportError } from './errors.ts'
import { type Import, requireImport } from './import.ts'
import { texts } from './texts.ts'
import { receiveFile } from './work-folder.ts'

/** How long the store keeps the parts of an import, in ms. */
export const PARTS_MS = 31 * 86_400_000
/** How many bytes of a file one value holds, before compression: a command with it takes a few milliseconds. */
const PART_BYTES = 512 * 1024

const [compress, expand] = [promisify(gzip), promisify(gunzip)]

export const IMPORT = 'import'
export const importKey = (userId: string, id: string): Key => ({ kind: IMPORT, owner: userId, id })
/** How many bytes the files of all imports have that the store keeps. */
export const SPACE = { kind: 'import-space', owner: appOwner('imports') } as const
export const spaceKey = (id: string): Key => ({ ...SPACE, id })

/** An import of a user. Throws `ImportError` if there is none, or if it cannot be read. */
export const findImport = async (store: KeyValueStore, userId: string, id: string): Promise<Import> =>
  requireImport(await store.get(importKey(userId, id)))

/** Changes the record. Resolves to the new one. Throws what `to` throws, and as `findImport`. */
export async function changeImport(
  store: KeyValueStore,
  userId: string,
  id: string,
  to: (job: Import) => Import,
): Promise<Import> {
  return requireImport(
    await update(store, importKey(userId, id), (value) => JSON.stringify(to(requireImport(value)))),
  )
}

/** The parts of an import: `file`, and those of each check, by its id: what it has found, and then the items. */
const partKey = (importId: string, name: string, index: number): Key => ({
  kind: 'import-part',
  owner: importId,
  id: `${name} ${index}`,
})

async function writeParts(
  store: KeyValueStore,
  importId: string,
  name: string,
  { chunks, from = 0 }: { chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>; from?: number },
): Promise<void> {
  let index = from
  for await (const chunk of chunks) {
    const text = (await compress(chunk, { level: 1 })).toString('base64')
    await store.set(partKey(importId, name, index++), text, PARTS_MS)
  }
}

/** Reads the parts from `from` to the one before `to`. Throws `ImportError` (409) if one is gone. */
async function* readParts(
  store: KeyValueStore,
  importId: string,
  name: string,
  { from = 0, to }: { from?: number; to: number },
): AsyncGenerator<Buffer> {
  for (let index = from; index < to; index++) {
    const text = await store.get(partKey(importId, name, index))
    if (text === null) throw new ImportError(409, 'conflict', texts.failures.fileGone)
    yield expand(Buffer.from(text, 'base64'))
  }
}

async function deleteParts(
  store: KeyValueStore,
  importId: string,
  name: string,
  { from = 0, to }: { from?: number; to: number },
): Promise<void> {
  for (let index = from; index < to; index++) await store.delete(partKey(importId, name, index))
}

const fileParts = (bytes: number) => Math.ceil(bytes / PART_BYTES)

export const storeFile = (store: KeyValueStore, importId: string, path: string): Promise<void> =>
  writeParts(store, importId, 'file', { chunks: createReadStream(path, { highWaterMark: PART_BYTES }) })

/** Writes the file to a path. Throws `ImportError` (409) if it is gone. */
export async function fetchFile(store: KeyValueStore, { id, bytes }: Import, path: string): Promise<void> {
  await receiveFile(path, readParts(store, id, 'file', { to: fileParts(bytes) }))
}

/** Stores what was found and the items, which are in a file of batches. The former last: without it, nothing can be confirmed. */
export async function storeCheck(
  store: KeyValueStore,
  importId: string,
  { checkId, check, itemsPath }: { checkId: string; check: Check; itemsPath: string },
): Promise<void> {
  await writeParts(store, importId, checkId, { chunks: readBodies(itemsPath), from: 1 })
  await writeParts(store, importId, checkId, { chunks: [Buffer.from(JSON.stringify(check))] })
}

/** What the last check has found; null if it is gone. */
export async function findCheck(store: KeyValueStore, { id, checkId }: Import): Promise<Check | null> {
  const text = await store.get(partKey(id, checkId, 0))
  return text === null ? null : JSON.parse((await expand(Buffer.from(text, 'base64'))).toString())
}

/** The batches without the first `skip`. Throws `ImportError` (409) if one is gone. */
export const readStoredBatches = (
  store: KeyValueStore,
  { id, checkId, validRows }: Import,
  skip: number,
): AsyncGenerator<Batch> => {
  const parts = readParts(store, id, checkId, { from: 1 + skip, to: 1 + batchCount(validRows) })
  return toBatches(parts, { total: validRows, from: skip })
}

/** Which check, and how many items it has. */
type CheckParts = Pick<Import, 'id' | 'checkId' | 'validRows'>

export const deleteCheck = (store: KeyValueStore, { id, checkId, validRows }: CheckParts): Promise<void> =>
  deleteParts(store, id, checkId, { to: 1 + batchCount(validRows) })

/** Deletes what an import needs no more when it is completed: all but its record, and what was found for the report. */
export async function deleteSent(
  store: KeyValueStore,
  { id, bytes, checkId, validRows }: Import,
): Promise<void> {
  await deleteParts(store, id, 'file', { to: fileParts(bytes) })
  await deleteParts(store, id, checkId, { from: 1, to: 1 + batchCount(validRows) })
  await store.delete(spaceKey(id))
}
