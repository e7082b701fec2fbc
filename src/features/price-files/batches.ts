import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { type Item, itemsBody, MAX_BATCH } from './item.ts'

/** One upload request, already serialized. */
export interface Batch {
  /** The request body. */
  body: Uint8Array
  /** Number of items: at most 1,000. */
  items: number
}

/** How many upload requests so many items take. */
export const batchCount = (items: number) => Math.ceil(items / MAX_BATCH)

/**
 * Writes a file of upload requests: each line is a body with 1,000 items; the last one may have fewer. Throws the errors of the
 * file system.
 */
export async function writeBatches(path: string, items: Iterable<Item>): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    let batch: Item[] = []
    const write = async () => {
      if (batch.length > 0) await file.write(`${itemsBody(batch)}\n`)
      batch = []
    }
    for (const item of items) if (batch.push(item) === MAX_BATCH) await write()
    await write()
  } finally {
    await file.close()
  }
}

/** The bodies of a file of batches, without copies where possible. A name may have other line separators of Unicode. */
export async function* readBodies(path: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  for await (const chunk of createReadStream(path, { highWaterMark: 262_144 })) {
    let from = 0
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
      parts.push(chunk.subarray(from, end))
      yield parts.length === 1 ? chunk.subarray(from, end) : Buffer.concat(parts)
      parts = []
      from = end + 1
    }
    parts.push(chunk.subarray(from))
  }
}

/** The items of a file of batches. */
export async function* itemsOfBatches(path: string): AsyncGenerator<Item> {
  for await (const body of readBodies(path)) yield* itemsOf(body.toString())
}

/** The items of an upload request. */
export const itemsOf = (body: string): Item[] => JSON.parse(body).items

/** Batches with `total` items altogether, from their bodies. The first of these is the one with the index `from`. */
export async function* toBatches(
  bodies: AsyncIterable<Uint8Array>,
  { total, from = 0 }: { total: number; from?: number },
): AsyncGenerator<Batch> {
  let index = from
  for await (const body of bodies) yield { body, items: Math.min(MAX_BATCH, total - MAX_BATCH * index++) }
}

/**
 * Reads a file of batches with `total` items. `skip`: how many batches to leave out at the start, because the platform
 * has accepted them.
 */
export async function* readBatches(
  path: string,
  { total, skip = 0 }: { total: number; skip?: number },
): AsyncGenerator<Batch> {
  let index = 0
  for await (const batch of toBatches(readBodies(path), { total })) if (index++ >= skip) yield batch
}
