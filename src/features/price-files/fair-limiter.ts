interface Waiting {
  user: string
  start(): void
}

/**
 * Limits concurrent tasks to `max` in total and `maxPerUser` per user. The next task belongs to the waiting user with
 * the fewest running tasks; ties go to the user whose last task started longest ago. The returned function throws the
 * error of its task, and the signal's reason if aborted while waiting.
 */
export function createFairLimiter({ max, maxPerUser }: { max: number; maxPerUser: number }) {
  const running = new Map<string, number>()
  /** Sequence number of each user's latest start; deleted when the user has no tasks left. */
  const lastStart = new Map<string, number>()
  let starts = 0
  const waiting: Waiting[] = []
  const runningOf = (user: string) => running.get(user) ?? 0
  const total = () => [...running.values()].reduce((sum, count) => sum + count, 0)

  function startNext(): void {
    while (total() < max) {
      const eligible = waiting.filter(({ user }) => runningOf(user) < maxPerUser)
      // The sort is stable, so the tasks of one user start in order.
      const order = (user: string) => runningOf(user) * Number.MAX_SAFE_INTEGER + (lastStart.get(user) ?? 0)
      const [next] = eligible.toSorted((a, b) => order(a.user) - order(b.user))
      if (!next) return
      lastStart.set(next.user, ++starts)
      waiting.splice(waiting.indexOf(next), 1)
      running.set(next.user, runningOf(next.user) + 1)
      next.start()
    }
  }

  function release(user: string): void {
    const remaining = runningOf(user) - 1
    if (remaining > 0) running.set(user, remaining)
    else running.delete(user)
    if (remaining === 0 && !waiting.some((entry) => entry.user === user)) lastStart.delete(user)
    startNext()
  }

  return async <T>(user: string, task: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const started = enqueue(waiting, user, signal)
    startNext()
    await started
    try {
      return await task()
    } finally {
      release(user)
    }
  }
}

/** Resolves when the new entry is started; rejects with the signal's reason, without the entry, if it is aborted before. */
function enqueue(waiting: Waiting[], user: string, signal: AbortSignal): Promise<void> {
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
  })
}
