import { createHash } from 'node:crypto'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { StoreUnavailableError } from '../../connect/errors.ts'
import { type Key, type KeyValueStore, update } from '../../connect/stores.ts'

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

/** Counts failures in fixed windows, in all processes that share the store. While it is unavailable, each counts alone. */
export function createFailureCounter({ name, max, windowMs, store }: FailureCounterOptions): CountFailure {
  const ofProcess = new RateLimiterMemory({ points: max, duration: windowMs / 1000 })

  async function countInProcess(id: string): Promise<number | null> {
    const { consumedPoints, msBeforeNext } = await ofProcess.penalty(id)
    return consumedPoints > max ? msBeforeNext : null
  }

  async function countInStore(shared: KeyValueStore, id: string): Promise<number | null> {
    const key: Key = {
      kind: `failed-${name}`,
      owner: createHash('sha256').update(id).digest('base64url'),
      id: '',
    }
    const startedAt = Date.now()
    let isOver = false
    const counted = await update(
      shared,
      key,
      (value) => {
        const [count = 0, until = 0] = value?.split(' ').map(Number) ?? []
        const isOpen = until > startedAt
        isOver = isOpen && count >= max
        // Further failures change nothing.
        if (isOver && value) return value
        return isOpen ? `${count + 1} ${until}` : `1 ${startedAt + windowMs}`
      },
      windowMs,
    )
    const until = Number(counted.split(' ')[1])
    return isOver ? Math.min(windowMs, Math.max(1, until - startedAt)) : null
  }

  return async (id) => {
    if (!store) return countInProcess(id)
    try {
      return await countInStore(store, id)
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      return countInProcess(id)
    }
  }
}
