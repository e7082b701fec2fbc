import { UnreadableFileError } from './errors.ts'
import { texts } from './texts.ts'

/**
 * The CPU time that reading a file may take, in ms: `MS_PER_MB` for each megabyte after unpacking, but at least `MIN_MS`. An ordinary
 * file takes a fraction of this time.
 */
const MIN_MS = 5_000
const MS_PER_MB = 300

/** The CPU time that this process has used so far, in ms. */
export function cpuOfProcess(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/**
 * Limits the CPU time that reading a file takes from now on. `bytes`: its size after unpacking. `used`: returns the time so far,
 * in ms. Returns a check that throws `UnreadableFileError` beyond the limit. Readers call the check for each chunk of bytes.
 */
export function createCpuLimit(bytes: number, used: () => number): () => void {
  const end = used() + Math.max(MIN_MS, (bytes / 1_000_000) * MS_PER_MB)
  return () => {
    if (used() > end) throw new UnreadableFileError(0, texts.unreadable.tooMuch)
  }
}
