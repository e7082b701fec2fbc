/** The records of imports in the store, and what all operations on imports share. */
import type { Logger } from 'pino'
import type { Key, KeyValueStore } from '../../connect/stores.ts'
import { forgetUserNotice } from '../../web/notice.ts'
import { ImportError, importNotFound, unreadableImport } from './errors.ts'
import type { ImportFiles } from './files.ts'
import { activeKey, JOB, type Job, jobKey, leaseKey, parseJob } from './import-job.ts'
import type { createImportTasks } from './import-tasks.ts'
import type { JobRunner } from './job-runner.ts'
import type { RememberedChoices } from './remembered-choices.ts'
import type { SharedFiles } from './shared-files.ts'
import { texts } from './texts.ts'

/** A job. `interrupted`: it should be running, but no process is working on it. */
export type JobView = Job & { interrupted: boolean }

/** What operations on imports use. */
export interface Imports {
  store: KeyValueStore
  log: Logger
  files: ImportFiles
  /** Null: the store is on this machine. */
  shared: SharedFiles | null
  remembered: RememberedChoices
  tasks: ReturnType<typeof createImportTasks>
  runner: JobRunner
}

export const shouldRun = ({ state }: Job) => state === 'checking' || state === 'running'

/** Reads a job and the exact text of its record. Throws `ImportError` (404). */
export async function readJob(
  { store }: Imports,
  userId: string,
  id: string,
): Promise<{ job: Job; value: string }> {
  const value = await store.get(jobKey(userId, id))
  if (value === null) throw importNotFound()
  return { job: parsed(value), value }
}

/** Throws if the record cannot be read, or is gone. */
export function parsed(value: string | null): Job {
  if (value === null) throw importNotFound()
  const job = parseJob(value)
  if (!job) throw unreadableImport()
  return job
}

export async function viewJob({ store }: Imports, job: Job): Promise<JobView> {
  return { ...job, interrupted: shouldRun(job) && (await store.get(leaseKey(job.userId, job.id))) === null }
}

/** All jobs of a user, newest first; one that cannot be read is logged and left out. */
export async function listJobs({ store, log }: Imports, userId: string): Promise<Job[]> {
  const entries = await store.list(JOB, userId)
  const jobs = entries.flatMap(({ key, value }) => {
    const job = parseJob(value)
    if (!job) log.error({ code: 'import_unreadable', importId: key.id }, 'an import record cannot be read')
    return job ?? []
  })
  return jobs.sort((a, b) => b.createdAt - a.createdAt)
}

/** Deletes a job with its files. Its record is the last, so that a deletion that fails can be repeated. */
export async function deleteJob({ store, files }: Imports, userId: string, id: string): Promise<void> {
  await files.deleteAll(id)
  await forgetUserNotice(store, userId, id)
  await store.delete(activeKey(id))
  await store.delete(jobKey(userId, id))
}

/** Held while a user's files are counted, so that uploads at the same time do not exceed the quota together. */
export const quotaKey = (userId: string): Key => ({ kind: 'upload-quota', owner: userId, id: '' })
/** One of the places for uploads that a user may have in progress. */
export const uploadKey = (userId: string, place: number): Key => ({
  kind: 'upload',
  owner: userId,
  id: String(place),
})

export const invalidState = ({ state }: Job) =>
  new ImportError(409, 'conflict', texts.errors.notPossible(texts.states[state]))
