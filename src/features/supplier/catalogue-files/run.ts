/** Sends all items of a file to the platform (specification 4.4): starts a job, uploads the batches in order, and polls the job. */
import * as z from 'zod'
import { PlatformRejectedError, PlatformUnavailableError } from '../../../connect/errors.ts'
import { type Api, formsOf, messageIn, retry, sleep, type TokenSource } from '../../../connect/index.ts'
import { webTexts } from '../../../web/feature-api.ts'
import { CATALOGUES_SCOPE } from '../../catalogues/contract.ts'
import { texts as catalogueTexts } from '../../catalogues/texts.ts'
import * as contract from './contract.ts'
import { ImportError, importFailed } from './errors.ts'
import { type Import, NOTHING_SENT, type Progress, progressed } from './import.ts'
import { texts } from './import-texts.ts'
import { batchesOf, type Records } from './records.ts'

export interface RunOptions {
  api: Api
  source: TokenSource
  records: Records
  /** The import, whose run has begun. */
  job: Import
  /** Called whenever the progress is saved. */
  onProgress?(progress: Progress): void
  /** Stops between two requests. */
  signal: AbortSignal
  /** The first pause between retries and between polls, in ms; both increase. 500 by default. */
  pauseMs?: number
}

const { PATHS } = contract
const CALL = { scope: CATALOGUES_SCOPE, notFound: catalogueTexts.notFound }
/** How long to retry a request, in ms: longer than the longest `Retry-After`. */
const RETRY_MS = 600_000
/** How long the platform may take to process a batch, in ms. */
const UPLOAD_MS = 60_000
/** How long the platform may take after the last upload, and the longest pause between polls, in ms. */
const [COMPLETION_MS, MAX_POLL_MS] = [3_600_000, 10_000]

/** Ends a run, because a user has stopped the import, or because another file or another process has replaced the run. */
export class RunEndedError extends Error {}

/** Sends all items of an import as a new job on the platform, so that a late upload of an earlier run has no effect. */
export class Run {
  readonly #options: RunOptions
  /** The id of the job on the platform, which this catalogue has never used before. */
  readonly #batchId: string
  readonly #path: { start: string; import: string; items: string }
  #progress = NOTHING_SENT
  constructor(options: RunOptions) {
    const { id, run, catalogueId } = options.job
    this.#options = options
    this.#batchId = `${id}.${run}`
    this.#path = {
      start: PATHS.start(catalogueId),
      import: PATHS.import(catalogueId, this.#batchId),
      items: PATHS.items(catalogueId, this.#batchId),
    }
  }

  /**
   * Sends the items, with retries and increasing pauses, until the platform reports the import as completed. Resolves to the
   * platform's message, if any. Throws `RunEndedError`, `ImportError` (502; 409 if the items have expired), the errors of calls whose
   * retries have timed out, and the signal's reason if aborted. The platform keeps the items that it has accepted.
   */
  async send(): Promise<string | null> {
    await this.#start()
    for (const from of batchesOf(this.#options.job.items)) await this.#upload(from)
    return this.#completed()
  }

  async #start(): Promise<void> {
    const { api, source } = this.#options
    const call = { ...CALL, path: this.#path.start, schema: z.unknown() }
    const start = () => api.post(source, call, { batchId: this.#batchId })
    await this.#call(start).catch(async (error: unknown) => {
      // The specification doesn't define the error for an existing batch id, so check whether the job exists.
      const isStarted = error instanceof PlatformRejectedError && (await this.#job().catch(() => null))
      if (!isStarted) throw failure(error, texts.failures.startRefused)
    })
  }

  async #upload(from: number): Promise<void> {
    const { api, source, records, job } = this.#options
    const items = await this.#call(() => records.batch(job.id, from))
    const schema = contract.uploadAnswerSchema(items.length)
    const call = { ...CALL, path: this.#path.items, schema, timeoutMs: UPLOAD_MS }
    await this.#call(() => api.post(source, call, contract.itemsBody(items))).catch((error: unknown) => {
      throw failure(error, (said) => texts.failures.uploadRefused(items[0]?.code ?? '', said))
    })
    this.#progress = { sent: from + items.length, note: texts.sending.sending }
  }

  /** Polls the job until it is completed. Throws `ImportError` (502) if it fails, times out or has an unknown form. */
  async #completed(): Promise<string | null> {
    const { pauseMs = 500, signal } = this.#options
    const deadline = performance.now() + COMPLETION_MS
    for (let pause = pauseMs; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
      const job = await this.#call(() => this.#job()).catch((error: unknown) => {
        throw failure(error, texts.failures.unclear)
      })
      const said = [job.status, job.message].filter(Boolean).join(': ')
      const outcome = contract.outcomeOf(job.status)
      if (outcome === 'completed') return job.message ? texts.sending.said(job.message) : null
      if (outcome === 'failed') throw importFailed(texts.failures.failed(said))
      if (performance.now() + pause > deadline) throw importFailed(texts.failures.stillProcessing(said))
      this.#show(texts.sending.processing(said, job.itemsProcessed ?? null))
      await sleep(pause, signal)
    }
  }

  /** Fetches the job. Removes the token and other credentials from its messages, because users read them. */
  async #job(): Promise<contract.ImportJob> {
    const { api, source, job: sent } = this.#options
    const secrets = [await source.accessToken(), ...Object.values(source.headers ?? {})].flatMap(formsOf)
    const schema = contract.importJobSchema(sent.items)
    const job = await api.get(source, { ...CALL, path: this.#path.import, schema })
    const shown = (text: string) => messageIn(text, secrets)
    return { ...job, status: shown(job.status), message: shown(job.message ?? '') }
  }

  /** Saves the progress. Throws `RunEndedError`. */
  async #save(): Promise<void> {
    const { records, job, onProgress } = this.#options
    onProgress?.(this.#progress)
    const to = (now: Import) => progressed(now, job.run, this.#progress)
    const saved = await records.change(job, to).catch((error: unknown) => {
      if (!(error instanceof ImportError)) throw error
    })
    if (saved?.state !== 'running') throw new RunEndedError()
  }

  /** Shows the current activity. If it can't be saved, the next call tries again. */
  #show(note: string): void {
    this.#progress = { ...this.#progress, note }
    void this.#save().catch(() => {})
  }

  /**
   * Makes an idempotent call, with retries while the platform or the store is unavailable or the rate limit is exceeded. Saves the
   * progress before each attempt, so that a run that has ended sends no further request.
   */
  #call<T>(work: () => Promise<T>): Promise<T> {
    const { signal, pauseMs = 500 } = this.#options
    const onWait = (_reason: string, error: Error) => {
      const outage =
        error instanceof PlatformUnavailableError ? webTexts.outages[error.kind].title : undefined
      this.#show(texts.sending.waiting(outage))
    }
    const attempt = async () => {
      await this.#save()
      return work()
    }
    return retry(attempt, { timeoutMs: RETRY_MS, pauseMs, onWait, signal })
  }
}

/** The error for the user, with the platform's words, if there are any. `refused`: describes a refusal. */
function failure(error: unknown, refused: (said: string) => string): unknown {
  if (error instanceof PlatformRejectedError && error.platformMessage)
    return importFailed(refused(error.platformMessage))
  // Without a usable answer, the items may have arrived.
  if (error instanceof PlatformUnavailableError && error.platformMessage)
    return importFailed(texts.failures.unclear(error.platformMessage))
  return error
}
