/** Generates sample data that looks random, but is the same at every start. */
export type Random = (below: number) => number

export const DAY_MS = 86_400_000
/** The date of the newest sample data. */
export const NEWEST = Date.UTC(2026, 9, 30, 9)

export const pick = <T>(from: T[], random: Random): T => from[random(from.length)] as T

/** Whole numbers that depend on the seed alone (the mulberry32 generator). */
export function seededRandom(seed: string): Random {
  let state = [...seed].reduce(
    (hash, char) => Math.imul(hash ^ char.charCodeAt(0), 16_777_619),
    2_166_136_261,
  )
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
