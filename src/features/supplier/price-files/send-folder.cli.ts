/** Sends what the command has read, in the turn of its catalogue. */
import { StoreUnavailableError } from '../../../connect/errors.ts'
import { retry, type TokenSource } from '../../../connect/index.ts'
import { print } from '../../../runtime/print.ts'
import { format } from '../../../web/kit.ts'
import { type Item, readBatch } from './batches.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import type { Found } from './found.ts'
import { NOTHING_SENT, type Progress } from './import.ts'
import { runImport } from './run.ts'
import { type Turns, takeFreeTurn } from './turns.ts'

const { count, pluralize } = format

interface SendOptions {
  catalogueImports: CatalogueImports
  source: TokenSource
  turns: Turns
  catalogueId: string
  /** The id of the platform's import, which the catalogue has not had before. */
  batchId: string
  /** The revision of what the catalogue had received when the file was read. */
  revision: string
  found: Found
  fileName: string
  /** The folder of the items as upload requests. */
  itemsPath: string
  signal: AbortSignal
}

/**
 * Sends a file to its end. Resolves to false if nothing was sent, because the catalogue has received something else meanwhile.
 * Throws an error if the platform has not completed the import, or says that there were problems. Throws `ImportError` (409) if
 * another import into the catalogue is running.
 */
export async function sendFolder({
  turns,
  revision,
  found,
  fileName,
  ...options
}: SendOptions): Promise<boolean> {
  const { catalogueId, itemsPath, signal } = options
  const { received } = turns
  const turn = await takeFreeTurn(turns, catalogueId)
  let progress = NOTHING_SENT
  const { choice, memory } = found
  const file = { fileName, at: new Date().toISOString(), by: 'command line' as const, choice, memory }
  let merged = 0
  /** Remembers the batches that the platform has accepted since the last time. */
  const merge = async (isComplete: boolean) => {
    // A catalogue that has still received nothing keeps no record.
    if (progress.batches === 0 && revision === '' && !isComplete) return
    const items: Item[] = []
    for (let index = merged; index < progress.batches; index++)
      items.push(...JSON.parse((await readBatch(itemsPath, index)).toString()).items)
    await received.merge(catalogueId, { ...file, items, isComplete })
    merged = progress.batches
  }
  try {
    if ((await received.revision(catalogueId)) !== revision) return false
    // If this process is killed, the next page or command says that the last import was not finished, and compares with its batches.
    await merge(false)
    print(`Starting the import of ${pluralize(found.items, 'item')}.`)
    const printProgress = progressPrinter(found.items)
    const problem = await runImport({
      ...options,
      items: found.items,
      bodyOf: (index) => readBatch(itemsPath, index),
      save: () => merge(false),
      onProgress: (next) => {
        progress = next
        printProgress(next)
      },
      signal: AbortSignal.any([signal, turn.lost]),
    }).catch(async (error: unknown) => {
      await merge(false).catch(() => {})
      throw turn.lost.aborted ? new StoreUnavailableError('it has not answered for 10 s') : error
    })
    await retry(() => merge(true), { signal })
    print(`Completed: ${count(progress.sent)} items in ${pluralize(progress.batches, 'batch', 'batches')}.`)
    if (problem !== null) throw new Error(problem)
    return true
  } finally {
    await turn.release()
  }
}

/** Prints how far an import is: a line for each tenth, for each word of the platform, and for each reason to wait. */
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
