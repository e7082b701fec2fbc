/** Resumes imports whose process has died, and deletes files that no import needs. */
import { StoreUnavailableError } from '../../connect/errors.ts'
import { scan, update } from '../../connect/stores.ts'
import { SHARED_MS } from './files.ts'
import { ACTIVE_JOB, ALL_USERS, activeKey, JOB, type Job, jobKey, parseJob, targetOf } from './import-job.ts'
import { type Imports, shouldRun } from './import-records.ts'
import { lastPricesName } from './last-prices.ts'
import { texts } from './texts.ts'

/** See `ImportService.resume`. */
export async function resume(imports: Imports): Promise<void> {
  const { store, files, shared } = imports
  const ids = new Set<string>()
  /** When the last completed import of each catalogue ended. */
  const targets = new Map<string, number>()
  for await (const { key, value } of scan(store, JOB)) {
    ids.add(key.id)
    const job = parseJob(value)
    if (!job) continue
    const target = lastPricesName(targetOf(job))
    const endedAt = job.state === 'completed' ? (job.endedAt ?? 0) : 0
    targets.set(target, Math.max(endedAt, targets.get(target) ?? 0))
  }
  await shared?.recount([...ids, ...targets.keys()])
  await files.deleteOrphans(ids)
  for await (const { key, value } of scan(store, JOB))
    await separately(imports, key.id, async () => {
      const job = parseJob(value)
      // A process may have died between the completion and the removal of the files.
      if (job?.state !== 'completed' || !(await files.has(key.id)))
        return resumeJob(imports, key.owner, key.id)
      const isLatest = (job.endedAt ?? 0) >= (targets.get(lastPricesName(targetOf(job))) ?? 0)
      await files.complete(job, isLatest)
    })
}

/** See `ImportService.takeOver`. */
export async function takeOver(imports: Imports): Promise<void> {
  const { store, files, runner } = imports
  for (const { key, value: userId } of await store.list(ACTIVE_JOB, ALL_USERS))
    await separately(imports, key.id, () => resumeJob(imports, userId, key.id))
  await files.trim(new Set(runner.current().map(({ id }) => id)))
}

/** Runs a job that should be running, if no process does and its file is there. */
async function resumeJob(
  { store, log, files, runner, tasks }: Imports,
  userId: string,
  id: string,
): Promise<void> {
  if (runner.isRunning(id)) return
  const hasFile = await files.has(id)
  const lease = await runner.acquireLease(userId, id, 0)
  if (!lease) return
  let isResumed = false
  try {
    // Read now that the lease is held: a list may be out of date.
    const value = await store.get(jobKey(userId, id))
    const job = value && parseJob(value)
    if (!job || !shouldRun(job)) await store.delete(activeKey(id))
    else if (hasFile) {
      log.info({ importId: id }, 'import resumed')
      runner.run(job, value, lease, job.state === 'running' ? tasks.send(job) : tasks.check(job))
      isResumed = true
    } else if (Date.now() - job.createdAt > SHARED_MS) {
      // Until then, another machine may have the file.
      const expired = JSON.stringify(withoutFile(job))
      await update(store, jobKey(userId, id), (current) => (current === value ? expired : current))
    }
  } finally {
    // A lease that nobody releases is renewed, and keeps every other process from the job.
    if (!isResumed) await lease.release()
  }
}

/** A job that cannot be resumed does not keep the others from it. Throws only `StoreUnavailableError`. */
async function separately({ log }: Imports, importId: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error
    const { code, name } = error as { code?: unknown; name?: string }
    log.error({ importId, code, reason: name }, 'an import could not be resumed')
  }
}

/** A job whose file is gone. */
const withoutFile = (job: Job): Job => ({
  ...job,
  state: job.state === 'running' ? 'failed' : 'unreadable',
  failure: texts.failures.fileGone,
  endedAt: Date.now(),
})
