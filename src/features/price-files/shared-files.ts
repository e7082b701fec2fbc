import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { appOwner, type Key, type KeyValueStore, update } from '../../connect/stores.ts'
import { ImportError } from './errors.ts'
import { texts } from './texts.ts'

export const FILE_NAMES = ['file', 'items', 'report', 'prices'] as const
export type FileName = (typeof FILE_NAMES)[number]

/**
 * Copies of files in the store, for the other machines. A file has an owner, such as a job's id, and a name. Methods
 * throw `StoreUnavailableError`.
 */
export interface SharedFiles {
  /** How much all files may take, in bytes. */
  readonly maxBytes: number
  /**
   * Stores a copy of a local file for `keepMs`, in place of an earlier one of this name. Throws `ImportError` (507) if the
   * files of all users take too much space. Resolves to the version of the file.
   */
  put(owner: string, name: FileName, path: string, keepMs: number): Promise<string>
  /**
   * Writes the file to `path`, unless it is there in its latest version. Resolves to whether there is such a file; if
   * not, `path` may have an outdated one.
   */
  fetch(owner: string, name: FileName, path: string): Promise<boolean>
  /** The version of a file, if there is one. */
  version(owner: string, name: FileName): Promise<string | undefined>
  /** The sizes of the files of an owner, by name: before compression, and in the store; in bytes. */
  sizes(owner: string): Promise<Map<FileName, { bytes: number; storedBytes: number }>>
  /** Deletes files of an owner; without names, all of them. */
  delete(owner: string, names?: readonly FileName[]): Promise<void>
  /** Counts anew how much space the files of these owners take, because files expire. */
  recount(owners: Iterable<string>): Promise<void>
}

const manifestSchema = z.object({
  version: z.string(),
  chunks: z.number().int().nonnegative(),
  bytes: z.number().int().nonnegative(),
  storedBytes: z.number().int().nonnegative(),
})
type Manifest = z.infer<typeof manifestSchema>

const FILE = 'import-file'
const TOTAL: Key = { kind: 'import-files-total', owner: appOwner('imports'), id: '' }
/** How many bytes of a compressed file one value holds: a command with it takes a few milliseconds. */
const CHUNK_BYTES = 384 * 1024
/** How long a chunk lasts whose file is not complete yet, in ms. */
const WRITING_MS = 3_600_000
/** For how many paths the version is remembered. */
const MAX_PATHS = 10_000
/** How often reading is repeated if the file is replaced meanwhile. */
const ATTEMPTS = 5

const manifestKey = (owner: string, name: string): Key => ({ kind: FILE, owner, id: name })
const chunkKey = (owner: string, { version }: Manifest, index: number): Key => ({
  kind: 'import-chunk',
  owner,
  id: `${version} ${index}`,
})

/** A file was replaced or deleted while it was read. */
class ReplacedError extends Error {}

/** What the operations on shared files use. */
interface Shared {
  store: KeyValueStore
  maxBytes: number
  /** The versions that this process has written to its paths. */
  fetchedVersions: LRUCache<string, string>
}

/** `maxBytes`: how much all files may take in the store, in bytes; concurrent writes may exceed it a little. */
export function createSharedFiles(store: KeyValueStore, maxBytes: number): SharedFiles {
  const shared: Shared = { store, maxBytes, fetchedVersions: new LRUCache({ max: MAX_PATHS }) }
  return {
    maxBytes,
    put: (owner, name, path, keepMs) => put(shared, owner, name, path, keepMs),
    fetch: (owner, name, path) => fetchTo(shared, owner, name, path),
    version: async (owner, name) => (await manifestOf(shared, owner, name))?.version,
    async sizes(owner) {
      const found = await Promise.all(FILE_NAMES.map((name) => manifestOf(shared, owner, name)))
      return new Map(
        found.flatMap((manifest, at) => (manifest ? [[FILE_NAMES[at] as FileName, manifest]] : [])),
      )
    },
    async delete(owner, names = FILE_NAMES) {
      for (const name of names) await remove(shared, owner, name)
    },
    recount: (owners) => recount(shared, owners),
  }
}

/** Stores a copy of a file. See `SharedFiles.put`. */
async function put(
  shared: Shared,
  owner: string,
  name: FileName,
  path: string,
  keepMs: number,
): Promise<string> {
  const { store, fetchedVersions } = shared
  const manifest = await writeChunks(shared, owner, path)
  let before: string | null = null
  const replace = (value: string | null) => {
    before = value
    return JSON.stringify(manifest)
  }
  await update(store, manifestKey(owner, name), replace, keepMs)
  fetchedVersions.set(path, manifest.version)
  await discard(shared, owner, before)
  await keepChunks(store, owner, manifest, keepMs)
  return manifest.version
}

