import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ConnectionRef, KeyValueStore } from '../../connect/index.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import { withLease } from '../../connect/store/lease.ts'
import { type Key, StoreUnavailableError, scan } from '../../connect/store/store.ts'
import { UPLOAD_MS } from '../../web/body-deadline.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { ImportError, importNotFound, unreadableImport } from './errors.ts'
import { createImportFiles, SHARED_MS } from './files.ts'
import {
  ACTIVE_JOB,
  ALL_USERS,
  activeKey,
  JOB,
  type Job,
  jobKey,
  leaseKey,
  newJob,
  parseJob,
  toRunning,
} from './import-job.ts'
import { createImportTasks } from './import-tasks.ts'
import { createJobRunner, type JobTask } from './job-runner.ts'
import type { Choices } from './layout.ts'
import { createRememberedChoices } from './remembered-choices.ts'
import { lastCodesName } from './seen-codes.ts'
import { createSharedFiles } from './shared-files.ts'

/** Held while a user's files are counted, so that uploads at the same time do not exceed the quota together. */
const quotaKey = (userId: string): Key => ({ kind: 'upload-quota', owner: userId, id: '' })

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
  /**
   * Sets how to read the file, or recognises it if omitted, and checks it again. The choices are remembered for the next
   * file of this connection with the same headings.
   */
  choose(userId: string, id: string, choices?: Choices): Promise<void>
  /** Resumes an interrupted check. */
  checkAgain(userId: string, id: string): Promise<void>
  /**
   * Starts sending, or resumes an interrupted, stopped or failed job. With `strict`, throws if any row has a problem.
   * `readAs` (`readAsOf`): what the user has seen; throws if the file is read in another way by now.
   */
  start(
    userId: string,
    id: string,
    options?: { strict?: boolean; readAs?: string | undefined },
  ): Promise<void>
  /** Stops sending. Items already sent are kept, and the job can be started again. */
  stop(userId: string, id: string): Promise<void>
  /** Deletes the job, its file and its report. */
  discard(userId: string, id: string): Promise<void>
  /** Deletes all jobs of a user with their files. */
  deleteUser(userId: string): Promise<void>
  /** Resolves to the path of the CSV problem report. Throws `ImportError` (404) if there is none. */
  report(userId: string, id: string): Promise<string>
  /** Resolves when this process is not running the job, or after `ms` at the latest. */
  settled(id: string, ms: number): Promise<void>
  /** Resumes every interrupted job whose file is there, and deletes files without a job. Called at startup and every day. */
  resume(): Promise<void>
  /** Takes over the jobs of processes that have died, and deletes files that are not needed here. Called every few seconds. */
  takeOver(): Promise<void>
  /** The jobs that run in this process, as they are now. */
  current(): Job[]
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
  /** Maximum size of the compressed copies of all users' files in a shared store, in bytes. */
  totalBytes: number
  catalogueImports: CatalogueImports
  /** Returns a rate-limited token source for a connection. */
  source(ref: ConnectionRef): TokenSource
  log: Logger
}

/** Finished jobs kept per user. */
const MAX_FINISHED_JOBS = 20
/** Jobs that one user may have in progress. */
const MAX_RUNNING = 5

