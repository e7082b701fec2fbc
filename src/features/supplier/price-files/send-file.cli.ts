/** Sends what the command has read, in the turn of its catalogue. */
import { StoreUnavailableError } from '../../../connect/errors.ts'
import { retry, type TokenSource } from '../../../connect/index.ts'
import { print } from '../../../runtime/print.ts'
import { format } from '../../../web/kit.ts'
import { readBatch } from './batches.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { type Import, NOTHING_SENT, type Progress, type Read } from './import.ts'
import { runImport } from './run.ts'
import { settle, type Turns, takeFreeTurn } from './turns.ts'

const { count, pluralize } = format

interface SendOptions {
  catalogueImports: CatalogueImports
  source: TokenSource
  turns: Turns
  signal: AbortSignal
}

/**
 * Sends a file of the command line to its end. Resolves to false if nothing was sent, because the catalogue has received something
 * else meanwhile. If this process dies, the app or the next command settles what the platform has accepted. Throws an error if the
 * platform has not completed the import, or says that there were problems. Throws `ImportError` (409) if another import into the
 * catalogue is running.
 */
export async function sendFile(
  job: Import,
  read: Read,
  { turns, signal, ...platform }: SendOptions,
): Promise<boolean> {
  const { catalogueId, items } = job
  const { stored, received } = turns
  const turn = await takeFreeTurn(turns, catalogueId)
  let progress = NOTHING_SENT
  const save = async (state: 'stopped' | 'completed' = 'stopped') => {
    await stored.change(job, (now) => ({ ...now, state, progress }))
  }
  try {
    if ((await received.revision(catalogueId)) !== job.receivedRevision) return false
    // The note comes first: a note without a record is removed later, but a record without a note would stay.
    await stored.noteSending(job)
    await stored.add(job, null, read)
    print(`Starting the import of ${pluralize(items, 'item')}.`)
    const printProgress = progressPrinter(items)
    const problem = await runImport({
      ...platform,
      catalogueId,
      items,
      batchId: job.id,
      // The items are read from this folder, so that a store that fails for a moment ends nothing.
      bodyOf: (index) => readBatch(read.itemsPath, index),
      save: () => save(),
      onProgress: (next) => {
        progress = next
        printProgress(next)
      },
      signal: AbortSignal.any([signal, turn.lost]),
    }).catch(async (error: unknown) => {
      await save()
        .then(() => settle(turns, job))
        .catch(() => {})
      throw turn.lost.aborted ? new StoreUnavailableError('it has not answered for 10 s') : error
    })
    await retry(() => save('completed'), { signal })
    await retry(() => settle(turns, job), { signal })
    print(`Completed: ${count(progress.sent)} items in ${pluralize(progress.batches, 'batch', 'batches')}.`)
    if (problem !== null) throw new Error(problem)
    return true
  } finally {
    await turn.release()
  }
}

/** Prints how far an import is: a line for each tenth, for each new state of the platform, and for each reason to wait. */
function progressPrinter(items: number): (progress: Readonly<Progress>) => void {
  let last = ''
  return ({ phase, sent, processed, platformState, waiting }) => {
    const isSent = phase === 'processing'
    const tenth = Math.floor(((isSent ? (processed ?? 0) : sent) / items) * 10)
    const now = `${phase} ${tenth} ${platformState} ${waiting}`
    if (phase === 'starting' || now === last) return
    last = now
    const done = processed === null ? 'an unknown number' : count(processed)
    const state = platformState === null ? '' : ` ("${platformState}")`
    const how = isSent ? `All sent; the platform${state} has processed ${done}` : `Sent ${count(sent)}`
    print(`${how} of ${count(items)} items.${waiting ? ` ${waiting}` : ''}`)
  }
}
