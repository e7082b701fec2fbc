import { randomUUID } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { access, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Logger } from 'pino'
import type { Catalogues } from '../platform/catalogues.ts'
import type { Catalogue } from '../platform/contract.ts'
import { PlatformError } from '../platform/errors.ts'
import type { TokenSource } from '../platform/token-source.ts'
import { type Store, StoreUnavailable } from '../store/store.ts'
import type { Columns } from './columns.ts'
import { FileUnreadable } from './encoding.ts'
import type { Problem } from './items.ts'
import { JOB, type Job, jobKey, jobSchema, leaseKey } from './job.ts'
import { checkFile, readBatches } from './reader.ts'
import { ImportRefused, noSuchImport } from './refused.ts'
import { createReport } from './report.ts'
import { type ImportOptions, runImport } from './run.ts'

/** A job, and whether a process is at work on it. One that should be worked on and is not was interrupted. */
export type JobView = Job & { interrupted: boolean }

export interface Imports {
  /** Keeps an uploaded file and begins to check it. Throws `ImportRefused` (413) and keeps nothing of a file too large. */
  upload(
    userId: string,
    to: { context: string; catalogue: Catalogue; fileName: string },
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<Job>
  /** Throws `ImportRefused` (404). */
  get(userId: string, id: string): Promise<JobView>
  /** The user's jobs in a context, the latest first. */
  list(userId: string, context: string): Promise<JobView[]>
  /** Chooses the columns, or lets the headings say, and checks the file anew. */
  choose(userId: string, id: string, columns?: Columns): Promise<void>
  /** Starts sending, or goes on with a job that was interrupted or has failed. `strict` refuses a file with problems. */
  start(userId: string, id: string, options?: { strict?: boolean }): Promise<void>
  /** Ends sending; what was sent stays, and the job can be started again. */
  stop(userId: string, id: string): Promise<void>
  /** Forgets the job, its file and its report. */
  discard(userId: string, id: string): Promise<void>
  /** The path of the CSV report of all problem rows. Throws `ImportRefused` (404) when it is not on this machine. */
  report(userId: string, id: string): Promise<string>
  /** Resolves when the job is not worked on in this process, or after `ms`. */
  settled(id: string, ms: number): Promise<void>
  /** Goes on with every interrupted job whose file is on this machine: for the start of the app. */
  resume(): Promise<void>
  /** Ends the work of this process; the jobs stay as they are and can be resumed. */
  close(): Promise<void>
}

export interface ImportsOptions {
  store: Store
  /** The folder for files and reports. */
  dir: string
  maxBytes: number
  catalogues: Pick<Catalogues, 'startImport' | 'uploadItems' | 'getImport'>
  /** A paced source of tokens for a user's connection. */
  source(userId: string, context: string): TokenSource
  log: Logger
  /** How long a killed process keeps others from its job, in ms. */
  leaseMs?: number
  /** How the import itself waits; for tests. */
  timing?: Pick<ImportOptions, 'patienceMs' | 'pauseMs' | 'completionMs'>
  now?: () => number
}

/** The process that works on a job was told to end, or the job was taken from it. */
class Interrupted extends Error {}

type Task = (save: (change: Partial<Job>) => void, signal: AbortSignal) => Promise<Partial<Job>>

/** How often a job's record is written while it is worked on, in ms. */
const WRITE_MS = 400
const KEPT_PROBLEMS = 100
const KEPT_JOBS = 20

export function createImports(options: ImportsOptions): Imports {
  const { store, dir, maxBytes, catalogues, source, log, leaseMs = 10_000, timing, now = Date.now } = options
  const closing = new AbortController()
  const atWork = new Map<string, Promise<void>>()
  const fileOf = (id: string) => join(dir, `${id}.csv`)
  const reportOf = (id: string) => join(dir, `${id}.problems.csv`)

  const parse = (value: string): Job => jobSchema.parse(JSON.parse(value))
  async function read(userId: string, id: string): Promise<{ job: Job; value: string }> {
    const value = await store.get(jobKey(userId, id))
    if (value === null) throw noSuchImport()
    return { job: parse(value), value }
  }
  const isWork = ({ state }: Job) => state === 'checking' || state === 'running'
  async function view(job: Job): Promise<JobView> {
    return { ...job, interrupted: isWork(job) && (await store.get(leaseKey(job.userId, job.id))) === null }
  }

  /** Takes a job for this process alone, waiting a moment for one that is just letting it go. Null when it is taken. */
  async function hold(userId: string, id: string, tries = 30): Promise<string | null> {
    const mine = randomUUID()
    while (!(await store.compareAndSet(leaseKey(userId, id), null, mine, leaseMs))) {
      if (--tries <= 0) return null
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return mine
  }
  async function release(userId: string, id: string, mine: string): Promise<void> {
    await store.compareAndSet(leaseKey(userId, id), mine, null).catch(() => {})
  }

  /**
   * Changes a job that nobody works on, and begins the work on it.
   * Throws `ImportRefused` (409) if its state is another.
   */
  async function begin(
    userId: string,
    id: string,
    from: Job['state'][],
    to: (job: Job) => Partial<Job>,
    task: (job: Job) => Task,
  ): Promise<void> {
    const refuse = ({ state }: Job) =>
      new ImportRefused(409, 'import_state', `This import is ${state}; that cannot be done now.`)
    const { job: seen } = await read(userId, id)
    const { interrupted } = await view(seen)
    if (!interrupted && !from.includes(seen.state)) throw refuse(seen)
    const mine = await hold(userId, id)
    if (!mine) throw refuse(seen)
    try {
      const { job, value } = await read(userId, id)
      if (!from.includes(job.state) && !isWork(job)) throw refuse(job)
      const next = { ...job, ...to(job) }
      if (!(await store.compareAndSet(jobKey(userId, id), value, JSON.stringify(next)))) throw refuse(job)
      work(next, mine, task(next))
    } catch (error) {
      await release(userId, id, mine)
      throw error
    }
  }

  /** Works on a job that is held, in the background, and only as long as its record is ours. */
  function work(job: Job, mine: string, task: Task): void {
    const { userId, id } = job
    const [key, lease] = [jobKey(userId, id), leaseKey(userId, id)]
    const taken = new AbortController()
    const signal = AbortSignal.any([closing.signal, taken.signal])
    let current = job
    let stored = JSON.stringify(job)
    const save = (change: Partial<Job>) => {
      current = { ...current, ...change }
    }
    async function write(): Promise<void> {
      const value = JSON.stringify(current)
      // The same value is compared all the same: it tells whether the user has stopped or discarded the job.
      if (await store.compareAndSet(key, stored, value)) stored = value
      else taken.abort(new Interrupted())
    }

    async function run(): Promise<void> {
      let writing = Promise.resolve()
      const beat = setInterval(() => {
        const renew = () => store.compareAndSet(lease, mine, mine, leaseMs)
        writing = writing
          .then(write)
          .then(renew)
          .then(
            () => {},
            // A store that is away is tried again at the next beat.
            () => {},
          )
      }, WRITE_MS)
      const end = await task(save, signal)
        .catch((error: unknown) => (signal.aborted ? null : failure(id, error)))
        .finally(() => clearInterval(beat))
      await writing
      if (!signal.aborted && end) {
        save({ ...end, endedAt: now() })
        await persist(write)
        log.info({ importId: id, state: current.state }, 'import')
      }
    }

    // What goes wrong here is the store's; the lease ends by itself, and the job can be resumed.
    const done = run()
      .catch(() => {})
      .then(() => release(userId, id, mine))
      .finally(() => atWork.delete(id))
    atWork.set(id, done)
  }

  /** What an error makes of a job. */
  function failure(importId: string, error: unknown): Partial<Job> {
    if (error instanceof FileUnreadable) return { state: 'unreadable', failure: error.message }
    const known =
      error instanceof PlatformError || error instanceof StoreUnavailable || error instanceof ImportRefused
    const { code, name } = error as { code?: unknown; name?: string }
    log.error({ importId, code, reason: known && 'reason' in error ? error.reason : name }, 'import failed')
    const words = known ? error.message : 'The import could not go on, by a fault of this app.'
    return { state: 'failed', failure: words }
  }

  /** The end of a job must not be lost to a store that is away for a moment. */
  async function persist(write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write()
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || tries === 60 || closing.signal.aborted) throw error
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }
    }
  }

  const check =
    (job: Job, columns?: Columns): Task =>
    async (_save, signal) => {
      let report: ReturnType<typeof createReport> | undefined
      let written: Promise<void> | undefined
      const problems: Job['problems'] = []
      const found = await checkFile(fileOf(job.id), {
        signal,
        ...(columns && { columns }),
        onProblem: (problem, headings) => {
          if (problems.length < KEPT_PROBLEMS) problems.push(brief(problem))
          report ??= createReport(headings)
          written ??= pipeline(report.stream, createWriteStream(reportOf(job.id), { mode: 0o600 }))
          return report.add(problem) || new Promise((resolve) => report?.stream.once('drain', resolve))
        },
      }).finally(async () => {
        report?.end()
        await written
      })
      return { ...found, problems, state: 'ready', failure: null }
    }

  const send =
    (job: Job): Task =>
    async (save, signal) => {
      const outcome = await runImport({
        ...{ catalogues, source: source(job.userId, job.context), signal, ...timing },
        ...{
          catalogueId: job.catalogueId,
          batchId: job.batchId,
          batches: readBatches(fileOf(job.id), job.columns),
        },
        onProgress: (progress) => save({ progress: { ...progress } }),
      })
      if (outcome.sent !== job.good)
        throw new ImportRefused(
          409,
          'import_state',
          'The file on disk is not the one that was checked. Upload it again.',
        )
      await removed(fileOf(job.id))
      return { state: 'completed', failure: null }
    }

  async function forget(userId: string, id: string): Promise<void> {
    await store.delete(jobKey(userId, id))
    await Promise.all([fileOf(id), reportOf(id)].map(removed))
  }

  async function keep(id: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
    let size = 0
    const limited = async function* () {
      for await (const chunk of bytes) {
        size += chunk.length
        if (size > maxBytes) {
          const most = `${Math.floor(maxBytes / 1_000_000)} MB`
          throw new ImportRefused(
            413,
            'too_large',
            `The price file is larger than ${most}, the most that is taken here.`,
          )
        }
        yield chunk
      }
    }
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 })
      await pipeline(
        Readable.from(limited(), { objectMode: false }),
        createWriteStream(fileOf(id), { mode: 0o600 }),
      )
      return size
    } catch (error) {
      await removed(fileOf(id))
      const { code } = error as NodeJS.ErrnoException
      if (typeof code === 'string' && /^E[A-Z]+$/.test(code) && code !== 'ECONNRESET')
        throw new StoreUnavailable(`the price file cannot be written (${code})`)
      throw error
    }
  }

  async function list(userId: string): Promise<Job[]> {
    const entries = await store.list(JOB, userId)
    return entries.map(({ value }) => parse(value)).sort((a, b) => b.createdAt - a.createdAt)
  }

  return {
    async upload(userId, { context, catalogue, fileName }, bytes) {
      const id = randomUUID()
      const size = await keep(id, bytes)
      const job: Job = {
        ...{ id, userId, context, fileName, bytes: size, batchId: id, state: 'checking', createdAt: now() },
        ...{ catalogueId: String(catalogue.id), catalogueName: catalogue.name ?? String(catalogue.id) },
        ...{
          startedAt: null,
          endedAt: null,
          headings: [],
          columns: {},
          doubts: [],
          rows: 0,
          good: 0,
          bad: 0,
        },
        ...{ first: [], problems: [], progress: null, failure: null },
      }
      try {
        const mine = await hold(userId, id)
        await store.set(jobKey(userId, id), JSON.stringify(job))
        if (mine) work(job, mine, check(job))
      } catch (error) {
        await forget(userId, id).catch(() => {})
        throw error
      }
      const old = (await list(userId)).filter((known) => !isWork(known)).slice(KEPT_JOBS)
      for (const { id: oldId } of old) await forget(userId, oldId)
      return job
    },

    get: async (userId, id) => view((await read(userId, id)).job),

    list: async (userId, context) =>
      Promise.all((await list(userId)).filter((job) => job.context === context).map(view)),

    async choose(userId, id, columns) {
      await here(id)
      const chosen = (): Partial<Job> => ({ state: 'checking', columns: columns ?? {} })
      await begin(userId, id, ['ready', 'unreadable'], chosen, (job) => check(job, columns))
    },

    async start(userId, id, { strict = false } = {}) {
      await here(id)
      const started = ({ state, doubts, good, bad }: Job): Partial<Job> => {
        if (state === 'checking')
          throw new ImportRefused(409, 'import_state', 'The file has to be checked first.')
        if (doubts.length > 0) throw new ImportRefused(400, 'invalid_input', doubts.join(' '))
        if (good === 0) throw new ImportRefused(400, 'invalid_input', 'No row of this file can be sent.')
        if (strict && bad > 0)
          throw new ImportRefused(400, 'invalid_input', `${bad} rows have problems, so nothing was sent.`)
        return { state: 'running', startedAt: now(), endedAt: null, failure: null, progress: null }
      }
      await begin(userId, id, ['ready', 'failed'], started, send)
    },

    async stop(userId, id) {
      const { job, value } = await read(userId, id)
      if (job.state !== 'running')
        throw new ImportRefused(409, 'import_state', `This import is ${job.state}; that cannot be done now.`)
      const next: Job = { ...job, state: 'failed', endedAt: now(), failure: 'You stopped this import.' }
      // The worker writes often; the user's wish comes through between two of its writes.
      if (await store.compareAndSet(jobKey(userId, id), value, JSON.stringify(next))) return
      const again = await read(userId, id)
      const wish = JSON.stringify({ ...next, progress: again.job.progress })
      if (
        again.job.state !== 'running' ||
        !(await store.compareAndSet(jobKey(userId, id), again.value, wish))
      )
        throw new ImportRefused(409, 'import_state', 'This import has just changed. Look at it again.')
    },

    async discard(userId, id) {
      await read(userId, id)
      await forget(userId, id)
    },

    async report(userId, id) {
      await read(userId, id)
      await access(reportOf(id)).catch(() => {
        throw new ImportRefused(404, 'not_found', 'The report of this import is not on this machine.')
      })
      return reportOf(id)
    },

    async resume() {
      for await (const { value } of store.scan(JOB)) {
        const job = parse(value)
        if (!isWork(job) || atWork.has(job.id) || !existsSync(fileOf(job.id))) continue
        const mine = await hold(job.userId, job.id, 1)
        if (!mine) continue
        log.info({ importId: job.id }, 'import resumed')
        const columns = Object.keys(job.columns).length > 0 ? job.columns : undefined
        work(job, mine, job.state === 'running' ? send(job) : check(job, columns))
      }
    },

    async settled(id, ms) {
      let late: NodeJS.Timeout | undefined
      const after = new Promise<void>((resolve) => {
        late = setTimeout(resolve, ms)
      })
      await Promise.race([atWork.get(id), after])
      clearTimeout(late)
    },

    async close() {
      closing.abort(new Interrupted())
      await Promise.allSettled(atWork.values())
    },
  }

  /** The file must be on this machine to be read. */
  async function here(id: string): Promise<void> {
    await access(fileOf(id)).catch(() => {
      throw new ImportRefused(
        409,
        'import_state',
        'The price file of this import is not on this machine any more. Upload it again.',
      )
    })
  }
}

/** Removes a file if it is there; one that cannot be removed hinders nothing. */
const removed = (path: string) => rm(path, { force: true }).catch(() => {})

/** A problem as a page shows it. */
function brief({ line, reason, cells }: Problem): Problem {
  return { line, reason, cells: cells.slice(0, 8).map((cell) => cell.slice(0, 60)) }
}
