import type { FeatureDeps } from '../../../web/feature-api.ts'
import { Records } from './records.ts'

/** Exports the details of the user's last file for each catalogue. */
export default async function exportUser({ store, config }: FeatureDeps, _settings: unknown, userId: string) {
  const all = await new Records(store, config.platform.apiUrl).list({ withExpiring: true })
  const files = all.filter(({ by }) => by?.userId === userId)
  return files.length === 0 ? null : files
}
