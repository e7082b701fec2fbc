import type { ServerResponse } from 'node:http'

const PENDING = Symbol('pending')
const pending = Promise.resolve(PENDING)

/**
 * Calls the price provider with a signal, which is aborted if the caller disconnects, or after `ms`. Throws the errors of
 * the provider, and an error if it takes longer than `ms`, even if it ignores the signal.
 */
export async function callProvider<T>(
  res: ServerResponse,
  ms: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const work = call(controller.signal)
  // No timer if the promise is already resolved, as it is for price lists in this process: the first one wins.
  const result = await Promise.race([work, pending])
  if (result !== PENDING) return result as T
  const abort = () => controller.abort()
  res.once('close', abort)
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`the price provider took longer than ${ms} ms`))
      abort()
    }, ms)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
    res.off('close', abort)
  }
}
