import type { FeatureDeps } from '../../../web/kit.ts'
import { ReceivedStore } from './received-store.ts'
import { StoredImports } from './stored.ts'

/**
 * What was found in the files of a user's imports, by the ids of the imports, whose records are the user's own; and the catalogues
 * whose remembered files name the user as the one who sent them.
 */
export default async function exportUser(deps: FeatureDeps, _settings: unknown, userId: string) {
  const stored = new StoredImports(deps)
  const found: Record<string, unknown> = {}
  for (const job of await stored.ofUser(userId)) found[job.id] = await stored.reading(job)
  const named = new ReceivedStore(deps.store, deps.config.platform.apiUrl).naming(userId)
  const namedIn = await Array.fromAsync(named)
  return Object.keys(found).length + namedIn.length === 0 ? null : { found, namedIn }
}
