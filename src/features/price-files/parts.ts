import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Key, KeyValueStore } from '../../connect/stores.ts'

/** How long the store keeps the file of an import, its items and what was found, in ms. */
export const PARTS_MS = 31 * 86_400_000
/** How many bytes of a file one value holds, before compression: a command with it takes a few milliseconds. */
export const PART_BYTES = 512 * 1024

const [compress, expand] = [promisify(gzip), promisify(gunzip)]

const partKey = (importId: string, name: string, index: number): Key => ({
  kind: 'import-part',
  owner: importId,
  id: `${name} ${index}`,
})

/** Writes one compressed part for each element of `chunks`. Throws `StoreUnavailableError`, and the errors of `chunks`. */
export async function writeParts(
  store: KeyValueStore,
  importId: string,
  name: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  let index = 0
  for await (const chunk of chunks) {
    const text = (await compress(chunk, { level: 1 })).toString('base64')
    await store.set(partKey(importId, name, index++), text, PARTS_MS)
  }
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
