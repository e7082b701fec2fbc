import { setTimeout as pause } from 'node:timers/promises'

/**
 * Resolves like `answer`, or rejects after `ms` with the error of `onTimeout`. An answer that arrived in time counts even if this
 * process was too busy to read it. The work itself continues.
 */
export function withTimeout<T>(
  answer: Promise<T>,
  ms: number,
  onTimeout = () => new Error(`no answer within ${ms} ms`),
): Promise<T> {
  return new Promise((resolve, reject) => {
    // Between a timer and the next immediate, Node reads the data that has already arrived.
    const timer = setTimeout(() => setImmediate(() => reject(onTimeout())), ms)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** The shortest pause, in ms, even if there is news. */
const LEAST_MS = 20

/** Ends the pauses of all listeners whenever there is news, until `end` is called. */
export class News {
  isOver = false
  #next = new AbortController()

  tell(): void {
    this.#next.abort()
    this.#next = new AbortController()
  }

  /** Wakes the listeners for the last time. */
  end(): void {
    this.isOver = true
    this.tell()
  }

  /**
   * Listens from now on. Returns a function that pauses for some ms, or shorter if news has arrived since this call. A pause
   * doesn't keep the process alive.
   */
  listen(): (ms: number) => Promise<void> {
    const { signal } = this.#next
    return async (ms) => {
      await pause(LEAST_MS, undefined, { ref: false })
      await pause(ms - LEAST_MS, undefined, { ref: false, signal }).catch(() => {})
    }
  }
}
