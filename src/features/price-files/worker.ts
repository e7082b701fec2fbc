/** Reads a price file in a thread of its own; `reader.ts` starts it and tells it when to go on. */
import { createReadStream } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { UnreadableFileError } from '../../csv/encoding.ts'
import { type Batch, batchesOf } from './batches.ts'
import { type Check, checkPriceFile, openPriceFile } from './price-file.ts'
import type { Answer, Task } from './reader.ts'

// csv-parse makes an error for every row with too few cells; nine tenths of their cost is the stack, which nobody reads:
// only messages leave this thread.
Error.stackTraceLimit = 0

const task: Task = workerData
const port = parentPort
if (!port) throw new Error('this file is for a worker')

/** How many answers the reader is ready to take. */
let credit = 0
let granted = () => {}
port.on('message', (more: number) => {
  credit += more
  granted()
})
async function answer(message: Answer, transfer: ArrayBuffer[] = []): Promise<void> {
  while (credit === 0) await new Promise<void>((resolve) => (granted = resolve))
  credit--
  port?.postMessage(message, transfer)
}

try {
  if (task.kind === 'check') await check(task)
  else await batches(task)
} catch (error) {
  await answer(
    error instanceof UnreadableFileError
      ? { unreadable: { line: error.line, reason: error.problem } }
      : { failed: (error as Error).message },
  )
}
port.close()

async function batches({ path, bytes, columns }: Task): Promise<void> {
  const file = await openPriceFile(createReadStream(path), bytes)
  for await (const batch of batchesOf(file.read(columns ?? file.guess.columns)))
    await answer({ batch }, [batch.body.buffer as ArrayBuffer])
  await answer({ end: null })
}

async function check({ path, bytes, columns }: Task): Promise<void> {
  let gathered: Batch['problems'] = []
  let headings: string[] = []
  const found: Check = await checkPriceFile(createReadStream(path), {
    ...(columns && { columns }),
    bytes,
    onProblem: async (problem, names) => {
      headings = names
      if (gathered.push(problem) < 500) return
      const problems = gathered
      gathered = []
      await answer({ problems, headings })
    },
  })
  if (gathered.length > 0) await answer({ problems: gathered, headings })
  await answer({ end: found })
}
