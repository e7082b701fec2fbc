import { setTimeout } from 'node:timers/promises'
import { withTimeout } from '../timeouts.ts'
import type { KeyValueStore } from './store.ts'

/** How long to wait for the store, in ms. */
const READY_MS = 2_000
const PAUSE_MS = 100

/** Waits for the store, since Redis connects in the background. Throws after 2 seconds if it still fails or is silent. */
export async function ready(store: KeyValueStore): Promise<void> {
  const deadline = performance.now() + READY_MS
  for (;;) {
    try {
      return await withTimeout(store.ping(), Math.max(PAUSE_MS, deadline - performance.now()))
    } catch (error) {
      if (performance.now() + PAUSE_MS > deadline) throw error
      await setTimeout(PAUSE_MS)
    }
  }
}
