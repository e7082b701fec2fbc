import type { FeatureDeps } from '../feature.ts'
import { openImports } from './index.ts'
import type { PriceFilesSettings } from './settings.ts'

/** Deletes a user's imports with their files. */
export default function deleteUser(
  deps: FeatureDeps,
  settings: PriceFilesSettings,
  userId: string,
): Promise<void> {
  return openImports(deps, settings).deleteUser(userId)
}
