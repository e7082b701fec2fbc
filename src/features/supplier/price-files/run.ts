/** Sends a price file to the platform (specification 4.4): starts a job, uploads the batches in order, and polls the job. */
import { NotFoundError, PlatformRejectedError, PlatformUnavailableError } from '../../../connect/errors.ts'
import { retry, sleep, type TokenSource } from '../../../connect/index.ts'
import { webTexts } from '../../../web/kit.ts'
import { firstCode, MAX_BATCH } from './batches.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { type ImportJob, outcomeOf } from './contract.ts'
import { ImportFailedError } from './errors.ts'
import { NOTHING_SENT, type Progress } from './import.ts'
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
  /** How many items there are. */
  items: number
  /** The upload request with this number, from 0: 1,000 items; the last one may have fewer. */
  bodyOf(index: number): Promise<Uint8Array>
  /** What an earlier run has sent. It counts only if the platform has it. */
  accepted?: Progress | null | undefined
  /** Called with every change. */
  onProgress?(progress: Readonly<Progress>): void
  /** Saves the progress after each batch, so that an interrupted import resumes with the next one. */
  save?(progress: Progress): Promise<void>
  /** Stops the import between two requests; it can be resumed. */
  signal?: AbortSignal
  /** How long to retry a request, in ms; 5 minutes by default. */
  retryTimeoutMs?: number
  /** Initial pause between retries and between polls, in ms; both increase. 500 by default. */
  pauseMs?: number
}

/** The result of a completed import. */
export interface ImportResult {
  sent: number
  batches: number
  /** What the platform says was wrong, in a sentence; null if it says nothing of the kind. */
  problems: string | null
}

/** How long the platform may take after the last upload, and the longest pause between polls, in ms. */
const [COMPLETION_MS, MAX_POLL_MS] = [3_600_000, 10_000]
/** How much of the platform's word for a state, and of an answer that is not understood, is shown, in characters. */
const [MAX_STATE, MAX_ANSWER] = [50, 200]
/** How often an import that the platform has closed is continued in a new one. */
const MAX_NEW_IMPORTS = 5

