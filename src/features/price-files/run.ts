import {
  NotFoundError,
  PlatformRejectedError,
  PlatformUnavailableError,
  TokenRefusedError,
} from '../../connect/errors.ts'
import { retry, sleep, type TokenSource } from '../../connect/index.ts'
import type { Batch } from './batches.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { COMPLETED_STATES, FAILED_STATES, type ImportJob, MAX_BATCH, type Rejected } from './contract.ts'
import { ImportFailedError, startRefused, uploadRefused } from './errors.ts'
import { texts } from './texts.ts'

export interface Progress {
  phase: 'starting' | 'sending' | 'processing'
  /** The platform's import that the batches go into; null before it is started. */
  batchId: string | null
  /** Items accepted into that import. */
  importSent: number
  /** Items accepted by the platform, also into earlier imports that were completed while this one was interrupted. */
  sent: number
  /** Uploads accepted by the platform, in the order of the file. */
  batches: number
  /** The items that the platform has rejected in answers to these uploads. */
  rejected: Rejected
  /** The platform's count of processed items; null if not reported. */
  processed: number | null
  /** User-facing reason why the import is waiting; null if it is not. */
  waiting: string | null
}

/** What the platform has accepted before an interruption. */
export type Accepted = Pick<Progress, 'batchId' | 'importSent' | 'sent' | 'batches' | 'rejected'>

export interface ImportOptions {
  catalogueImports: CatalogueImports
  source: TokenSource
  catalogueId: string
  /**
   * The same id resumes the same job: items are upserts, so sending one twice is harmless. If that job has finished, a
   * new one is started with the id `<id>.2`, and so on.
   */
  batchId: string
  /** Returns the batches without the first `skip`, for example by `readBatches`. */
  batches(skip: number): AsyncIterable<Batch>
  /** What an earlier run has sent. It counts only if the platform has it. */
  accepted?: Accepted | null | undefined
  /** Called with every change. */
  onProgress?(progress: Readonly<Progress>): void
  /** Saves the progress after each batch, so that an interrupted import resumes with the next one. */
  save?(progress: Readonly<Progress>): Promise<void>
  /** Stops the import between two requests; it can be resumed. */
  signal?: AbortSignal
  /** How long to retry a request, in ms; 5 minutes by default. */
  retryTimeoutMs?: number
  /** How long to wait for completion after the last upload, in ms; 1 hour by default. */
  completionTimeoutMs?: number
  /** Initial pause between retries and between polls, in ms; both increase. 500 by default. */
  pauseMs?: number
}

/** The result of a completed import. */
export interface ImportResult {
  sent: number
  batches: number
  /** The job in its final state. */
  job: ImportJob
}

const MAX_POLL_MS = 10_000

/**
 * Imports a price file (specification 4.4): starts a job, uploads the batches in order and with retries, and polls the
 * job with increasing pauses until the platform reports it as completed.
 * Throws `ImportFailedError`, the errors of calls whose retries have timed out, the errors of `batches`, and the
 * signal's reason if aborted. The platform keeps the items that it has accepted; the same batch id resumes the import.
 */
