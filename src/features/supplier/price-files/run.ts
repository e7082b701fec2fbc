/** Sends a price file to the platform (specification 4.4): starts a job, uploads the batches in order, and polls the job. */
import { NotFoundError, PlatformRejectedError, PlatformUnavailableError } from '../../../connect/errors.ts'
import { retry, sleep, type TokenSource } from '../../../connect/index.ts'
import { webTexts } from '../../../web/kit.ts'
import { firstCode, MAX_BATCH } from './batches.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { type ImportJob, outcomeOf } from './contract.ts'
import { importFailed } from './errors.ts'
import { NOTHING_SENT, type Progress } from './import.ts'
import { texts } from './texts.ts'

export interface ImportOptions {
  catalogueImports: CatalogueImports
  source: TokenSource
  catalogueId: string
  /** The id of a new job, which this catalogue has not had before. */
  batchId: string
  /** How many items there are. */
  items: number
  /** The upload request with this number, from 0: 1,000 items; the last one may have fewer. */
  bodyOf(index: number): Promise<Uint8Array>
  /** What an earlier run has sent. It counts only if the platform has it. Items are upserts, so sending one twice is harmless. */
  accepted?: Progress
  /** Called after every change of the progress. */
  onProgress?(progress: Readonly<Progress>): void
  /** Called after each batch. It is called again as long as the store is not available. */
  save?(progress: Progress): Promise<void>
  /** Stops the import between two requests. */
  signal?: AbortSignal
  /** How long to retry a request, in ms; 5 minutes by default. */
  retryTimeoutMs?: number
  /** Initial pause between retries and between polls, in ms; both increase. 500 by default. */
  pauseMs?: number
}

/** How long the platform may take after the last upload, and the longest pause between polls, in ms. */
const [COMPLETION_MS, MAX_POLL_MS] = [3_600_000, 10_000]
/** How much of the platform's word for a state, and of an answer that is not understood, is shown, in characters. */
const [MAX_STATE, MAX_ANSWER] = [50, 200]

/**
 * Imports a price file, with retries and increasing pauses, until the platform reports it as completed. Resolves to what the
 * platform says was wrong, in a sentence, or null. Throws `ImportError` (502), the errors of calls whose retries have timed out,
 * those of `bodyOf`, and the signal's reason if aborted. The platform keeps the items that it has accepted.
 */
export async function runImport(options: ImportOptions): Promise<string | null> {
  const run = new Run(options)
  await run.uploadRest()
  return run.outcome()
}

class Run {
  readonly #options: ImportOptions
  #progress: Progress
  constructor(options: ImportOptions) {
    this.#options = options
    const fresh = { phase: 'starting', platformState: null, processed: null, waiting: null } as const
    this.#progress = { ...(options.accepted ?? NOTHING_SENT), ...fresh }
  }

