import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { ConnectionRef, KeyValueStore } from '../../connect/index.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import type { Columns } from './columns.ts'
import { ImportError, noSuchImport, unreadableImport } from './errors.ts'
import { createFiles } from './files.ts'
import { FORMAT, JOB, type Job, jobKey, leaseKey, parseJob } from './import-job.ts'
import type { Problem } from './items.ts'
import { createJobRunner, type Task } from './job-runner.ts'
import { checkFile, readBatches } from './reader.ts'
import { createReport } from './report.ts'
import { runImport } from './run.ts'

/** A job, and whether it was interrupted: it should be running, and no process runs it. */
export type JobView = Job & { interrupted: boolean }

export interface ImportService {
  /**
   * Stores an uploaded file and starts to check it. Throws `ImportError` (413), and stores nothing, if the file is too
   * large, or exceeds what is left of the user's quota.
   */
  upload(
    ref: ConnectionRef,
    to: { catalogue: Catalogue; fileName: string },
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<Job>
  /** Throws `ImportError` (404). */
  get(userId: string, id: string): Promise<JobView>
  /** The jobs of a connection, the latest first. */
  list(ref: ConnectionRef): Promise<JobView[]>
  /** Chooses the columns, or goes by the headings, and checks the file again. */
  choose(userId: string, id: string, columns?: Columns): Promise<void>
  /** Starts sending, or resumes a job that was interrupted or has failed. `strict` rejects a file with problems. */
  start(userId: string, id: string, options?: { strict?: boolean }): Promise<void>
  /** Stops sending; items already sent are kept, and the job can be started again. */
  stop(userId: string, id: string): Promise<void>
  /** Deletes the job, its file and its report. */
  discard(userId: string, id: string): Promise<void>
  /** The path of the CSV report of all problem rows. Throws `ImportError` (404) when it is not on this machine. */
  report(userId: string, id: string): Promise<string>
  /** Resolves when the job is not running in this process, or after `ms`. */
  settled(id: string, ms: number): Promise<void>
  /** Resumes every interrupted job whose file is on this machine: for the start of the app. */
  resume(): Promise<void>
  /** Stops the work of this process; the jobs are kept and can be resumed. */
  close(): Promise<void>
}

export interface ImportServiceOptions {
  store: KeyValueStore
  /** The folder for files and reports. */
  dir: string
  /** The largest price file, and the most that the files of one user may take together, in bytes. */
  maxBytes: number
  quotaBytes: number
  catalogueImports: CatalogueImports
  /** A source of tokens for a connection, which waits for the platform's rate limit. */
  source(ref: ConnectionRef): TokenSource
  log: Logger
}

const KEPT_PROBLEMS = 100
const KEPT_JOBS = 20
/** How many jobs of one user may run at a time. */
const MAX_RUNNING = 5

export function createImportService(options: ImportServiceOptions): ImportService {
  const { store, catalogueImports, source, log } = options
  const files = createFiles(options)
  const runner = createJobRunner({ store, log, onCompleted: files.drop })

  async function read(userId: string, id: string): Promise<{ job: Job; value: string }> {
    const value = await store.get(jobKey(userId, id))
    if (value === null) throw noSuchImport()
    const job = parseJob(value)
    if (!job) throw unreadableImport()
    return { job, value }
  }
  const shouldRun = ({ state }: Job) => state === 'checking' || state === 'running'
  async function view(job: Job): Promise<JobView> {
    return { ...job, interrupted: shouldRun(job) && (await store.get(leaseKey(job.userId, job.id))) === null }
  }

  /**
   * Changes a job that is not running, and runs it.
   * Throws `ImportError` (409) if its state is none of `from`.
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
    const leaseToken = await runner.acquireLease(userId, id)
    if (!leaseToken) throw notNow(seen)
    try {
      const { job, value } = await read(userId, id)
      if (!from.includes(job.state) && !shouldRun(job)) throw notNow(job)
      const next = { ...job, ...to(job) }
      const record = JSON.stringify(next)
      if (!(await store.compareAndSet(jobKey(userId, id), value, record))) throw notNow(job)
      runner.run(next, record, leaseToken, task(next))
    } catch (error) {
      await runner.releaseLease(userId, id, leaseToken)
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
        catalogueImports,
        source: source({ userId: job.userId, bxcontext: job.bxcontext }),
        signal,
        catalogueId: job.catalogueId,
        batchId: job.batchId,
        batches: readBatches(files.file(job.id), { columns: job.columns, signal }),
        onProgress: (progress) => save({ progress: { ...progress } }),
      })
      if (outcome.sent !== job.validRows)
        throw new ImportError(
          409,
          'conflict',
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
        log.error({ code: 'import_unreadable', importId: key.id }, 'the record of an import cannot be read')
      return job ?? []
    })
    return jobs.sort((a, b) => b.createdAt - a.createdAt)
  }

  return {
    async upload({ userId, bxcontext }, { catalogue, fileName }, bytes) {
      const jobs = await list(userId)
      if (jobs.filter(shouldRun).length + files.arriving(userId) >= MAX_RUNNING)
        throw new ImportError(
          409,
          'conflict',
          `You already have ${MAX_RUNNING} imports in progress. Wait for one to finish.`,
        )
      const id = randomUUID()
      const stored = jobs.filter((job) => files.has(job.id)).reduce((sum, job) => sum + job.bytes, 0)
      const size = await files.keep(id, userId, stored, bytes)
      const job = newJob({ id, userId, bxcontext, catalogue, fileName, bytes: size })
      try {
        const leaseToken = await runner.acquireLease(userId, id)
        const record = JSON.stringify(job)
        await store.set(jobKey(userId, id), record)
        if (leaseToken) runner.run(job, record, leaseToken, check(job))
      } catch (error) {
        await forget(userId, id).catch(() => {})
        throw error
      }
      const old = (await list(userId)).filter((known) => !shouldRun(known)).slice(KEPT_JOBS)
      for (const { id: oldId } of old) await forget(userId, oldId)
      return job
    },

    get: async (userId, id) => view((await read(userId, id)).job),

    list: async ({ userId, bxcontext }) =>
      Promise.all((await list(userId)).filter((job) => job.bxcontext === bxcontext).map(view)),

    async choose(userId, id, columns) {
      await files.need(id)
      const chosen = (): Partial<Job> => ({ state: 'checking', columns: columns ?? {} })
      await begin(userId, id, ['ready', 'unreadable'], chosen, (job) => check(job, columns))
    },

    async start(userId, id, { strict = false } = {}) {
      await files.need(id)
      const started = ({ state, mappingErrors, validRows, invalidRows }: Job): Partial<Job> => {
        if (state === 'checking') throw new ImportError(409, 'conflict', 'The file must be checked first.')
        if (mappingErrors.length > 0) throw new ImportError(400, 'invalid_input', mappingErrors.join(' '))
        if (validRows === 0)
          throw new ImportError(400, 'invalid_input', 'This file has no row that can be sent.')
        if (strict && invalidRows > 0)
          throw new ImportError(
            400,
            'invalid_input',
            `${invalidRows} rows have problems, so nothing was sent.`,
          )
        return { state: 'running', startedAt: Date.now(), endedAt: null, failure: null, progress: null }
      }
      await begin(userId, id, ['ready', 'failed'], started, send)
    },

    async stop(userId, id) {
      const { job, value } = await read(userId, id)
      if (job.state !== 'running') throw notNow(job)
      const next: Job = { ...job, state: 'failed', endedAt: Date.now(), failure: 'You stopped this import.' }
      // The runner writes often: try once more after one of its writes.
      if (await store.compareAndSet(jobKey(userId, id), value, JSON.stringify(next))) return
      const again = await read(userId, id)
      const stopped = JSON.stringify({ ...next, progress: again.job.progress })
      if (
        again.job.state !== 'running' ||
        !(await store.compareAndSet(jobKey(userId, id), again.value, stopped))
      )
        throw new ImportError(409, 'conflict', 'This import has just changed. Reload the page.')
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
        if (runner.isRunning(key.id) || !files.has(key.id)) continue
        const leaseToken = await runner.acquireLease(key.owner, key.id, 1)
        if (!leaseToken) continue
        // Read when it is held: the scan may be older.
        const value = await store.get(key)
        const job = value && parseJob(value)
        if (!job || !shouldRun(job)) {
          await runner.releaseLease(key.owner, key.id, leaseToken)
          continue
        }
        log.info({ importId: job.id }, 'import resumed')
        const columns = Object.keys(job.columns).length > 0 ? job.columns : undefined
        runner.run(job, value, leaseToken, job.state === 'running' ? send(job) : check(job, columns))
      }
      await files.sweep(known)
    },

    async settled(id, ms) {
      let timer: NodeJS.Timeout | undefined
      const after = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms)
      })
      await Promise.race([runner.settled(id), after])
      clearTimeout(timer)
    },

    close: runner.close,
  }
}

function newJob({
  catalogue,
  ...upload
}: Pick<Job, 'id' | 'userId' | 'bxcontext' | 'fileName' | 'bytes'> & { catalogue: Catalogue }): Job {
  return {
    ...upload,
    format: FORMAT,
    catalogueId: catalogue.id,
    catalogueName: catalogue.name ?? catalogue.id,
    batchId: upload.id,
    state: 'checking',
    createdAt: Date.now(),
    startedAt: null,
    endedAt: null,
    headings: [],
    columns: {},
    mappingErrors: [],
    rows: 0,
    validRows: 0,
    invalidRows: 0,
    sample: [],
    preview: [],
    problems: [],
    progress: null,
    failure: null,
  }
}

const notNow = ({ state }: Job) =>
  new ImportError(409, 'conflict', `This import is ${state}, so that is not possible now.`)

/** A problem as a page shows it. */
function brief({ line, reason, cells }: Problem): Problem {
  return { line, reason, cells: cells.slice(0, 8).map((cell) => cell.slice(0, 60)) }
}
