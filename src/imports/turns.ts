interface Waiting {
  user: string
  start(): void
}

/**
 * Lets at most `max` tasks run at once, and at most `maxPerUser` of one user; of those who wait, the user with the fewest
 * running tasks is next, so that one user's files never keep another's waiting. Throws the signal's reason.
 */
export function createTurns({ max, maxPerUser }: { max: number; maxPerUser: number }) {
  const running = new Map<string, number>()
  const waiting: Waiting[] = []
  const runningOf = (user: string) => running.get(user) ?? 0
  const total = () => [...running.values()].reduce((sum, count) => sum + count, 0)

  function startNext(): void {
    while (total() < max) {
      const able = waiting.filter(({ user }) => runningOf(user) < maxPerUser)
      // Sorting is stable: of users with as many, who came first goes first.
      const [next] = able.toSorted((a, b) => runningOf(a.user) - runningOf(b.user))
      if (!next) return
      waiting.splice(waiting.indexOf(next), 1)
      running.set(next.user, runningOf(next.user) + 1)
      next.start()
    }
  }

  function end(user: string): void {
    const left = runningOf(user) - 1
    if (left > 0) running.set(user, left)
    else running.delete(user)
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
