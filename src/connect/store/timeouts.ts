/** Resolves like `answer`, or rejects after `ms`. */
export function withTimeout<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Resolves when more than half of the promises have resolved, and rejects with an error as soon as they cannot. */
export function majorityOf(promises: readonly Promise<unknown>[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const needed = Math.floor(promises.length / 2) + 1
    let resolved = 0
    let rejected = 0
    const onResolved = () => {
      if (++resolved >= needed) resolve()
    }
    const onRejected = (error: unknown) => {
      if (promises.length - ++rejected < needed) reject(error)
    }
    for (const promise of promises) promise.then(onResolved, onRejected)
  })
}
