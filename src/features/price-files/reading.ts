/**
 * Reads an uploaded file, within the request of its user: nothing reads a file again by itself. What comes of it is in the
 * store, with the file, because the next request may be on another machine.
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StoreUnavailableError } from '../../connect/errors.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import { readBatches } from './batches.ts'
import { checkFile } from './check-file.ts'
import type { Check, CheckedFile } from './check-rows.ts'
import { ImportError } from './errors.ts'
import type { Checked, Import } from './import.ts'
import { MAX_BATCH } from './item.ts'
import type { Draft, Layout } from './layout.ts'
import { deleteParts, PART_BYTES, readParts, writeParts } from './parts.ts'
import { texts } from './texts.ts'

/** First part of the names of folders in which files are read. */
const WORK = 'check-'

/** Gives `work` a folder, and deletes it afterwards. */
export async function inFolder<T>(dir: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(dir, WORK))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Removes the folders of processes that were killed more than a day ago. */
export async function removeLeftOvers(dir: string): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    const path = join(dir, name)
    const found = await stat(path).catch(() => null)
    if (name.startsWith(WORK) && found && Date.now() - found.mtimeMs > 86_400_000)
      await rm(path, { recursive: true, force: true })
  }
}

const partsOf = (name: 'items' | 'reading', checkId: string) => `${name} ${checkId}`

/** What a check has found, for the page. */
export type Reading = Check & Pick<CheckedFile, 'problems'>

/** What the last check has found; null if it is gone. */
export async function findReading(store: KeyValueStore, { id, checkId }: Import): Promise<Reading | null> {
  for await (const bytes of readParts(store, id, partsOf('reading', checkId), { count: 1 }))
    return JSON.parse(bytes.toString())
  return null
}

/** Where the file is in a folder. */
const pathIn = (folder: string) => join(folder, 'file')

/**
 * Writes a file into a folder. Resolves to its size. Throws `StoreUnavailableError` if the disk is full, and the errors of
 * `chunks`.
 */
export async function receiveFile(folder: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  try {
    await pipeline(Readable.from(chunks), createWriteStream(pathIn(folder), { mode: 0o600 }))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
      throw new StoreUnavailableError('the disk with the price files is full')
    throw error
  }
  return (await stat(pathIn(folder))).size
}

/** Reads the file of a folder in a child process. Throws `UnreadableFileError`, and `StoreUnavailableError` if the disk is full. */
export async function readIn(
  folder: string,
  checkId: string,
  how: { draft?: Draft; layouts?: readonly Layout[] },
): Promise<{ file: CheckedFile; checked: Checked }> {
  const file = await checkFile({ path: pathIn(folder), itemsPath: join(folder, 'items'), ...how })
  const { rows, validRows, invalidRows, draft, layout } = file.check
  const confirmed = layout && { by: layout.confirmedBy, at: layout.confirmedAt }
  return { file, checked: { checkId, draft, confirmed, rows, validRows, invalidRows } }
}

/** Stores the items and what the page shows. The latter comes last: without it, nothing can be confirmed. */
export async function storeReading(
  store: KeyValueStore,
  importId: string,
  folder: string,
  { file, checked }: Awaited<ReturnType<typeof readIn>>,
): Promise<void> {
  const path = join(folder, 'items')
  const { checkId, validRows } = checked
  if (existsSync(path))
    await writeParts(store, importId, partsOf('items', checkId), bodiesOf(path, validRows))
  const reading: Reading = { ...file.check, problems: file.problems }
  const bytes = Readable.from([Buffer.from(JSON.stringify(reading))])
  await writeParts(store, importId, partsOf('reading', checkId), bytes)
}

async function* bodiesOf(path: string, total: number) {
  for await (const { body } of readBatches(path, { total })) yield body
}

/** The bodies of the upload requests, from the one with this index on; ends early if one is gone. */
export const readItems = (store: KeyValueStore, { id, checkId, validRows }: Import, from: number) =>
  readParts(store, id, partsOf('items', checkId), { count: batchesOf(validRows), from })

/** How many upload requests so many items take. */
export const batchesOf = (items: number) => Math.ceil(items / MAX_BATCH)

export async function deleteItems(
  store: KeyValueStore,
  id: string,
  { checkId, validRows }: Pick<Checked, 'checkId' | 'validRows'>,
): Promise<void> {
  await deleteParts(store, id, partsOf('items', checkId), batchesOf(validRows))
}

export const deleteReading = (store: KeyValueStore, id: string, { checkId }: Pick<Checked, 'checkId'>) =>
  deleteParts(store, id, partsOf('reading', checkId), 1)

const fileParts = (bytes: number) => Math.ceil(bytes / PART_BYTES)

export async function storeFile(store: KeyValueStore, importId: string, folder: string): Promise<void> {
  await writeParts(store, importId, 'file', createReadStream(pathIn(folder), { highWaterMark: PART_BYTES }))
}

/** Brings the file into a folder. Throws `ImportError` (409) if it is gone. */
export async function fetchFile(store: KeyValueStore, { id, bytes }: Import, folder: string): Promise<void> {
  const received = await receiveFile(folder, readParts(store, id, 'file', { count: fileParts(bytes) }))
  if (received !== bytes) throw new ImportError(409, 'conflict', texts.failures.fileGone)
}

export const deleteFile = (store: KeyValueStore, { id, bytes }: Import) =>
  deleteParts(store, id, 'file', fileParts(bytes))
