import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ConnectionRef, TokenSource } from '../../connect/index.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import { forgetUserNotice, leaveUserNotice, type UserNotice } from '../../web/notice.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { importNotFound } from './errors.ts'
import { createImportFiles } from './files.ts'
import { checkAgain, choose, start, stop, upload } from './import-commands.ts'
import { JOB, type Job, jobKey } from './import-job.ts'
import { deleteJob, type Imports, type JobView, listJobs, readJob, viewJob } from './import-records.ts'
import { resume, takeOver } from './import-recovery.ts'
import { createImportTasks } from './import-tasks.ts'
import { createJobRunner } from './job-runner.ts'
import type { Choices } from './questions.ts'
import { createRememberedChoices } from './remembered-choices.ts'
import { createSharedFiles } from './shared-files.ts'
import { texts } from './texts.ts'

export type { JobView } from './import-records.ts'

export interface ImportService {
  /**
   * Stores an uploaded file and starts checking it. Throws `ImportError` (413) if the file is too large or exceeds the
   * user's quota, and `ImportError` (409) if too many imports are in progress.
   */
  upload(
    ref: ConnectionRef,
    to: { catalogue: Catalogue; fileName: string; corrected?: Job | null },
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
  /** Deletes the notice that the import has ended, because its user sees that. */
  markSeen(userId: string, id: string): Promise<void>
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
  /** Returns the token source of a connection. */
  source(ref: ConnectionRef): TokenSource
  log: Logger
}

/** Imports price files into catalogues: stores, checks and sends them in background jobs. */
export function createImportService(options: ImportServiceOptions): ImportService {
  const imports = createImports(options)
  const { store, files, runner } = imports
  return {
    upload: (ref, to, bytes) => upload(imports, ref, to, bytes),
    get: async (userId, id) => viewJob(imports, (await readJob(imports, userId, id)).job),
    async list({ userId, bxcontext }) {
      const jobs = await listJobs(imports, userId)
      return Promise.all(
        jobs.filter((job) => job.bxcontext === bxcontext).map((job) => viewJob(imports, job)),
      )
    },
    choose: (userId, id, choices) => choose(imports, userId, id, choices),
    checkAgain: (userId, id) => checkAgain(imports, userId, id),
    start: (userId, id, how) => start(imports, userId, id, how),
    stop: (userId, id) => stop(imports, userId, id),
    async discard(userId, id) {
      if ((await store.get(jobKey(userId, id))) === null) throw importNotFound()
      await deleteJob(imports, userId, id)
    },
    async deleteUser(userId) {
      for (const { key } of await store.list(JOB, userId)) await deleteJob(imports, userId, key.id)
    },
    async report(userId, id) {
      await readJob(imports, userId, id)
      await files.requireReport(id)
      return files.report(id)
    },
    resume: () => resume(imports),
    takeOver: () => takeOver(imports),
    markSeen: (userId, id) => forgetUserNotice(store, userId, id),
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

const endNotice = ({
  id,
  bxcontext,
  fileName,
  catalogueName,
  state,
  progress,
  failure,
}: Job): UserNotice => ({
  id,
  ...(state === 'completed'
    ? {
        text: texts.notice.completed(fileName, progress?.sent ?? 0, catalogueName),
      }
    : { text: texts.notice.stopped(fileName, failure ?? ''), tone: 'wait' }),
  link: { href: `/connections/${encodeURIComponent(bxcontext)}/imports/${id}`, label: texts.notice.open },
})

function createImports(options: ImportServiceOptions): Imports {
  const { store, log, catalogueImports, source } = options
  const shared = store.shared ? createSharedFiles(store, options.totalBytes) : null
  const files = createImportFiles({ ...options, shared })
  const remembered = createRememberedChoices(store)
  const tasks = createImportTasks({ store, files, remembered, catalogueImports, source })
  // The user waits for a check, and may have left the page while the items are sent.
  const onSent = (job: Job) => leaveUserNotice(store, job.userId, endNotice(job))
  const runner = createJobRunner({ store, log, onSent, onCompleted: files.complete })
  return { store, log, files, shared, remembered, tasks, runner }
}
