import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ConnectionRef, KeyValueStore } from '../../connect/index.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import type { Columns } from './columns.ts'
import { ImportError, importNotFound, unreadableImport } from './errors.ts'
import { createImportFiles } from './files.ts'
import { FORMAT, JOB, type Job, jobKey, leaseKey, parseJob } from './import-job.ts'
import type { Problem } from './items.ts'
import { createJobRunner, type JobTask } from './job-runner.ts'
import { checkFile, readBatches } from './reader.ts'
import { createReport } from './report.ts'
import { runImport } from './run.ts'

/** A job. `interrupted`: it should be running, but no process is working on it. */
export type JobView = Job & { interrupted: boolean }

export interface ImportService {
  /**
   * Stores an uploaded file and starts checking it. Throws `ImportError` (413) if the file is too large or exceeds the
   * user's quota, and `ImportError` (409) if too many imports are in progress.
   */
  upload(
    ref: ConnectionRef,
    to: { catalogue: Catalogue; fileName: string },
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<Job>
  /** Throws `ImportError` (404). */
  get(userId: string, id: string): Promise<JobView>
  /** Lists the jobs of a connection, newest first. */
  list(ref: ConnectionRef): Promise<JobView[]>
  /** Sets the columns, or guesses them from the headings if omitted, and checks the file again. */
  choose(userId: string, id: string, columns?: Columns): Promise<void>
  /** Starts sending, or resumes an interrupted, stopped or failed job. With `strict`, throws if any row has a problem. */
  start(userId: string, id: string, options?: { strict?: boolean }): Promise<void>
  /** Stops sending. Items already sent are kept, and the job can be started again. */
  stop(userId: string, id: string): Promise<void>
  /** Deletes the job, its file and its report. */
  discard(userId: string, id: string): Promise<void>
  /** Resolves to the path of the CSV problem report. Throws `ImportError` (404) if it is not on this machine. */
  report(userId: string, id: string): Promise<string>
  /** Resolves when this process is not running the job, or after `ms` at the latest. */
  settled(id: string, ms: number): Promise<void>
  /** Resumes every interrupted job whose file is on this machine. Called at startup. */
  resume(): Promise<void>
  /** Stops the jobs of this process; they can be resumed later. */
  close(): Promise<void>
}

export interface ImportServiceOptions {
  store: KeyValueStore
  /** The folder for files and reports. */
  dir: string
  /** Maximum size of one price file, in bytes. */
  maxBytes: number
  /** Maximum total size of one user's price files, in bytes. */
  quotaBytes: number
  catalogueImports: CatalogueImports
  /** Returns a rate-limited token source for a connection. */
  source(ref: ConnectionRef): TokenSource
  log: Logger
}

/** Problem rows stored in the job; the report has more. */
const MAX_STORED_PROBLEMS = 100
/** Finished jobs kept per user. */
const MAX_FINISHED_JOBS = 20
/** Jobs that one user may have in progress. */
const MAX_RUNNING = 5

/** Imports price files into catalogues: stores, checks and sends them in background jobs. */
export function createImportService(options: ImportServiceOptions): ImportService {
  const { store, catalogueImports, source, log } = options
  const files = createImportFiles(options)
  const runner = createJobRunner({ store, log, onCompleted: files.deleteFile })

  async function read(userId: string, id: string): Promise<{ job: Job; value: string }> {
    const value = await store.get(jobKey(userId, id))
    if (value === null) throw importNotFound()
    const job = parseJob(value)
    if (!job) throw unreadableImport()
    return { job, value }
  }
  const shouldRun = ({ state }: Job) => state === 'checking' || state === 'running'
  async function view(job: Job): Promise<JobView> {
    return { ...job, interrupted: shouldRun(job) && (await store.get(leaseKey(job.userId, job.id))) === null }
  }

  /**
   * Moves an idle job from one of the states `from` to the state that `change` returns, and runs `task`.
   * Throws `ImportError` (409) if the job is in another state or is running.
   */
  async function startTask(
    userId: string,
    id: string,
    from: Job['state'][],
    change: (job: Job) => Partial<Job>,
    task: (job: Job) => JobTask,
  ): Promise<void> {
    const { job: initial } = await read(userId, id)
    const { interrupted } = await view(initial)
    if (!interrupted && !from.includes(initial.state)) throw invalidState(initial)
    const leaseToken = await runner.acquireLease(userId, id)
    if (!leaseToken) throw invalidState(initial)
    try {
      const { job, value } = await read(userId, id)
      if (!from.includes(job.state) && !shouldRun(job)) throw invalidState(job)
      const next = { ...job, ...change(job) }
      const record = JSON.stringify(next)
      if (!(await store.compareAndSet(jobKey(userId, id), value, record))) throw invalidState(job)
      runner.run(next, record, leaseToken, task(next))
    } catch (error) {
      await runner.releaseLease(userId, id, leaseToken)
      throw error
    }
  }

  const checkTask =
    (job: Job, columns?: Columns): JobTask =>
    async (_save, signal) => {
      const report = createReport(files.report(job.id))
      const problems: Job['problems'] = []
      const result = await checkFile(files.file(job.id), {
        ...(columns && { columns }),
        signal,
        onProblem: (problem, headings) => {
          if (problems.length < MAX_STORED_PROBLEMS) problems.push(truncateProblem(problem))
          return report.add(problem, headings)
        },
      }).finally(() => report.end())
      return { ...result, problems, state: 'ready', failure: null }
    }

  const sendTask =
    (job: Job): JobTask =>
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
        throw new ImportError(409, 'conflict', 'The file has changed since it was checked. Upload it again.')
      return { state: 'completed', failure: null }
    }

