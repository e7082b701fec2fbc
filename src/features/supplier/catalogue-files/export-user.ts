import type { FeatureDeps } from '../../../web/feature-api.ts'
import { Records } from './records.ts'

/** Exports what is known of the user's last file of each catalogue. */
export default async function exportUser({ store, config }: FeatureDeps, _settings: unknown, userId: string) {
  const all = await new Records(store, config.platform.apiUrl).list({ withExpiring: true })
  const files = all.filter(({ by }) => by?.userId === userId)
  return files.length === 0 ? null : files
}
