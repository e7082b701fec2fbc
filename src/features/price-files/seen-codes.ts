/** 32-bit words per entry: two for the hash of the code, one for the line, one for the hash of the unit. */
const WORDS = 4
const MAX_LOAD_FACTOR = 0.7

/** Two 32-bit words. */
type CodeHash = readonly [high: number, low: number]

/**
 * A hash table of codes with their lines, units and prices. It keeps 64-bit hashes of the codes and uses 34 bytes for
 * each; a `Map` of the codes needs several times as much (`npm run bench`, "peak memory, 1,000,000 rows"). For a million
 * codes, the probability of a collision is below 1 in 10 million.
 */
function createCodeTable(expected = 50_000) {
  let capacity = Math.max(1024, Math.ceil(expected / MAX_LOAD_FACTOR))
  let words = new Uint32Array(capacity * WORDS)
  let prices = new Float64Array(capacity)
  let size = 0

  const isFree = (slot: number) => words[slot * WORDS + 2] === 0

  /** The slot of this code, or the free slot where it belongs. */
  function find([high, low]: CodeHash): number {
    let slot = Math.floor((high / 4_294_967_296) * capacity)
    while (!isFree(slot) && (words[slot * WORDS] !== high || words[slot * WORDS + 1] !== low))
      slot = slot + 1 === capacity ? 0 : slot + 1
    return slot
  }

  function grow(): void {
    const [oldWords, oldPrices] = [words, prices]
    capacity *= 2
    words = new Uint32Array(capacity * WORDS)
    prices = new Float64Array(capacity)
    for (let from = 0; from < oldPrices.length; from++) {
      const entry = oldWords.subarray(from * WORDS, (from + 1) * WORDS)
      if (entry[2] === 0) continue
      const to = find([entry[0] ?? 0, entry[1] ?? 0])
      words.set(entry, to * WORDS)
      prices[to] = oldPrices[from] ?? 0
    }
  }

  return {
    find,
    isFree,
    lineAt: (slot: number) => words[slot * WORDS + 2] ?? 0,
    unitAt: (slot: number) => words[slot * WORDS + 3] ?? 0,
    priceAt: (slot: number) => prices[slot] ?? 0,
    /** Sets the values of a code at the slot that `find` returned. `line`: 1 or more; `unit`: the hash of a unit. */
    set(
      slot: number,
      hash: CodeHash,
      { line, unit, price }: { line: number; unit: number; price: number },
    ): void {
      const isNew = isFree(slot)
      words.set([...hash, line, unit], slot * WORDS)
      prices[slot] = price
      if (isNew && ++size > capacity * MAX_LOAD_FACTOR) grow()
    },
  }
}

/** The public-domain hash cyrb53, extended to 64 bits. */
function hashCode(text: string): CodeHash {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let position = 0; position < text.length; position++) {
    const unit = text.charCodeAt(position)
    high = Math.imul(high ^ unit, 2_654_435_761)
    low = Math.imul(low ^ unit, 1_597_334_677)
  }
  const mixed = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  const other =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(mixed ^ (mixed >>> 13), 3_266_489_909)
  return [mixed >>> 0, other >>> 0]
}

/** The earlier row with a code. */
export interface SeenCode {
  line: number
  /** Whether it has the same price and unit. */
  isSame: boolean
}

/**
 * Detects repeated codes. `expected`: how many codes the file may have. The returned function records the code of a line (1 or
 * more) with its price and unit, and returns the earlier row with this code, if any.
 */
export function createSeenCodes(expected?: number) {
  const table = createCodeTable(expected)
  /** Units repeat, so the last one's hash is kept. */
  let [lastUnit, lastUnitHash] = ['', 0]
  return (code: string, line: number, price: number, unitName = ''): SeenCode | undefined => {
    if (unitName !== lastUnit) [lastUnit, lastUnitHash] = [unitName, hashCode(unitName)[0]]
    const hash = hashCode(code)
    const slot = table.find(hash)
    if (!table.isFree(slot)) {
      const isSame = table.priceAt(slot) === price && table.unitAt(slot) === lastUnitHash
      return { line: table.lineAt(slot), isSame }
    }
    table.set(slot, hash, { line, unit: lastUnitHash, price })
    return undefined
  }
}