export async function runImport(options: ImportOptions): Promise<ImportResult> {
  const progress: Progress = {
    ...NOTHING_SENT,
    ...options.accepted,
    phase: 'starting',
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
  const earlier = await resume(run)
  await uploadAll(run)
  const { sent, batches, importSent, batchId, rejected } = progress
  // The platform may have completed an interrupted import that had nothing left to send.
  if (batchId === null && earlier) return { sent, batches, job: earlier }
  run.report({ phase: 'processing' })
  const job = await pollUntilCompleted(run, batchId ?? run.batchId)
  const accepted = Math.min(job.itemsReceived ?? importSent, job.itemsProcessed ?? importSent)
  if (accepted < importSent) {
    throw new ImportFailedError(texts.failures.fewerItems(accepted, importSent, messageOf(job)))
  }
  if (rejected.count > 0)
    throw new ImportFailedError(
      texts.failures.rejectedItems(rejected.count, sent + rejected.count, rejected.message),
    )
  return { sent, batches, job }
}

export const NOTHING_SENT: Accepted = {
  batchId: null,
  importSent: 0,
  sent: 0,
  batches: 0,
  rejected: { count: 0, message: '' },
}

/** The options of an import with its progress. */
interface Run extends ImportOptions {
  progress: Progress
  /** Updates the progress and reports it. */
  report(change: Partial<Progress>): void
}

/** Makes an idempotent call, with retries while the platform is unavailable or its rate limit is exceeded. */
async function callWithRetry<T>(
  { signal, progress, report, retryTimeoutMs = 300_000, pauseMs = 500 }: Run,
  call: () => Promise<T>,
): Promise<T> {
  const onWait = (_reason: string, error: Error) => {
    const isOutage = error instanceof PlatformUnavailableError || error instanceof TokenRefusedError
    report({ waiting: texts.waiting[isOutage ? error.kind : 'store'] })
  }
  const retryOptions = {
    timeoutMs: retryTimeoutMs,
    pauseMs,
    onWait,
    ...(signal && { signal }),
  }
  const result = await retry(call, retryOptions)
  if (progress.waiting) report({ waiting: null })
  return result
}

/** Starts the job and returns its batch id. A finished job accepts no more items, so `<id>.2` and so on follow. */
async function startJob(run: Run): Promise<string> {
  const { catalogueImports, source, catalogueId } = run
  let batchId = run.batchId
  for (let attempt = 2; ; attempt++) {
    const start = () => catalogueImports.start(source, catalogueId, batchId)
    const { status } = await callWithRetry(run, start).catch((error: unknown) => {
      throw hasMessage(error) ? startRefused(error) : error
    })
    if (!isCompleted(status) && !isFailed(status)) return batchId
    batchId = `${run.batchId.slice(0, 90)}.${attempt}`
  }
}

/**
 * Finds out what need not be sent again. If the platform has completed the import in the meantime, with all items that it
 * had accepted, the rest goes into another one. If it has failed or lost items, everything is sent again. Resolves to a
 * completed import, if any.
 */
async function resume(run: Run): Promise<ImportJob | undefined> {
  const { progress, report, catalogueImports, source, catalogueId } = run
  const { batchId, importSent } = progress
  if (batchId === null) {
    report({})
    return undefined
  }
  const job = await callWithRetry(run, () => catalogueImports.get(source, catalogueId, batchId)).catch(
    (error: unknown) => {
      if (error instanceof NotFoundError) return undefined
      throw error
    },
  )
  const isDone = job !== undefined && isCompleted(job.status)
  const has = Math.min(job?.itemsReceived ?? importSent, (isDone && job.itemsProcessed) || importSent)
  const isLost = !job || isFailed(job.status) || has < importSent
  if (isLost) report(NOTHING_SENT)
  else report(isDone ? { batchId: null, importSent: 0 } : {})
  return isDone && !isLost ? job : undefined
}

const hasMessage = (error: unknown): error is PlatformRejectedError =>
  error instanceof PlatformRejectedError && error.platformMessage !== ''

/** How often an import that the platform has closed is continued in a new one. */
const MAX_NEW_IMPORTS = 5

/**
 * Uploads the batches. If the platform has closed the import, as some do with one that was idle while we waited, the rest
 * goes into a new one.
 */
async function uploadAll(run: Run): Promise<void> {
  for (let started = 1; ; started++) {
    try {
      return await uploadBatches(run)
    } catch (error) {
      const first = run.progress.batches * MAX_BATCH + 1
      const mayBeClosed = error instanceof PlatformRejectedError || error instanceof NotFoundError
      if (!mayBeClosed || run.progress.batchId === null || started === MAX_NEW_IMPORTS) throw error
      await resume(run)
      // It is still open: the upload was refused for another reason.
      if (run.progress.batchId !== null) throw hasMessage(error) ? uploadRefused(error, first) : error
    }
  }
}

/** Uploads the batches in order, one at a time, and saves the progress after each, so that at most one is sent again. */
async function uploadBatches(run: Run): Promise<void> {
  const { signal, progress, report, save, catalogueImports, source, catalogueId } = run
  for await (const { body, items } of run.batches(progress.batches)) {
    signal?.throwIfAborted()
    const batchId = progress.batchId ?? (await startJob(run))
    if (progress.phase === 'starting' || progress.batchId === null) report({ phase: 'sending', batchId })
    const upload = () => catalogueImports.uploadItems(source, catalogueId, batchId, body)
    const rejected = await callWithRetry(run, upload)
    const accepted = Math.max(0, items - (rejected?.count ?? 0))
    report({
      importSent: progress.importSent + accepted,
      sent: progress.sent + accepted,
      batches: progress.batches + 1,
      rejected: {
        count: progress.rejected.count + items - accepted,
        message: progress.rejected.message || (rejected?.message ?? ''),
      },
    })
    if (save) await callWithRetry(run, () => save(progress))
  }
}

/** Polls the job until it is completed. Throws `ImportFailedError` if it fails or does not complete in time. */
async function pollUntilCompleted(run: Run, batchId: string): Promise<ImportJob> {
  const {
    catalogueImports,
    source,
    catalogueId,
    signal,
    report,
    completionTimeoutMs = 3_600_000,
    pauseMs = 500,
  } = run
  const deadline = performance.now() + completionTimeoutMs
  for (let pause = pauseMs; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
    const job = await callWithRetry(run, () => catalogueImports.get(source, catalogueId, batchId))
    if (job.itemsProcessed != null) report({ processed: job.itemsProcessed })
    if (isCompleted(job.status)) return job
    if (isFailed(job.status)) throw new ImportFailedError(texts.failures.notCompleted(messageOf(job)))
    if (performance.now() + pause > deadline) {
      throw new ImportFailedError(texts.failures.stillProcessing(job.status.slice(0, 50)))
    }
    await sleep(pause, signal)
  }
}

const isCompleted = (status: string) => COMPLETED_STATES.includes(status.toLowerCase())
const isFailed = (status: string) => FAILED_STATES.includes(status.toLowerCase())

/** The platform's message about a job; empty if it has none. */
const messageOf = ({ message }: ImportJob) => message?.slice(0, 500) ?? ''
