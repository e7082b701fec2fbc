import { setTimeout } from 'node:timers/promises'
import type { KeyValueStore } from '../connect/index.ts'
import type { StoreUnavailableError } from '../connect/store/store.ts'

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

/** What a command prints if the store fails. */
export const storeProblem = ({ reason }: StoreUnavailableError): string =>
  `The store is not available (${reason}). \`npm run doctor\` says more about REDIS_URL and DATA_DIR.`
