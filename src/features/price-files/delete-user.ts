import type { FeatureDeps } from '../../web/kit.ts'
import { StoredImports } from './stored.ts'

/** Deletes a user's imports with their files. */
export default function deleteUser(deps: FeatureDeps, _settings: unknown, userId: string): Promise<void> {
  return new StoredImports(deps).deleteAll(userId)
}
