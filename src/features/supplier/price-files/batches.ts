/**
 * The items of a price file as upload requests, in a folder with a file for each request. This module imports no other of the app,
 * because each process that reads a file loads it.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** given 8: maximum number of items per upload. */
export const MAX_BATCH = 1000

/** assumed: codes are unique within a catalogue. */
export interface Item {
  code: string
  name?: string
  description?: string
  unit?: string
  category?: string
  /** Recommended retail price per unit, in dollars before tax. */
  price: number
}

/** assumed: the body of an upload. */
export const itemsBody = (items: readonly Item[]) => JSON.stringify({ items })

/** How many upload requests this many items take. */
export const batchCount = (items: number) => Math.ceil(items / MAX_BATCH)

/**
 * Writes a folder of upload requests, in place of an existing one. Each request has 1,000 items; the last one may have fewer.
 * Throws the errors of the file system.
 */
export async function writeBatches(folder: string, items: Iterable<Item>): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { mode: 0o700 })
  const batch: Item[] = []
  let index = 0
  const write = () =>
    writeFile(join(folder, String(index++)), itemsBody(batch.splice(0, MAX_BATCH)), { mode: 0o600 })
  for (const item of items) if (batch.push(item) === MAX_BATCH) await write()
  if (batch.length > 0) await write()
}

/** The upload request with this number, from 0. */
export const readBatch = (folder: string, index: number): Promise<Buffer> =>
  readFile(join(folder, String(index)))

/** The code of the first item of an upload request. */
export const firstCode = (body: Uint8Array): string => JSON.parse(Buffer.from(body).toString()).items[0].code
