import type { Logger } from 'pino'
import { ConnectionRevokedError, PlatformError, StoreUnavailableError } from '../../connect/errors.ts'
import { retry } from '../../connect/index.ts'
import { acquireLease, type KeyValueStore, type Lease } from '../../connect/stores.ts'
import { UnreadableFileError } from '../../tables/errors.ts'
import { problemOf } from '../../web/errors.ts'
import { ImportError } from './errors.ts'
import { createFairLimiter } from './fair-limiter.ts'
import { activeKey, type Job, jobKey, leaseKey } from './import-job.ts'
import { texts } from './texts.ts'

/** Keeps the record of a running job up to date. */
export interface JobRecord {
  /** The job as it is now. */
  current(): Job
  /** Changes the record, which is written with the next heartbeat. */
  update(change: Partial<Job>): void
  /** Writes the record now. Throws `StoreUnavailableError`. */
  save(): Promise<void>
}

/** The work of a job. Resolves to the final changes. Throws the signal's reason if aborted. */
export type JobTask = (record: JobRecord, signal: AbortSignal) => Promise<Partial<Job>>

/** Runs jobs in the background. A lease ensures that only one process runs a job at a time. */
export interface JobRunner {
  /** Takes the lease of a job. Resolves to null if another process holds it for longer than `waitMs`, 3 s by default. */
  acquireLease(userId: string, id: string, waitMs?: number): Promise<Lease | null>
  /**
   * Runs a job whose lease is held, and releases it. Stops if the lease is lost, or if the record is changed elsewhere,
   * for example because the user stops the job. `stored` is the exact text of the record, for compare-and-set.
   */
  run(job: Job, stored: string, lease: Lease, task: JobTask): void
  /** Marks a job as active before it is run, so that another process takes it over if this one dies. */
  markActive(job: Pick<Job, 'userId' | 'id'>): Promise<void>
  isRunning(id: string): boolean
  /** The jobs that run in this process, as they are now. */
  current(): Job[]
  /** Resolves when the job finishes in this process; undefined if it is not running here. */
  settled(id: string): Promise<void> | undefined
  /** Stops the jobs of this process; they can be resumed later. */
  close(): Promise<void>
}

export interface JobRunnerOptions {
  store: KeyValueStore
  log: Logger
  /** Called before the state of a job that has been sent, or could not be, is saved. */
  onSent(job: Job): Promise<void>
  /** Called when a job has completed. */
  onCompleted(job: Job): Promise<void>
}

/** This process is shutting down, or the job was changed elsewhere. */
class InterruptedError extends Error {}

/** How long a lease lasts unless renewed, in ms. */
const LEASE_MS = 10_000
/** How often the record of a running job is saved, in ms. */
const HEARTBEAT_MS = 400
/** How long the final state of a job is tried to be saved while the store is unavailable, in ms. */
const PERSIST_MS = 60_000
/**
 * Maximum number of concurrent jobs, in total and per user. Checks, each in a process of its own, have their own limit, as they
 * are short and don't wait for the platform.
 */
const CHECKS = { max: 2, maxPerUser: 1 }
const IMPORTS = { max: 6, maxPerUser: 4 }

/** What is known of a file that could not be read. */
const NOT_READ: Partial<Job> = {
  state: 'unreadable',
  rows: 0,
  validRows: 0,
  invalidRows: 0,
  repeatedRows: 0,
  problems: [],
  preview: [],
}

interface Runner extends JobRunnerOptions {
  /** Aborted when the process stops. */
  closing: AbortController
  running: Map<string, { finished: Promise<void>; job(): Job }>
  runCheck: ReturnType<typeof createFairLimiter>
  runImport: ReturnType<typeof createFairLimiter>
}

/** Creates a runner whose jobs are stored, and locked by leases, in `store`. */
export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { store } = options
  const [runCheck, runImport] = [createFairLimiter(CHECKS), createFairLimiter(IMPORTS)]
  const runner: Runner = {
    ...options,
    closing: new AbortController(),
    running: new Map(),
    runCheck,
    runImport,
  }
  const { running, closing } = runner
  return {
    acquireLease: (userId, id, waitMs = 3_000) => acquireLease(store, leaseKey(userId, id), LEASE_MS, waitMs),
    run: (job, stored, lease, task) => run(runner, job, stored, lease, task),
    markActive: ({ userId, id }) => store.set(activeKey(id), userId),
    isRunning: (id) => running.has(id),
    current: () => [...running.values()].map(({ job }) => job()),
    settled: (id) => running.get(id)?.finished,
    async close() {
      closing.abort(new InterruptedError())
      await Promise.allSettled([...running.values()].map(({ finished }) => finished))
    },
  }
}

