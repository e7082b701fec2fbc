import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** 32-bit words per entry: two for the hash of the code, one for the line, one for the hash of price and unit. */
const WORDS = 4
const MAX_LOAD_FACTOR = 0.7

/** The earlier row with a code. */
export interface SeenCode {
  line: number
  /** Whether it has the same price and unit. */
  isSame: boolean
}

/**
 * Detects repeated codes with a hash table of 64-bit hashes, which uses 23 bytes per code. A `Map` of the codes needs
 * several times as much (`npm run bench`, "peak memory, 1,000,000 rows"). For a million codes, the probability of a
 * collision is below 1 in 10 million.
 */
export function createSeenCodes(expected = 50_000) {
  let capacity = Math.max(1024, Math.ceil(expected / MAX_LOAD_FACTOR))
  let entries = new Uint32Array(capacity * WORDS)
  let size = 0
  const number = new Float64Array(1)
  const words = new Uint32Array(number.buffer)
  let lastUnit = ''
  let lastUnitHash = 0

  /** A hash of a price and its unit. Units repeat, so the last one's is kept. */
  function hashOfValue(price: number, unit: string): number {
    if (unit !== lastUnit) {
      lastUnit = unit
      lastUnitHash = hash(unit)[0]
    }
    number[0] = price
    const [low = 0, high = 0] = [words[0], words[1]]
    return (Math.imul(low ^ lastUnitHash, 2_654_435_761) ^ Math.imul(high, 1_597_334_677)) >>> 0
  }

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
    /** Records the code of a line (1 or more) with its price and unit. Returns the earlier row with this code, if any. */
    add(code: string, line: number, price: number, unit = ''): SeenCode | undefined {
      const [high, low] = hash(code)
      const value = hashOfValue(price, unit)
      const index = find(high, low)
      const earlier = entries[index + 2] ?? 0
      if (earlier !== 0) return { line: earlier, isSame: entries[index + 3] === value }
      entries[index] = high
      entries[index + 1] = low
      entries[index + 2] = line
      entries[index + 3] = value
      if (++size > capacity * MAX_LOAD_FACTOR) grow()
      return undefined
    },
    /** Writes the hashes of all codes, except for some, to a file, for `countMissing`. */
    save(path: string, except: ReadonlySet<string> = new Set()): void {
      const left = new Set([...except].map((code) => bigHash(...hash(code))))
      const hashes = new BigUint64Array(size)
      let next = 0
      for (let index = 0; index < entries.length; index += WORDS) {
        if (entries[index + 2] === 0) continue
        const code = bigHash(entries[index] ?? 0, entries[index + 1] ?? 0)
        if (!left.has(code)) hashes[next++] = code
      }
      writeFileSync(path, hashes.subarray(0, next).sort(), { mode: 0o600 })
    },
  }
}

/** First part of the names of files with the codes of a catalogue. */
export const LAST_CODES = 'catalogue-'

/** Identifies the codes that were last sent to this target. */
export const lastCodesName = (target: string): string =>
  `${LAST_CODES}${createHash('sha256').update(target).digest('hex')}`

/** The file with the codes that were last sent to this target. */
export const lastCodesPath = (folder: string, target: string): string =>
  join(folder, `${lastCodesName(target)}.codes`)

/** How many codes of an earlier file are not in a later one. Both are files of `save`. */
export function countMissing(earlierPath: string, laterPath: string): number {
  const [earlier, later] = [earlierPath, laterPath].map((path) => {
    const { buffer, byteOffset, byteLength } = readFileSync(path)
    return new BigUint64Array(buffer.slice(byteOffset, byteOffset + byteLength))
  })
  let missing = 0
  let at = 0
  for (const code of earlier ?? []) {
    while (later && at < later.length && (later[at] ?? 0n) < code) at++
    if (later?.[at] !== code) missing++
  }
  return missing
}

const bigHash = (high: number, low: number) => (BigInt(high) << 32n) | BigInt(low)

/** The public-domain hash cyrb53, extended to 64 bits. */
function hash(text: string): [high: number, low: number] {
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
