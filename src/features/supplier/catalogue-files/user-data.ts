import type { FeatureDeps, UserData } from '../../../web/feature-api.ts'
import { Records } from './records.ts'

/** The user's files, which are stored under the app's name. */
export default {
  /** Exports the details of the user's last file for each catalogue. */
  async exportUser(deps, _settings, userId) {
    const all = await recordsOf(deps).list({ withExpiring: true })
    const files = all.filter(({ by }) => by?.userId === userId)
    return files.length === 0 ? null : files
  },
  /** Stops and deletes the files. Keeps the items that catalogues have received, because they name no person. */
  async deleteUser(deps, _settings, userId) {
    const records = recordsOf(deps)
    for (const { catalogueId } of await records.list({ withExpiring: true }))
      await records.forget(userId, catalogueId)
  },
} satisfies UserData

const recordsOf = ({ store, config }: FeatureDeps) => new Records(store, config.platform.apiUrl)
