import type { FeatureDeps } from '../../web/kit.ts'
import { StoredImports } from './stored.ts'

/** What was found in the files of a user's imports, by the ids of the imports, whose records are the user's own. */
export default async function exportUser(deps: FeatureDeps, _settings: unknown, userId: string) {
  const imports = new StoredImports(deps)
  const found = (await imports.ofUser(userId)).map(
    async (job) => [job.id, await imports.reading(job)] as const,
  )
  return found.length === 0 ? null : Object.fromEntries(await Promise.all(found))
}
