import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { type CodeHash, createCodeTable, hashCode } from './code-table.ts'
import type { Item } from './item.ts'
import { readPrices } from './last-prices.ts'
import { texts } from './texts.ts'

/** How the items of a file differ from those of the file that was sent to the catalogue before. */
export interface Comparison {
  /** Items that the earlier file does not have. */
  added: number
  /** Items of the earlier file that this one does not have. */
  missing: number
  /** Items with another price. */
  changed: number
  /** Those of them whose price has changed by more than 20%. */
  changedMuch: number
  /** The ten of them that have changed by the largest factor. Prices are in dollars. */
  largest: PriceChange[]
}

export interface PriceChange {
  code: string
  before: number
  now: number
}

/** A share of the earlier price. */
const MUCH = 0.2
const MAX_LARGEST = 10

/**
 * Compares the prices of two files of `writePrices`. `itemsPath`: the items of the later one, for their codes. Throws if a
 * file is damaged, and the errors of the file system.
 */
export async function comparePrices(
  earlierPath: string,
  later: { pricesPath: string; itemsPath: string },
): Promise<Comparison> {
  const before = readPrices(earlierPath)
  // The entries come in the order of their hashes, for which a table that has to grow would be slow.
  const earlier = createCodeTable(before.count)
  for (const { hash, price } of before.entries)
    earlier.set(earlier.find(hash), hash, { line: 1, unit: 0, price })
  const counts = { added: 0, changed: 0, changedMuch: 0 }
  let same = 0
  let largest: (Omit<PriceChange, 'code'> & { hash: CodeHash })[] = []
  for (const { hash, price: now } of readPrices(later.pricesPath).entries) {
    const slot = earlier.find(hash)
    const price = earlier.priceAt(slot)
    if (earlier.isFree(slot)) counts.added++
    else if (price === now) same++
    else {
      counts.changed++
      if (!isMuch(price, now)) continue
      counts.changedMuch++
      largest.push({ hash, before: price, now })
      if (largest.length > 1000) largest = firstOf(largest)
    }
  }
  const missing = earlier.size() - same - counts.changed
  return { ...counts, missing, largest: await withCodes(firstOf(largest), later.itemsPath) }
}

/** Whether a price has changed by more than 20%; exactly 20% is not more, however the numbers are rounded. */
const isMuch = (before: number, now: number) => Math.abs(now - before) > before * MUCH + 1e-9

const factorOf = ({ before, now }: { before: number; now: number }) =>
  Math.max(before, now) / Math.min(before, now)

const firstOf = <T extends { before: number; now: number }>(changes: T[]): T[] =>
  changes.sort((a, b) => factorOf(b) - factorOf(a)).slice(0, MAX_LARGEST)

/** Finds the codes in the items, in which only their hashes are known. */
async function withCodes(
  changes: (Omit<PriceChange, 'code'> & { hash: CodeHash })[],
  itemsPath: string,
): Promise<PriceChange[]> {
  const codes = new Map<string, string>()
  const wanted = new Set(changes.map(({ hash }) => hash.join()))
  for await (const line of createInterface({ input: createReadStream(itemsPath) })) {
    if (codes.size === wanted.size) break
    for (const { code } of JSON.parse(line).items as Item[]) {
      const hash = hashCode(code).join()
      if (wanted.has(hash)) codes.set(hash, code)
    }
  }
  return changes.map(({ hash, ...change }) => ({ code: codes.get(hash.join()) ?? '', ...change }))
}

/** Says in a sentence how a file differs from the one before. */
export function describeComparison({ added, missing, changed, changedMuch }: Comparison): string {
  const t = texts.comparison
  const otherPrice = changedMuch > 0 ? t.otherPriceMuch(changed, changedMuch) : t.otherPrice(changed)
  const parts = [added > 0 && t.new(added), changed > 0 && otherPrice, missing > 0 && t.missing(missing)]
  const found = parts.filter((part) => part !== false)
  return found.length > 0 ? t.changed(found) : t.same
}
