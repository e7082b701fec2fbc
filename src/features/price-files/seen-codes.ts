import { createCodeTable, hashCode } from './code-table.ts'
import { writePrices } from './last-prices.ts'

/** The earlier row with a code. */
export interface SeenCode {
  line: number
  /** Whether it has the same price and unit. */
  isSame: boolean
}

/** Detects repeated codes. `expected`: how many codes the file may have. */
export function createSeenCodes(expected?: number) {
  const table = createCodeTable(expected)
  let lastUnit = ''
  let lastUnitHash = 0

  /** Units repeat, so the last one's hash is kept. */
  function hashOfUnit(unit: string): number {
    if (unit !== lastUnit) {
      lastUnit = unit
      lastUnitHash = hashCode(unit)[0]
    }
    return lastUnitHash
  }

  return {
    /** Records the code of a line (1 or more) with its price and unit. Returns the earlier row with this code, if any. */
    add(code: string, line: number, price: number, unitName = ''): SeenCode | undefined {
      const hash = hashCode(code)
      const unit = hashOfUnit(unitName)
      const slot = table.find(hash)
      if (!table.isFree(slot)) {
        const isSame = table.priceAt(slot) === price && table.unitAt(slot) === unit
        return { line: table.lineAt(slot), isSame }
      }
      table.set(slot, hash, { line, unit, price })
      return undefined
    },
    /** Writes the prices of all codes, except for some, to a file, for `comparePrices`. */
    save(path: string, except: ReadonlySet<string> = new Set()): void {
      const left = new Set([...except].map((code) => table.find(hashCode(code))))
      const entries = table.slots().filter(({ slot }) => !left.has(slot))
      writePrices(path, entries, table.size())
    },
  }
}
