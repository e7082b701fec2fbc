/** Speed as a ratio: subject and yardstick take turns, so that a noisy machine disturbs both alike. */
export interface Measured {
  /** Calls per second, medians over the rounds. */
  subject: number
  yardstick: number
  ratio: number
}

/** Adds a row to the table: what is measured, against what, how it came out, and the ratio to reach. */
export type Add = (
  measure: string,
  yardstick: string,
  measured: Measured,
  reach: string,
  unit?: string,
) => void

const ROUNDS = 15
const ROUND_MS = 500

/** Throughput of two calls with this many callers at once, as the median of several rounds. */
export async function compare(
  callers: number,
  subject: () => Promise<unknown>,
  yardstick: () => Promise<unknown>,
  count = ROUNDS,
): Promise<Measured> {
  await throughput(subject, callers, ROUND_MS)
  await throughput(yardstick, callers, ROUND_MS)
  const rounds = []
  for (let round = 0; round < count; round++) {
    // Who goes first changes with each round, so that neither profits from it.
    const order = round % 2 === 0 ? [subject, yardstick] : [yardstick, subject]
    const speeds = new Map<unknown, number>()
    for (const work of order) speeds.set(work, await throughput(work, callers, ROUND_MS))
    rounds.push({ subject: speeds.get(subject) ?? 0, yardstick: speeds.get(yardstick) ?? 0 })
  }
  return medianOf(rounds.map((round) => ({ ...round, ratio: round.subject / round.yardstick })))
}

/** The median of each number over several rounds. */
export function medianOf(rounds: Measured[]): Measured {
  const middle = (name: keyof Measured) => median(rounds.map((round) => round[name]))
  return { subject: middle('subject'), yardstick: middle('yardstick'), ratio: middle('ratio') }
}

async function throughput(work: () => Promise<unknown>, callers: number, ms: number): Promise<number> {
  const started = performance.now()
  let calls = 0
  const caller = async () => {
    while (performance.now() - started < ms) {
      await work()
      calls++
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return (calls / (performance.now() - started)) * 1000
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
