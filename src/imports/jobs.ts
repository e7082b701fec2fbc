import { randomUUID } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { access, mkdir, readdir, rm, stat } from 'node:fs/promises'
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
/** A user's jobs that may be worked on at a time; and how many are, of all users, in one process. */
const MOST_AT_WORK = 5
const MOST_THREADS = 4
/** A file without a job is taken for left behind after this long, in ms. */
const ORPHAN_MS = 3_600_000

export function createImports(options: ImportsOptions): Imports {
  const { store, dir, maxBytes, catalogues, source, log, leaseMs = 10_000, timing, now = Date.now } = options
  const closing = new AbortController()
  const atWork = new Map<string, Promise<void>>()
  let threads = 0
  const turns: (() => void)[] = []
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
      const record = JSON.stringify(next)
      if (!(await store.compareAndSet(jobKey(userId, id), value, record))) throw refuse(job)
      work(next, record, mine, task(next))
    } catch (error) {
      await release(userId, id, mine)
      throw error
    }
  }

  /**
   * Works on a job that is held, in the background, and only as long as its record is ours. `stored` is the record as
   * it is in the store, to the letter: that is what compare-and-set compares.
   */
  function work(job: Job, stored: string, mine: string, task: Task): void {
    const { userId, id } = job
    const [key, lease] = [jobKey(userId, id), leaseKey(userId, id)]
    const taken = new AbortController()
    const signal = AbortSignal.any([closing.signal, taken.signal])
    let current = job
    /** A write that was not answered, and may have been carried out all the same. */
    let inDoubt: string | null = null
    const save = (change: Partial<Job>) => {
      current = { ...current, ...change }
    }
    async function write(): Promise<void> {
      const value = JSON.stringify(current)
      try {
        // The same value is compared all the same: it tells whether the user has stopped or discarded the job.
        let ours = await store.compareAndSet(key, stored, value)
        if (!ours && inDoubt !== null) {
          stored = inDoubt
          ours = await store.compareAndSet(key, stored, value)
        }
        if (!ours) return taken.abort(new Interrupted())
        stored = value
        inDoubt = null
      } catch (error) {
        inDoubt = value
        throw error
      }
    }
    async function renew(): Promise<void> {
      const kept = await store.compareAndSet(lease, mine, mine, leaseMs)
      // It may have ended while the store was away.
      if (!kept) await store.compareAndSet(lease, null, mine, leaseMs)
    }

    async function run(): Promise<void> {
      let writing = Promise.resolve()
      const beat = setInterval(() => {
        writing = writing.then(write).then(renew, () => {
          // A store that is away is tried again at the next beat.
        })
      }, WRITE_MS)
      const end = await inTurn(() => task(save, signal), signal)
        .catch((error: unknown) => (signal.aborted ? null : failure(job, error)))
        .finally(() => clearInterval(beat))
      await writing.catch(() => {})
      if (signal.aborted || !end) return
      save({ ...end, endedAt: now() })
      await persist(write)
      if (signal.aborted) return
      log.info({ importId: id, state: current.state }, 'import')
      if (current.state === 'completed') await removed(fileOf(id))
    }

    // What goes wrong here is the store's; the lease ends by itself, and the job can be resumed.
    const done = run()
      .catch(() => {})
      .then(() => release(userId, id, mine))
      .finally(() => atWork.delete(id))
    atWork.set(id, done)
  }

  /** Waits for one of the few threads that read price files. */
  async function inTurn<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    while (threads >= MOST_THREADS) {
      await new Promise<void>((resolve) => {
        turns.push(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      signal.throwIfAborted()
    }
    threads++
    try {
      return await task()
    } finally {
      threads--
      for (const turn of turns.splice(0)) turn()
    }
  }

  /** What an error makes of a job. */
  function failure({ id: importId, state }: Job, error: unknown): Partial<Job> {
    if (error instanceof FileUnreadable) return { state: 'unreadable', failure: error.message }
    const known =
      error instanceof PlatformError || error instanceof StoreUnavailable || error instanceof ImportRefused
    const { code, name } = error as { code?: unknown; name?: string }
    log.error({ importId, code, reason: known && 'reason' in error ? error.reason : name }, 'import failed')
    const words = known ? error.message : 'The import could not go on, by a fault of this app.'
    return { state: state === 'checking' ? 'unreadable' : 'failed', failure: words }
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
      const report = createReport(reportOf(job.id))
      const problems: Job['problems'] = []
      const found = await checkFile(fileOf(job.id), {
        ...(columns && { columns }),
        signal,
        onProblem: (problem, headings) => {
          if (problems.length < KEPT_PROBLEMS) problems.push(brief(problem))
          return report.add(problem, headings)
        },
      }).finally(() => report.end())
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
          batches: readBatches(fileOf(job.id), { columns: job.columns, signal }),
        },
        onProgress: (progress) => save({ progress: { ...progress } }),
      })
      if (outcome.sent !== job.good)
        throw new ImportRefused(
          409,
          'import_state',
          'The file on disk is not the one that was checked. Upload it again.',
        )
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

  /** Removes files that a killed process left without a job; young ones may be on their way in. */
  async function sweep(known: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(dir).catch(() => [])) {
      const [id = ''] = name.split('.')
      const { mtimeMs } = (await stat(join(dir, name)).catch(() => null)) ?? { mtimeMs: now() }
      if (!known.has(id) && now() - mtimeMs > ORPHAN_MS) await removed(join(dir, name))
    }
  }

  async function list(userId: string): Promise<Job[]> {
    const entries = await store.list(JOB, userId)
    return entries.map(({ value }) => parse(value)).sort((a, b) => b.createdAt - a.createdAt)
  }

  return {
    async upload(userId, { context, catalogue, fileName }, bytes) {
      if ((await list(userId)).filter(isWork).length >= MOST_AT_WORK)
        throw new ImportRefused(
          409,
          'import_state',
          `You have ${MOST_AT_WORK} files at work. Wait for one to end.`,
        )
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
        ...{ sample: [], first: [], problems: [], progress: null, failure: null },
      }
      try {
        const mine = await hold(userId, id)
        const record = JSON.stringify(job)
        await store.set(jobKey(userId, id), record)
        if (mine) work(job, record, mine, check(job))
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
      const known = new Set<string>()
      for await (const { key } of store.scan(JOB)) {
        known.add(key.id)
        if (atWork.has(key.id) || !existsSync(fileOf(key.id))) continue
        const mine = await hold(key.owner, key.id, 1)
        if (!mine) continue
        // Read when it is held: the scan may be older.
        const value = await store.get(key)
        const job = value && parse(value)
        if (!job || !isWork(job)) {
          await release(key.owner, key.id, mine)
          continue
        }
        log.info({ importId: job.id }, 'import resumed')
        const columns = Object.keys(job.columns).length > 0 ? job.columns : undefined
        work(job, value, mine, job.state === 'running' ? send(job) : check(job, columns))
      }
      await sweep(known)
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
