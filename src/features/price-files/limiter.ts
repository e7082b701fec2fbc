/** Runs tasks, some of them at the same time. Throws the task's errors, and the signal's reason if aborted while waiting. */
export type Limiter = <T>(userId: string, task: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/** Runs at most `max` tasks at the same time, and `maxOfUser` of one user, so that nobody's files delay those of others. */
export function createLimiter(max: number, maxOfUser: number): Limiter {
  /** The user of each running task. */
  const running: string[] = []
  const waiting: { userId: string; start(): void }[] = []
  const hasRoom = (userId: string) =>
    running.length < max && running.filter((each) => each === userId).length < maxOfUser
  function startNext(): void {
    const next = waiting.find(({ userId }) => hasRoom(userId))
    if (!next) return
    waiting.splice(waiting.indexOf(next), 1)
    running.push(next.userId)
    next.start()
  }
  return async (userId, task, signal) => {
    const started = new Promise<void>((resolve) => waiting.push({ userId, start: resolve }))
    startNext()
    await started
    try {
      signal?.throwIfAborted()
      return await task()
    } finally {
      running.splice(running.indexOf(userId), 1)
      startNext()
    }
  }
}
