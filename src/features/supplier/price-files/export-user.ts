import type { FeatureDeps } from '../../../web/kit.ts'
import { openTurns } from './turns.ts'

/**
 * Exports what was found in the files of a user's imports, by the ids of the imports, and the catalogues whose remembered files name
 * the user as their sender. The records of the imports are exported with everything else that the user owns in the store.
 */
export default async function exportUser({ store, config }: FeatureDeps, _settings: unknown, userId: string) {
  const { stored, received } = openTurns(store, config.platform.apiUrl)
  const found: Record<string, unknown> = {}
  for (const job of await stored.ofUser(userId)) found[job.id] = await stored.reading(job)
  const namedIn = await Array.fromAsync(received.naming(userId))
  return Object.keys(found).length + namedIn.length === 0 ? null : { found, namedIn }
}