  /** Uploads what the platform has not accepted yet, one batch at a time. */
  async uploadRest(): Promise<void> {
    const { items, bodyOf, batchId, save } = this.#options
    let isOpen = await this.#isStillOpen()
    while (this.#progress.batches * MAX_BATCH < items) {
      const body = await bodyOf(this.#progress.batches)
      if (!isOpen) {
        await this.#start()
        this.#report({ batchId, importSent: 0 })
        isOpen = true
      }
      await this.#upload(body)
      if (save) await this.#call(() => save(this.#progress))
    }
  }

  /** Waits until the platform has completed the job. Resolves to what it says was wrong, or to null if it reports no problem. */
  async outcome(): Promise<string | null> {
    this.#report({ phase: 'processing' })
    const job = await this.#pollUntilCompleted()
    const { sent, importSent, rejected } = this.#progress
    const accepted = acceptedBy(job, importSent)
    if (accepted < importSent)
      throw importFailed(texts.failures.fewerItems(accepted, importSent, messageOf(job)))
    if (rejected.count > 0)
      throw importFailed(
        texts.failures.rejectedItems(rejected.count, sent + rejected.count, rejected.message),
      )
    return outcomeOf(job) === 'problems' ? texts.failures.problems(wordsOf(job)) : null
  }

  /**
   * Whether the job of an earlier run takes more items. If it has failed or lost some, everything is sent again. The same goes for
   * a completed job that got everything and rejected some items: the platform may accept them now. If a job is completed with all
   * that it had accepted, only the rest is sent, into a new job.
   */
  async #isStillOpen(): Promise<boolean> {
    const { batchId, importSent, batches, rejected } = this.#progress
    if (batchId === null) return false
    const job = await this.#job(batchId).catch((error: unknown) => {
      if (error instanceof NotFoundError) return null
      throw error
    })
    const hasAll = job && outcomeOf(job) !== 'failed' && acceptedBy(job, importSent) >= importSent
    const isIncomplete = batches * MAX_BATCH >= this.#options.items && rejected.count > 0
    if (hasAll && !isCompleted(job)) return true
    if (!hasAll || isIncomplete) this.#report(NOTHING_SENT)
    return false
  }

  async #start(): Promise<void> {
    const { catalogueImports, source, catalogueId, batchId } = this.#options
    await this.#call(() => catalogueImports.start(source, catalogueId, batchId)).catch((error: unknown) => {
      throw refusal(error, texts.failures.startRefused)
    })
  }

  /** Uploads the next batch. */
  async #upload(body: Uint8Array): Promise<void> {
    const { catalogueImports, source, catalogueId, items, ...options } = this.#options
    this.#report({ phase: 'sending' })
    const { batches, importSent, sent, rejected, batchId } = this.#progress
    const upload = () => catalogueImports.uploadItems(source, catalogueId, batchId ?? options.batchId, body)
    const answer = await this.#call(upload).catch((error: unknown) => {
      throw refusal(error, (said) => texts.failures.uploadRefused(firstCode(body), said))
    })
    const uploaded = Math.min(MAX_BATCH, items - batches * MAX_BATCH)
    const accepted = Math.max(0, uploaded - answer.count)
    this.#report({
      importSent: importSent + accepted,
      sent: sent + accepted,
      batches: batches + 1,
      rejected: {
        count: rejected.count + uploaded - accepted,
        message: rejected.message || answer.message,
      },
    })
  }

  /** Polls the job until it is completed. Throws `ImportError` (502) if it fails or does not complete in time. */
  async #pollUntilCompleted(): Promise<ImportJob> {
    const { batchId, pauseMs = 500, signal } = this.#options
    const deadline = performance.now() + COMPLETION_MS
    for (let pause = pauseMs; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
      const job = await this.#job(this.#progress.batchId ?? batchId)
      const platformState = stateOf(job)
      this.#report({ platformState, ...(job.itemsProcessed != null && { processed: job.itemsProcessed }) })
      if (isCompleted(job)) return job
      if (outcomeOf(job) === 'failed') throw importFailed(texts.failures.notCompleted(wordsOf(job)))
      if (performance.now() + pause > deadline)
        throw importFailed(texts.failures.stillProcessing(platformState))
      await sleep(pause, signal)
    }
  }

  /** The platform's job. Throws `ImportError` (502) if its answer is not understood. */
  #job(batchId: string): Promise<ImportJob> {
    const { catalogueImports, source, catalogueId } = this.#options
    return this.#call(() => catalogueImports.get(source, catalogueId, batchId)).catch((error: unknown) => {
      throw refusal(error, notUnderstood)
    })
  }

  #report(change: Partial<Progress>): void {
    this.#progress = { ...this.#progress, ...change }
    this.#options.onProgress?.(this.#progress)
  }

  /** Makes an idempotent call, with retries while the platform or the store is unavailable or the rate limit is exceeded. */
  async #call<T>(work: () => Promise<T>): Promise<T> {
    const { signal, retryTimeoutMs: timeoutMs = 300_000, pauseMs = 500 } = this.#options
    const onWait = (_reason: string, error: Error) => {
      const isOutage = error instanceof PlatformUnavailableError
      const waiting = texts.waiting(isOutage ? webTexts.outages[error.kind].title : undefined)
      const said = saidIn(error)
      this.#report({ waiting: said === '' ? waiting : `${notUnderstood(said)} ${waiting}` })
    }
    const result = await retry(work, { timeoutMs, pauseMs, onWait, signal })
    if (this.#progress.waiting) this.#report({ waiting: null })
    return result
  }
}

/** How many of the items that were sent into a job the platform has. In a completed job, only processed items count. */
const acceptedBy = (job: ImportJob, sent: number): number =>
  Math.min(job.itemsReceived ?? sent, isCompleted(job) ? (job.itemsProcessed ?? sent) : sent)

const notUnderstood = (said: string) => texts.failures.notUnderstood(said.slice(0, MAX_ANSWER))

/** What the platform said in the answer that led to an error; empty if it said nothing. */
const saidIn = (error: unknown): string =>
  error instanceof PlatformRejectedError || error instanceof PlatformUnavailableError
    ? error.platformMessage
    : ''

/** Returns an error with this text about what the platform has said. If it said nothing, returns the error that was thrown. */
const refusal = (error: unknown, text: (said: string) => string): unknown => {
  const said = saidIn(error)
  return said === '' ? error : importFailed(text(said))
}

const isCompleted = (job: ImportJob) => ['completed', 'problems'].includes(outcomeOf(job))
const stateOf = ({ status }: ImportJob) => status.slice(0, MAX_STATE)
/** The platform's message about a job; empty if it has none. */
const messageOf = ({ message }: ImportJob) => message?.slice(0, 500) ?? ''
/** The platform's word for the state of a job, with its message. */
const wordsOf = (job: ImportJob) => [stateOf(job), messageOf(job)].filter(Boolean).join(': ')
