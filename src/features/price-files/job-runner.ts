import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { PlatformError } from '../../connect/platform/errors.ts'
import { type KeyValueStore, StoreUnavailableError } from '../../connect/store/store.ts'
import { UnreadableFileError } from '../../tables/errors.ts'
import { ImportError } from './errors.ts'
import { createFairLimiter } from './fair-limiter.ts'
import { activeKey, type Job, jobKey, leaseKey } from './import-job.ts'

/** Keeps the record of a running job up to date. */
export interface JobRecord {
  /** Changes the record, which is written with the next heartbeat. */
  update(change: Partial<Job>): void
  /** Writes the record now. Throws `StoreUnavailableError`. */
  save(): Promise<void>
}

/** The work of a job. Resolves to the final changes. Throws the signal's reason if aborted. */
export type JobTask = (record: JobRecord, signal: AbortSignal) => Promise<Partial<Job>>

/** Runs jobs in the background. A lease ensures that only one process runs a job at a time. */
export interface JobRunner {
  /**
   * Acquires the lease of a job, trying every 100 ms (30 times by default). Resolves to null if another process keeps
   * it.
   */
  acquireLease(userId: string, id: string, attempts?: number): Promise<string | null>
  releaseLease(userId: string, id: string, leaseToken: string): Promise<void>
  /**
   * Runs a job whose lease is held. Stops if its record is changed elsewhere, for example because the user stops the
   * job. `stored` is the exact text of the stored record, needed for compare-and-set.
   */
  run(job: Job, stored: string, leaseToken: string, task: JobTask): void
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
  /** Called when a job has completed. */
  onCompleted(job: Job): Promise<void>
}

/** This process is shutting down, or the job was changed elsewhere. */
class InterruptedError extends Error {}

/** How long a lease lasts unless renewed, in ms. */
const LEASE_MS = 10_000
/** How often the record of a running job is saved and its lease renewed, in ms. */
const HEARTBEAT_MS = 400
/**
 * Maximum number of concurrent jobs, in total and per user; each uses a thread. Checks have their own limit, as they
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

/** Creates a runner whose jobs are stored, and locked by leases, in `store`. */
export function createJobRunner({ store, log, onCompleted }: JobRunnerOptions): JobRunner {
  const closing = new AbortController()
  const running = new Map<string, { finished: Promise<void>; job(): Job }>()
  const [runCheck, runImport] = [createFairLimiter(CHECKS), createFairLimiter(IMPORTS)]

  async function acquireLease(userId: string, id: string, attempts = 30): Promise<string | null> {
    const leaseToken = randomUUID()
    while (!(await store.compareAndSet(leaseKey(userId, id), null, leaseToken, LEASE_MS))) {
      if (--attempts <= 0) return null
      await setTimeout(100)
    }
    return leaseToken
  }
  async function releaseLease(userId: string, id: string, leaseToken: string): Promise<void> {
    await store.compareAndSet(leaseKey(userId, id), leaseToken, null).catch(() => {})
  }

  function run(job: Job, stored: string, leaseToken: string, task: JobTask): void {
    const { userId, id } = job
    const [key, lease] = [jobKey(userId, id), leaseKey(userId, id)]
    const changedElsewhere = new AbortController()
    const signal = AbortSignal.any([closing.signal, changedElsewhere.signal])
    let current = job
    /** A value whose write failed, but which the store may have saved. */
    let unconfirmed: string | null = null
    const update = (change: Partial<Job>) => {
      current = { ...current, ...change }
    }
    /** The last write; each waits for the one before. */
    let writing = Promise.resolve()
    const save = () => {
      const written = writing.then(write)
      writing = written.catch(() => {})
      return written
    }
    async function write(): Promise<void> {
      const value = JSON.stringify(current)
      try {
        // Write even if nothing has changed, to detect that the user has stopped or discarded the job.
        let saved = await store.compareAndSet(key, stored, value)
        if (!saved && unconfirmed !== null) {
          stored = unconfirmed
          saved = await store.compareAndSet(key, stored, value)
        }
        if (!saved) return changedElsewhere.abort(new InterruptedError())
        stored = value
        unconfirmed = null
      } catch (error) {
        unconfirmed = value
        throw error
      }
    }
    async function renew(): Promise<void> {
      // The lease may have expired while the store was unreachable.
      const held =
        (await store.compareAndSet(lease, leaseToken, leaseToken, LEASE_MS)) ||
        (await store.compareAndSet(lease, null, leaseToken, LEASE_MS))
      if (!held) changedElsewhere.abort(new InterruptedError())
    }

    async function work(): Promise<void> {
      let renewing = Promise.resolve()
      const heartbeat = setInterval(() => {
        // If the store is unreachable, the next heartbeat tries again.
        renewing = save()
          .then(renew, () => {})
          .catch(() => {})
      }, HEARTBEAT_MS)
      const runInTurn = job.state === 'checking' ? runCheck : runImport
      const result = await runInTurn(userId, () => task({ update, save }, signal), signal)
        .catch((error: unknown) => (signal.aborted ? null : failedState(job, error)))
        .finally(() => clearInterval(heartbeat))
      await renewing
      if (signal.aborted || !result) return
      update({ ...result, endedAt: Date.now() })
      await persist(save)
      await store.delete(activeKey(id)).catch(() => {})
      if (signal.aborted) return
      log.info({ importId: id, state: current.state }, 'import')
      if (current.state === 'completed') await onCompleted(current)
    }

    // If the store fails here, the lease expires and the job can be resumed.
    const finished = work()
      .catch(() => {})
      .then(() => releaseLease(userId, id, leaseToken))
      .finally(() => running.delete(id))
    running.set(id, { finished, job: () => current })
  }

  /** The state and user-facing message of a job that failed; logs unexpected errors without their message. */
  function failedState({ id: importId, state }: Job, error: unknown): Partial<Job> {
    if (error instanceof UnreadableFileError) return { ...NOT_READ, failure: error.message }
    const expected =
      error instanceof PlatformError || error instanceof StoreUnavailableError || error instanceof ImportError
    const { code, name } = error as { code?: unknown; name?: string }
    log.error(
      { importId, code, reason: expected && 'reason' in error ? error.reason : name },
      'import failed',
    )
    const message = expected
      ? error.message
      : 'The import stopped because of an error in this app. It has been logged.'
    return state === 'checking' ? { ...NOT_READ, failure: message } : { state: 'failed', failure: message }
  }

  /** Saves the final state of a job. Retries for up to a minute if the store is unreachable. */
  async function persist(save: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await save()
      } catch (error) {
        if (!(error instanceof StoreUnavailableError) || attempt === 60 || closing.signal.aborted) throw error
        await setTimeout(1000)
      }
    }
  }

  return {
    acquireLease,
    releaseLease,
    run,
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
