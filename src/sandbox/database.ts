import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS models (
    model TEXT, id TEXT, payload TEXT NOT NULL, grant_id TEXT, uid TEXT, expires_at INTEGER,
    PRIMARY KEY (model, id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS models_grant ON models (grant_id);
  CREATE TABLE IF NOT EXISTS consents (
    grant_id TEXT PRIMARY KEY, account TEXT NOT NULL, client TEXT NOT NULL, bxcontext TEXT NOT NULL,
    scopes TEXT NOT NULL, granted_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`

export type Database = ReturnType<typeof openDatabase>
export type Sql = Database['sql']
type Value = string | number | null

/** Opens the sandbox's database, with the tables of the core and those of `schemas`. */
export function openDatabase(file: string, schemas: string[]) {
  const db = open(file, [SCHEMA, ...schemas].join('\n'))
  const run = (sql: string, ...values: Value[]) => db.prepare(sql).run(...values)
  const all = (sql: string, ...values: Value[]) => db.prepare(sql).all(...values)
  const transaction = <T>(work: () => T): T => {
    db.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      db.exec('COMMIT')
      return result
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }
  return {
    sql: { run, all, prepare: (sql: string) => db.prepare(sql), transaction },

    /** Returns a stored setting, which the first call creates. */
    setting(name: string, create: () => string): string {
      run('INSERT OR IGNORE INTO settings VALUES (?, ?)', name, create())
      return String(all('SELECT value FROM settings WHERE name = ?', name)[0]?.value)
    },

    /** Deletes everything except the settings. */
    clear(): void {
      const tables = all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'settings'")
      transaction(() => {
        for (const { name } of tables) db.exec(`DELETE FROM "${name}"`)
      })
    },

    close: () => db.close(),
  }
}

function open(file: string, schema: string): DatabaseSync {
  try {
    if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const db = new DatabaseSync(file)
    db.exec(schema)
    return db
  } catch (error) {
    throw new Error(`DATA_DIR: cannot open ${file}: ${(error as Error).message}`)
  }
}
