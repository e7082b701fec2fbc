import type { TokenSource } from '../../connect/platform/token-source.ts'
import type { Batch } from './batches.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import type { ImportJob } from './contract.ts'
import { ImportFailedError } from './errors.ts'
import { retry, sleep } from './retry.ts'

export interface Progress {
  phase: 'starting' | 'sending' | 'processing'
  /** Rows read so far. */
  rows: number
  /** Items that the platform has accepted. */
  sent: number
  /** Uploads that the platform has accepted. */
  batches: number
  rejected: number
  /** The platform's own count of processed items, if it reports one. */
  processed: number | null
  /** Why the import is waiting, for people; null while it is not. */
  waiting: string | null
}

export interface ImportOptions {
  catalogueImports: CatalogueImports
  source: TokenSource
  catalogueId: string
  /**
   * The same id again resumes the same job: items are upserts, so sending one twice is harmless. If that job has
   * finished, the file goes into a new one, `<id>.2` and so on.
   */
  batchId: string
  batches: AsyncIterable<Batch>
  onProgress?(progress: Readonly<Progress>): void
  /** Ends the import between two requests; it can be resumed. */
  signal?: AbortSignal
  /** How many uploads are in flight at once. */
  inFlight?: number
  /** How long one request is retried, in ms. */
  retryTimeoutMs?: number
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
  /** The job in its final state. */
  job: ImportJob
}

const LONGEST_POLL_MS = 10_000

/**
 * One import from start to the platform's own "completed" (specification 4.4): batches of at most 1000, several in
 * flight, each repeated while the platform fails; then the job is polled, more and more slowly.
 * Throws `ImportFailedError`, what the calls throw when retrying has timed out, what reading throws, and the signal's
 * reason. The platform keeps the items that it has accepted, and the same batch id resumes from there.
 */
export async function runImport(options: ImportOptions): Promise<Outcome> {
  const { catalogueImports, catalogueId, signal } = options
  // If one uploader fails, the others stop, and its error is the one reported.
  const failed = new AbortController()
  const stopSignal = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  const source = abortable(options.source, stopSignal)
  const { inFlight = 12, retryTimeoutMs = 300_000, completionMs = 3_600_000, pauseMs = 500 } = options
  const progress: Progress = {
    phase: 'starting',
    rows: 0,
    sent: 0,
    batches: 0,
    rejected: 0,
    processed: null,
    waiting: null,
  }
  const report = (change: Partial<Progress>) => {
    Object.assign(progress, change)
    options.onProgress?.(progress)
  }

  /** Repeats what is safe to repeat while the platform does not answer, or asks to wait. */
  async function persist<T>(work: () => Promise<T>): Promise<T> {
    const onWait = (waiting: string) => report({ waiting })
    const result = await retry(work, { timeoutMs: retryTimeoutMs, pauseMs, onWait, signal: stopSignal })
    if (progress.waiting) report({ waiting: null })
    return result
  }

  report({})
  // A finished job accepts no more items; the file goes into a new one, whose id follows from the first.
  let batchId = options.batchId
  for (let again = 2; ; again++) {
    const { status } = await persist(() => catalogueImports.start(source, catalogueId, batchId))
    if (!isFinal(status)) break
    batchId = `${options.batchId.slice(0, 90)}.${again}`
  }
  report({ phase: 'sending' })

  const batches = options.batches[Symbol.asyncIterator]()
  async function upload(): Promise<void> {
    // The batches come one after the other, whichever uploader asks.
    for (let next = await batches.next(); !next.done; next = await batches.next()) {
      if (failed.signal.aborted) return
      const { body, items, rows, problems } = next.value
      progress.rows += rows
      progress.rejected += problems.length
      if (items === 0) continue
      await persist(() => catalogueImports.uploadItems(source, catalogueId, batchId, body))
      report({ sent: progress.sent + items, batches: progress.batches + 1 })
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

  report({ phase: 'processing' })
  const job = await completed()
  const { rows, sent, rejected } = progress
  const accepted = Math.min(job.itemsReceived ?? sent, job.itemsProcessed ?? sent)
  if (accepted < sent) {
    throw new ImportFailedError(
      `The platform completed the import with ${accepted} of the ${sent} items that were sent${messageOf(job)}`,
    )
  }
  return { rows, sent, batches: progress.batches, rejected, job }

  async function completed(): Promise<ImportJob> {
    const deadline = performance.now() + completionMs
    for (let pause = pauseMs; ; pause = Math.min(pause * 1.5, LONGEST_POLL_MS)) {
      const job = await persist(() => catalogueImports.get(source, catalogueId, batchId))
      const status = job.status.toLowerCase()
      if (job.itemsProcessed != null) report({ processed: job.itemsProcessed })
      if (status === 'completed') return job
      if (status === 'failed')
        throw new ImportFailedError(`The platform could not complete the import${messageOf(job)}`)
      if (performance.now() + pause > deadline) {
        throw new ImportFailedError(
          `All items were sent, and the platform is still processing them (state: "${job.status.slice(0, 50)}"). Run the import again later.`,
        )
      }
      await sleep(pause, signal)
    }
  }
}

const isFinal = (status: string) => ['completed', 'failed'].includes(status.toLowerCase())

/** The platform's message about a job. */
const messageOf = ({ message }: ImportJob) => (message ? `: ${message.slice(0, 500)}` : '.')

/** The source, whose wait for a permit ends with the signal; a permit that comes later is given back. */
function abortable(source: TokenSource, signal: AbortSignal): TokenSource {
  const { acquirePermit } = source
  if (!acquirePermit) return source
  return {
    ...source,
    acquirePermit: () =>
      new Promise((resolve, reject) => {
        const stop = () => reject(signal.reason)
        signal.addEventListener('abort', stop, { once: true })
        acquirePermit().then((release) => {
          signal.removeEventListener('abort', stop)
          if (signal.aborted) release()
          resolve(release)
        }, reject)
      }),
  }
}
