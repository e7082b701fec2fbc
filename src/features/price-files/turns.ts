interface Waiting {
  user: string
  start(): void
}

/**
 * Lets at most `max` tasks run at once, and at most `maxPerUser` of one user. Of those who wait, the user with the fewest
 * running tasks is next, then the one whose last task started longest ago, so that users take turns. Throws the signal's reason.
 */
export function createTurns({ max, maxPerUser }: { max: number; maxPerUser: number }) {
  const running = new Map<string, number>()
  /** When a user's latest task started, counted in tasks; forgotten when nothing of theirs is left. */
  const lastStart = new Map<string, number>()
  let starts = 0
  const waiting: Waiting[] = []
  const runningOf = (user: string) => running.get(user) ?? 0
  const total = () => [...running.values()].reduce((sum, count) => sum + count, 0)

  function startNext(): void {
    while (total() < max) {
      const able = waiting.filter(({ user }) => runningOf(user) < maxPerUser)
      // Of users with as many running, the one who has waited longest; of one user's tasks, the first.
      const order = (user: string) => runningOf(user) * Number.MAX_SAFE_INTEGER + (lastStart.get(user) ?? 0)
      const [next] = able.toSorted((a, b) => order(a.user) - order(b.user))
      if (!next) return
      lastStart.set(next.user, ++starts)
      waiting.splice(waiting.indexOf(next), 1)
      running.set(next.user, runningOf(next.user) + 1)
      next.start()
    }
  }

  function end(user: string): void {
    const left = runningOf(user) - 1
    if (left > 0) running.set(user, left)
    else running.delete(user)
    if (left === 0 && !waiting.some((entry) => entry.user === user)) lastStart.delete(user)
    startNext()
  }

  function turn(user: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        const index = waiting.indexOf(entry)
        if (index >= 0) waiting.splice(index, 1)
        reject(signal.reason)
      }
      const entry: Waiting = {
        user,
        start() {
          signal.removeEventListener('abort', abort)
          resolve()
        },
      }
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      waiting.push(entry)
      startNext()
    })
  }

  return async <T>(user: string, task: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    await turn(user, signal)
    try {
      return await task()
    } finally {
      end(user)
    }
  }
}
