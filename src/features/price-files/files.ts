import { createWriteStream, existsSync, statSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StoreUnavailableError } from '../../connect/errors.ts'
import { ImportError } from './errors.ts'
import { isDiskAlmostFull } from './free-space.ts'
import { type Job, targetOf } from './import-job.ts'
import { LAST_PRICES, lastPricesName, lastPricesPath, prependPrices } from './last-prices.ts'
import { FILE_NAMES, type FileName, type SharedFiles } from './shared-files.ts'
import { texts } from './texts.ts'

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
  results(id: string): { reportPath: string; itemsPath: string; pricesPath: string }
  /** Deletes what an earlier check of the job wrote on this machine. */
  clearResults(id: string): Promise<void>
  /** Makes the results of a check available to other machines. Resolves to the version of the items, if there are any. */
  shareResults(id: string): Promise<string | undefined>
  /** The path of the prices that the last completed job has sent to the same catalogue; undefined if there are none. */
  lastPrices(job: Job): Promise<string | undefined>
  /**
   * Saves an uploaded price file and resolves to its size in bytes. `others`: the user's other jobs. Throws `ImportError` (413) if
   * the file is too large or exceeds the user's quota, and `StoreUnavailableError` if it cannot be written; a partial file is
   * deleted.
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
  /**
   * Deletes the price file and the items of a completed job. Keeps its report and, unless a later job of the catalogue has been
   * completed, its prices for `lastPrices`.
   */
  complete(job: Job, isLatest?: boolean): Promise<void>
  /** Deletes the files of a job. */
  deleteAll(id: string): Promise<void>
  /** Deletes old files on this machine that belong to none of these jobs, such as those of a killed process. */
  deleteOrphans(jobIds: ReadonlySet<string>): Promise<void>
  /** If the store has copies: deletes old files on this machine, except for those of the jobs in use. */
  trim(inUse: ReadonlySet<string>): Promise<void>
}

/** How long the last prices of a catalogue are kept, in ms. */
const LAST_PRICES_MS = 400 * 86_400_000

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

/** What the operations on files use. */
interface Files extends FilesOptions {
  /** The path of a job's file. */
  pathOf(name: FileName, id: string): string
  /**
   * Per user, the number of uploads in progress and the bytes they have written so far. Each upload adds the bytes that
   * were stored before it started.
   */
  active: Map<string, { bytes: number; uploads: number }>
}

const EXTENSIONS: Record<FileName, string> = {
  file: 'csv',
  report: 'problems.csv',
  items: 'items.ndjson',
  prices: 'prices',
}

/** Stores the files in `dir`, which is created if it does not exist. */
export function createImportFiles(options: FilesOptions): ImportFiles {
  const { dir, shared } = options
  const pathOf = (name: FileName, id: string) => join(dir, `${id}.${EXTENSIONS[name]}`)
  const files: Files = { ...options, pathOf, active: new Map() }
  const file = (id: string) => pathOf('file', id)
  return {
    file,
    report: (id) => pathOf('report', id),
    results: (id) => ({
      reportPath: pathOf('report', id),
      itemsPath: pathOf('items', id),
      pricesPath: pathOf('prices', id),
    }),
    async clearResults(id) {
      await Promise.all([pathOf('report', id), pathOf('items', id), pathOf('prices', id)].map(remove))
    },
    shareResults: (id) => shareResults(files, id),
    lastPrices: (job) => fetchLastPrices(files, targetOf(job)),
    keep: (id, userId, others, bytes) => keep(files, id, userId, others, bytes),
    requireQuota: (ids) => requireQuota(files, ids),
    has: async (id) => (shared ? (await shared.sizes(id)).has('file') : existsSync(file(id))),
    requireFile: (id) => requireFile(files, id),
    requireItems: (id, version) => requireItems(files, id, version),
    async requireReport(id) {
      if (!(await fetchFile(files, id, 'report')))
        throw new ImportError(404, 'not_found', texts.errors.noReport)
    },
    complete: (job, isLatest = true) => complete(files, job, isLatest),
    async deleteAll(id) {
      await Promise.all(FILE_NAMES.map((name) => remove(pathOf(name, id))))
      await shared?.delete(id)
    },
    deleteOrphans: (jobIds) =>
      deleteOld(
        dir,
        (name, id) => !jobIds.has(id) && (name.startsWith(LAST_PRICES) ? LAST_PRICES_MS : ORPHAN_MS),
      ),
    async trim(inUse) {
      if (shared) await deleteOld(dir, (_name, id) => !inUse.has(id) && ORPHAN_MS)
    },
  }
}

