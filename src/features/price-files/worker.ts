/** Worker thread that reads a price file. `reader.ts` starts it and grants it credit to send messages. */
import { createReadStream } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { UnreadableFileError } from '../../csv/encoding.ts'
import { type Batch, toBatches } from './batches.ts'
import { type Check, checkPriceFile, openPriceFile } from './price-file.ts'
import type { WorkerMessage, WorkerTask } from './reader.ts'

// csv-parse creates an error for every row with too few cells. Capturing its stack, which is never used here, is most
// of the cost.
Error.stackTraceLimit = 0

const task: WorkerTask = workerData
const port = parentPort
if (!port) throw new Error('this file must run in a worker thread')

const PROBLEMS_PER_MESSAGE = 500
/** How many messages the reader is ready to receive. */
let credit = 0
let onCredit = () => {}
port.on('message', (more: number) => {
  credit += more
  onCredit()
})
async function send(message: WorkerMessage, transfer: ArrayBuffer[] = []): Promise<void> {
  while (credit === 0) await new Promise<void>((resolve) => (onCredit = resolve))
  credit--
  port?.postMessage(message, transfer)
}

try {
  if (task.kind === 'check') await check(task)
  else await batches(task)
} catch (error) {
  await send(
    error instanceof UnreadableFileError
      ? { unreadable: { line: error.line, reason: error.problem } }
      : { failed: (error as Error).message },
  )
}
port.close()

async function batches({ path, bytes, columns }: WorkerTask): Promise<void> {
  const file = await openPriceFile(createReadStream(path), bytes)
  for await (const batch of toBatches(file.read(columns ?? file.guess.columns)))
    await send({ batch }, [batch.body.buffer as ArrayBuffer])
  await send({ end: null })
}

async function check({ path, bytes, columns }: WorkerTask): Promise<void> {
  let pending: Batch['problems'] = []
  let headings: string[] = []
  const result: Check = await checkPriceFile(createReadStream(path), {
    ...(columns && { columns }),
    bytes,
    onProblem: async (problem, names) => {
      headings = names
      if (pending.push(problem) < PROBLEMS_PER_MESSAGE) return
      const problems = pending
      pending = []
      await send({ problems, headings })
    },
  })
  if (pending.length > 0) await send({ problems: pending, headings })
  await send({ end: result })
}
