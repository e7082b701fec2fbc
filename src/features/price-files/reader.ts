import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { UnreadableFileError } from '../../csv/encoding.ts'
import type { Batch } from './batches.ts'
import type { Columns } from './columns.ts'
import type { Problem } from './items.ts'
import type { Check } from './price-file.ts'

/** The `workerData` of the thread. */
export interface WorkerTask {
  kind: 'batches' | 'check'
  path: string
  /** The file's size; it helps to allocate memory. */
  bytes: number
  /** If undefined, the columns are guessed from the headings. */
  columns: Columns | undefined
}

/** Messages from the thread; `end`, `unreadable` or `failed` is the last. */
export type WorkerMessage =
  | { batch: Batch }
  | { problems: Problem[]; headings: string[] }
  | { end: Check | null }
  | { unreadable: { line: number; reason: string } }
  | { failed: string }

/** CPU time that a check may use, in ms: a base plus an amount per megabyte. */
const CHECK_MS = 20_000
const CHECK_MS_PER_MB = 1_000
/** How often the CPU time is measured, in ms. */
const WATCH_MS = 200

/** Messages that the thread may send before they are consumed, so that it reads ahead while a batch is uploaded. */
const INITIAL_CREDIT = 4
/** The thread's heap, in MB, independent of the file size: the table of codes is allocated outside the heap. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 160 }

/**
 * Reads the batches of a price file in a worker thread, which keeps the event loop free and limits memory.
 * Throws `UnreadableFileError`, and the signal's reason if aborted.
 */
export async function* readBatches(
  path: string,
  { columns, signal }: { columns?: Columns; signal?: AbortSignal } = {},
): AsyncGenerator<Batch> {
  for await (const message of runWorker('batches', path, columns, signal))
    if ('batch' in message) yield message.batch
}

/**
 * Checks a price file in a worker thread. Passes each problem to `onProblem` and awaits what it returns.
 * Throws `UnreadableFileError`, also if the check uses too much CPU time, and the signal's reason if aborted.
 */
export async function checkFile(
  path: string,
  options: {
    columns?: Columns
    onProblem(problem: Problem, headings: string[]): unknown
    signal?: AbortSignal
    /** CPU time that the thread may use, in ms; 20 s plus 1 s per megabyte by default. */
    maxMs?: number
  },
): Promise<Check> {
  const maxMs = options.maxMs ?? CHECK_MS + (statSync(path).size / 1_000_000) * CHECK_MS_PER_MB
  for await (const message of runWorker('check', path, options.columns, options.signal, maxMs)) {
    if ('problems' in message)
      for (const problem of message.problems) await options.onProblem(problem, message.headings)
    if ('end' in message && message.end) return message.end
  }
  throw new Error('the price file check finished without a result')
}

/** Starts the worker and yields its messages, one credit at a time. */
async function* runWorker(
  kind: WorkerTask['kind'],
  path: string,
  columns: Columns | undefined,
  signal: AbortSignal | undefined,
  maxMs = Number.POSITIVE_INFINITY,
): AsyncGenerator<WorkerMessage> {
  signal?.throwIfAborted()
  const workerData: WorkerTask = { kind, path, bytes: statSync(path).size, columns }
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData,
    resourceLimits: RESOURCE_LIMITS,
  })
  const queue: WorkerMessage[] = []
  let failed: unknown
  let wake = () => {}
  worker.on('message', (message: WorkerMessage) => {
    queue.push(message)
    wake()
  })
  worker.on('error', (error) => {
    failed = error
    wake()
  })
  worker.on('exit', () => {
    failed ??= new Error('the thread that reads the price file exited unexpectedly')
    wake()
  })
  const onAbort = () => wake()
  signal?.addEventListener('abort', onAbort)
  const watch = setInterval(() => {
    if (worker.performance.eventLoopUtilization().active < maxMs) return
    failed = new UnreadableFileError(1, 'this file takes too long to check. Split it into smaller files.')
    wake()
  }, WATCH_MS)
  worker.postMessage(INITIAL_CREDIT)
  try {
    for (;;) {
      signal?.throwIfAborted()
      const message = queue.shift()
      if (!message) {
        if (failed) throw failed
        await new Promise<void>((resolve) => (wake = resolve))
        continue
      }
      if ('unreadable' in message)
        throw new UnreadableFileError(message.unreadable.line, message.unreadable.reason)
      if ('failed' in message) throw new Error(message.failed)
      worker.postMessage(1)
      yield message
      if ('end' in message) return
    }
  } finally {
    clearInterval(watch)
    signal?.removeEventListener('abort', onAbort)
    await worker.terminate()
  }
}
