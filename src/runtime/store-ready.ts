import { setTimeout } from 'node:timers/promises'
import type { KeyValueStore } from '../connect/index.ts'

const MAX_ATTEMPTS = 20
const PAUSE_MS = 100

/** Waits for the store, since Redis connects in the background. Throws its error after 20 attempts (2 seconds). */
export async function ready(store: KeyValueStore): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.ping()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error
      await setTimeout(PAUSE_MS)
    }
  }
}