/** Saves an uploaded file. See `ImportFiles.keep`. */
async function keep(
  files: Files,
  id: string,
  userId: string,
  others: readonly string[],
  bytes: AsyncIterable<Uint8Array>,
): Promise<number> {
  const { dir, shared, active, pathOf } = files
  const path = pathOf('file', id)
  const stored = await bytesOf(files, others)
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
    const disk = createWriteStream(path, { mode: 0o600 })
    await pipeline(Readable.from(limited(files, bytes, count), { objectMode: false }), disk)
    await shared?.put(id, 'file', path, SHARED_MS)
    return size
  } catch (error) {
    userTotal.bytes -= size
    await remove(path)
    const { code } = error as NodeJS.ErrnoException
    if (typeof code === 'string' && /^E[A-Z]+$/.test(code) && code !== 'ECONNRESET')
      throw new StoreUnavailableError(`the price file cannot be written (${code})`)
    throw error
  } finally {
    if (--userTotal.uploads === 0) active.delete(userId)
  }
}

/** The bytes of an upload, up to the limits. `count`: adds to the bytes of its user, and returns them. */
async function* limited(
  { dir, maxBytes, quotaBytes }: Files,
  bytes: AsyncIterable<Uint8Array>,
  count: (added: number) => number,
) {
  let size = 0
  let nextCheckAt = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size >= nextCheckAt) {
      requireFreeSpace(dir)
      nextCheckAt = size + FREE_SPACE_CHECK_BYTES
    }
    if (size > maxBytes) {
      const message = texts.errors.tooLarge(megabytes(maxBytes))
      throw new ImportError(413, 'payload_too_large', message)
    }
    if (count(chunk.length) > quotaBytes) throw quotaExceeded(quotaBytes)
    yield chunk
  }
}

async function requireQuota(files: Files, ids: readonly string[]): Promise<void> {
  const { quotaBytes, shared } = files
  if ((await bytesOf(files, ids)) > quotaBytes) throw quotaExceeded(quotaBytes)
  if (!shared) return
  const maxStored = shared.maxBytes / 4
  if ((await storedBytesOf(shared, ids)) > maxStored) throw quotaExceeded(maxStored)
}

async function requireFile(files: Files, id: string): Promise<void> {
  if (!(await fetchFile(files, id, 'file'))) throw new ImportError(409, 'conflict', texts.failures.fileGone)
}

async function requireItems(files: Files, id: string, version: string | undefined): Promise<void> {
  const { shared, pathOf } = files
  const message = texts.failures.itemsGone
  if (!(await fetchFile(files, id, 'items'))) throw new ImportError(409, 'conflict', message)
  const current = shared ? await shared.version(id, 'items') : localVersion(pathOf('items', id))
  if (version !== undefined && version !== current) throw new ImportError(409, 'conflict', message)
}

/** Copies the results of a check to the store, or deletes there what the check did not write. */
async function shareResults({ shared, pathOf }: Files, id: string): Promise<string | undefined> {
  if (!shared) return localVersion(pathOf('items', id))
  const share = async (name: FileName) => {
    const path = pathOf(name, id)
    if (existsSync(path)) return shared.put(id, name, path, SHARED_MS)
    await shared.delete(id, [name])
    return undefined
  }
  await share('report')
  await share('prices')
  return share('items')
}

