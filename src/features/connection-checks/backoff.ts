const FIRST_DELAY_MS = 1_000
const MAX_DELAY_MS = 300_000

/** Doubling pauses while refreshes fail, so that an outage is not made worse. */
export function createBackoff() {
  let lastMs = 0
  let lastFailureAt = 0
  let pendingMs = 0
  return {
    /** A refresh that began at `startedAt` failed. Those that began before the last pause are part of the same failure. */
    failed(startedAt: number): void {
      if (startedAt < lastFailureAt) return
      lastFailureAt = Date.now()
      lastMs = Math.min(MAX_DELAY_MS, Math.max(FIRST_DELAY_MS, lastMs * 2))
      pendingMs = lastMs
    },
    ended(): void {
      lastMs = 0
      pendingMs = 0
    },
    /** The pause to make now, in ms; each is made once. */
    takeDelay(): number {
      const ms = pendingMs
      pendingMs = 0
      return ms
    },
  }
}
