/** 32-bit words per entry: two for the hash of the code, one for the line, one for the hash of the unit. */
const WORDS = 4
const MAX_LOAD_FACTOR = 0.7

/** Two 32-bit words. */
export type CodeHash = readonly [high: number, low: number]

/**
 * A hash table of codes with their lines, units and prices. It keeps 64-bit hashes of the codes and uses 34 bytes for
 * each; a `Map` of the codes needs several times as much (`npm run bench`, "peak memory, 1,000,000 rows"). For a million
 * codes, the probability of a collision is below 1 in 10 million.
 */
export function createCodeTable(expected = 50_000) {
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
    /** How many codes there are. */
    size: () => size,
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
    /** Every slot that has a code, in no particular order. */
    *slots(): Generator<{ slot: number; hash: CodeHash; price: number }> {
      for (let slot = 0; slot < capacity; slot++) {
        const hash: CodeHash = [words[slot * WORDS] ?? 0, words[slot * WORDS + 1] ?? 0]
        if (!isFree(slot)) yield { slot, hash, price: prices[slot] ?? 0 }
      }
    },
  }
}

/** The public-domain hash cyrb53, extended to 64 bits. */
export function hashCode(text: string): CodeHash {
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