function run(runner: Runner, job: Job, stored: string, lease: Lease, task: JobTask): void {
  const { running, closing } = runner
  const record = createRecord(runner.store, job, stored)
  const lost = new AbortController()
  lease.lost.addEventListener('abort', () => lost.abort(new InterruptedError()))
  const signal = AbortSignal.any([closing.signal, record.changedElsewhere, lost.signal])
  // If the store fails here, the lease expires and the job can be resumed.
  const finished = work(runner, record, signal, task)
    .catch(() => {})
    .then(() => lease.release())
    .finally(() => running.delete(job.id))
  running.set(job.id, { finished, job: record.current })
}

/** Does the work of a job when it is its user's turn, and saves the outcome. */
async function work(
  { store, log, runCheck, runImport, onSent, onCompleted }: Runner,
  record: ReturnType<typeof createRecord>,
  signal: AbortSignal,
  task: JobTask,
): Promise<void> {
  const job = record.current()
  const { id, userId } = job
  let saving = Promise.resolve()
  const heartbeat = setInterval(() => {
    // If the store is unreachable, the next heartbeat tries again.
    saving = record.save().catch(() => {})
  }, HEARTBEAT_MS)
  const runInTurn = job.state === 'checking' ? runCheck : runImport
  const result = await runInTurn(userId, () => task(record, signal), signal)
    .catch((error: unknown) => (signal.aborted ? null : failedState(log, job, error)))
    .finally(() => clearInterval(heartbeat))
  await saving
  if (signal.aborted || !result) return
  record.update({ ...result, endedAt: Date.now() })
  if (job.state === 'running')
    await onSent(record.current()).catch(({ code }) => log.warn({ importId: id, code }, 'a notice was lost'))
  await retry(record.save, { timeoutMs: PERSIST_MS, pauseMs: 1_000, maxPauseMs: 1_000, signal })
  await store.delete(activeKey(id)).catch(() => {})
  if (signal.aborted) return
  const final = record.current()
  log.info({ importId: id, state: final.state }, 'import')
  if (final.state === 'completed') await onCompleted(final)
}

/** The record of a running job. `changedElsewhere` aborts when it was changed by others. */
function createRecord(store: KeyValueStore, job: Job, stored: string) {
  const key = jobKey(job.userId, job.id)
  const changedElsewhere = new AbortController()
  let current = job
  let expected = stored
  /** Values whose writes failed, but one of which the store may have saved. */
  let unconfirmed: string[] = []
  /** The last write; each waits for the one before. */
  let writing = Promise.resolve()

  // Not `update` of the store: a record that was changed elsewhere must stop the job, and not be written over.
  async function write(): Promise<void> {
    const value = JSON.stringify(current)
    try {
      // Write even if nothing has changed, to detect that the user has stopped or discarded the job.
      let saved = await store.compareAndSet(key, expected, value)
      for (const earlier of unconfirmed) saved ||= await store.compareAndSet(key, earlier, value)
      if (!saved) return changedElsewhere.abort(new InterruptedError())
      expected = value
      unconfirmed = []
    } catch (error) {
      unconfirmed.push(value)
      throw error
    }
  }

  return {
    changedElsewhere: changedElsewhere.signal,
    current: () => current,
    update(change: Partial<Job>) {
      current = { ...current, ...change }
    },
    save() {
      const written = writing.then(write)
      writing = written.catch(() => {})
      return written
    },
  }
}

/** The state and user-facing message of a job that failed; logs unexpected errors without their message. */
function failedState(log: Logger, { id: importId, state }: Job, error: unknown): Partial<Job> {
  if (error instanceof UnreadableFileError) return { ...NOT_READ, failure: error.message }
  const expected =
    error instanceof PlatformError || error instanceof StoreUnavailableError || error instanceof ImportError
  const { code, name } = error as { code?: unknown; name?: string }
  log.error({ importId, code, reason: expected && 'reason' in error ? error.reason : name }, 'import failed')
  const isRevoked = error instanceof ConnectionRevokedError
  const message = isRevoked ? texts.failures.revoked : expected ? problemOf(error).detail : texts.failures.app
  return state === 'checking' ? { ...NOT_READ, failure: message } : { state: 'failed', failure: message }
}
