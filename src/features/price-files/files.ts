import { createWriteStream, existsSync, statSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StoreUnavailableError } from '../../connect/store/store.ts'
import { ImportError } from './errors.ts'
import { isDiskAlmostFull } from './free-space.ts'
import { countMissing, LAST_CODES, lastCodesName, lastCodesPath } from './seen-codes.ts'
import { FILE_NAMES, type FileName, type SharedFiles } from './shared-files.ts'

/**
 * Price files and what their checks write, in one folder on this machine and named by job id. If several machines use the
 * store, it has copies of them, and a file that another machine wrote is fetched when it is needed.
 */
export interface ImportFiles {
  /** The path of a job's price file. */
  file(id: string): string
  /** The path of a job's problem report. */
  report(id: string): string
  /** Where the check of a job writes its results. */
  results(id: string): { reportPath: string; itemsPath: string; codesPath: string }
  /**
   * Copies the files of a job, and the last codes of its target, to the store if they are on this machine only: an earlier
   * version wrote them.
   */
  shareExisting(id: string, target: string): Promise<void>
  /** Deletes what an earlier check of the job wrote on this machine. */
  clearResults(id: string): Promise<void>
  /** Makes the results of a check available to other machines. Resolves to the version of the items, if there are any. */
  shareResults(id: string): Promise<string | undefined>
  /**
   * How many codes of the last completed job with this target are not in the job that this machine has checked;
   * undefined if that is not known. `target` identifies a catalogue.
   */
  countMissing(id: string, target: string): Promise<number | undefined>
  /**
   * Saves an uploaded price file and resolves to its size in bytes. `others`: the user's other jobs. Throws `ImportError` (413) if the file is too large or exceeds the user's quota, and `StoreUnavailableError`
   * if it cannot be written; a partial file is deleted.
   */
  keep(
    id: string,
    userId: string,
    others: readonly string[],
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<number>
  /**
   * Throws `ImportError` (413) if the files of these jobs, all of a user, exceed the quota, or take more than a quarter of
   * the space in the store.
   */
  requireQuota(ids: readonly string[]): Promise<void>
  has(id: string): Promise<boolean>
  /** Throws `ImportError` (409) if the price file is gone. */
  requireFile(id: string): Promise<void>
  /**
   * Throws `ImportError` (409) if the items of a checked job are gone, or are not in this version (undefined: any): a
   * process that was stopped for a while may have written those of an earlier check over them.
   */
  requireItems(id: string, version: string | undefined): Promise<void>
  /** Throws `ImportError` (404) if there is no report. */
  requireReport(id: string): Promise<void>
  /** Deletes the price file and the items of a completed job. Keeps its report, and its codes for `countMissing`. */
  complete(id: string, target: string): Promise<void>
  /** Deletes the files of a job. */
  deleteAll(id: string): Promise<void>
  /** Deletes old files on this machine that belong to none of these jobs, such as those of a killed process. */
  deleteOrphans(jobIds: ReadonlySet<string>): Promise<void>
  /** If the store has copies: deletes old files on this machine, except for those of the jobs in use. */
  trim(inUse: ReadonlySet<string>): Promise<void>
}

/** How long the codes of a catalogue are kept, in ms. */
const LAST_CODES_MS = 400 * 86_400_000

/** How long the store keeps the other files after they were written, in ms. */
export const SHARED_MS = 30 * 86_400_000

/** Minimum age of a file that is deleted because no job, or no process, needs it, in ms; a newer one may still be uploading. */
const ORPHAN_MS = 3_600_000

/** How often an upload checks the free space, in bytes received. */
const FREE_SPACE_CHECK_BYTES = 8_000_000

export interface FilesOptions {
  dir: string
  /** Maximum size of one price file. */
  maxBytes: number
  /** Maximum total size of one user's price files. */
  quotaBytes: number
  /** Their copies in the store; null: the store is on this machine. */
  shared: SharedFiles | null
}

/** Stores the files in `dir`, which is created if it does not exist. */
export function createImportFiles({ dir, maxBytes, quotaBytes, shared }: FilesOptions): ImportFiles {
  const file = (id: string) => join(dir, `${id}.csv`)
  const report = (id: string) => join(dir, `${id}.problems.csv`)
  const items = (id: string) => join(dir, `${id}.items.ndjson`)
  const codes = (id: string) => join(dir, `${id}.codes`)
  const pathOf = { file, report, items, codes }
  /** The codes of the last completed job of a catalogue. */
  const lastCodes = (target: string) => lastCodesPath(dir, target)
  /**
   * Per user, the number of uploads in progress and the bytes they have written so far. Each upload adds the bytes that
   * were stored before it started.
   */
  const active = new Map<string, { bytes: number; uploads: number }>()

  const megabytes = (bytes: number) => `${Math.floor(bytes / 1_000_000)} MB`
  const quotaExceeded = (maxBytes = quotaBytes) =>
    new ImportError(
      413,
      'upload_quota_exceeded',
      `Your price files may use up to ${megabytes(maxBytes)} in total. Discard imports that you no longer need.`,
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

  /** Brings a file of a job to this machine. Resolves to whether it is there. */
  const fetchFile = async (id: string, name: FileName) => {
    if (!shared) return existsSync(pathOf[name](id))
    await mkdir(dir, { recursive: true, mode: 0o700 })
    requireFreeSpace()
    return shared.fetch(id, name, pathOf[name](id))
  }
  /** Copies the last codes of a catalogue from the store, as another machine may have written them. */
  const fetchLastCodes = async (target: string) =>
    shared ? shared.fetch(lastCodesName(target), 'codes', lastCodes(target)) : existsSync(lastCodes(target))

  const localVersion = (path: string) => {
    const found = statSync(path, { throwIfNoEntry: false })
    return found && `${found.size} ${found.mtimeMs}`
  }

  /** How many bytes the files of these jobs take. */
  async function bytesOf(ids: readonly string[]): Promise<number> {
    let total = 0
    for (const id of ids) {
      const sizes = await shared?.sizes(id)
      const sizeOf = (name: FileName) =>
        sizes
          ? (sizes.get(name)?.bytes ?? 0)
          : (statSync(pathOf[name](id), { throwIfNoEntry: false })?.size ?? 0)
      total += sizeOf('file') + sizeOf('items')
    }
    return total
  }

  /** How many bytes they take in the store. */
  async function storedBytesOf(ids: readonly string[]): Promise<number> {
    let total = 0
    for (const id of ids)
      for (const { storedBytes } of (await shared?.sizes(id))?.values() ?? []) total += storedBytes
    return total
  }

  function requireFreeSpace(): void {
    if (isDiskAlmostFull(dir)) throw new StoreUnavailableError('the disk for price files is almost full')
  }

  /** Deletes files that are older than `maxAgeOf` says, in ms; false: it is kept. */
  async function deleteOld(maxAgeOf: (name: string, id: string) => number | false): Promise<void> {
    for (const name of await readdir(dir).catch(() => [])) {
      const [id = ''] = name.split('.')
      const maxAgeMs = maxAgeOf(name, id)
      const found = await stat(join(dir, name)).catch(() => null)
      if (found && maxAgeMs !== false && Date.now() - found.mtimeMs > maxAgeMs) await remove(join(dir, name))
    }
  }

  return {
    file,
    report,
    results: (id) => ({ reportPath: report(id), itemsPath: items(id), codesPath: codes(id) }),

    async shareExisting(id, target) {
      const share = async (owner: string, name: FileName, path: string) => {
        if (shared && existsSync(path) && !(await shared.sizes(owner)).has(name))
          await shared.put(owner, name, path, keepMsOf(owner))
      }
      for (const name of FILE_NAMES) await share(id, name, pathOf[name](id))
      await share(lastCodesName(target), 'codes', lastCodes(target))
    },

    async clearResults(id) {
      await Promise.all([report(id), items(id), codes(id)].map(remove))
    },

    async shareResults(id) {
      if (!shared) return localVersion(items(id))
      const share = async (name: FileName) => {
        const path = pathOf[name](id)
        if (existsSync(path)) return shared.put(id, name, path, SHARED_MS)
        await shared.delete(id, [name])
        return undefined
      }
      await share('report')
      await share('codes')
      return share('items')
    },

    async countMissing(id, target) {
      const isKnown = existsSync(codes(id)) && (await fetchLastCodes(target))
      return isKnown ? countMissing(lastCodes(target), codes(id)) : undefined
    },

    async keep(id, userId, others, bytes) {
      const stored = await bytesOf(others)
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
        await shared?.put(id, 'file', file(id), SHARED_MS)
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

    async requireQuota(ids) {
      if ((await bytesOf(ids)) > quotaBytes) throw quotaExceeded()
      if (shared && (await storedBytesOf(ids)) > shared.maxBytes / 4) throw quotaExceeded(shared.maxBytes / 4)
    },

    has: async (id) => (shared ? (await shared.sizes(id)).has('file') : existsSync(file(id))),

    async requireFile(id) {
      const message = 'The price file of this import is no longer available. Upload it again.'
      if (!(await fetchFile(id, 'file'))) throw new ImportError(409, 'conflict', message)
    },

    async requireItems(id, version) {
      const message = 'The checked items of this import are no longer available. Check the file again.'
      if (!(await fetchFile(id, 'items'))) throw new ImportError(409, 'conflict', message)
      const current = shared ? await shared.version(id, 'items') : localVersion(items(id))
      if (version !== undefined && version !== current) throw new ImportError(409, 'conflict', message)
    },

    async requireReport(id) {
      if (!(await fetchFile(id, 'report')))
        throw new ImportError(404, 'not_found', 'This import has no report.')
    },

    async complete(id, target) {
      await Promise.all([file(id), items(id)].map(remove))
      await shared?.delete(id, ['file', 'items'])
      // Without its codes, the next file of this catalogue only gets no remark about items that it lacks.
      if (shared && (await fetchFile(id, 'codes').catch(() => false)))
        await shared.put(lastCodesName(target), 'codes', codes(id), LAST_CODES_MS).catch(() => {})
      await rename(codes(id), lastCodes(target)).catch(() => {})
      await shared?.delete(id, ['codes'])
    },

    async deleteAll(id) {
      await Promise.all([file(id), report(id), items(id), codes(id)].map(remove))
      await shared?.delete(id)
    },

    deleteOrphans: (jobIds) =>
      deleteOld((name, id) => !jobIds.has(id) && (name.startsWith(LAST_CODES) ? LAST_CODES_MS : ORPHAN_MS)),

    async trim(inUse) {
      if (shared) await deleteOld((_name, id) => !inUse.has(id) && ORPHAN_MS)
    },
  }
}

const keepMsOf = (owner: string) => (owner.startsWith(LAST_CODES) ? LAST_CODES_MS : SHARED_MS)

/** Deletes a file if it exists. Failures are ignored: `deleteOrphans` tries again. */
const remove = (path: string) => rm(path, { recursive: true, force: true }).catch(() => {})