/** An import with what it has accepted so far. */
interface Run {
  options: ImportOptions
  progress: Progress
  /** Reports a change. */
  report(change: Partial<Progress>): void
  /** Makes an idempotent call, with retries while the platform or the store is unavailable or the rate limit is exceeded. */
  call<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Imports a price file, with retries and increasing pauses, until the platform reports it as completed. Throws
 * `ImportFailedError`, the errors of calls whose retries have timed out, the errors of `bodyOf`, and the signal's reason if
 * aborted. The platform keeps the items that it has accepted; the same batch id resumes the import.
 */
export async function runImport(options: ImportOptions): Promise<ImportResult> {
  const run = createRun(options)
  await uploadAll(run)
  run.report({ phase: 'processing' })
  const job = await pollUntilCompleted(run)
  const { sent, batches, importSent, rejected } = run.progress
  const accepted = acceptedBy(job, importSent)
  if (accepted < importSent)
    throw new ImportFailedError(texts.failures.fewerItems(accepted, importSent, messageOf(job)))
  if (rejected.count > 0)
    throw new ImportFailedError(
      texts.failures.rejectedItems(rejected.count, sent + rejected.count, rejected.message),
    )
  const problems = outcomeOf(job) === 'problems' ? texts.failures.problems(wordsOf(job)) : null
  return { sent, batches, problems }
}

function createRun(options: ImportOptions): Run {
  const { accepted, signal, retryTimeoutMs: timeoutMs = 300_000, pauseMs = 500 } = options
  const run: Run = {
    options,
    progress: {
      ...NOTHING_SENT,
      ...accepted,
      phase: 'starting',
      platformState: null,
      processed: null,
      waiting: null,
    },
    report(change) {
      run.progress = { ...run.progress, ...change }
      options.onProgress?.(run.progress)
    },
    async call(work) {
      const result = await retry(work, { timeoutMs, pauseMs, onWait, signal })
      if (run.progress.waiting) run.report({ waiting: null })
      return result
    },
  }
  const onWait = (_reason: string, error: Error) => {
    const isOutage = error instanceof PlatformUnavailableError
    const said = saidIn(error)
    const waiting = texts.waiting(isOutage ? webTexts.outages[error.kind].title : undefined)
    run.report({ waiting: said === '' ? waiting : `${notUnderstood(said)} ${waiting}` })
  }
  return run
}

/**
 * Uploads what the platform has not accepted yet, one batch at a time, and saves the progress after each, so that at most one is
 * sent again. If the platform has closed the import, as some do with one that was idle while we waited, the rest goes into a
 * new one.
 */
async function uploadAll(run: Run): Promise<void> {
  const { items, bodyOf, save } = run.options
  let isOpen = await isStillOpen(run)
  for (let closed = 0; run.progress.batches * MAX_BATCH < items; ) {
    const body = await bodyOf(run.progress.batches)
    if (!isOpen) run.report({ batchId: await startJob(run), importSent: 0 })
    isOpen = true
    try {
      await upload(run, body)
    } catch (error) {
      const mayBeClosed = error instanceof PlatformRejectedError || error instanceof NotFoundError
      if (!mayBeClosed || ++closed === MAX_NEW_IMPORTS) throw error
      isOpen = await isStillOpen(run)
      // The upload was refused for another reason.
      if (isOpen) throw refusal(error, (said) => texts.failures.uploadRefused(firstCode(body), said))
      continue
    }
    if (save) await run.call(() => save(run.progress))
  }
}

/** Uploads the next batch. */
async function upload({ options, progress, report, call }: Run, body: Uint8Array): Promise<void> {
  const { catalogueImports, source, catalogueId, items } = options
  const { batchId, batches, importSent, sent, rejected } = progress
  report({ phase: 'sending' })
  const answer = await call(() =>
    catalogueImports.uploadItems(source, catalogueId, batchId ?? options.batchId, body),
  )
  const uploaded = Math.min(MAX_BATCH, items - batches * MAX_BATCH)
  const accepted = Math.max(0, uploaded - (answer?.count ?? 0))
  report({
    importSent: importSent + accepted,
    sent: sent + accepted,
    batches: batches + 1,
    rejected: {
      count: rejected.count + uploaded - accepted,
      message: rejected.message || (answer?.message ?? ''),
    },
  })
}

/**
 * Whether the platform's import takes more items. Everything is sent again if it has failed or lost some, or if it is completed
 * without items that it rejected: it may accept them now. If it is completed with all that it had accepted, only the rest.
 */
async function isStillOpen({ options, progress, report, call }: Run): Promise<boolean> {
  const { items } = options
  const { batchId, importSent, batches, rejected } = progress
  if (batchId === null) return false
  const job = await jobOf({ options, call }, batchId).catch((error: unknown) => {
    if (error instanceof NotFoundError) return undefined
    throw error
  })
  const hasAccepted = job && !isFailed(job) && acceptedBy(job, importSent) >= importSent
  const isIncomplete = job && isCompleted(job) && batches * MAX_BATCH >= items && rejected.count > 0
  if (hasAccepted && !isIncomplete) return !isCompleted(job)
  report(NOTHING_SENT)
  return false
}

/** How many of the items that were sent into a job the platform has. It processes them before it completes the job. */
const acceptedBy = (job: ImportJob, sent: number): number =>
  Math.min(job.itemsReceived ?? sent, isCompleted(job) ? (job.itemsProcessed ?? sent) : sent)

/** Starts the job and returns its batch id. A finished job accepts no more items, so `<id>.2` and so on follow. */
async function startJob({ options, call }: Run): Promise<string> {
  const { catalogueImports, source, catalogueId, batchId } = options
  for (let attempt = 1; ; attempt++) {
    const id = attempt === 1 ? batchId : `${batchId.slice(0, 90)}.${attempt}`
    const job = await call(() => catalogueImports.start(source, catalogueId, id)).catch((error: unknown) => {
      throw refusal(error, texts.failures.startRefused)
    })
    if (!isCompleted(job) && !isFailed(job)) return id
  }
}

/** Polls the job until it is completed. Throws `ImportFailedError` if it fails or does not complete in time. */
async function pollUntilCompleted({ options, progress, report, call }: Run): Promise<ImportJob> {
  const deadline = performance.now() + COMPLETION_MS
  for (let pause = options.pauseMs ?? 500; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
    const job = await jobOf({ options, call }, progress.batchId ?? options.batchId)
    const platformState = job.status.slice(0, MAX_STATE)
    report({ platformState, ...(job.itemsProcessed != null && { processed: job.itemsProcessed }) })
    switch (outcomeOf(job)) {
      case 'completed':
      case 'problems':
        return job
      case 'failed':
        throw new ImportFailedError(texts.failures.notCompleted(wordsOf(job)))
      case 'unfinished':
        if (performance.now() + pause > deadline)
          throw new ImportFailedError(texts.failures.stillProcessing(platformState))
    }
    await sleep(pause, options.signal)
  }
}

/** The platform's job. Throws `ImportFailedError` if its answer is not understood. */
const jobOf = (
  { options: { catalogueImports, source, catalogueId }, call }: Pick<Run, 'options' | 'call'>,
  batchId: string,
): Promise<ImportJob> =>
  call(() => catalogueImports.get(source, catalogueId, batchId)).catch((error: unknown) => {
    throw refusal(error, notUnderstood)
  })

const notUnderstood = (said: string) => texts.failures.notUnderstood(said.slice(0, MAX_ANSWER))

/** What the platform has said that has led to an error; empty if nothing. */
const saidIn = (error: unknown): string =>
  error instanceof PlatformRejectedError || error instanceof PlatformUnavailableError
    ? error.platformMessage
    : ''

/** An error with this text about what the platform has said; if it has said nothing, the one that was thrown. */
const refusal = (error: unknown, text: (said: string) => string): unknown => {
  const said = saidIn(error)
  return said === '' ? error : new ImportFailedError(text(said))
}

const isCompleted = (job: ImportJob) => ['completed', 'problems'].includes(outcomeOf(job))
const isFailed = (job: ImportJob) => outcomeOf(job) === 'failed'

/** The platform's message about a job; empty if it has none. */
const messageOf = ({ message }: ImportJob) => message?.slice(0, 500) ?? ''
/** The platform's word for the state of a job, with its message. */
const wordsOf = (job: ImportJob) =>
  [job.status.slice(0, MAX_STATE), messageOf(job)].filter(Boolean).join(': ')
