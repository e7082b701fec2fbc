import type { Finding } from '../tools.ts'

export interface DoctorRuns {
  /** The latest findings; undefined before the first run has ended. Starts a new run if they are older than a minute. */
  latest(): Finding[] | undefined
  /** Starts a run, or joins the one in progress. */
  run(): Promise<Finding[]>
  readonly isRunning: boolean
}

const FRESH_MS = 60_000

/** Runs the doctor for pages: at most once at a time, whoever asks. */
export function createDoctorRuns(runDoctor: () => AsyncIterable<Finding>): DoctorRuns {
  let running: Promise<Finding[]> | undefined
  let last: { findings: Finding[]; at: number } | undefined

  function run(): Promise<Finding[]> {
    running ??= Array.fromAsync(runDoctor())
      .catch((error: Error): Finding[] => [
        { id: 'check.failed', status: 'failure', text: `The doctor failed: ${error.message}` },
      ])
      .then((findings) => {
        last = { findings, at: performance.now() }
        return findings
      })
      .finally(() => {
        running = undefined
      })
    return running
  }

  return {
    run,
    latest() {
      if (!last || performance.now() - last.at > FRESH_MS) void run()
      return last?.findings
    },
    get isRunning() {
      return running !== undefined
    },
  }
}
