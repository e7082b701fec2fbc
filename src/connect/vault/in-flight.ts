/** Work that must not be cut off: a token request that was sent, and storing its answer. */
export interface InFlight {
  /** Runs the work, and resolves or rejects as it does. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when the work that has begun by now is done. */
  idle(): Promise<void>
}

export function createInFlight(): InFlight {
  const all = new Set<Promise<unknown>>()
  return {
    async run(work) {
      const promise = work()
      all.add(promise)
      try {
        return await promise
      } finally {
        all.delete(promise)
      }
    },
    async idle() {
      await Promise.allSettled(all)
    },
  }
}