/** Imports price files into catalogues: stores, checks and sends them in background jobs. */
export function createImportService(options: ImportServiceOptions): ImportService {
  const { store, catalogueImports, source, log } = options
  const shared = store.shared ? createSharedFiles(store, options.totalBytes) : null
  const files = createImportFiles({ ...options, shared })
  const remembered = createRememberedChoices(store)
  const tasks = createImportTasks({ files, remembered, catalogueImports, source })
  const targetOf = ({ catalogueId, bxcontext }: Job) => `${bxcontext} ${catalogueId}`
  const complete = (job: Job) => files.complete(job.id, targetOf(job))
  const runner = createJobRunner({ store, log, onCompleted: complete })

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
      await runner.markActive(job)
      if (!(await store.compareAndSet(jobKey(userId, id), value, record))) throw invalidState(job)
      runner.run(next, record, leaseToken, task(next))
    } catch (error) {
      await runner.releaseLease(userId, id, leaseToken)
      throw error
    }
  }

  /** Runs a job that should be running, if no process does and its file is there. */
  async function resumeJob(userId: string, id: string): Promise<void> {
    if (runner.isRunning(id)) return
    const hasFile = await files.has(id)
    const leaseToken = await runner.acquireLease(userId, id, 1)
    if (!leaseToken) return
    // Read now that the lease is held: a list may be out of date.
    const value = await store.get(jobKey(userId, id))
    const job = value && parseJob(value)
    if (!job || !shouldRun(job)) {
      await store.delete(activeKey(id))
      await runner.releaseLease(userId, id, leaseToken)
      return
    }
    if (!hasFile) {
      // A machine of an earlier version may have it, and share it when it starts.
      if (Date.now() - job.createdAt > SHARED_MS)
        await store.compareAndSet(jobKey(userId, id), value, expired(job))
      await runner.releaseLease(userId, id, leaseToken)
      return
    }
    log.info({ importId: id }, 'import resumed')
    runner.run(job, value, leaseToken, job.state === 'running' ? tasks.send(job) : tasks.check(job))
  }

  /** A job that cannot be resumed does not keep the others from it. Throws only `StoreUnavailableError`. */
  async function separately(importId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error
      const { code, name } = error as { code?: unknown; name?: string }
      log.error({ importId, code, reason: name }, 'an import could not be resumed')
    }
  }

  /** Counts an upload among the user's imports in progress, in all processes. Throws `ImportError` (409). */
  async function claimUpload(userId: string, running: number): Promise<Key> {
    for (let slot = 0; slot < MAX_RUNNING - running; slot++) {
      const key: Key = { kind: 'upload', owner: userId, id: String(slot) }
      if (await store.compareAndSet(key, null, '1', UPLOAD_MS)) return key
    }
    throw new ImportError(
      409,
      'conflict',
      `You already have ${MAX_RUNNING} imports in progress. Wait for one to finish.`,
    )
  }

  async function deleteJob(userId: string, id: string): Promise<void> {
    await Promise.all([store.delete(jobKey(userId, id)), store.delete(activeKey(id))])
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
      const slot = await claimUpload(userId, jobs.filter(shouldRun).length)
      const id = randomUUID()
      let job: Job
      try {
        const others = jobs.map((other) => other.id)
        const size = await files.keep(id, userId, others, bytes)
        job = newJob({ id, userId, bxcontext, catalogue, fileName, bytes: size })
        const leaseToken = await runner.acquireLease(userId, id)
        const record = JSON.stringify(job)
        await withLease(store, quotaKey(userId), { ms: 10_000, waitMs: 10_000 }, async () => {
          // Other processes may have received files of this user in the meantime.
          await files.requireQuota([id, ...(await listAll(userId)).map((other) => other.id)])
          await runner.markActive(job)
          await store.set(jobKey(userId, id), record)
        })
        if (leaseToken) runner.run(job, record, leaseToken, tasks.check(job))
      } catch (error) {
        await deleteJob(userId, id).catch(() => {})
        throw error
      } finally {
        await store.delete(slot).catch(() => {})
      }
      const expired = (await listAll(userId)).filter((job) => !shouldRun(job)).slice(MAX_FINISHED_JOBS)
      for (const { id: oldId } of expired) await deleteJob(userId, oldId)
      return job
    },

    get: async (userId, id) => view((await read(userId, id)).job),

    list: async ({ userId, bxcontext }) =>
      Promise.all((await listAll(userId)).filter((job) => job.bxcontext === bxcontext).map(view)),

    async choose(userId, id, choices) {
      await files.requireFile(id)
      const { job } = await read(userId, id)
      if (!choices && job.layoutId) await remembered.forget(job, job.layoutId)
      const toChecking = (): Partial<Job> => ({ state: 'checking', choices: choices ?? null, progress: null })
      await startTask(userId, id, ['ready', 'unreadable'], toChecking, tasks.check)
    },

    async checkAgain(userId, id) {
      await files.requireFile(id)
      await startTask(userId, id, [], () => ({ state: 'checking' }), tasks.check)
    },

    async start(userId, id, { strict = false, readAs } = {}) {
      const { job: current } = await read(userId, id)
      const canStart = current.state !== 'completed' && current.state !== 'checking'
      if (canStart && current.mappingErrors.length === 0) await files.requireItems(id, current.itemsVersion)
      await startTask(
        userId,
        id,
        ['ready', 'failed', 'stopped'],
        (job) => toRunning(job, { strict, readAs }),
        tasks.send,
      )
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

    async deleteUser(userId) {
      for (const { key } of await store.list(JOB, userId)) await deleteJob(userId, key.id)
    },

    async report(userId, id) {
      await read(userId, id)
      await files.requireReport(id)
      return files.report(id)
    },

    async resume() {
      const ids = new Set<string>()
      const targets = new Set<string>()
      for await (const { key, value } of scan(store, JOB)) {
        ids.add(key.id)
        const job = parseJob(value)
        if (job) targets.add(lastCodesName(targetOf(job)))
      }
      await shared?.recount([...ids, ...targets])
      await files.deleteOrphans(ids)
      for await (const { key, value } of scan(store, JOB))
        await separately(key.id, async () => {
          const job = parseJob(value)
          if (job) await files.shareExisting(job.id, targetOf(job))
          // A process may have died between the completion and the removal of the files.
          if (job?.state === 'completed' && (await files.has(key.id))) await complete(job)
          else await resumeJob(key.owner, key.id)
        })
    },

    async takeOver() {
      for (const { key, value: userId } of await store.list(ACTIVE_JOB, ALL_USERS))
        await separately(key.id, () => resumeJob(userId, key.id))
      await files.trim(new Set(runner.current().map(({ id }) => id)))
    },

    async settled(id, ms) {
      const timer = new AbortController()
      const timeout = setTimeout(ms, undefined, { signal: timer.signal }).catch(() => {})
      await Promise.race([runner.settled(id), timeout])
      timer.abort()
    },

    current: runner.current,
    close: runner.close,
  }
}

/** The record of a job whose file is gone. */
const expired = (job: Job) => {
  const failure = 'The price file of this import is no longer available. Upload it again.'
  const state = job.state === 'running' ? 'failed' : 'unreadable'
  return JSON.stringify({ ...job, state, failure, endedAt: Date.now() } satisfies Job)
}

const invalidState = ({ state }: Job) =>
  new ImportError(409, 'conflict', `This is not possible while the import is ${state}.`)
