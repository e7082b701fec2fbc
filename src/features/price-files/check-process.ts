/** The process that checks a price file: `check-file.ts` starts it. It ends when its answer is sent, or when its parent has ended. */
import { flushCompileCache } from 'node:module'
import { UnreadableFileError } from '../../tables/errors.ts'
import type { CheckAnswer, CheckTask } from './check-file.ts'
import { checkPriceFile } from './check-rows.ts'
import { texts } from './texts.ts'

// csv-parse creates an error for every row with too few cells. Capturing its stack, which is never used here, is most
// of the cost.
Error.stackTraceLimit = 0

async function check({ path, ...options }: CheckTask): Promise<CheckAnswer> {
  try {
    return { check: await checkPriceFile(path, options) }
  } catch (error) {
    if (error instanceof UnreadableFileError) {
      const { line, problem } = error
      return { kind: 'unreadable', line, problem }
    }
    // An array, a buffer or a text that would be too large.
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
process.once('message', async (task: CheckTask) => {
  flushCompileCache()
  process.send?.(await check(task), () => process.disconnect())
})
