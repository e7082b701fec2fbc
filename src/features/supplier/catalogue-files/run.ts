/** Sends all items of a file to the platform (specification 4.4): starts a job, uploads the batches in order, and polls the job. */
import * as z from 'zod'
import { PlatformRejectedError, PlatformUnavailableError } from '../../../connect/errors.ts'
import { type Api, formsOf, messageIn, retry, sleep, type TokenSource } from '../../../connect/index.ts'
import { webTexts } from '../../../web/feature-api.ts'
import { CATALOGUES_SCOPE } from '../../catalogues/contract.ts'
import { texts as catalogueTexts } from '../../catalogues/texts.ts'
import * as contract from './contract.ts'
import { importFailed } from './errors.ts'
import { NOTHING_SENT, type Outcome, type Progress } from './import.ts'
import { texts } from './import-texts.ts'
import type { Item } from './items.ts'
import { batchesOf } from './records.ts'

export interface RunOptions {
  api: Api
  source: TokenSource
  catalogueId: string
  /** The id of the new job, which this catalogue has never used before. */
  batchId: string
  /** The number of items. */
  items: number
  /** Returns the batch that begins with the item at this index. */
  batchAt(from: number): Promise<Item[]>
  /** Called after every change of the progress. */
  onProgress(progress: Progress): void
  /** Called after each batch. */
  save(): Promise<void>
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

/**
 * Sends the items, with retries and increasing pauses, until the platform reports the import as completed. Throws `ImportError`
 * (502), the errors of calls whose retries have timed out, those of `batchAt`, and the signal's reason if aborted. The platform
 * keeps the items that it has accepted.
 */
export async function sendAll(options: RunOptions): Promise<Outcome> {
  const run = new Run(options)
  await run.start()
  for (const from of batchesOf(options.items)) await run.upload(from)
  return run.outcome()
}

class Run {
  readonly #options: RunOptions
  #progress = NOTHING_SENT
  /** Describes the first upload response that the app could not interpret. */
  #doubt: string | null = null
  constructor(options: RunOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { api, source, catalogueId, batchId } = this.#options
    const call = { ...CALL, path: PATHS.start(catalogueId), schema: z.unknown() }
    await this.#call(() => api.post(source, call, { batchId })).catch(async (error: unknown) => {
      // The specification doesn't define the error for an existing batch id, so check whether the job exists.
      const isStarted = error instanceof PlatformRejectedError && (await this.#job().catch(() => null))
      if (!isStarted) throw said(error) ? importFailed(texts.failures.startRefused(said(error))) : error
    })
  }

  /** Uploads a batch. The import continues even if it is unclear whether the whole batch has arrived. */
  async upload(from: number): Promise<void> {
    const { api, source, catalogueId, batchId, batchAt, save } = this.#options
    const items = await this.#call(() => batchAt(from))
    const schema = contract.uploadAnswerSchema(items.length)
    const call = { ...CALL, path: PATHS.items(catalogueId, batchId), schema, timeoutMs: UPLOAD_MS }
    await this.#call(() => api.post(source, call, contract.itemsBody(items))).catch((error: unknown) => {
      if (!said(error)) throw error
      if (!isUnclear(error))
        throw importFailed(texts.failures.uploadRefused(items[0]?.code ?? '', said(error)))
      this.#doubt ??= texts.failures.unclear(said(error))
    })
    this.#report({ sent: from + items.length, note: texts.sending.sending })
    await this.#call(save)
  }

  /** Waits until the platform has completed the job. */
  async outcome(): Promise<Outcome> {
    const job = await this.#completedJob()
    if (this.#doubt !== null) throw importFailed(this.#doubt)
    const { items } = this.#options
    const arrived = Math.min(job.itemsReceived ?? items, job.itemsProcessed ?? items)
    if (arrived < items) throw importFailed(texts.failures.fewerItems(arrived, items, wordsOf(job)))
    if (contract.outcomeOf(job) === 'problems')
      return { problem: texts.failures.problems(wordsOf(job)), said: null }
    return { problem: null, said: job.message ? texts.sending.said(job.message) : null }
  }

  /** Polls the job until it is completed. Throws `ImportError` (502) if it fails, times out or has an unknown form. */
  async #completedJob(): Promise<contract.ImportJob> {
    const { pauseMs = 500, signal } = this.#options
    const deadline = performance.now() + COMPLETION_MS
    for (let pause = pauseMs; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
      const job = await this.#call(() => this.#job()).catch((error: unknown) => {
        throw said(error) ? importFailed(this.#doubt ?? texts.failures.unclear(said(error))) : error
      })
      const outcome = contract.outcomeOf(job)
      if (outcome === 'failed') throw importFailed(texts.failures.notCompleted(wordsOf(job)))
      if (outcome !== 'unfinished') return job
      if (performance.now() + pause > deadline)
        throw importFailed(texts.failures.stillProcessing(wordsOf(job)))
      this.#report({ note: texts.sending.processing(wordsOf(job), job.itemsProcessed ?? null) })
      await sleep(pause, signal)
    }
  }

  /** Fetches the job. Removes the token and other credentials from its messages, because users read them. */
  async #job(): Promise<contract.ImportJob> {
    const { api, source, catalogueId, batchId } = this.#options
    const path = PATHS.import(catalogueId, batchId)
    const secrets = [await source.accessToken(), ...Object.values(source.headers ?? {})].flatMap(formsOf)
    const job = await api.get(source, { ...CALL, path, schema: contract.importJobSchema })
    const shown = (text: string) => messageIn(text, secrets)
    return { ...job, status: shown(job.status), message: shown(job.message ?? '') }
  }

  #report(change: Partial<Progress>): void {
    this.#progress = { ...this.#progress, ...change }
    this.#options.onProgress(this.#progress)
  }

  /** Makes an idempotent call, with retries while the platform or the store is unavailable or the rate limit is exceeded. */
  #call<T>(work: () => Promise<T>): Promise<T> {
    const { signal, pauseMs = 500 } = this.#options
    const onWait = (_reason: string, error: Error) =>
      this.#report({
        note: texts.sending.waiting(
          error instanceof PlatformUnavailableError ? webTexts.outages[error.kind].title : undefined,
        ),
      })
    return retry(work, { timeoutMs: RETRY_MS, pauseMs, onWait, signal })
  }
}

/** The platform's message in the response that caused an error; empty if there is no message. */
const said = (error: unknown): string =>
  error instanceof PlatformRejectedError || error instanceof PlatformUnavailableError
    ? error.platformMessage
    : ''

/** Whether the platform reported success in an unknown form: other JSON, or plain text. */
const isUnclear = (error: unknown): boolean => error instanceof PlatformUnavailableError

/** The platform's name for the state of a job, with its message. */
const wordsOf = ({ status, message }: contract.ImportJob): string =>
  [status, message].filter(Boolean).join(': ')
