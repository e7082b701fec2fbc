import type { Store } from '../connect/store/store.ts'

/** Resolves when the store answers: Redis connects in the background. Throws its error after two seconds. */
export async function ready(store: Store): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await store.ping()
    } catch (error) {
      if (tried === 20) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
