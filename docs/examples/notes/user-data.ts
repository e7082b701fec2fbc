import type { UserData } from '../../web/feature-api.ts'
import { openNotes } from './notes.ts'

export default {
  async exportUser({ config }, _settings, userId) {
    const db = openNotes(config)
    const notes = db.prepare('SELECT bxcontext, text FROM notes WHERE user_id = ?').all(userId)
    db.close()
    return notes.length > 0 ? notes : null
  },
  async deleteUser({ config }, _settings, userId) {
    const db = openNotes(config)
    db.prepare('DELETE FROM notes WHERE user_id = ?').run(userId)
    db.close()
  },
} satisfies UserData
