/** 32-bit words per entry: two for the hash of the code, one for the line number. */
const WORDS = 3
const MAX_LOAD_FACTOR = 0.7

/**
 * Detects duplicate codes with a hash table of 64-bit hashes, which uses 17 bytes per code. A `Map` of the codes needs
 * several times as much (`npm run bench`, "peak memory, 1,000,000 rows"). For a million codes, the probability of a
 * collision is below 1 in 10 million.
 */
export function createSeenCodes(expected = 50_000) {
  let capacity = Math.max(1024, Math.ceil(expected / MAX_LOAD_FACTOR))
  let entries = new Uint32Array(capacity * WORDS)
  let size = 0

  /** The index of the entry with this hash, or of the free entry where it belongs. */
  function find(high: number, low: number): number {
    let slot = Math.floor((high / 4_294_967_296) * capacity)
    for (;;) {
      const index = slot * WORDS
      if (entries[index + 2] === 0 || (entries[index] === high && entries[index + 1] === low)) return index
      slot = slot + 1 === capacity ? 0 : slot + 1
    }
  }

  function grow(): void {
    const old = entries
    capacity *= 2
    entries = new Uint32Array(capacity * WORDS)
    for (let from = 0; from < old.length; from += WORDS) {
      if (old[from + 2] === 0) continue
      const to = find(old[from] ?? 0, old[from + 1] ?? 0)
      for (let word = 0; word < WORDS; word++) entries[to + word] = old[from + word] ?? 0
    }
  }

  return {
    /** Records the code of a line (1 or more). Returns the earlier line with the same code, if any. */
    add(code: string, line: number): number | undefined {
      // The public-domain hash cyrb53, extended to 64 bits.
      let high = 0xdeadbeef
      let low = 0x41c6ce57
      for (let position = 0; position < code.length; position++) {
        const unit = code.charCodeAt(position)
        high = Math.imul(high ^ unit, 2_654_435_761)
        low = Math.imul(low ^ unit, 1_597_334_677)
      }
      const mixed =
        Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
      const other =
        Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(mixed ^ (mixed >>> 13), 3_266_489_909)
      const index = find(mixed >>> 0, other >>> 0)
      if (entries[index + 2] !== 0) return entries[index + 2]
      entries[index] = mixed >>> 0
      entries[index + 1] = other >>> 0
      entries[index + 2] = line
      if (++size > capacity * MAX_LOAD_FACTOR) grow()
      return undefined
    },
  }
}
