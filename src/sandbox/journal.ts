/** The latest calls that the application made, for the control page: never their content. */
export interface Call {
  /** ISO 8601. */
  at: string
  endpoint: string
  status: number | 'no answer'
}

const KEPT = 500

export type Journal = ReturnType<typeof createJournal>

export function createJournal() {
  const calls: Call[] = []
  return {
    add(endpoint: string, status: Call['status']) {
      calls.push({ at: new Date().toISOString(), endpoint, status })
      if (calls.length > KEPT) calls.shift()
    },
    /** The latest first. */
    list: (): Call[] => calls.toReversed(),
  }
}
