import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { PlatformError } from '../../connect/platform/errors.ts'
import { type KeyValueStore, StoreUnavailableError } from '../../connect/store/store.ts'
import { UnreadableFileError } from '../../csv/encoding.ts'
import { ImportError } from './errors.ts'
import { type Job, jobKey, leaseKey } from './import-job.ts'
import { createTurns } from './turns.ts'

/** The work on a job: it saves its progress, and resolves to how the job ended. Throws the signal's reason when aborted. */
export type Task = (save: (change: Partial<Job>) => void, signal: AbortSignal) => Promise<Partial<Job>>

/** Runs jobs in the background, each in one process at a time. */
export interface JobRunner {
  /** Takes the lease of a job for this process, waiting up to 3 s for another one's; null if that one keeps it. */
  acquireLease(userId: string, id: string, tries?: number): Promise<string | null>
  releaseLease(userId: string, id: string, leaseToken: string): Promise<void>
  /**
   * Runs a job whose lease is held, as long as nobody else changes its record. `stored` is the exact text of the record
   * in the store, which compare-and-set compares.
   */
  run(job: Job, stored: string, leaseToken: string, task: Task): void
  isRunning(id: string): boolean
  /** Resolves when the job is not running in this process. */
  settled(id: string): Promise<void> | undefined
  /** Stops the work of this process; the jobs are kept and can be resumed. */
  close(): Promise<void>
}

export interface JobRunnerOptions {
  store: KeyValueStore
  log: Logger
  /** Called when all items of a job are in the catalogue. */
  onCompleted(id: string): Promise<void>
}

/** This process is shutting down, or the job was changed by somebody else. */
class InterruptedError extends Error {}

/** How long the lease of a killed process lasts, in ms. */
const LEASE_MS = 10_000
/** How often the record of a running job is written, in ms. */
const WRITE_MS = 400
/**
 * How many jobs run at once, of all users and of one; each uses a thread. Checks are short and do not wait for the
 * platform.
 */
const CHECKS = { max: 2, maxPerUser: 1 }
const IMPORTS = { max: 6, maxPerUser: 4 }

export function createJobRunner({ store, log, onCompleted }: JobRunnerOptions): JobRunner {
  const closing = new AbortController()
  const running = new Map<string, Promise<void>>()
  const [checks, imports] = [createTurns(CHECKS), createTurns(IMPORTS)]

  async function acquireLease(userId: string, id: string, tries = 30): Promise<string | null> {
    const leaseToken = randomUUID()
    while (!(await store.compareAndSet(leaseKey(userId, id), null, leaseToken, LEASE_MS))) {
      if (--tries <= 0) return null
      await setTimeout(100)
    }
    return leaseToken
  }
  async function releaseLease(userId: string, id: string, leaseToken: string): Promise<void> {
    await store.compareAndSet(leaseKey(userId, id), leaseToken, null).catch(() => {})
  }

  function run(job: Job, stored: string, leaseToken: string, task: Task): void {
    const { userId, id } = job
    const [key, lease] = [jobKey(userId, id), leaseKey(userId, id)]
    const lost = new AbortController()
    const signal = AbortSignal.any([closing.signal, lost.signal])
    let current = job
    /** A write without an answer, which the store may have carried out. */
    let inDoubt: string | null = null
    const save = (change: Partial<Job>) => {
      current = { ...current, ...change }
    }
    async function write(): Promise<void> {
      const value = JSON.stringify(current)
      try {
        // Written even if nothing has changed: it tells whether the user has stopped or discarded the job.
        let ours = await store.compareAndSet(key, stored, value)
        if (!ours && inDoubt !== null) {
          stored = inDoubt
          ours = await store.compareAndSet(key, stored, value)
        }
        if (!ours) return lost.abort(new InterruptedError())
        stored = value
        inDoubt = null
      } catch (error) {
        inDoubt = value
        throw error
      }
    }
    async function renew(): Promise<void> {
      const renewed = await store.compareAndSet(lease, leaseToken, leaseToken, LEASE_MS)
      // It may have expired while the store was unreachable.
      if (!renewed) await store.compareAndSet(lease, null, leaseToken, LEASE_MS)
    }

    async function work(): Promise<void> {
      let writing = Promise.resolve()
      const heartbeat = setInterval(() => {
        writing = writing.then(write).then(renew, () => {
          // If the store is unreachable, the next heartbeat tries again.
        })
      }, WRITE_MS)
      const inTurn = job.state === 'checking' ? checks : imports
      const result = await inTurn(userId, () => task(save, signal), signal)
        .catch((error: unknown) => (signal.aborted ? null : failure(job, error)))
        .finally(() => clearInterval(heartbeat))
      await writing.catch(() => {})
      if (signal.aborted || !result) return
      save({ ...result, endedAt: Date.now() })
      await persist(write)
      if (signal.aborted) return
      log.info({ importId: id, state: current.state }, 'import')
      if (current.state === 'completed') await onCompleted(id)
    }

    // If the store fails here, the lease expires and the job can be resumed.
    const finished = work()
      .catch(() => {})
      .then(() => releaseLease(userId, id, leaseToken))
      .finally(() => running.delete(id))
    running.set(id, finished)
  }

  /** How a job that failed is shown. */
  function failure({ id: importId, state }: Job, error: unknown): Partial<Job> {
    if (error instanceof UnreadableFileError) return { state: 'unreadable', failure: error.message }
    const known =
      error instanceof PlatformError || error instanceof StoreUnavailableError || error instanceof ImportError
    const { code, name } = error as { code?: unknown; name?: string }
    log.error({ importId, code, reason: known && 'reason' in error ? error.reason : name }, 'import failed')
    const words = known ? error.message : 'The import stopped because of a fault in this app.'
    return { state: state === 'checking' ? 'unreadable' : 'failed', failure: words }
  }

  /** Writes how a job ended, also if the store is unreachable for up to a minute. */
  async function persist(write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write()
      } catch (error) {
        if (!(error instanceof StoreUnavailableError) || tries === 60 || closing.signal.aborted) throw error
        await setTimeout(1000)
      }
    }
  }

  return {
    acquireLease,
    releaseLease,
    run,
    isRunning: (id) => running.has(id),
    settled: (id) => running.get(id),
    async close() {
      closing.abort(new InterruptedError())
      await Promise.allSettled(running.values())
    },
  }
}
