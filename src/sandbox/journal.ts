import type { Response } from 'express'

/** A recent call on the control page, without its content. */
export interface Call {
  /** ISO 8601. */
  at: string
  endpoint: string
  status: number | 'no answer'
  /** The business of a token request. */
  bxcontext?: string
}

const MAX_CALLS = 500

export type Journal = ReturnType<typeof createJournal>

export function createJournal() {
  const calls: Call[] = []
  const add = (endpoint: string, status: Call['status'], bxcontext?: string) => {
    calls.push({ at: new Date().toISOString(), endpoint, status, ...(bxcontext && { bxcontext }) })
    if (calls.length > MAX_CALLS) calls.shift()
  }
  return {
    add,
    clear: () => {
      calls.length = 0
    },
    /** Records the call that this response answers. */
    record: (res: Response, endpoint: string) =>
      void res.on('close', () => add(endpoint, res.writableFinished ? res.statusCode : 'no answer')),
    /** Returns the calls, newest first. */
    list: (): Call[] => calls.toReversed(),
  }
}
