import { createWriteStream, existsSync, statSync } from 'node:fs'
import { access, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StoreUnavailableError } from '../../connect/store/store.ts'
import { ImportError } from './errors.ts'
import { isDiskAlmostFull } from './free-space.ts'
import { countMissing, LAST_CODES, lastCodesPath } from './seen-codes.ts'

/** Price files and what their checks write, stored in one folder on this machine and named by job id. */
export interface ImportFiles {
  /** The path of a job's price file. */
  file(id: string): string
  /** The path of a job's problem report. */
  report(id: string): string
  /** Where the check of a job writes its results. */
  results(id: string): { reportPath: string; itemsPath: string; codesPath: string }
  /**
   * How many codes of the last completed job with this target are not in a checked job; undefined if that is not known
   * on this machine. `target` identifies a catalogue.
   */
  countMissing(id: string, target: string): number | undefined
  /**
   * Saves an uploaded price file and resolves to its size in bytes. `stored` is what the user's other files use, in
   * bytes. Throws `ImportError` (413) if the file is too large or exceeds the user's quota, and `StoreUnavailableError`
   * if it cannot be written; a partial file is deleted.
   */
  keep(id: string, userId: string, stored: number, bytes: AsyncIterable<Uint8Array>): Promise<number>
  /** How many bytes the files of a job take. */
  bytesOf(id: string): number
  /** How many uploads of a user are in progress. */
  uploadsInProgress(userId: string): number
  has(id: string): boolean
  /** Throws `ImportError` (409) if the price file is not on this machine. */
  requireFile(id: string): Promise<void>
  /** Throws `ImportError` (409) if the items of a checked job are not on this machine. */
  requireItems(id: string): Promise<void>
  /** Throws `ImportError` (404) if the report is not on this machine. */
  requireReport(id: string): Promise<void>
  /** Deletes the price file and the items of a completed job. Keeps its report, and its codes for `countMissing`. */
  complete(id: string, target: string): Promise<void>
  /** Deletes the files of a job. */
  deleteAll(id: string): Promise<void>
  /** Deletes old files that belong to none of these jobs, such as those of a killed process. */
  deleteOrphans(jobIds: ReadonlySet<string>): Promise<void>
}

/** How long the codes of a catalogue are kept, in ms. */
const LAST_CODES_MS = 400 * 86_400_000

/** Minimum age of an orphaned file before it is deleted, in ms; a newer one may still be uploading. */
const ORPHAN_MS = 3_600_000

/** How often an upload checks the free space, in bytes received. */
const FREE_SPACE_CHECK_BYTES = 8_000_000

export interface FilesOptions {
  dir: string
  /** Maximum size of one price file. */
  maxBytes: number
  /** Maximum total size of one user's price files. */
  quotaBytes: number
}

