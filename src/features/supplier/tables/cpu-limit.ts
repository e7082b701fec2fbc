import { UnreadableFileError } from './errors.ts'
import { texts } from './texts.ts'

/** What reading a file may take, in ms: several times what an ordinary one takes, for each megabyte after unpacking. */
const MIN_MS = 5_000
const MS_PER_MB = 300

/** The CPU time that this process has used so far, in ms. */
export function cpuOfProcess(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/**
 * Limits the CPU time that reading a file takes from now on. `bytes`: its size after unpacking. `used`: the time so far, in ms. Returns
 * a check, which throws `UnreadableFileError` beyond the limit; what happens between two checks takes time in proportion to its bytes.
 */
export function createCpuLimit(bytes: number, used: () => number): () => void {
  const end = used() + Math.max(MIN_MS, (bytes / 1_000_000) * MS_PER_MB)
  return () => {
    if (used() > end) throw new UnreadableFileError(0, texts.unreadable.tooMuch)
  }
}