  async function deleteJob(userId: string, id: string): Promise<void> {
    await store.delete(jobKey(userId, id))
    await files.deleteAll(id)
  }

  async function listAll(userId: string): Promise<Job[]> {
    const entries = await store.list(JOB, userId)
    const jobs = entries.flatMap(({ key, value }) => {
      const job = parseJob(value)
      if (!job) log.error({ code: 'import_unreadable', importId: key.id }, 'an import record cannot be read')
      return job ?? []
    })
    return jobs.sort((a, b) => b.createdAt - a.createdAt)
  }

  return {
    async upload({ userId, bxcontext }, { catalogue, fileName }, bytes) {
      const jobs = await listAll(userId)
      if (jobs.filter(shouldRun).length + files.uploadsInProgress(userId) >= MAX_RUNNING)
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
        if (leaseToken) runner.run(job, record, leaseToken, checkTask(job))
      } catch (error) {
        await deleteJob(userId, id).catch(() => {})
        throw error
      }
      const expired = (await listAll(userId)).filter((job) => !shouldRun(job)).slice(MAX_FINISHED_JOBS)
      for (const { id: oldId } of expired) await deleteJob(userId, oldId)
      return job
    },

    get: async (userId, id) => view((await read(userId, id)).job),

    list: async ({ userId, bxcontext }) =>
      Promise.all((await listAll(userId)).filter((job) => job.bxcontext === bxcontext).map(view)),

    async choose(userId, id, columns) {
      await files.requireFile(id)
      const toChecking = (): Partial<Job> => ({ state: 'checking', columns: columns ?? {} })
      await startTask(userId, id, ['ready', 'unreadable'], toChecking, (job) => checkTask(job, columns))
    },

    async start(userId, id, { strict = false } = {}) {
      await files.requireFile(id)
      const toRunning = ({ state, mappingErrors, validRows, invalidRows }: Job): Partial<Job> => {
        if (state === 'checking') throw new ImportError(409, 'conflict', 'The file must be checked first.')
        if (mappingErrors.length > 0) throw new ImportError(400, 'invalid_input', mappingErrors.join(' '))
        if (validRows === 0) throw new ImportError(400, 'invalid_input', 'This file has no valid rows.')
        if (strict && invalidRows > 0)
          throw new ImportError(
            400,
            'invalid_input',
            `${invalidRows} rows have problems, so nothing was sent.`,
          )
        return { state: 'running', startedAt: Date.now(), endedAt: null, failure: null, progress: null }
      }
      await startTask(userId, id, ['ready', 'failed', 'stopped'], toRunning, sendTask)
    },

    async stop(userId, id) {
      const { job, value } = await read(userId, id)
      if (job.state !== 'running') throw invalidState(job)
      const next: Job = { ...job, state: 'stopped', endedAt: Date.now() }
      // The runner updates the record frequently, so retry once after a conflict.
      if (await store.compareAndSet(jobKey(userId, id), value, JSON.stringify(next))) return
      const latest = await read(userId, id)
      const stopped = JSON.stringify({ ...next, progress: latest.job.progress })
      if (
        latest.job.state !== 'running' ||
        !(await store.compareAndSet(jobKey(userId, id), latest.value, stopped))
      )
        throw new ImportError(409, 'conflict', 'This import has just changed. Reload the page.')
    },

    async discard(userId, id) {
      if ((await store.get(jobKey(userId, id))) === null) throw importNotFound()
      await deleteJob(userId, id)
    },

    async report(userId, id) {
      await read(userId, id)
      await files.requireReport(id)
      return files.report(id)
    },

    async resume() {
      const jobIds = new Set<string>()
      for await (const { key } of store.scan(JOB)) {
        jobIds.add(key.id)
        if (runner.isRunning(key.id) || !files.has(key.id)) continue
        const leaseToken = await runner.acquireLease(key.owner, key.id, 1)
        if (!leaseToken) continue
        // Read again now that the lease is held: the scan may be out of date.
        const value = await store.get(key)
        const job = value && parseJob(value)
        if (!job || !shouldRun(job)) {
          await runner.releaseLease(key.owner, key.id, leaseToken)
          continue
        }
        log.info({ importId: job.id }, 'import resumed')
        const columns = Object.keys(job.columns).length > 0 ? job.columns : undefined
        runner.run(job, value, leaseToken, job.state === 'running' ? sendTask(job) : checkTask(job, columns))
      }
      await files.deleteOrphans(jobIds)
    },

    async settled(id, ms) {
      const timer = new AbortController()
      const timeout = setTimeout(ms, undefined, { signal: timer.signal }).catch(() => {})
      await Promise.race([runner.settled(id), timeout])
      timer.abort()
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

const invalidState = ({ state }: Job) =>
  new ImportError(409, 'conflict', `This is not possible while the import is ${state}.`)

/** Truncates a problem for display on a page. */
function truncateProblem({ line, reason, cells }: Problem): Problem {
  return { line, reason, cells: cells.slice(0, 8).map((cell) => cell.slice(0, 60)) }
}
