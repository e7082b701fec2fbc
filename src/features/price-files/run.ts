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
  /** Items accepted by the platform. */
  sent: number
  /** Uploads accepted by the platform. */
  batches: number
  /** Rows rejected by the check. */
  rejected: number
  /** The platform's count of processed items; null if not reported. */
  processed: number | null
  /** User-facing reason why the import is waiting; null if it is not. */
  waiting: string | null
}

export interface ImportOptions {
  catalogueImports: CatalogueImports
  source: TokenSource
  catalogueId: string
  /**
   * The same id resumes the same job: items are upserts, so sending one twice is harmless. If that job has finished, a
   * new one is started with the id `<id>.2`, and so on.
   */
  batchId: string
  batches: AsyncIterable<Batch>
  onProgress?(progress: Readonly<Progress>): void
  /** Stops the import between two requests; it can be resumed. */
  signal?: AbortSignal
  /** Maximum number of concurrent uploads; 12 by default. */
  inFlight?: number
  /** How long to retry a request, in ms; 5 minutes by default. */
  retryTimeoutMs?: number
  /** How long to wait for completion after the last upload, in ms; 1 hour by default. */
  completionTimeoutMs?: number
  /** Initial pause between retries and between polls, in ms; both increase. 500 by default. */
  pauseMs?: number
}

/** The result of a completed import. */
export interface ImportResult {
  rows: number
  sent: number
  batches: number
  rejected: number
  /** The job in its final state. */
  job: ImportJob
}

const MAX_POLL_MS = 10_000

/**
 * Imports a price file (specification 4.4): starts a job, uploads the batches, several in parallel and with retries,
 * and polls the job with increasing pauses until the platform reports it as completed.
 * Throws `ImportFailedError`, the errors of calls whose retries have timed out, the errors of `batches`, and the
 * signal's reason if aborted. The platform keeps the items that it has accepted; the same batch id resumes the import.
 */
export async function runImport(options: ImportOptions): Promise<ImportResult> {
  const progress: Progress = {
    phase: 'starting',
    rows: 0,
    sent: 0,
    batches: 0,
    rejected: 0,
    processed: null,
    waiting: null,
  }
  const run: Run = {
    ...options,
    progress,
    report(change) {
      Object.assign(progress, change)
      options.onProgress?.(progress)
    },
  }
  run.report({})
  const batchId = await startJob(run)
  run.report({ phase: 'sending' })
  await uploadBatches(run, batchId)
  run.report({ phase: 'processing' })
  const job = await pollUntilCompleted(run, batchId)
  const { rows, sent, batches, rejected } = progress
  const accepted = Math.min(job.itemsReceived ?? sent, job.itemsProcessed ?? sent)
  if (accepted < sent) {
    throw new ImportFailedError(
      `The platform completed the import with ${accepted} of the ${sent} items that were sent${messageOf(job)}`,
    )
  }
  return { rows, sent, batches, rejected, job }
}

/** The options of an import with its progress. */
interface Run extends ImportOptions {
  progress: Progress
  /** Updates the progress and reports it. */
  report(change: Partial<Progress>): void
}

/** Makes an idempotent call, with retries while the platform is unavailable or its rate limit is exceeded. */
async function callWithRetry<T>(
  { source, signal, progress, report, retryTimeoutMs = 300_000, pauseMs = 500 }: Run,
  call: (source: TokenSource) => Promise<T>,
  abortSignal = signal,
): Promise<T> {
  const onWait = (waiting: string) => report({ waiting })
  const callSource = abortSignal ? abortable(source, abortSignal) : source
  const retryOptions = {
    timeoutMs: retryTimeoutMs,
    pauseMs,
    onWait,
    ...(abortSignal && { signal: abortSignal }),
  }
  const result = await retry(() => call(callSource), retryOptions)
  if (progress.waiting) report({ waiting: null })
  return result
}

/** Starts the job and returns its batch id. A finished job accepts no more items, so `<id>.2` and so on follow. */
async function startJob(run: Run): Promise<string> {
  const { catalogueImports, catalogueId } = run
  let batchId = run.batchId
  for (let attempt = 2; ; attempt++) {
    const { status } = await callWithRetry(run, (source) =>
      catalogueImports.start(source, catalogueId, batchId),
    )
    if (!isFinal(status)) return batchId
    batchId = `${run.batchId.slice(0, 90)}.${attempt}`
  }
}

/** Uploads all batches in parallel. If one upload fails, the others stop, and its error is thrown. */
async function uploadBatches(run: Run, batchId: string): Promise<void> {
  const { catalogueImports, catalogueId, signal, progress, report, inFlight = 12 } = run
  const failed = new AbortController()
  const stopSignal = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  const batches = run.batches[Symbol.asyncIterator]()

  async function uploadNext(): Promise<void> {
    // Async generators queue concurrent calls of `next`, so each batch goes to one uploader.
    for (let next = await batches.next(); !next.done; next = await batches.next()) {
      if (failed.signal.aborted) return
      const { body, items, rows, problems } = next.value
      progress.rows += rows
      progress.rejected += problems.length
      if (items === 0) continue
      await callWithRetry(
        run,
        (source) => catalogueImports.uploadItems(source, catalogueId, batchId, body),
        stopSignal,
      )
      report({ sent: progress.sent + items, batches: progress.batches + 1 })
    }
  }

  const uploaders = Array.from({ length: inFlight }, () =>
    uploadNext().catch((error: unknown) => failed.abort(error)),
  )
  await Promise.all(uploaders)
  if (failed.signal.aborted) {
    await batches.return?.().catch(() => {})
    throw failed.signal.reason
  }
}

/** Polls the job until it is completed. Throws `ImportFailedError` if it fails or does not complete in time. */
async function pollUntilCompleted(run: Run, batchId: string): Promise<ImportJob> {
  const {
    catalogueImports,
    catalogueId,
    signal,
    report,
    completionTimeoutMs = 3_600_000,
    pauseMs = 500,
  } = run
  const deadline = performance.now() + completionTimeoutMs
  for (let pause = pauseMs; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
    const job = await callWithRetry(run, (source) => catalogueImports.get(source, catalogueId, batchId))
    const status = job.status.toLowerCase()
    if (job.itemsProcessed != null) report({ processed: job.itemsProcessed })
    if (status === 'completed') return job
    if (status === 'failed')
      throw new ImportFailedError(`The platform could not complete the import${messageOf(job)}`)
    if (performance.now() + pause > deadline) {
      throw new ImportFailedError(
        `All items were sent, but the platform is still processing them (state: "${job.status.slice(0, 50)}"). Run the import again later.`,
      )
    }
    await sleep(pause, signal)
  }
}

const isFinal = (status: string) => ['completed', 'failed'].includes(status.toLowerCase())

/** The platform's message about a job, as the end of a sentence. */
const messageOf = ({ message }: ImportJob) => (message ? `: ${message.slice(0, 500)}` : '.')

/** A token source that stops waiting for a permit when aborted. A permit that arrives later is released. */
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
