import type { FeatureDeps } from '../../web/feature-api.ts'
import { openNotes } from './notes.ts'

export default async function exportUser({ config }: FeatureDeps, _settings: unknown, userId: string) {
  const db = openNotes(config)
  const notes = db.prepare('SELECT bxcontext, text FROM notes WHERE user_id = ?').all(userId)
  db.close()
  return notes.length > 0 ? notes : null
}
