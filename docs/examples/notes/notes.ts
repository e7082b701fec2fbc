import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export function openNotes({ dataDir }: { dataDir: string }): DatabaseSync {
  const db = new DatabaseSync(join(dataDir, 'notes.sqlite'), { timeout: 1_000 })
  db.exec('CREATE TABLE IF NOT EXISTS notes (user_id TEXT, bxcontext TEXT, text TEXT) STRICT')
  return db
}
