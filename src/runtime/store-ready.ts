import { setTimeout } from 'node:timers/promises'
import type { KeyValueStore } from '../connect/index.ts'

const TRIES = 20
const PAUSE_MS = 100

/** Resolves when the store answers: Redis connects in the background. Throws its error after two seconds. */
export async function ready(store: KeyValueStore): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await store.ping()
    } catch (error) {
      if (tried === TRIES) throw error
      await setTimeout(PAUSE_MS)
    }
  }
}
