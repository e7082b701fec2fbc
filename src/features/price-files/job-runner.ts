import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { PlatformError } from '../../connect/platform/errors.ts'
import { type Store, StoreUnavailableError } from '../../connect/store/store.ts'
import { UnreadableFileError } from '../../csv/encoding.ts'
import { ImportError } from './errors.ts'
import { type Job, jobKey, leaseKey } from './import-job.ts'
import { createTurns } from './turns.ts'

/** What is done with a job: it saves how far it is, and answers how it ends. It throws the signal's reason if told to. */
export type Task = (save: (change: Partial<Job>) => void, signal: AbortSignal) => Promise<Partial<Job>>

/** Works on jobs in the background, each in one process at a time. */
export interface Workbench {
  /** Takes a job for this process, waiting a moment for one that is just letting it go. Null when it is taken. */
  hold(userId: string, id: string, tries?: number): Promise<string | null>
  release(userId: string, id: string, mine: string): Promise<void>
  /**
   * Works on a job that is held, and only as long as its record is ours. `stored` is the record as it is in the store,
   * to the letter: that is what compare-and-set compares.
   */
  work(job: Job, stored: string, mine: string, task: Task): void
  isAtWork(id: string): boolean
  /** Resolves when the job is not worked on in this process. */
  settled(id: string): Promise<void> | undefined
  /** Ends the work of this process; the jobs stay as they are and can be resumed. */
  close(): Promise<void>
}

export interface WorkbenchOptions {
  store: Store
  log: Logger
  /** Told of a job whose items all went into the catalogue. */
  onCompleted(id: string): Promise<void>
}

/** The process that works on a job was told to end, or the job was taken from it. */
class Interrupted extends Error {}

/** How long a killed process keeps others from its job, in ms. */
const LEASE_MS = 10_000
/** How often a job's record is written while it is worked on, in ms. */
const WRITE_MS = 400
/**
 * Jobs that are worked on at once, of all users and of one; each takes a thread. Checks are short, and wait for no
 * platform.
 */
const CHECKS = { max: 2, maxPerUser: 1 }
const IMPORTS = { max: 6, maxPerUser: 4 }

export function createWorkbench({ store, log, onCompleted }: WorkbenchOptions): Workbench {
  const closing = new AbortController()
  const atWork = new Map<string, Promise<void>>()
  const [checks, imports] = [createTurns(CHECKS), createTurns(IMPORTS)]

  /** Takes a job for this process alone, waiting a moment for one that is just letting it go. Null when it is taken. */
  async function hold(userId: string, id: string, tries = 30): Promise<string | null> {
    const mine = randomUUID()
    while (!(await store.compareAndSet(leaseKey(userId, id), null, mine, LEASE_MS))) {
      if (--tries <= 0) return null
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return mine
  }
  async function release(userId: string, id: string, mine: string): Promise<void> {
    await store.compareAndSet(leaseKey(userId, id), mine, null).catch(() => {})
  }

  /**
   * Works on a job that is held, in the background, and only as long as its record is ours. `stored` is the record as
   * it is in the store, to the letter: that is what compare-and-set compares.
   */
  function work(job: Job, stored: string, mine: string, task: Task): void {
    const { userId, id } = job
    const [key, lease] = [jobKey(userId, id), leaseKey(userId, id)]
    const taken = new AbortController()
    const signal = AbortSignal.any([closing.signal, taken.signal])
    let current = job
    /** A write that was not answered, and may have been carried out all the same. */
    let inDoubt: string | null = null
    const save = (change: Partial<Job>) => {
      current = { ...current, ...change }
    }
    async function write(): Promise<void> {
      const value = JSON.stringify(current)
      try {
        // The same value is compared all the same: it tells whether the user has stopped or discarded the job.
        let ours = await store.compareAndSet(key, stored, value)
        if (!ours && inDoubt !== null) {
          stored = inDoubt
          ours = await store.compareAndSet(key, stored, value)
        }
        if (!ours) return taken.abort(new Interrupted())
        stored = value
        inDoubt = null
      } catch (error) {
        inDoubt = value
        throw error
      }
    }
    async function renew(): Promise<void> {
      const kept = await store.compareAndSet(lease, mine, mine, LEASE_MS)
      // It may have ended while the store was away.
      if (!kept) await store.compareAndSet(lease, null, mine, LEASE_MS)
    }

    async function run(): Promise<void> {
      let writing = Promise.resolve()
      const beat = setInterval(() => {
        writing = writing.then(write).then(renew, () => {
          // A store that is away is tried again at the next beat.
        })
      }, WRITE_MS)
      const inTurn = job.state === 'checking' ? checks : imports
      const end = await inTurn(userId, () => task(save, signal), signal)
        .catch((error: unknown) => (signal.aborted ? null : failure(job, error)))
        .finally(() => clearInterval(beat))
      await writing.catch(() => {})
      if (signal.aborted || !end) return
      save({ ...end, endedAt: Date.now() })
      await persist(write)
      if (signal.aborted) return
      log.info({ importId: id, state: current.state }, 'import')
      if (current.state === 'completed') await onCompleted(id)
    }

    // What goes wrong here is the store's; the lease ends by itself, and the job can be resumed.
    const done = run()
      .catch(() => {})
      .then(() => release(userId, id, mine))
      .finally(() => atWork.delete(id))
    atWork.set(id, done)
  }

  /** What an error makes of a job. */
  function failure({ id: importId, state }: Job, error: unknown): Partial<Job> {
    if (error instanceof UnreadableFileError) return { state: 'unreadable', failure: error.message }
    const known =
      error instanceof PlatformError || error instanceof StoreUnavailableError || error instanceof ImportError
    const { code, name } = error as { code?: unknown; name?: string }
    log.error({ importId, code, reason: known && 'reason' in error ? error.reason : name }, 'import failed')
    const words = known ? error.message : 'The import could not go on, by a fault of this app.'
    return { state: state === 'checking' ? 'unreadable' : 'failed', failure: words }
  }

  /** The end of a job must not be lost to a store that is away for a moment. */
  async function persist(write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write()
      } catch (error) {
        if (!(error instanceof StoreUnavailableError) || tries === 60 || closing.signal.aborted) throw error
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }
    }
  }

  return {
    ...{ hold, release, work },
    isAtWork: (id) => atWork.has(id),
    settled: (id) => atWork.get(id),
    async close() {
      closing.abort(new Interrupted())
      await Promise.allSettled(atWork.values())
    },
  }
}
