import type { ImportJob } from '../../connect/platform/contract.ts'
import { PlatformError, PlatformUnavailableError } from '../../connect/platform/errors.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import type { Catalogues } from '../catalogues/catalogues.ts'
import type { Batch } from './batches.ts'

export interface Progress {
  phase: 'starting' | 'sending' | 'processing'
  /** Rows read so far. */
  rows: number
  /** Items that the platform has taken. */
  sent: number
  /** Uploads that the platform has taken. */
  batches: number
  rejected: number
  /** The platform's own count of processed items, when it tells. */
  processed: number | null
  /** Why the import waits just now, in words; null while it goes on. */
  waiting: string | null
}

export interface ImportOptions {
  catalogues: Pick<Catalogues, 'startImport' | 'uploadItems' | 'getImport'>
  source: TokenSource
  catalogueId: string
  /**
   * The same id again resumes the same job: items are upserts, so what was sent before does no harm. If that job has
   * ended, the file goes into a new one, `<id>.2` and so on.
   */
  batchId: string
  batches: AsyncIterable<Batch>
  onProgress?(progress: Readonly<Progress>): void
  /** Ends the import between two requests; it can be resumed. */
  signal?: AbortSignal
  /** Uploads under way at once. */
  inFlight?: number
  /** How long one request is tried again while the platform does not take it, in ms. */
  patienceMs?: number
  /** How long the platform may process after the last upload, in ms. */
  completionMs?: number
  /** The first pause before a repeat, and between polls, in ms; both grow. */
  pauseMs?: number
}

export interface Outcome {
  rows: number
  sent: number
  batches: number
  rejected: number
  /** What the platform said at the end. */
  job: ImportJob
}

/** The platform did not complete the import, or not with all items; nothing is taken for done that is not. */
export class ImportFailedError extends PlatformError {
  readonly code = 'import_failed'
  readonly status = 502
}

const LONGEST_PAUSE_MS = 30_000
const LONGEST_POLL_MS = 10_000

/**
 * One import from start to the platform's own "completed" (specification 4.4): batches of at most 1000, several in
 * flight, each repeated while the platform fails; then the job is polled, more and more slowly.
 * Throws `ImportFailedError`, whatever the calls throw once patience has ended, what reading throws, and the signal's
 * reason. The platform keeps what it has taken, and the same batch id goes on from there.
 */
