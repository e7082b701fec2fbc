/** Returns a whole number from 0 that is less than `below`. */
export type Random = (below: number) => number

export const DAY_MS = 86_400_000
/** The time of the newest sample data, in ms since 1970: the beginning of the day on which the sandbox started, in UTC. */
export const NEWEST = Date.now() - (Date.now() % DAY_MS)

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
