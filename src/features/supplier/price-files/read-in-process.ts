import { fork } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { StoreUnavailableError } from '../../../connect/errors.ts'
import { UnreadableFileError } from '../tables/errors.ts'
import { texts } from '../tables/texts.ts'
import type { Reading } from './found.ts'
import type { ReadAnswer, ReadTask } from './reading-process.ts'

/** The longest time of a reading that hangs without using CPU time, in ms. `tables/cpu-limit.ts` limits the CPU time. */
const MAX_MS = 600_000
/** The heap of V8, in MB: the limit of the memory that reading a file may fill. */
export const HEAP_MB = 400
export const HEAP = [`--max-old-space-size=${HEAP_MB}`, '--max-semi-space-size=8']

/**
 * Reads a price file in a child process, which a hostile file may kill without harm. What it writes may stay behind if it fails.
 * Throws `UnreadableFileError`, also if the process takes too much memory or time. Throws `StoreUnavailableError` if a file cannot
 * be written, and the signal's reason if aborted.
 */
export async function readInProcess(
  task: ReadTask,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Reading> {
  signal?.throwIfAborted()
  const cache = getCompileCacheDir()
  const child = fork(new URL('./reading-process.ts', import.meta.url), {
    execArgv: HEAP,
    // The process gets no secrets of this one. Without the cache, a small file would take twice the CPU time.
    env: { NODE_COMPILE_CACHE: cache && dirname(cache) },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    timeout: MAX_MS,
    killSignal: 'SIGKILL',
  })
  const kill = () => child.kill('SIGKILL')
  signal?.addEventListener('abort', kill)
  let answer: ReadAnswer | undefined
  child.once('message', (message: ReadAnswer) => {
    answer = message
  })
  // This fails only if the process has exited, which is noticed below.
  child.send(task, () => {})
  // Waits for both: the answer may arrive after the exit, and the process may write files until its exit.
  await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  signal?.removeEventListener('abort', kill)
  signal?.throwIfAborted()
  const { exitCode, signalCode } = child
  if (!answer && (signalCode !== null || Number(exitCode) >= 128))
    throw new UnreadableFileError(0, texts.unreadable.tooMuch)
  return readingIn(
    answer ?? { kind: 'failed', problem: `the process that reads the file exited with ${exitCode}` },
  )
}

/** What the process has read. Throws what has failed there. */
function readingIn(answer: ReadAnswer): Reading {
  switch (answer.kind) {
    case 'read':
      return answer.reading
    case 'unreadable':
      throw new UnreadableFileError(answer.line ?? 0, answer.problem)
    case 'unwritable':
      throw new StoreUnavailableError(`the items cannot be written (${answer.problem})`)
    case 'failed':
      throw new Error(answer.problem)
  }
}
