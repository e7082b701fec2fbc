/** Sends a price file to the platform (specification 4.4): starts a job, uploads the batches in order, and polls the job. */
import { NotFoundError, PlatformRejectedError, PlatformUnavailableError } from '../../connect/errors.ts'
import { retry, sleep, type TokenSource } from '../../connect/index.ts'
import type { Batch } from './batches.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { COMPLETED_STATES, FAILED_STATES, type ImportJob, MAX_BATCH } from './contract.ts'
import { ImportFailedError, startRefused, uploadRefused } from './errors.ts'
import { type Accepted, NOTHING_SENT, type Progress } from './import.ts'
import { texts } from './texts.ts'

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
  save?(progress: Accepted): Promise<void>
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
/** How often an import that the platform has closed is continued in a new one. */
const MAX_NEW_IMPORTS = 5

/** The options of an import with what it has accepted so far. */
interface Run extends ImportOptions {
  accepted: Accepted
  /** Reports a change. */
  report(change: Partial<Progress>): void
  /** Makes an idempotent call, with retries while the platform or the store is unavailable or the rate limit is exceeded. */
  call<T>(work: () => Promise<T>): Promise<T>
  /** The state of a job; undefined if there is none. */
  find(batchId: string): Promise<ImportJob | undefined>
}

/**
 * Imports a price file, with retries and increasing pauses, until the platform reports it as completed. Throws
 * `ImportFailedError`, the errors of calls whose retries have timed out, the errors of `batches`, and the signal's reason if
 * aborted. The platform keeps the items that it has accepted; the same batch id resumes the import.
 */
export async function runImport(options: ImportOptions): Promise<ImportResult> {
  const run = createRun(options)
  const earlier = await uploadAll(run)
  const { sent, batches, importSent, batchId, rejected } = run.accepted
  // The platform may have completed an interrupted import that had nothing left to send.
  if (batchId === null && earlier) return { sent, batches, job: earlier }
  run.report({ phase: 'processing' })
  const job = await pollUntilCompleted(run, batchId ?? run.batchId)
  const accepted = Math.min(job.itemsReceived ?? importSent, job.itemsProcessed ?? importSent)
  if (accepted < importSent)
    throw new ImportFailedError(texts.failures.fewerItems(accepted, importSent, messageOf(job)))
  if (rejected.count > 0)
    throw new ImportFailedError(
      texts.failures.rejectedItems(rejected.count, sent + rejected.count, rejected.message),
    )
  return { sent, batches, job }
}

function createRun(options: ImportOptions): Run {
  const { signal, retryTimeoutMs = 300_000, pauseMs = 500, catalogueImports, source, catalogueId } = options
  let progress: Progress = {
    ...NOTHING_SENT,
    ...options.accepted,
    phase: 'starting',
    processed: null,
    waiting: null,
  }
  const report = (change: Partial<Progress>) => {
    progress = { ...progress, ...change }
    options.onProgress?.(progress)
  }
  const onWait = (_reason: string, error: Error) => {
    report({ waiting: texts.waiting[error instanceof PlatformUnavailableError ? error.kind : 'store'] })
  }
  const call = async <T>(work: () => Promise<T>): Promise<T> => {
    const result = await retry(work, { timeoutMs: retryTimeoutMs, pauseMs, onWait, signal })
    if (progress.waiting) report({ waiting: null })
    return result
  }
  const find = (batchId: string) =>
    call(() => catalogueImports.get(source, catalogueId, batchId)).catch((error: unknown) => {
      if (error instanceof NotFoundError) return undefined
      throw error
    })
  report({})
  return {
    ...options,
    get accepted() {
      const { phase: _, processed: _p, waiting: _w, ...accepted } = progress
      return accepted
    },
    report,
    call,
    find,
  }
}

/**
 * Uploads what the platform has not accepted yet. If the platform has closed the import, as some do with one that was idle while
 * we waited, the rest goes into a new one. Resolves to an import that was completed before, if any.
 */