/** Stores the files in `dir`, which is created if it does not exist. */
export function createImportFiles({ dir, maxBytes, quotaBytes }: FilesOptions): ImportFiles {
  const file = (id: string) => join(dir, `${id}.csv`)
  const report = (id: string) => join(dir, `${id}.problems.csv`)
  const items = (id: string) => join(dir, `${id}.items.ndjson`)
  const codes = (id: string) => join(dir, `${id}.codes`)
  /** The codes of the last completed job of a catalogue. */
  const lastCodes = (target: string) => lastCodesPath(dir, target)
  /**
   * Per user, the number of uploads in progress and the bytes they have written so far. Each upload adds the bytes that
   * were stored before it started.
   */
  const active = new Map<string, { bytes: number; uploads: number }>()

  const megabytes = (bytes: number) => `${Math.floor(bytes / 1_000_000)} MB`
  const quotaExceeded = () =>
    new ImportError(
      413,
      'upload_quota_exceeded',
      `Your price files may use up to ${megabytes(quotaBytes)} in total. Discard imports that you no longer need.`,
    )

  async function* limited(bytes: AsyncIterable<Uint8Array>, count: (added: number) => number) {
    let size = 0
    let nextCheckAt = 0
    for await (const chunk of bytes) {
      size += chunk.length
      if (size >= nextCheckAt) {
        requireFreeSpace()
        nextCheckAt = size + FREE_SPACE_CHECK_BYTES
      }
      if (size > maxBytes) {
        const message = `The price file is larger than the limit of ${megabytes(maxBytes)}.`
        throw new ImportError(413, 'payload_too_large', message)
      }
      if (count(chunk.length) > quotaBytes) throw quotaExceeded()
      yield chunk
    }
  }

  function requireFreeSpace(): void {
    if (isDiskAlmostFull(dir)) throw new StoreUnavailableError('the disk for price files is almost full')
  }

  return {
    file,
    report,
    results: (id) => ({ reportPath: report(id), itemsPath: items(id), codesPath: codes(id) }),

    countMissing(id, target) {
      const last = lastCodes(target)
      return existsSync(last) && existsSync(codes(id)) ? countMissing(last, codes(id)) : undefined
    },

    async keep(id, userId, stored, bytes) {
      let size = 0
      const userTotal = active.get(userId) ?? { bytes: 0, uploads: 0 }
      active.set(userId, userTotal)
      userTotal.uploads++
      const count = (added: number) => {
        size += added
        userTotal.bytes += added
        return stored + userTotal.bytes
      }
      try {
        await mkdir(dir, { recursive: true, mode: 0o700 })
        const disk = createWriteStream(file(id), { mode: 0o600 })
        await pipeline(Readable.from(limited(bytes, count), { objectMode: false }), disk)
        return size
      } catch (error) {
        userTotal.bytes -= size
        await remove(file(id))
        const { code } = error as NodeJS.ErrnoException
        if (typeof code === 'string' && /^E[A-Z]+$/.test(code) && code !== 'ECONNRESET')
          throw new StoreUnavailableError(`the price file cannot be written (${code})`)
        throw error
      } finally {
        if (--userTotal.uploads === 0) active.delete(userId)
      }
    },

    bytesOf: (id) =>
      [file(id), items(id)].reduce(
        (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
        0,
      ),

    uploadsInProgress: (userId) => active.get(userId)?.uploads ?? 0,

    has: (id) => existsSync(file(id)),

    async requireFile(id) {
      const message = 'The price file of this import is no longer on this server. Upload it again.'
      await access(file(id)).catch(() => {
        throw new ImportError(409, 'conflict', message)
      })
    },

    async requireItems(id) {
      const message = 'The checked items of this import are no longer on this server. Check the file again.'
      await access(items(id)).catch(() => {
        throw new ImportError(409, 'conflict', message)
      })
    },

    async requireReport(id) {
      await access(report(id)).catch(() => {
        throw new ImportError(404, 'not_found', 'The report of this import is not on this server.')
      })
    },

    async complete(id, target) {
      await rename(codes(id), lastCodes(target)).catch(() => {})
      await Promise.all([file(id), items(id)].map(remove))
    },

    async deleteAll(id) {
      await Promise.all([file(id), report(id), items(id), codes(id)].map(remove))
    },

    async deleteOrphans(jobIds) {
      for (const name of await readdir(dir).catch(() => [])) {
        const [id = ''] = name.split('.')
        const { mtimeMs } = (await stat(join(dir, name)).catch(() => null)) ?? { mtimeMs: Date.now() }
        const maxAge = name.startsWith(LAST_CODES) ? LAST_CODES_MS : ORPHAN_MS
        if (!jobIds.has(id) && Date.now() - mtimeMs > maxAge) await remove(join(dir, name))
      }
    },
  }
}

/** Deletes a file if it exists. Failures are ignored: `deleteOrphans` tries again. */
const remove = (path: string) => rm(path, { recursive: true, force: true }).catch(() => {})
