import { createWriteStream, existsSync } from 'node:fs'
import { access, mkdir, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StoreUnavailableError } from '../../connect/store/store.ts'
import { ImportError } from './errors.ts'

/** The price files and reports of the jobs, in one folder on this machine, under the jobs' ids. */
export interface ImportFiles {
  /** The path of a job's price file. */
  file(id: string): string
  /** The path of the report of its problem rows. */
  report(id: string): string
  /**
   * Keeps an uploaded price file of a user who has `stored` bytes already; gives its size in bytes. Of a file that is
   * too large, larger than what is left of the user's quota (`ImportError`, 413) or cannot be written
   * (`StoreUnavailableError`) nothing is kept.
   */
  keep(id: string, userId: string, stored: number, bytes: AsyncIterable<Uint8Array>): Promise<number>
  /** How many files of a user are on their way in. */
  arriving(userId: string): number
  has(id: string): boolean
  /** Throws `ImportError` (409) when the price file is not on this machine. */
  need(id: string): Promise<void>
  /** Throws `ImportError` (404) when the report is not on this machine. */
  needReport(id: string): Promise<void>
  /** Removes the price file of a job that no longer needs it. */
  drop(id: string): Promise<void>
  /** Removes all of a job's files. */
  forget(id: string): Promise<void>
  /** Removes what a killed process left without a job. */
  sweep(known: ReadonlySet<string>): Promise<void>
}

/** A file without a job is taken for left behind after this long, in ms; a younger one may be on its way in. */
const ORPHAN_MS = 3_600_000

/** Uploads leave so much of the disk free, in bytes: the store may be on it. */
const RESERVE_BYTES = 64_000_000
const ROOM_EVERY_BYTES = 8_000_000

export interface FilesOptions {
  dir: string
  maxBytes: number
  quotaBytes: number
}

export function createFiles({ dir, maxBytes, quotaBytes }: FilesOptions): ImportFiles {
  const file = (id: string) => join(dir, `${id}.csv`)
  const report = (id: string) => join(dir, `${id}.problems.csv`)
  /**
   * Bytes of each user's files that came in since the user's first running upload began, and how many uploads run: what
   * was stored before is counted by each upload when it begins.
   */
  const arriving = new Map<string, { bytes: number; uploads: number }>()

  const megabytes = (bytes: number) => `${Math.floor(bytes / 1_000_000)} MB`
  const quotaExceeded = () =>
    new ImportError(
      413,
      'upload_quota_exceeded',
      `Your price files may take ${megabytes(quotaBytes)} together. Discard imports that you no longer need.`,
    )

  async function* limited(bytes: AsyncIterable<Uint8Array>, count: (added: number) => number) {
    let size = 0
    let roomAt = 0
    for await (const chunk of bytes) {
      size += chunk.length
      if (size >= roomAt) {
        await leaveRoom()
        roomAt = size + ROOM_EVERY_BYTES
      }
      if (size > maxBytes) {
        const words = `The price file is larger than ${megabytes(maxBytes)}, the largest that is accepted here.`
        throw new ImportError(413, 'payload_too_large', words)
      }
      if (count(chunk.length) > quotaBytes) throw quotaExceeded()
      yield chunk
    }
  }

  async function leaveRoom(): Promise<void> {
    const { bavail, bsize } = await statfs(dir)
    if (bavail * bsize < RESERVE_BYTES)
      throw new StoreUnavailableError('the disk for price files is almost full')
  }

  return {
    file,
    report,

    async keep(id, userId, stored, bytes) {
      let size = 0
      const own = arriving.get(userId) ?? { bytes: 0, uploads: 0 }
      arriving.set(userId, own)
      own.uploads++
      const count = (added: number) => {
        size += added
        own.bytes += added
        return stored + own.bytes
      }
      try {
        await mkdir(dir, { recursive: true, mode: 0o700 })
        const disk = createWriteStream(file(id), { mode: 0o600 })
        await pipeline(Readable.from(limited(bytes, count), { objectMode: false }), disk)
        return size
      } catch (error) {
        own.bytes -= size
        await removed(file(id))
        const { code } = error as NodeJS.ErrnoException
        if (typeof code === 'string' && /^E[A-Z]+$/.test(code) && code !== 'ECONNRESET')
          throw new StoreUnavailableError(`the price file cannot be written (${code})`)
        throw error
      } finally {
        if (--own.uploads === 0) arriving.delete(userId)
      }
    },

    arriving: (userId) => arriving.get(userId)?.uploads ?? 0,

    has: (id) => existsSync(file(id)),

    async need(id) {
      const words = 'The price file of this import is not on this machine any more. Upload it again.'
      await access(file(id)).catch(() => {
        throw new ImportError(409, 'conflict', words)
      })
    },

    async needReport(id) {
      await access(report(id)).catch(() => {
        throw new ImportError(404, 'not_found', 'The report of this import is not on this machine.')
      })
    },

    drop: (id) => removed(file(id)),

    async forget(id) {
      await Promise.all([file(id), report(id)].map(removed))
    },

    async sweep(known) {
      for (const name of await readdir(dir).catch(() => [])) {
        const [id = ''] = name.split('.')
        const { mtimeMs } = (await stat(join(dir, name)).catch(() => null)) ?? { mtimeMs: Date.now() }
        if (!known.has(id) && Date.now() - mtimeMs > ORPHAN_MS) await removed(join(dir, name))
      }
    },
  }
}

/** Removes a file if it is there; one that cannot be removed hinders nothing. */
const removed = (path: string) => rm(path, { force: true }).catch(() => {})