async function uploadAll(run: Run): Promise<ImportJob | undefined> {
  let earlier = await resume(run)
  for (let started = 1; ; started++) {
    try {
      await uploadBatches(run)
      return earlier
    } catch (error) {
      const first = run.accepted.batches * MAX_BATCH + 1
      const mayBeClosed = error instanceof PlatformRejectedError || error instanceof NotFoundError
      if (!mayBeClosed || run.accepted.batchId === null || started === MAX_NEW_IMPORTS) throw error
      earlier = await resume(run)
      // It is still open: the upload was refused for another reason.
      if (run.accepted.batchId !== null) throw hasMessage(error) ? uploadRefused(error, first) : error
    }
  }
}

/**
 * Finds out what need not be sent again. If the platform has completed the import in the meantime, with all items that it
 * had accepted, the rest goes into another one. If it has failed or lost items, everything is sent again. Resolves to a
 * completed import, if any.
 */
async function resume({ accepted, report, find }: Run): Promise<ImportJob | undefined> {
  const { batchId, importSent } = accepted
  if (batchId === null) return undefined
  const job = await find(batchId)
  const isDone = job !== undefined && isCompleted(job.status)
  const has = Math.min(job?.itemsReceived ?? importSent, (isDone && job.itemsProcessed) || importSent)
  const isLost = !job || isFailed(job.status) || has < importSent
  if (isLost) report(NOTHING_SENT)
  else if (isDone) report({ batchId: null, importSent: 0 })
  return isDone && !isLost ? job : undefined
}

const hasMessage = (error: unknown): error is PlatformRejectedError =>
  error instanceof PlatformRejectedError && error.platformMessage !== ''

/** Uploads the batches in order, one at a time, and saves the progress after each, so that at most one is sent again. */
async function uploadBatches(run: Run): Promise<void> {
  const { signal, report, call, save, catalogueImports, source, catalogueId } = run
  for await (const { body, items } of run.batches(run.accepted.batches)) {
    signal?.throwIfAborted()
    const { batchId: started, ...before } = run.accepted
    const batchId = started ?? (await startJob(run))
    report({ phase: 'sending', batchId })
    const answer = await call(() => catalogueImports.uploadItems(source, catalogueId, batchId, body))
    const accepted = Math.max(0, items - (answer?.count ?? 0))
    report({
      importSent: before.importSent + accepted,
      sent: before.sent + accepted,
      batches: before.batches + 1,
      rejected: {
        count: before.rejected.count + items - accepted,
        message: before.rejected.message || (answer?.message ?? ''),
      },
    })
    if (save) await call(() => save(run.accepted))
  }
}

/** Starts the job and returns its batch id. A finished job accepts no more items, so `<id>.2` and so on follow. */
async function startJob({ catalogueImports, source, catalogueId, batchId, call }: Run): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const id = attempt === 1 ? batchId : `${batchId.slice(0, 90)}.${attempt}`
    const { status } = await call(() => catalogueImports.start(source, catalogueId, id)).catch(
      (error: unknown) => {
        throw hasMessage(error) ? startRefused(error) : error
      },
    )
    if (!isCompleted(status) && !isFailed(status)) return id
  }
}

/** Polls the job until it is completed. Throws `ImportFailedError` if it fails or does not complete in time. */
async function pollUntilCompleted(run: Run, batchId: string): Promise<ImportJob> {
  const {
    catalogueImports,
    source,
    catalogueId,
    signal,
    completionTimeoutMs = 3_600_000,
    pauseMs = 500,
  } = run
  const deadline = performance.now() + completionTimeoutMs
  for (let pause = pauseMs; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
    const job = await run.call(() => catalogueImports.get(source, catalogueId, batchId))
    if (job.itemsProcessed != null) run.report({ processed: job.itemsProcessed })
    if (isCompleted(job.status)) return job
    if (isFailed(job.status)) throw new ImportFailedError(texts.failures.notCompleted(messageOf(job)))
    if (performance.now() + pause > deadline)
      throw new ImportFailedError(texts.failures.stillProcessing(job.status.slice(0, 50)))
    await sleep(pause, signal)
  }
}

const isCompleted = (status: string) => COMPLETED_STATES.includes(status.toLowerCase())
const isFailed = (status: string) => FAILED_STATES.includes(status.toLowerCase())

/** The platform's message about a job; empty if it has none. */
const messageOf = ({ message }: ImportJob) => message?.slice(0, 500) ?? ''
