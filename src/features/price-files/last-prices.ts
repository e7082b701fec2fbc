/** Files with the prices of the items that were last sent to a catalogue. A later entry of a code replaces an earlier one. */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CodeHash } from './code-table.ts'

/** An entry: the hash of a code and its price. */
const ENTRY_BYTES = 16

export interface PriceEntry {
  hash: CodeHash
  price: number
}

/** Writes a file of at most `count` entries. */
export function writePrices(path: string, entries: Iterable<PriceEntry>, count: number): void {
  const { bytes, words, prices } = viewsOf(new ArrayBuffer(count * ENTRY_BYTES))
  let written = 0
  for (const { hash, price } of entries) {
    words.set(hash, written * 4)
    prices[written * 2 + 1] = price
    written++
  }
  writeFileSync(path, bytes.subarray(0, written * ENTRY_BYTES), { mode: 0o600 })
}

/** Reads such a file. Throws if it is damaged. */
export function readPrices(path: string): { count: number; entries: Generator<PriceEntry> } {
  const { buffer, byteOffset, byteLength } = readFileSync(path)
  if (byteLength % ENTRY_BYTES !== 0) throw new Error('the file of prices is damaged')
  const count = byteLength / ENTRY_BYTES
  const { words, prices } = viewsOf(buffer.slice(byteOffset, byteOffset + byteLength))
  function* entries(): Generator<PriceEntry> {
    for (let entry = 0; entry < count; entry++)
      yield { hash: [words[entry * 4] ?? 0, words[entry * 4 + 1] ?? 0], price: prices[entry * 2 + 1] ?? 0 }
  }
  return { count, entries: entries() }
}

/** Puts the entries of an earlier file in front of those of a later one. */
export function prependPrices(earlierPath: string, laterPath: string): void {
  writeFileSync(laterPath, Buffer.concat([readFileSync(earlierPath), readFileSync(laterPath)]))
}

const viewsOf = (buffer: ArrayBuffer | SharedArrayBuffer) => ({
  bytes: new Uint8Array(buffer),
  words: new Uint32Array(buffer),
  prices: new Float64Array(buffer),
})

/** First part of the names of these files. */
export const LAST_PRICES = 'catalogue-'

/** Identifies the prices that were last sent to this target. */
export const lastPricesName = (target: string): string =>
  `${LAST_PRICES}${createHash('sha256').update(target).digest('hex')}`

/** The file with the prices that were last sent to this target. */
export const lastPricesPath = (folder: string, target: string): string =>
  join(folder, `${lastPricesName(target)}.prices`)
