import type { FeatureDeps } from '../../../web/kit.ts'
import { stopped } from './import.ts'
import { deleteImport, openTurns } from './turns.ts'

/**
 * Stops and deletes a user's imports with their files. What catalogues have received stays, but names "someone" in place of the
 * user. Throws `ImportError` (409) if the last request of an import takes too long to end. Then the deletion can be repeated.
 */
export default async function deleteUser(
  { store, config }: FeatureDeps,
  _settings: unknown,
  userId: string,
): Promise<void> {
  const turns = openTurns(store, config.platform.apiUrl)
  for (const job of await turns.stored.ofUser(userId)) {
    const idle = await turns.stored.change(job, (now) => (now.state === 'running' ? stopped(now) : now))
    await deleteImport(turns, idle)
  }
  await turns.received.forget(userId)
}
