/** 32-bit words of one entry: two of the code's hash, one of the line. */
const WORDS = 3
const FILL = 0.7

/**
 * Which codes a file has had, and on which line, in 17 bytes a code: a hash table of 64-bit hashes. A `Map` of the codes
 * needs several times as much (`npm run bench`, "peak memory, 1,000,000 rows"). Among a million codes, the probability
 * that two different ones have the same hash is below 1 in 10 million.
 */
export function createSeenCodes(expected = 50_000) {
  let capacity = Math.max(1024, Math.ceil(expected / FILL))
  let entries = new Uint32Array(capacity * WORDS)
  let size = 0

  /** Where a hash is, or would be. */
  function find(high: number, low: number): number {
    let slot = Math.floor((high / 4_294_967_296) * capacity)
    for (;;) {
      const at = slot * WORDS
      if (entries[at + 2] === 0 || (entries[at] === high && entries[at + 1] === low)) return at
      slot = slot + 1 === capacity ? 0 : slot + 1
    }
  }

  function grow(): void {
    const old = entries
    capacity *= 2
    entries = new Uint32Array(capacity * WORDS)
    for (let from = 0; from < old.length; from += WORDS) {
      if (old[from + 2] === 0) continue
      const at = find(old[from] ?? 0, old[from + 1] ?? 0)
      for (let word = 0; word < WORDS; word++) entries[at + word] = old[from + word] ?? 0
    }
  }

  return {
    /** Notes the code of a line (1 or more); resolves to the earlier line that had it, if any. */
    add(code: string, line: number): number | undefined {
      // Two lanes of multiply and xor (the public domain hash "cyrb53", in full width).
      let high = 0xdeadbeef
      let low = 0x41c6ce57
      for (let index = 0; index < code.length; index++) {
        const unit = code.charCodeAt(index)
        high = Math.imul(high ^ unit, 2_654_435_761)
        low = Math.imul(low ^ unit, 1_597_334_677)
      }
      const mixed =
        Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
      const other =
        Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(mixed ^ (mixed >>> 13), 3_266_489_909)
      const at = find(mixed >>> 0, other >>> 0)
      if (entries[at + 2] !== 0) return entries[at + 2]
      entries[at] = mixed >>> 0
      entries[at + 1] = other >>> 0
      entries[at + 2] = line
      if (++size > capacity * FILL) grow()
      return undefined
    },
  }
}
