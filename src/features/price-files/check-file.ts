import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { StoreUnavailableError } from '../../connect/errors.ts'
import { UnreadableFileError } from '../../tables/errors.ts'
import type { Check, CheckOptions } from './check-rows.ts'
import type { ProcessLimits } from './process-limits.ts'
import { texts } from './texts.ts'

export interface CheckTask extends CheckOptions {
  path: string
}

/** What the process is told. */
export interface CheckOrder {
  task: CheckTask
  limits: ProcessLimits
}

/** What the process answers. */
export type CheckAnswer =
  | { check: Check }
  | { unreadable: { line: number; reason: string } }
  | { unwritable: string }
  | { failed: string }

/** CPU time that a check may use, in ms: a base plus an amount per megabyte. */
const CHECK_MS = 20_000
const CHECK_MS_PER_MB = 1_000
/** Resident memory that a check may use, in bytes: the heap, and buffers. */
export const MEMORY_BYTES = 600_000_000
/** The heap of V8, in MB. A single allocation beyond it ends the process before the memory is taken. */
export const HEAP = ['--max-old-space-size=400', '--max-semi-space-size=8']

/**
 * Checks a price file in a child process, which a hostile file may kill without harm. The items are in the file of the task,
 * which a check that fails may leave behind. `limits`: by default, CPU time of 20 s plus 1 s per megabyte, and 600 MB of memory.
 * Throws `UnreadableFileError`, also if the process died or was killed because of its limits, `StoreUnavailableError` if a file
 * cannot be written, and the signal's reason if aborted.
 */
export async function checkFile(
  task: CheckTask,
  { signal, limits }: { signal?: AbortSignal; limits?: Partial<ProcessLimits> } = {},
): Promise<Check> {
  signal?.throwIfAborted()
  const bytes = statSync(task.path).size
  const cpuMs = CHECK_MS + (bytes / 1_000_000) * CHECK_MS_PER_MB
  const cache = getCompileCacheDir()
  const child = fork(new URL('./check-process.ts', import.meta.url), {
    execArgv: HEAP,
    // No secrets of this process; without the cache, a small file would take twice the CPU time.
    env: { NODE_COMPILE_CACHE: cache && dirname(cache) },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const order = { task, limits: { cpuMs, memoryBytes: MEMORY_BYTES, ...limits } }
  const answer = await answerOf(child, order, signal).finally(() => kill(child))
  if ('check' in answer) return answer.check
  if ('unreadable' in answer) throw new UnreadableFileError(answer.unreadable.line, answer.unreadable.reason)
  if ('unwritable' in answer)
    throw new StoreUnavailableError(`the checked items cannot be written (${answer.unwritable})`)
  throw new Error(answer.failed)
}

/** The answer of the process. Throws `UnreadableFileError` if it died, and the signal's reason if aborted. */
function answerOf(
  child: ChildProcess,
  order: CheckOrder,
  signal: AbortSignal | undefined,
): Promise<CheckAnswer> {
  return new Promise((resolve, reject) => {
    child.once('message', (answer: CheckAnswer) => resolve(answer))
    child.once('exit', (code, deathBy) =>
      reject(
        deathBy !== null || (code ?? 0) >= 128
          ? new UnreadableFileError(0, texts.unreadable.tooMuch)
          : new Error(`the process that checks the price file exited with ${code}`),
      ),
    )
    child.once('error', reject)
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    // An error here is that it has exited.
    child.send(order, () => {})
  })
}

/** Resolves when the process has ended, and writes to no file any more. */
async function kill(child: ChildProcess): Promise<void> {
  const isRunning = child.pid !== undefined && child.exitCode === null && child.signalCode === null
  if (!isRunning) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}
