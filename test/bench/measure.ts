/**
 * Cost as a ratio: subject and yardstick take turns, so that a noisy machine disturbs both alike. It is CPU time, user and
 * system, since throughput also depends on who else runs on the machine.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface Measured {
  /** Medians over the rounds, in microseconds of CPU for each call, unless the row names another unit. */
  subject: number
  yardstick: number
  /** How many calls of the subject cost as much as one of the yardstick, unless the row names another unit. */
  ratio: number
  /** Calls per second. */
  rates?: { subject: number; yardstick: number }
}

/** Adds a row to the table: the subject, the yardstick, the result, and the target ratio. */
export type Add = (
  measure: string,
  yardstick: string,
  measured: Measured,
  reach: string,
  unit?: string,
) => void

/** Measures the cost of calls in this process, or in another process that answers them. */
export interface Work {
  call(): Promise<unknown>
  /** The process whose CPU counts; this one by default. */
  pid?: number | undefined
}

/** Many short ones: the speed of a shared machine changes within seconds. */
const ROUNDS = 25
const ROUND_MS = 400
/** A process is slower until its code is optimised. */
const WARM_UP_MS = 3_000

/** CPU time for each of two calls with this many callers at once, as the median of several rounds. */
export async function compare(
  callers: number,
  subject: Work,
  yardstick: Work,
  count = ROUNDS,
): Promise<Measured> {
  for (const work of [subject, yardstick]) await costOf(work, callers, WARM_UP_MS)
  const rounds: Measured[] = []
  for (let round = 0; round < count; round++) {
    // The order changes with each round, so that neither side profits from it.
    const order = round % 2 === 0 ? [subject, yardstick] : [yardstick, subject]
    const costs = new Map<Work, Cost>()
    for (const work of order) costs.set(work, await costOf(work, callers))
    const [ours, bare] = [costs.get(subject) ?? NONE, costs.get(yardstick) ?? NONE]
    const rates = { subject: ours.rate, yardstick: bare.rate }
    rounds.push({ subject: ours.us, yardstick: bare.us, ratio: bare.us / ours.us, rates })
  }
  return medianOf(rounds)
}

/** The median of each number over several rounds. */
export function medianOf(rounds: Measured[]): Measured {
  const middle = (of: (round: Measured) => number) => median(rounds.map(of))
  const rates = {
    subject: middle(({ rates }) => rates?.subject ?? Number.NaN),
    yardstick: middle(({ rates }) => rates?.yardstick ?? Number.NaN),
  }
  return {
    subject: middle(({ subject }) => subject),
    yardstick: middle(({ yardstick }) => yardstick),
    ratio: middle(({ ratio }) => ratio),
    ...(rounds[0]?.rates && { rates }),
  }
}

interface Cost {
  /** Microseconds of CPU for each call. */
  us: number
  /** Calls per second. */
  rate: number
}
const NONE: Cost = { us: Number.NaN, rate: Number.NaN }

async function costOf({ call, pid }: Work, callers: number, ms = ROUND_MS): Promise<Cost> {
  const started = performance.now()
  const before = cpuUs(pid)
  let calls = 0
  const caller = async () => {
    while (performance.now() - started < ms) {
      await call()
      calls++
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return { us: (cpuUs(pid) - before) / calls, rate: (calls / (performance.now() - started)) * 1000 }
}

/** The CPU time that a process has used, of all its threads, in microseconds. Other processes: on Linux only. */
function cpuUs(pid = process.pid): number {
  if (pid === process.pid) {
    const { user, system } = process.cpuUsage()
    return user + system
  }
  // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: the name, in parentheses, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  const ticks = Number(fields[11]) + Number(fields[12])
  return ticks * 10_000
}

/** The memory of a process in kB, according to the system. */
export const memoryKb = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
