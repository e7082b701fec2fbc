import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Catalogue } from '../../connect/platform/contract.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import type { Store } from '../../connect/store/store.ts'
import type { Catalogues } from '../catalogues/catalogues.ts'
import type { Columns } from './columns.ts'
import { ImportError, noSuchImport, unreadableImport } from './errors.ts'
import { createFiles } from './files.ts'
import { FORMAT, JOB, type Job, jobKey, leaseKey, parseJob } from './import-job.ts'
import type { Problem } from './items.ts'
import { createWorkbench, type Task } from './job-runner.ts'
import { checkFile, readBatches } from './reader.ts'
import { createReport } from './report.ts'
import { runImport } from './run.ts'

/** A job, and whether a process is at work on it. One that should be worked on and is not was interrupted. */
export type JobView = Job & { interrupted: boolean }

export interface Imports {
  /**
   * Keeps an uploaded file and begins to check it. Throws `ImportError` (413) and keeps nothing of a file that is too
   * large, or larger than what is left of the user's quota.
   */
  upload(
    userId: string,
    to: { context: string; catalogue: Catalogue; fileName: string },
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<Job>
  /** Throws `ImportError` (404). */
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
  /** The path of the CSV report of all problem rows. Throws `ImportError` (404) when it is not on this machine. */
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
  /** The largest price file, and the most that the files of one user may take together, in bytes. */
  maxBytes: number
  quotaBytes: number
  catalogues: Pick<Catalogues, 'startImport' | 'uploadItems' | 'getImport'>
  /** A paced source of tokens for a user's connection. */
  source(userId: string, context: string): TokenSource
  log: Logger
}

const KEPT_PROBLEMS = 100
const KEPT_JOBS = 20
/** A user's jobs that may be worked on at a time. */
const MOST_AT_WORK = 5

export function createImports(options: ImportsOptions): Imports {
  const { store, catalogues, source, log } = options
  const files = createFiles(options)
  const { hold, release, work, ...bench } = createWorkbench({ store, log, onCompleted: files.drop })

  async function read(userId: string, id: string): Promise<{ job: Job; value: string }> {
    const value = await store.get(jobKey(userId, id))
    if (value === null) throw noSuchImport()
    const job = parseJob(value)
    if (!job) throw unreadableImport()
    return { job, value }
  }
  const isWork = ({ state }: Job) => state === 'checking' || state === 'running'
  async function view(job: Job): Promise<JobView> {
    return { ...job, interrupted: isWork(job) && (await store.get(leaseKey(job.userId, job.id))) === null }
  }

  /**
   * Changes a job that nobody works on, and begins the work on it.
   * Throws `ImportError` (409) if its state is another.
   */
  async function begin(
    userId: string,
    id: string,
    from: Job['state'][],
    to: (job: Job) => Partial<Job>,
    task: (job: Job) => Task,
  ): Promise<void> {
    const { job: seen } = await read(userId, id)
    const { interrupted } = await view(seen)
    if (!interrupted && !from.includes(seen.state)) throw notNow(seen)
    const mine = await hold(userId, id)
    if (!mine) throw notNow(seen)
    try {
      const { job, value } = await read(userId, id)
      if (!from.includes(job.state) && !isWork(job)) throw notNow(job)
      const next = { ...job, ...to(job) }
      const record = JSON.stringify(next)
      if (!(await store.compareAndSet(jobKey(userId, id), value, record))) throw notNow(job)
      work(next, record, mine, task(next))
    } catch (error) {
      await release(userId, id, mine)
      throw error
    }
  }

  const check =
    (job: Job, columns?: Columns): Task =>
    async (_save, signal) => {
      const report = createReport(files.report(job.id))
      const problems: Job['problems'] = []
      const found = await checkFile(files.file(job.id), {
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
        ...{ catalogues, source: source(job.userId, job.context), signal },
        ...{
          catalogueId: job.catalogueId,
          batchId: job.batchId,
          batches: readBatches(files.file(job.id), { columns: job.columns, signal }),
        },
        onProgress: (progress) => save({ progress: { ...progress } }),
      })
      if (outcome.sent !== job.good)
        throw new ImportError(
          409,
          'import_state',
          'The file on disk is not the one that was checked. Upload it again.',
        )
      return { state: 'completed', failure: null }
    }

  async function forget(userId: string, id: string): Promise<void> {
    await store.delete(jobKey(userId, id))
    await files.forget(id)
  }

  async function list(userId: string): Promise<Job[]> {
    const entries = await store.list(JOB, userId)
    const jobs = entries.flatMap(({ key, value }) => {
      const job = parseJob(value)
      if (!job)
        log.error({ code: 'record_unreadable', importId: key.id }, 'the record of an import cannot be read')
      return job ?? []
    })
    return jobs.sort((a, b) => b.createdAt - a.createdAt)
  }

  return {
    async upload(userId, { context, catalogue, fileName }, bytes) {
      const jobs = await list(userId)
      if (jobs.filter(isWork).length + files.arriving(userId) >= MOST_AT_WORK)
        throw new ImportError(
          409,
          'import_state',
          `You already have ${MOST_AT_WORK} imports in progress. Wait for one to finish.`,
        )
      const id = randomUUID()
      const stored = jobs.filter((job) => files.has(job.id)).reduce((sum, job) => sum + job.bytes, 0)
      const size = await files.keep(id, userId, stored, bytes)
      const job: Job = {
        ...{
          format: FORMAT,
          id,
          userId,
          context,
          fileName,
          bytes: size,
          batchId: id,
          state: 'checking',
          createdAt: Date.now(),
        },
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
      await files.need(id)
      const chosen = (): Partial<Job> => ({ state: 'checking', columns: columns ?? {} })
      await begin(userId, id, ['ready', 'unreadable'], chosen, (job) => check(job, columns))
    },

    async start(userId, id, { strict = false } = {}) {
      await files.need(id)
      const started = ({ state, doubts, good, bad }: Job): Partial<Job> => {
        if (state === 'checking')
          throw new ImportError(409, 'import_state', 'The file has to be checked first.')
        if (doubts.length > 0) throw new ImportError(400, 'invalid_input', doubts.join(' '))
        if (good === 0) throw new ImportError(400, 'invalid_input', 'No row of this file can be sent.')
        if (strict && bad > 0)
          throw new ImportError(400, 'invalid_input', `${bad} rows have problems, so nothing was sent.`)
        return { state: 'running', startedAt: Date.now(), endedAt: null, failure: null, progress: null }
      }
      await begin(userId, id, ['ready', 'failed'], started, send)
    },

    async stop(userId, id) {
      const { job, value } = await read(userId, id)
      if (job.state !== 'running') throw notNow(job)
      const next: Job = { ...job, state: 'failed', endedAt: Date.now(), failure: 'You stopped this import.' }
      // The worker writes often; the user's wish comes through between two of its writes.
      if (await store.compareAndSet(jobKey(userId, id), value, JSON.stringify(next))) return
      const again = await read(userId, id)
      const wish = JSON.stringify({ ...next, progress: again.job.progress })
      if (
        again.job.state !== 'running' ||
        !(await store.compareAndSet(jobKey(userId, id), again.value, wish))
      )
        throw new ImportError(409, 'import_state', 'This import has just changed. Look at it again.')
    },

    async discard(userId, id) {
      if ((await store.get(jobKey(userId, id))) === null) throw noSuchImport()
      await forget(userId, id)
    },

    async report(userId, id) {
      await read(userId, id)
      await files.needReport(id)
      return files.report(id)
    },

    async resume() {
      const known = new Set<string>()
      for await (const { key } of store.scan(JOB)) {
        known.add(key.id)
        if (bench.isAtWork(key.id) || !files.has(key.id)) continue
        const mine = await hold(key.owner, key.id, 1)
        if (!mine) continue
        // Read when it is held: the scan may be older.
        const value = await store.get(key)
        const job = value && parseJob(value)
        if (!job || !isWork(job)) {
          await release(key.owner, key.id, mine)
          continue
        }
        log.info({ importId: job.id }, 'import resumed')
        const columns = Object.keys(job.columns).length > 0 ? job.columns : undefined
        work(job, value, mine, job.state === 'running' ? send(job) : check(job, columns))
      }
      await files.sweep(known)
    },

    async settled(id, ms) {
      let late: NodeJS.Timeout | undefined
      const after = new Promise<void>((resolve) => {
        late = setTimeout(resolve, ms)
      })
      await Promise.race([bench.settled(id), after])
      clearTimeout(late)
    },

    close: bench.close,
  }
}

const notNow = ({ state }: Job) =>
  new ImportError(409, 'import_state', `This import is ${state}; that cannot be done now.`)

/** A problem as a page shows it. */
function brief({ line, reason, cells }: Problem): Problem {
  return { line, reason, cells: cells.slice(0, 8).map((cell) => cell.slice(0, 60)) }
}
