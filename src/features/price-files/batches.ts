import {
  closeSync,
  createReadStream,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { UnreadableFileError } from '../../tables/errors.ts'
import { type Item, itemsBody, MAX_BATCH } from './item.ts'
import { texts } from './texts.ts'

/** One upload request, already serialized. */
export interface Batch {
  /** The request body. */
  body: Uint8Array
  /** Number of items: at most 1,000. */
  items: number
}

/** A file of upload requests: each line is a body with 1,000 items; the last one may have fewer. */
export interface BatchWriter {
  readonly path: string
  add(item: Item): void
  /** Completes the file. */
  end(): void
  /** Deletes the file. */
  discard(): void
}

/** Maximum size of a file of batches, in bytes: a small workbook can unpack to far more. */
const MAX_BYTES = 250_000_000
/** How often the free space on the disk is checked, in bytes written. */
const FREE_SPACE_CHECK_BYTES = 8_000_000

/**
 * Creates a file of batches. Throws `UnreadableFileError` if it becomes larger than 250 MB, and the errors of the file
 * system, also if the disk is almost full.
 */
export function createBatchWriter(path: string): BatchWriter {
  const file = openSync(path, 'w', 0o600)
  let bytes = 0
  let nextCheckAt = 0
  let items: Item[] = []
  let isOpen = true
  const close = () => {
    if (isOpen) closeSync(file)
    isOpen = false
  }
  const write = () => {
    if (items.length === 0) return
    if (bytes >= nextCheckAt) {
      requireFreeSpace(path)
      nextCheckAt = bytes + FREE_SPACE_CHECK_BYTES
    }
    bytes += writeSync(file, `${itemsBody(items)}\n`)
    if (bytes > MAX_BYTES) throw new UnreadableFileError(1, texts.unreadable.manyItems)
    items = []
  }
  return {
    path,
    add(item) {
      if (items.push(item) === MAX_BATCH) write()
    },
    end() {
      write()
      close()
    },
    discard() {
      close()
      rmSync(path, { force: true })
    },
  }
}

/** Disk space that price files must leave free, in bytes: the store may be on the same disk. */
const MIN_FREE_BYTES = 64_000_000

/** Throws an error with the code `ENOSPC` if the disk with this file or folder is almost full. */
function requireFreeSpace(path: string): void {
  const { bavail, bsize } = statfsSync(path)
  if (bavail * bsize < MIN_FREE_BYTES)
    throw Object.assign(new Error('the disk is almost full'), { code: 'ENOSPC' })
}

/** Removes the items with these codes from a file of batches. */
export async function removeItems(path: string, codes: ReadonlySet<string>): Promise<void> {
  const draft = `${path}.draft`
  const writer = createBatchWriter(draft)
  try {
    for await (const item of itemsOfBatches(path)) if (!codes.has(item.code)) writer.add(item)
    writer.end()
    renameSync(draft, path)
  } finally {
    writer.discard()
  }
}

/** The lines of a file, without copies where possible. A name may have other line separators of Unicode. */
async function* linesOf(path: string): AsyncGenerator<Buffer> {
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

/** The items of a file of batches; none if there is no file. */
export async function* itemsOfBatches(path: string): AsyncGenerator<Item> {
  if (existsSync(path)) for await (const line of linesOf(path)) yield* itemsOf(line.toString())
}

/** The items of an upload request. */
export const itemsOf = (body: string): Item[] => JSON.parse(body).items

/**
 * Reads a file of batches with `total` items. `skip`: how many batches to leave out at the start, because the platform
 * has accepted them.
 */
export async function* readBatches(
  path: string,
  { total, skip = 0 }: { total: number; skip?: number },
): AsyncGenerator<Batch> {
  let batch = 0
  for await (const body of linesOf(path)) {
    if (batch >= skip) yield { body, items: Math.min(MAX_BATCH, total - batch * MAX_BATCH) }
    batch++
  }
}
