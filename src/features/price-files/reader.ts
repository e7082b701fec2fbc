import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { UnreadableFileError } from '../../csv/encoding.ts'
import type { Batch } from './batches.ts'
import type { Columns } from './columns.ts'
import type { Problem } from './items.ts'
import type { Check } from './price-file.ts'

/** What the thread is to do. */
export interface Task {
  kind: 'batches' | 'check'
  path: string
  /** The file's size: a hint that spares memory. */
  bytes: number
  /** Absent: what the headings suggest. */
  columns: Columns | undefined
}

/** What the thread answers; `end` is the last. */
export type Answer =
  | { batch: Batch }
  | { problems: Problem[]; headings: string[] }
  | { end: Check | null }
  | { unreadable: { line: number; reason: string } }
  | { failed: string }

/** How long a check may keep a processor busy, in ms: so much, and so much more for each megabyte. */
const CHECK_MS = 20_000
const CHECK_MS_PER_MB = 1_000
const WATCH_MS = 200

/** Answers that may wait to be taken: enough that the thread reads while a batch is sent. */
const AHEAD = 4
/** The thread's heap in MB, whatever the file's size: the codes that it remembers are outside of it. */
const LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 160 }

/**
 * The batches of a price file, read and checked in a thread of its own: neither requests nor uploads wait for it, and
 * its memory has a bound. Throws `UnreadableFileError` while it is read, and the signal's reason.
 */
export async function* readBatches(
  path: string,
  { columns, signal }: { columns?: Columns; signal?: AbortSignal } = {},
): AsyncGenerator<Batch> {
  for await (const answer of answers('batches', path, columns, signal))
    if ('batch' in answer) yield answer.batch
}

/**
 * Checks a price file in a thread of its own, and sends nothing. Each problem goes to `onProblem`, which may return a
 * promise, to be waited for. Throws `UnreadableFileError`, also for a file whose check takes too long, and the signal's reason.
 */
export async function checkFile(
  path: string,
  options: {
    columns?: Columns
    onProblem(problem: Problem, headings: string[]): unknown
    signal?: AbortSignal
    /** How long the thread may be busy, in ms; by default 20 s and a second for each megabyte. */
    maxMs?: number
  },
): Promise<Check> {
  const maxMs = options.maxMs ?? CHECK_MS + (statSync(path).size / 1_000_000) * CHECK_MS_PER_MB
  for await (const answer of answers('check', path, options.columns, options.signal, maxMs)) {
    if ('problems' in answer)
      for (const problem of answer.problems) await options.onProblem(problem, answer.headings)
    if ('end' in answer && answer.end) return answer.end
  }
  throw new Error('the check of a price file ended without a result')
}

async function* answers(
  kind: Task['kind'],
  path: string,
  columns: Columns | undefined,
  signal: AbortSignal | undefined,
  maxMs = Number.POSITIVE_INFINITY,
): AsyncGenerator<Answer> {
  signal?.throwIfAborted()
  const workerData: Task = { kind, path, bytes: statSync(path).size, columns }
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData, resourceLimits: LIMITS })
  const waiting: Answer[] = []
  let failed: unknown
  let wake = () => {}
  worker.on('message', (answer: Answer) => {
    waiting.push(answer)
    wake()
  })
  worker.on('error', (error) => {
    failed = error
    wake()
  })
  worker.on('exit', () => {
    failed ??= new Error('the thread that reads the price file has ended')
    wake()
  })
  const stop = () => wake()
  signal?.addEventListener('abort', stop)
  const watch = setInterval(() => {
    if (worker.performance.eventLoopUtilization().active < maxMs) return
    failed = new UnreadableFileError(1, 'this file takes too long to check. Split it into smaller files.')
    wake()
  }, WATCH_MS)
  worker.postMessage(AHEAD)
  try {
    for (;;) {
      signal?.throwIfAborted()
      const answer = waiting.shift()
      if (!answer) {
        if (failed) throw failed
        await new Promise<void>((resolve) => (wake = resolve))
        continue
      }
      if ('unreadable' in answer)
        throw new UnreadableFileError(answer.unreadable.line, answer.unreadable.reason)
      if ('failed' in answer) throw new Error(answer.failed)
      worker.postMessage(1)
      yield answer
      if ('end' in answer) return
    }
  } finally {
    clearInterval(watch)
    signal?.removeEventListener('abort', stop)
    await worker.terminate()
  }
}
