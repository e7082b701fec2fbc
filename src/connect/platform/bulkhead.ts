import { PlatformUnavailableError } from './errors.ts'

export interface Bulkhead {
  /**
   * The function that frees one of the account's places; a promise of it when there is none, which waits at most
   * `waitMs`. Rejects with `PlatformUnavailableError`.
   */
  enter(account: string, waitMs: number): (() => void) | Promise<() => void>
}

interface Waiting {
  admit(): void
}

/** At most `limit` calls in flight for one account, so that one account whose calls hang leaves room for the others. */
export function createBulkhead(limit = 16): Bulkhead {
  const accounts = new Map<string, { running: number; queue: Set<Waiting> }>()

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
        const waiting: Waiting = {
          admit() {
            clearTimeout(timer)
            resolve(() => leave(account))
          },
        }
        const timer = setTimeout(
          () => {
            state.queue.delete(waiting)
            reject(
              new PlatformUnavailableError(
                'no_answer',
                `${limit} calls of this account are still unanswered`,
              ),
            )
          },
          Math.max(1, waitMs),
        )
        state.queue.add(waiting)
      })
    },
  }
}
