import { createHash } from 'node:crypto'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { StoreUnavailableError } from '../../connect/errors.ts'
import { type KeyValueStore, update } from '../../connect/stores.ts'

export interface FailureCounterOptions {
  /** What is counted: `client` or `address`. */
  name: string
  /** How many failures of one id are accepted in a window. */
  max: number
  windowMs: number
  /** Counts in all processes; undefined: in this one only. */
  store: KeyValueStore | undefined
}

/** Counts a failure of `id`. Resolves to how long it has to wait if there were too many, in ms; otherwise to null. */
export type CountFailure = (id: string) => Promise<number | null>

/** Counts in fixed windows, in all processes that share the store. While it is unavailable, each counts alone. */
export function createFailureCounter(options: FailureCounterOptions): CountFailure {
  const { max, windowMs, store } = options
  const ofProcess = new RateLimiterMemory({ points: max, duration: windowMs / 1000 })
  const countInProcess: CountFailure = async (id) => {
    const { consumedPoints, msBeforeNext } = await ofProcess.penalty(id)
    return consumedPoints > max ? msBeforeNext : null
  }
  if (!store) return countInProcess
  return async (id) => {
    try {
      return await countInStore(store, options, id)
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      return countInProcess(id)
    }
  }
}

/** The value is the number of failures, and when their window ends. */
async function countInStore(
  store: KeyValueStore,
  { name, max, windowMs }: FailureCounterOptions,
  id: string,
) {
  const owner = createHash('sha256').update(id).digest('base64url')
  const now = Date.now()
  let waitMs: number | null = null
  await update(
    store,
    { kind: `failed-${name}`, owner, id: '' },
    (value) => {
      const [count = 0, until = 0] = value?.split(' ').map(Number) ?? []
      const isOpen = until > now
      waitMs = isOpen && count >= max ? Math.min(windowMs, until - now) : null
      // Further failures change nothing.
      if (waitMs !== null) return value
      return isOpen ? `${count + 1} ${until}` : `1 ${now + windowMs}`
    },
    windowMs,
  )
  return waitMs
}
