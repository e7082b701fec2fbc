import type { FeatureDeps } from '../../../web/feature-api.ts'
import { Records } from './records.ts'

/** Stops and deletes the files of a user. Keeps the items that catalogues have received, because they name no person. */
export default async function deleteUser({ store, config }: FeatureDeps, _settings: unknown, userId: string) {
  const records = new Records(store, config.platform.apiUrl)
  for (const { catalogueId } of await records.list({ withExpiring: true }))
    await records.forget(userId, catalogueId)
}
