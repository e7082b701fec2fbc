import { once } from 'node:events'
import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { StoreUnavailableError } from '../../connect/errors.ts'
import { UnreadableFileError } from '../../tables/errors.ts'
import type { CheckedFile, CheckOptions } from './check.ts'
import type { Comparison } from './comparison.ts'
import { texts } from './texts.ts'

/** The `workerData` of the thread. */
export interface CheckTask extends CheckOptions {
  path: string
  /** Where to write the problems as CSV. */
  reportPath?: string | undefined
  /** The prices of the file before, to compare with. */
  lastPricesPath?: string | undefined
}

/** A checked file, and how it differs from the one before; null if there is none, or if a question is open. */
export type ComparedFile = CheckedFile & { comparison: Comparison | null }

/** The message of the thread. */
export type CheckMessage =
  | ComparedFile
  | { unreadable: { line: number; reason: string } }
  | { unwritable: string }
  | { failed: string }

/** CPU time that a check may use, in ms: a base plus an amount per megabyte. */
const CHECK_MS = 20_000
const CHECK_MS_PER_MB = 1_000
/** How often the CPU time is measured, in ms. */
const WATCH_MS = 200
/** The thread's heap, in MB, independent of the file size: the table of codes is allocated outside the heap. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 160 }

/**
 * Checks a price file in a worker thread, which keeps the event loop free and limits memory. Resolves to the check and
 * its first 100 problems. `maxMs`: CPU time that the thread may use, 20 s plus 1 s per megabyte by default.
 * Throws `UnreadableFileError`, also if the check needs too much time or memory, `StoreUnavailableError` if a file cannot
 * be written, and the signal's reason if aborted.
 */
export async function checkFile(
  task: CheckTask,
  { signal, maxMs }: { signal?: AbortSignal; maxMs?: number } = {},
): Promise<ComparedFile> {
  signal?.throwIfAborted()
  const bytes = statSync(task.path).size
  const limitMs = maxMs ?? CHECK_MS + (bytes / 1_000_000) * CHECK_MS_PER_MB
  const worker = new Worker(new URL('./check-worker.ts', import.meta.url), {
    workerData: { ...task, bytes },
    resourceLimits: RESOURCE_LIMITS,
  })
  const stop = new AbortController()
  const watch = setInterval(() => {
    if (worker.performance.eventLoopUtilization().active > limitMs)
      stop.abort(tooLarge(texts.unreadable.tooLong))
  }, WATCH_MS)
  try {
    const signals = signal ? [signal, stop.signal] : [stop.signal]
    return resultOf(await messageOf(worker, AbortSignal.any(signals)))
  } finally {
    clearInterval(watch)
    await worker.terminate()
  }
}

const tooLarge = (problem: string) => new UnreadableFileError(1, problem)

/** The message of the thread. Throws its errors, and the signal's reason if aborted. */
async function messageOf(worker: Worker, signal: AbortSignal): Promise<CheckMessage> {
  try {
    const exit = once(worker, 'exit', { signal }).then(() => {
      throw new Error('the thread that checks the price file exited unexpectedly')
    })
    const [message] = await Promise.race([once(worker, 'message', { signal }), exit])
    return message
  } catch (error) {
    signal.throwIfAborted()
    throw (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? tooLarge(texts.unreadable.tooMuchMemory)
      : error
  }
}

function resultOf(message: CheckMessage): ComparedFile {
  if ('unreadable' in message)
    throw new UnreadableFileError(message.unreadable.line, message.unreadable.reason)
  if ('unwritable' in message)
    throw new StoreUnavailableError(`the checked items cannot be written (${message.unwritable})`)
  if ('failed' in message) throw new Error(message.failed)
  return message
}
