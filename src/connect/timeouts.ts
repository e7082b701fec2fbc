/** Resolves like `answer`, or rejects after `ms` with the error of `onTimeout`. The work itself continues. */
export function withTimeout<T>(
  answer: Promise<T>,
  ms: number,
  onTimeout = () => new Error(`no answer within ${ms} ms`),
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), ms)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
