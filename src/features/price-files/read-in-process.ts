import { fork } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { StoreUnavailableError } from '../../connect/errors.ts'
import { UnreadableFileError } from '../../tables/errors.ts'
import type { Reading, ReadOptions } from './found.ts'
import { texts } from './texts.ts'

export interface ReadTask extends ReadOptions {
  path: string
}

/** What the process answers. `line`: 0 if the problem is of no line. */
export type ReadAnswer =
  | { reading: Reading }
  | { kind: 'unreadable' | 'unwritable' | 'failed'; line: number; problem: string }

/**
 * How long a check may take, in ms: a base plus an amount per megabyte. Nearly every file takes less than two seconds; on a busy
 * machine, many times as long.
 */
const CHECK_MS = 300_000
const CHECK_MS_PER_MB = 3_000
/** The heap of V8, in MB: all that a file may fill. */
export const HEAP_MB = 400
export const HEAP = [`--max-old-space-size=${HEAP_MB}`, '--max-semi-space-size=8']

/**
 * Checks a price file in a child process, which a hostile file may kill without harm. The items are in the folder of the task,
 * which a check that fails may leave behind. `timeoutMs`: by default, five minutes plus 3 s per megabyte. Throws
 * `UnreadableFileError`, also if the process takes too much memory or time, `StoreUnavailableError` if a file cannot be written,
 * and the signal's reason if aborted.
 */
export async function readInProcess(
  task: ReadTask,
  { signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<Reading> {
  signal?.throwIfAborted()
  const megabytes = Math.ceil(statSync(task.path).size / 1_000_000)
  const cache = getCompileCacheDir()
  const child = fork(new URL('./reading-process.ts', import.meta.url), {
    execArgv: HEAP,
    // No secrets of this process; without the cache, a small file would take twice the CPU time.
    env: { NODE_COMPILE_CACHE: cache && dirname(cache) },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    timeout: timeoutMs ?? CHECK_MS + megabytes * CHECK_MS_PER_MB,
    killSignal: 'SIGKILL',
  })
  const kill = () => child.kill('SIGKILL')
  signal?.addEventListener('abort', kill)
  let answer: ReadAnswer | undefined
  child.once('message', (message: ReadAnswer) => {
    answer = message
  })
  // An error here is that it has exited.
  child.send(task, () => {})
  // The answer may be read after its end; and then it writes to no file any more.
  await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  signal?.removeEventListener('abort', kill)
  signal?.throwIfAborted()
  if (answer) return readingOf(answer)
  const { exitCode, signalCode } = child
  if (signalCode !== null || Number(exitCode) >= 128)
    throw new UnreadableFileError(0, texts.unreadable.tooMuch)
  throw new Error(`the process that checks the price file exited with ${exitCode}`)
}

/** The check that the process has answered. Throws what has failed there. */
function readingOf(answer: ReadAnswer): Reading {
  if ('reading' in answer) return answer.reading
  const { kind, line, problem } = answer
  switch (kind) {
    case 'unreadable':
      throw new UnreadableFileError(line, problem)
    case 'unwritable':
      throw new StoreUnavailableError(`the checked items cannot be written (${problem})`)
    case 'failed':
      throw new Error(problem)
  }
}
