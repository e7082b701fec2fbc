/** What users do with imports: upload, choose how to read the file, send, stop. */
import { randomUUID } from 'node:crypto'
import type { ConnectionRef } from '../../connect/index.ts'
import { acquireLease, type Lease, update, withLease } from '../../connect/stores.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import { choicesOfCorrection } from './choices.ts'
import { ImportError, stillStopping } from './errors.ts'
import { type Job, jobKey, newJob, toRunning } from './import-job.ts'
import {
  deleteJob,
  type Imports,
  invalidState,
  listJobs,
  parsed,
  quotaKey,
  readJob,
  shouldRun,
  uploadKey,
  viewJob,
} from './import-records.ts'
import type { JobTask } from './job-runner.ts'
import type { Choices } from './questions.ts'
import { texts } from './texts.ts'

/** Finished jobs kept per user. */
const MAX_FINISHED_JOBS = 20
/** Jobs that one user may have in progress. */
const MAX_RUNNING = 5
/** How long the place of an upload lasts after its process was killed, in ms. */
const UPLOAD_LEASE_MS = 30_000

/** See `ImportService.upload`. */
export async function upload(
  imports: Imports,
  ref: ConnectionRef,
  {
    catalogue,
    fileName,
    corrected = null,
  }: { catalogue: Catalogue; fileName: string; corrected?: Job | null },
  bytes: AsyncIterable<Uint8Array>,
): Promise<Job> {
  const { store, log, files, runner, tasks } = imports
  const { userId } = ref
  if (corrected && (corrected.headings.length === 0 || corrected.mappingErrors.length > 0))
    throw new ImportError(409, 'conflict', texts.errors.notCorrectable)
  const jobs = await listJobs(imports, userId)
  const place = await claimUpload(imports, userId, jobs.filter(shouldRun).length)
  const id = randomUUID()
  let job: Job
  let lease: Lease | null = null
  try {
    const others = jobs.map((other) => other.id)
    const size = await files.keep(id, userId, others, bytes)
    job = newJob({ id, ...ref, catalogue, fileName, bytes: size })
    if (corrected) job = { ...job, choices: choicesOfCorrection(corrected), isCorrection: true }
    lease = await runner.acquireLease(userId, id)
    const record = JSON.stringify(job)
    await withLease(store, quotaKey(userId), { ms: 10_000, waitMs: 10_000 }, async () => {
      // Other processes may have received files of this user in the meantime.
      await files.requireQuota([id, ...(await listJobs(imports, userId)).map((other) => other.id)])
      await runner.markActive(job)
      await store.set(jobKey(userId, id), record)
    })
    if (lease) runner.run(job, record, lease, tasks.check(job))
  } catch (error) {
    await lease?.release()
    // Its record first: if that stays, the import goes on, and needs its file.
    const deleted = store.delete(jobKey(userId, id)).then(() => deleteJob(imports, userId, id))
    await deleted.catch(() => {})
    throw error
  } finally {
    await place.release()
  }
  // The file is stored: who gets an error would upload it twice.
  await deleteOldJobs(imports, userId).catch(({ code }) => log.warn({ code }, 'old imports were not deleted'))
  return job
}

async function deleteOldJobs(imports: Imports, userId: string): Promise<void> {
  const finished = (await listJobs(imports, userId)).filter((job) => !shouldRun(job))
  for (const { id } of finished.slice(MAX_FINISHED_JOBS)) await deleteJob(imports, userId, id)
}

/** Counts an upload among the user's imports in progress, in all processes. Throws `ImportError` (409). */
async function claimUpload({ store }: Imports, userId: string, running: number): Promise<Lease> {
  for (let place = 0; place < MAX_RUNNING - running; place++) {
    const lease = await acquireLease(store, uploadKey(userId, place), UPLOAD_LEASE_MS)
    if (lease) return lease
  }
  throw new ImportError(409, 'conflict', texts.errors.tooMany(MAX_RUNNING))
}

/** See `ImportService.choose`. */
export async function choose(
  imports: Imports,
  userId: string,
  id: string,
  choices: Choices | undefined,
): Promise<void> {
  const { files, remembered, tasks } = imports
  await files.requireFile(id)
  const { job } = await readJob(imports, userId, id)
  if (!choices && job.layoutId) await remembered.forget(job, job.layoutId)
  const change = () => ({ ...toChecking, choices: choices ?? null, progress: null })
  await startTask(imports, userId, id, ['ready', 'unreadable'], change, tasks.check)
}

/** See `ImportService.checkAgain`. */
export async function checkAgain(imports: Imports, userId: string, id: string): Promise<void> {
  await imports.files.requireFile(id)
  await startTask(imports, userId, id, [], () => toChecking, imports.tasks.check)
}

/** A person asks for the check, so a file whose reader has died is read again. */
const toChecking = { state: 'checking', isBeingRead: false } as const

/** See `ImportService.start`. */
export async function start(
  imports: Imports,
  userId: string,
  id: string,
  { strict = false, readAs }: { strict?: boolean; readAs?: string | undefined } = {},
): Promise<void> {
  const { files, tasks } = imports
  const { job: current } = await readJob(imports, userId, id)
  const canStart = current.state !== 'completed' && current.state !== 'checking'
  if (canStart && current.mappingErrors.length === 0) await files.requireItems(id, current.itemsVersion)
  const change = (job: Job) => toRunning(job, { strict, readAs })
  await startTask(imports, userId, id, ['ready', 'failed', 'stopped'], change, tasks.send)
}

/**
 * Moves an idle job from one of the states `from` to the state that `change` returns, and runs `task`.
 * Throws `ImportError` (409) if the job is in another state or is running.
 */
async function startTask(
  imports: Imports,
  userId: string,
  id: string,
  from: Job['state'][],
  change: (job: Job) => Partial<Job>,
  task: (job: Job) => JobTask,
): Promise<void> {
  const { store, runner } = imports
  const { job: initial } = await readJob(imports, userId, id)
  const { interrupted } = await viewJob(imports, initial)
  if (!interrupted && !from.includes(initial.state)) throw invalidState(initial)
  const lease = await runner.acquireLease(userId, id)
  if (!lease) throw initial.state === 'stopped' ? stillStopping() : invalidState(initial)
  try {
    await runner.markActive(initial)
    const record = await update(store, jobKey(userId, id), (value) => {
      const job = parsed(value)
      if (!from.includes(job.state) && !shouldRun(job)) throw invalidState(job)
      return JSON.stringify({ ...job, ...change(job) })
    })
    const next = parsed(record)
    runner.run(next, record, lease, task(next))
  } catch (error) {
    await lease.release()
    throw error
  }
}

/** See `ImportService.stop`. */
export async function stop({ store }: Imports, userId: string, id: string): Promise<void> {
  // The runner writes the record frequently, too.
  await update(store, jobKey(userId, id), (value) => {
    const job = parsed(value)
    if (job.state !== 'running') throw invalidState(job)
    return JSON.stringify({ ...job, state: 'stopped', endedAt: Date.now() } satisfies Job)
  })
}
