import type { FeatureDeps } from '../../web/feature-api.ts'
import { openNotes } from './notes.ts'

export default async function deleteUser({ config }: FeatureDeps, _settings: unknown, userId: string) {
  const db = openNotes(config)
  db.prepare('DELETE FROM notes WHERE user_id = ?').run(userId)
  db.close()
}
