import type { FeatureDeps } from '../../../web/kit.ts'
import { stopped } from './import.ts'
import { ReceivedStore } from './received-store.ts'
import { StoredImports } from './stored.ts'
import { takeFreeTurn } from './turns.ts'

/**
 * Stops and deletes a user's imports with their files. What catalogues have received stays: this user becomes "someone". Throws
 * `ImportError` (409) if the last request of an import takes too long to end: then it can be repeated.
 */
export default async function deleteUser(deps: FeatureDeps, _settings: unknown, userId: string) {
  const { store, config } = deps
  const stored = new StoredImports(deps)
  const received = new ReceivedStore(store, config.platform.apiUrl)
  for (const active of await stored.active()) {
    if (active.userId !== userId) continue
    const job = await stored.find(userId, active.id)
    if (job?.state === 'running') await stored.change(userId, active.id, stopped)
    await (await takeFreeTurn({ store, stored, received }, active.catalogueId)).release()
  }
  await stored.deleteAll(userId)
  await received.forget(userId)
}
