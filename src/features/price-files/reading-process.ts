/** The process that checks a price file: `read-in-process.ts` starts it. It ends when its answer is sent, or when its parent has ended. */
import { flushCompileCache } from 'node:module'
import { UnreadableFileError } from '../../tables/errors.ts'
import type { ReadAnswer, ReadTask } from './read-in-process.ts'
import { readPriceFile } from './read-price-file.ts'
import { texts } from './texts.ts'

// csv-parse creates an error for every row with too few cells. Capturing its stack, which is never used here, is most
// of the cost.
Error.stackTraceLimit = 0

/** Characters of an answer, several times those of an ordinary file: the app keeps it, and shows it on a page. */
const MAX_ANSWER = 5_000_000

async function read({ path, ...options }: ReadTask): Promise<ReadAnswer> {
  try {
    const found = await readPriceFile(path, options)
    if (JSON.stringify(found).length > MAX_ANSWER) throw new RangeError()
    return { reading: found }
  } catch (error) {
    if (error instanceof UnreadableFileError) {
      const { line, problem } = error
      return { kind: 'unreadable', line, problem }
    }
    // An array, a buffer, a text or an answer that would be too large.
    if (error instanceof RangeError) return { kind: 'unreadable', line: 0, problem: texts.unreadable.tooMuch }
    const { code, message } = error as NodeJS.ErrnoException
    const isOfSystem = typeof code === 'string' && /^E[A-Z]+$/.test(code)
    return isOfSystem
      ? { kind: 'unwritable', line: 0, problem: code }
      : { kind: 'failed', line: 0, problem: message }
  }
}

// Both would come from a terminal, whose command decides what happens to this process.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
process.once('disconnect', () => process.exit())
process.once('message', async (task: ReadTask) => {
  flushCompileCache()
  process.send?.(await read(task), () => process.disconnect())
})