/** Writes a file to `path`. See `SharedFiles.fetch`. */
async function fetchTo(shared: Shared, owner: string, name: FileName, path: string): Promise<boolean> {
  const { store, fetchedVersions } = shared
  for (let attempt = 1; ; attempt++) {
    const manifest = await manifestOf(shared, owner, name)
    if (!manifest) return false
    if (fetchedVersions.get(path) === manifest.version && existsSync(path)) return true
    try {
      await readChunks(store, owner, manifest, path)
      fetchedVersions.set(path, manifest.version)
      return true
    } catch (error) {
      if (!(error instanceof ReplacedError)) throw error
      // Chunks of the latest version that are gone do not come back.
      if (attempt === ATTEMPTS) return false
    }
  }
}

async function recount(shared: Shared, owners: Iterable<string>): Promise<void> {
  const { store } = shared
  const before = await store.get(TOTAL)
  let total = 0
  for (const owner of owners)
    for (const name of FILE_NAMES) total += (await manifestOf(shared, owner, name))?.storedBytes ?? 0
  // If a file is being written, the next count corrects the total.
  await update(store, TOTAL, (current) => (current === before ? String(total) : current))
}

async function manifestOf({ store }: Shared, owner: string, name: string): Promise<Manifest | null> {
  const value = await store.get(manifestKey(owner, name))
  return value === null ? null : (manifestSchema.safeParse(parseJson(value)).data ?? null)
}

/** Adds to the bytes that all files take. Throws `ImportError` (507) if there is no space. */
async function addToTotal({ store, maxBytes }: Shared, bytes: number): Promise<void> {
  await update(store, TOTAL, (value) => {
    const total = Math.max(0, Number(value ?? 0) + bytes)
    if (bytes > 0 && total > maxBytes) throw new ImportError(507, 'storage_full', texts.errors.storageFull)
    return String(total)
  })
}

async function deleteChunks(store: KeyValueStore, owner: string, manifest: Manifest): Promise<void> {
  for (let index = 0; index < manifest.chunks; index++) await store.delete(chunkKey(owner, manifest, index))
}

/** Deletes a file, with its chunks and its share of the total. */
async function remove(shared: Shared, owner: string, name: string): Promise<void> {
  let removed: string | null = null
  await update(shared.store, manifestKey(owner, name), (value) => {
    removed = value
    return null
  })
  await discard(shared, owner, removed)
}

/** Deletes the chunks of a version that is no longer used, whose manifest had this value. */
async function discard(shared: Shared, owner: string, value: string | null): Promise<void> {
  const manifest = value === null ? undefined : manifestSchema.safeParse(parseJson(value)).data
  if (!manifest) return
  await deleteChunks(shared.store, owner, manifest)
  await addToTotal(shared, -manifest.storedBytes)
}

/** Writes the chunks of a new version. */
async function writeChunks(shared: Shared, owner: string, path: string): Promise<Manifest> {
  const { store } = shared
  const manifest = { version: randomUUID(), chunks: 0, bytes: 0, storedBytes: 0 }
  const compressed = createReadStream(path).on('data', (chunk) => {
    manifest.bytes += chunk.length
  })
  try {
    await pipeline(compressed, createGzip({ level: 1 }), async (source) => {
      for await (const chunk of inChunks(source)) {
        const text = chunk.toString('base64')
        await addToTotal(shared, text.length)
        manifest.storedBytes += text.length
        await store.set(chunkKey(owner, manifest, manifest.chunks++), text, WRITING_MS)
      }
    })
    return manifest
  } catch (error) {
    await deleteChunks(store, owner, manifest).catch(() => {})
    await addToTotal(shared, -manifest.storedBytes).catch(() => {})
    throw error
  }
}

/** Keeps the chunks of a version as long as its manifest. Until then, they expire soon: their process may be killed. */
async function keepChunks(
  store: KeyValueStore,
  owner: string,
  manifest: Manifest,
  keepMs: number,
): Promise<void> {
  for (let index = 0; index < manifest.chunks; index++) {
    const key = chunkKey(owner, manifest, index)
    const text = await store.get(key)
    if (text !== null) await store.set(key, text, keepMs)
  }
}

async function readChunks(
  store: KeyValueStore,
  owner: string,
  manifest: Manifest,
  path: string,
): Promise<void> {
  const partial = `${path}.${randomUUID()}.part`
  async function* chunks() {
    for (let index = 0; index < manifest.chunks; index++) {
      const text = await store.get(chunkKey(owner, manifest, index))
      if (text === null) throw new ReplacedError()
      yield Buffer.from(text, 'base64')
    }
  }
  try {
    await pipeline(Readable.from(chunks()), createGunzip(), createWriteStream(partial, { mode: 0o600 }))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

/** Joins what a stream yields to buffers of `CHUNK_BYTES`. */
async function* inChunks(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let parts: Buffer[] = []
  let size = 0
  for await (const part of source) {
    parts.push(part)
    size += part.length
    if (size < CHUNK_BYTES) continue
    yield Buffer.concat(parts)
    parts = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(parts)
}