async function complete(files: Files, job: Job, isLatest: boolean): Promise<void> {
  const { shared, pathOf } = files
  const { id } = job
  // First, because a process that dies here completes the job again as long as its file is there. Without its prices, the
  // next file of this catalogue is only not compared with this one.
  if (isLatest) await keepPrices(files, job).catch(() => {})
  await Promise.all([pathOf('file', id), pathOf('items', id)].map(remove))
  await shared?.delete(id, ['file', 'items', 'prices'])
}

/** Keeps the prices of a completed job as the last ones of its catalogue. Those of corrected rows add to the last ones. */
async function keepPrices(files: Files, job: Job): Promise<void> {
  const { dir, shared, pathOf } = files
  const target = targetOf(job)
  const prices = pathOf('prices', job.id)
  if (!(await fetchFile(files, job.id, 'prices'))) return
  if (job.isCorrection) {
    const last = await fetchLastPrices(files, target)
    // Corrected rows alone are not the last file.
    if (last === undefined) return
    prependPrices(last, prices)
  }
  await shared?.put(lastPricesName(target), 'prices', prices, LAST_PRICES_MS)
  await rename(prices, lastPricesPath(dir, target))
}

/** Brings a file of a job to this machine. Resolves to whether it is there. */
async function fetchFile({ dir, shared, pathOf }: Files, id: string, name: FileName): Promise<boolean> {
  const path = pathOf(name, id)
  if (!shared) return existsSync(path)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  requireFreeSpace(dir)
  return shared.fetch(id, name, path)
}

/** The path of the last prices of a catalogue, if there are any. Another machine may have written them to the store. */
async function fetchLastPrices({ dir, shared }: Files, target: string): Promise<string | undefined> {
  const path = lastPricesPath(dir, target)
  const exists = shared ? await shared.fetch(lastPricesName(target), 'prices', path) : existsSync(path)
  return exists ? path : undefined
}

/** How many bytes the files of these jobs take. */
async function bytesOf({ shared, pathOf }: Files, ids: readonly string[]): Promise<number> {
  let total = 0
  for (const id of ids) {
    const sizes = await shared?.sizes(id)
    const sizeOf = (name: FileName) =>
      sizes
        ? (sizes.get(name)?.bytes ?? 0)
        : (statSync(pathOf(name, id), { throwIfNoEntry: false })?.size ?? 0)
    total += sizeOf('file') + sizeOf('items')
  }
  return total
}

/** How many bytes they take in the store. */
async function storedBytesOf(shared: SharedFiles, ids: readonly string[]): Promise<number> {
  let total = 0
  for (const id of ids) for (const { storedBytes } of (await shared.sizes(id)).values()) total += storedBytes
  return total
}

function localVersion(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && `${found.size} ${found.mtimeMs}`
}

function requireFreeSpace(dir: string): void {
  if (isDiskAlmostFull(dir)) throw new StoreUnavailableError('the disk for price files is almost full')
}

/** Deletes files that are older than `maxAgeOf` says, in ms; false: it is kept. */
async function deleteOld(dir: string, maxAgeOf: (name: string, id: string) => number | false): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    const [id = ''] = name.split('.')
    const maxAgeMs = maxAgeOf(name, id)
    const found = await stat(join(dir, name)).catch(() => null)
    if (found && maxAgeMs !== false && Date.now() - found.mtimeMs > maxAgeMs) await remove(join(dir, name))
  }
}

const megabytes = (bytes: number) => `${Math.floor(bytes / 1_000_000)} MB`

const quotaExceeded = (maxBytes: number) =>
  new ImportError(413, 'upload_quota_exceeded', texts.errors.quota(megabytes(maxBytes)))

/** Deletes a file if it exists. Failures are ignored: `deleteOrphans` tries again. */
const remove = (path: string) => rm(path, { recursive: true, force: true }).catch(() => {})
