import { type Item, itemsBody, MAX_BATCH } from './contract.ts'
import type { Problem } from './items.ts'
import type { Portion } from './price-file.ts'

/** What is sent at once, ready to be sent; and what of the file it took. */
export interface Batch {
  /** The request's body; empty when only problems were found. */
  body: Uint8Array
  /** How many items are in it: at most 1000. */
  items: number
  /** Rows that were read for it. */
  rows: number
  problems: Problem[]
}

/** Portions of any size as batches. */
export async function* batchesOf(portions: AsyncIterable<Portion>): AsyncGenerator<Batch> {
  let items: Item[] = []
  let problems: Problem[] = []
  const batch = (): Batch => {
    const made = {
      body: items.length > 0 ? new TextEncoder().encode(itemsBody(items)) : new Uint8Array(),
      items: items.length,
      rows: items.length + problems.length,
      problems,
    }
    items = []
    problems = []
    return made
  }
  for await (const portion of portions) {
    problems.push(...portion.problems)
    for (const item of portion.items) {
      items.push(item)
      if (items.length === MAX_BATCH) yield batch()
    }
    // A file of problems only must not gather them all.
    if (problems.length >= MAX_BATCH) yield batch()
  }
  if (items.length + problems.length > 0) yield batch()
}