export async function runImport(options: ImportOptions): Promise<Outcome> {
  const { catalogues, catalogueId, signal } = options
  // One uploader's failure ends the others, and is the one that counts.
  const failed = new AbortController()
  const stop = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  const source = abortable(options.source, stop)
  const { inFlight = 12, patienceMs = 300_000, completionMs = 3_600_000, pauseMs = 500 } = options
  const progress: Progress = {
    ...{ phase: 'starting', rows: 0, sent: 0, batches: 0, rejected: 0, processed: null, waiting: null },
  }
  const tell = (change: Partial<Progress>) => {
    Object.assign(progress, change)
    options.onProgress?.(progress)
  }

  /** Repeats what is safe to repeat while the platform does not answer, or asks to wait. */
  async function persist<T>(work: () => Promise<T>): Promise<T> {
    const onWait = (waiting: string) => tell({ waiting })
    const result = await patiently(work, { patienceMs, pauseMs, onWait, signal: stop })
    if (progress.waiting) tell({ waiting: null })
    return result
  }

  tell({})
  // A job that has ended takes no more items; its file goes into a new one, whose id follows from the first.
  let batchId = options.batchId
  for (let again = 2; ; again++) {
    const { status } = await persist(() => catalogues.startImport(source, catalogueId, batchId))
    if (!isFinal(status)) break
    batchId = `${options.batchId.slice(0, 90)}.${again}`
  }
  tell({ phase: 'sending' })

  const batches = options.batches[Symbol.asyncIterator]()
  async function upload(): Promise<void> {
    // The batches come one after the other, whichever uploader asks.
    for (let next = await batches.next(); !next.done; next = await batches.next()) {
      if (failed.signal.aborted) return
      const { body, items, rows, problems } = next.value
      progress.rows += rows
      progress.rejected += problems.length
      if (items === 0) continue
      await persist(() => catalogues.uploadItems(source, catalogueId, batchId, body))
      tell({ sent: progress.sent + items, batches: progress.batches + 1 })
    }
  }
  const uploaders = Array.from({ length: inFlight }, () =>
    upload().catch((error: unknown) => failed.abort(error)),
  )
  await Promise.all(uploaders)
  if (failed.signal.aborted) {
    await batches.return?.().catch(() => {})
    throw failed.signal.reason
  }

  tell({ phase: 'processing' })
  const job = await completed()
  const { rows, sent, rejected } = progress
  const taken = Math.min(job.itemsReceived ?? sent, job.itemsProcessed ?? sent)
  if (taken < sent) {
    throw new ImportFailedError(
      `The platform completed the import with ${taken} of the ${sent} items that were sent${wordsOf(job)}`,
    )
  }
  return { rows, sent, batches: progress.batches, rejected, job }

  async function completed(): Promise<ImportJob> {
    const ends = performance.now() + completionMs
    for (let pause = pauseMs; ; pause = Math.min(pause * 1.5, LONGEST_POLL_MS)) {
      const job = await persist(() => catalogues.getImport(source, catalogueId, batchId))
      const status = job.status.toLowerCase()
      if (job.itemsProcessed != null) tell({ processed: job.itemsProcessed })
      if (status === 'completed') return job
      if (status === 'failed')
        throw new ImportFailedError(`The platform could not complete the import${wordsOf(job)}`)
      if (performance.now() + pause > ends) {
        throw new ImportFailedError(
          `Everything was sent, and the platform is still processing it (its state is "${job.status.slice(0, 50)}"). Run the import again later.`,
        )
      }
      await sleep(pause, signal)
    }
  }
}

const isFinal = (status: string) => ['completed', 'failed'].includes(status.toLowerCase())

/** What the platform says of a job. */
const wordsOf = ({ message }: ImportJob) => (message ? `: ${message.slice(0, 500)}` : '.')

export interface Patience {
  /** How long the platform may fail, in ms. */
  patienceMs?: number
  /** The first pause before a repeat, in ms; it grows. */
  pauseMs?: number
  signal?: AbortSignal
  /** Told why it waits, in words. */
  onWait?(reason: string): void
}

/**
 * Repeats what is safe to repeat while the platform does not answer, or asks to wait.
 * Throws `PlatformUnavailableError` once patience has ended, whatever else the work throws, and the signal's reason.
 */
export async function patiently<T>(
  work: () => Promise<T>,
  { patienceMs = 300_000, pauseMs = 500, signal, onWait }: Patience = {},
): Promise<T> {
  const ends = performance.now() + patienceMs
  for (let pause = pauseMs; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    signal?.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      const wait = Math.max(pause * (0.5 + Math.random() / 2), (error as PlatformError).retryAfterMs ?? 0)
      if (!(error instanceof PlatformUnavailableError) || performance.now() + wait > ends) throw error
      onWait?.(error.reason ?? error.message)
      await sleep(wait, signal)
    }
  }
}

/** The source, whose wait for a permit ends with the signal; a permit that comes later is given back. */
function abortable(source: TokenSource, signal: AbortSignal): TokenSource {
  const { pace } = source
  if (!pace) return source
  return {
    ...source,
    pace: () =>
      new Promise((resolve, reject) => {
        const stop = () => reject(signal.reason)
        signal.addEventListener('abort', stop, { once: true })
        pace().then((done) => {
          signal.removeEventListener('abort', stop)
          if (signal.aborted) done()
          resolve(done)
        }, reject)
      }),
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
