import type { FeatureDeps } from '../feature.ts'
import { openImports } from './index.ts'
import type { PriceFilesSettings } from './settings.ts'

/** Deletes a user's imports with their files. */
export default async function deleteUser(
  deps: FeatureDeps,
  settings: PriceFilesSettings,
  userId: string,
): Promise<void> {
  const imports = openImports(deps, settings)
  await imports.deleteUser(userId)
  await imports.sender.close()
}
