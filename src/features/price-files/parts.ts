import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Key, KeyValueStore } from '../../connect/stores.ts'

/**
 * The file of an import, its items and its report are in the store, in compressed parts: the next request of its user, or the
 * process that takes the import over, may be on another machine.
 */

/** How long the store keeps them, in ms. */
export const PARTS_MS = 31 * 86_400_000
/** How many bytes of a file one value holds, before compression: a command with it takes a few milliseconds. */
const PART_BYTES = 512 * 1024

const [compress, expand] = [promisify(gzip), promisify(gunzip)]

const partKey = (importId: string, name: string, index: number): Key => ({
  kind: 'import-part',
  owner: importId,
  id: `${name} ${index}`,
})

/**
 * Writes one part for each element of `chunks`. `onBytes` gets the size of each in the store. Resolves to their number. Throws
 * `StoreUnavailableError`, and the errors of `chunks` and `onBytes`.
 */
export async function writeParts(
  store: KeyValueStore,
  importId: string,
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): Promise<number> {
  let index = 0
  for await (const chunk of chunks) {
    const text = (await compress(chunk, { level: 1 })).toString('base64')
    onBytes(text.length)
    await store.set(partKey(importId, name, index++), text, PARTS_MS)
  }
  return index
}

/** Reads the parts from the index `from` on; ends early if one is gone. */
export async function* readParts(
  store: KeyValueStore,
  importId: string,
  name: string,
  { count, from = 0 }: { count: number; from?: number },
): AsyncGenerator<Buffer> {
  for (let index = from; index < count; index++) {
    const text = await store.get(partKey(importId, name, index))
    if (text === null) return
    yield expand(Buffer.from(text, 'base64'))
  }
}

export async function deleteParts(
  store: KeyValueStore,
  importId: string,
  name: string,
  count: number,
): Promise<void> {
  for (let index = 0; index < count; index++) await store.delete(partKey(importId, name, index))
}

/** Joins what a stream yields to chunks of the size of a part. */
export async function* inParts(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pending: Uint8Array[] = []
  let size = 0
  for await (const bytes of source) {
    pending.push(bytes)
    size += bytes.length
    if (size < PART_BYTES) continue
    yield Buffer.concat(pending)
    pending = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(pending)
}
