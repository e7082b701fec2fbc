/** The process that reads a price file: `read-in-process.ts` starts it. It ends when its answer is sent, or when its parent has ended. */
import { flushCompileCache } from 'node:module'
import { UnreadableFileError } from '../tables/errors.ts'
import { texts } from '../tables/texts.ts'
import type { Reading, ReadOptions } from './found.ts'
import { readPriceFile } from './read-price-file.ts'

export type ReadTask = ReadOptions & { path: string }

/** What the process answers. `line`: the line that cannot be read; 0 if the problem is about the whole file. */
export type ReadAnswer =
  | { kind: 'read'; reading: Reading }
  | { kind: 'unreadable' | 'unwritable' | 'failed'; problem: string; line?: number }

/** The most characters of an answer, several times those of an ordinary file. The app stores the answer and shows it on a page. */
const MAX_ANSWER = 5_000_000

async function answerTo({ path, ...options }: ReadTask): Promise<ReadAnswer> {
  try {
    const reading = await readPriceFile(path, options)
    if (JSON.stringify(reading).length > MAX_ANSWER) throw new RangeError()
    return { kind: 'read', reading }
  } catch (error) {
    if (error instanceof UnreadableFileError)
      return { kind: 'unreadable', problem: error.problem, line: error.line }
    // An array, a buffer, a text or an answer would be too large.
    if (error instanceof RangeError) return { kind: 'unreadable', problem: texts.unreadable.tooMuch }
    const { code = '', message } = error as NodeJS.ErrnoException
    return /^E[A-Z]+$/.test(code)
      ? { kind: 'unwritable', problem: code }
      : { kind: 'failed', problem: message }
  }
}

// Ctrl+C in a terminal reaches this process as well: the command that has started it decides what happens.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
process.once('disconnect', () => process.exit())
process.once('message', async (task: ReadTask) => {
  flushCompileCache()
  process.send?.(await answerTo(task), () => process.disconnect())
})
