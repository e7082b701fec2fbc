import { PlatformUnavailableError } from './errors.ts'

export interface Bulkhead {
  /**
   * Resolves to a function that ends the call, at once if the account has room; otherwise the call is queued for at most
   * `waitMs`. Rejects with `PlatformUnavailableError` after that.
   */
  enter(account: string, waitMs: number): (() => void) | Promise<() => void>
}

interface QueuedCall {
  admit(): void
}

/** Limits the calls in flight per account, so that an account whose calls hang does not block the others. */
export function createBulkhead(limit = 16): Bulkhead {
  const accounts = new Map<string, { running: number; queue: Set<QueuedCall> }>()

  function leave(account: string): void {
    const state = accounts.get(account)
    if (!state) return
    const [next] = state.queue
    if (next) {
      // First come, first served.
      state.queue.delete(next)
      next.admit()
    } else if (--state.running === 0) accounts.delete(account)
  }

  return {
    enter(account, waitMs) {
      const state = accounts.get(account) ?? { running: 0, queue: new Set() }
      accounts.set(account, state)
      if (state.running < limit) {
        state.running++
        return () => leave(account)
      }
      return new Promise((resolve, reject) => {
        const call: QueuedCall = {
          admit() {
            clearTimeout(timer)
            resolve(() => leave(account))
          },
        }
        const expire = () => {
          state.queue.delete(call)
          reject(new PlatformUnavailableError('no_answer', `${limit} calls of this account are unanswered`))
        }
        const timer = setTimeout(expire, Math.max(1, waitMs))
        state.queue.add(call)
      })
    },
  }
}
