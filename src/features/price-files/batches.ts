import { type Item, itemsBody, MAX_BATCH } from './contract.ts'
import type { Problem } from './items.ts'
import type { ParsedChunk } from './price-file.ts'

/** One upload request, already serialized, with statistics on the rows it was built from. */
export interface Batch {
  /** The request body; empty if every row had a problem. */
  body: Uint8Array
  /** Number of items: at most 1,000. */
  items: number
  /** Number of rows read, including rejected ones. */
  rows: number
  problems: Problem[]
}

/** Regroups chunks of any size into batches of at most 1,000 items. */
export async function* toBatches(chunks: AsyncIterable<ParsedChunk>): AsyncGenerator<Batch> {
  let items: Item[] = []
  let problems: Problem[] = []
  const takeBatch = (): Batch => {
    const batch = {
      body: items.length > 0 ? new TextEncoder().encode(itemsBody(items)) : new Uint8Array(),
      items: items.length,
      rows: items.length + problems.length,
      problems,
    }
    items = []
    problems = []
    return batch
  }
  for await (const chunk of chunks) {
    problems.push(...chunk.problems)
    for (const item of chunk.items) {
      items.push(item)
      if (items.length === MAX_BATCH) yield takeBatch()
    }
    // Bounds memory for a file with nothing but problems.
    if (problems.length >= MAX_BATCH) yield takeBatch()
  }
  if (items.length + problems.length > 0) yield takeBatch()
}
