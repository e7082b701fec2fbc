import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Entry, type Key, type Store, StoreUnavailableError } from './store.ts'

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS entries (
    kind TEXT NOT NULL, owner TEXT NOT NULL, id TEXT NOT NULL,
    value TEXT NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (kind, owner, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS entries_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;
`
/** How often expired rows are swept; they are invisible from the moment they expire. */
const SWEEP_MS = 60_000
/** How long a verb waits for a lock of another process, and how often it looks, in ms. The event loop never waits. */
const BUSY_MS = 2_000
const RETRY_MS = 20
/** A request needs several verbs: after one has waited in vain, the others fail at once for so long, in ms. */
const GAVE_UP_MS = 500
/** How long opening waits for a lock, in ms: nothing is served yet. */
const OPEN_MS = 2_000
/** Expired rows that are deleted in one statement, so that it stays short. */
const SWEEP_ROWS = 1_000

export interface SqliteOptions {
  /** Path of the database file; its folder is created. `:memory:` for a throw-away store. */
  file: string
  /** The clock, in ms since 1970. */
  now?: () => number
  /** The file grows to this many pages of 4 kB and no further. */
  maxPages?: number
}

/**
 * The embedded store: one SQLite file in WAL mode, for a fresh clone and for one machine.
 * Every verb is a single statement, so it is atomic among processes that share the file,
 * and a killed process leaves the old value or the new one, never half. While another process holds a lock, a verb is
 * tried again between other work, for two seconds. The file is readable by this user only.
 * Throws an error that names the file when it cannot be opened, and `StoreUnavailableError` when a verb fails.
 */
export function openSqlite({ file, now = Date.now, maxPages }: SqliteOptions): Store {
  const db = open(file)
  if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${Number(maxPages)}`)
  const alive = 'kind = ? AND owner = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?)'
  const select = db.prepare(`SELECT value FROM entries WHERE ${alive}`)
  const upsert = db.prepare(`INSERT INTO entries VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`)
  const insert = db.prepare(`INSERT INTO entries VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
    WHERE entries.expires_at <= ?`)
  const replace = db.prepare(`UPDATE entries SET value = ?, expires_at = ? WHERE ${alive} AND value = ?`)
  const remove = db.prepare(`DELETE FROM entries WHERE ${alive}`)
  const removeIf = db.prepare(`DELETE FROM entries WHERE ${alive} AND value = ?`)
  const ofOwner = db.prepare(`SELECT id, value FROM entries
    WHERE kind = ? AND owner = ? AND expires_at IS NULL`)
  const ofKind = db.prepare(`SELECT owner, id, value FROM entries WHERE kind = ? AND expires_at IS NULL
    AND (owner, id) > (?, ?) ORDER BY owner, id LIMIT 500`)
  const sweep = db.prepare(`DELETE FROM entries WHERE (kind, owner, id) IN
    (SELECT kind, owner, id FROM entries WHERE expires_at <= ? LIMIT ${SWEEP_ROWS})`)

  const sweepSome = () => {
    try {
      // Other work goes on between the portions.
      if (db.isOpen && sweep.run(now()).changes === SWEEP_ROWS) setImmediate(sweepSome)
    } catch {
      // The next write reports what is wrong with the file.
    }
  }
  const sweeper = setInterval(sweepSome, SWEEP_MS)
  sweeper.unref()

  const path = ({ kind, owner, id }: Key) => [kind, owner, id] as const
  const expiry = (ttlMs: number | undefined) => (ttlMs === undefined ? null : now() + ttlMs)

  return {
    description: `embedded SQLite, ${file}`,

    get: (key) =>
      attempt(() => {
        const row = select.get(...path(key), now())
        return row ? String(row.value) : null
      }),

    set: (key, value, ttlMs) =>
      attempt(() => {
        upsert.run(...path(key), value, expiry(ttlMs))
      }),

    compareAndSet: (key, expected, next, ttlMs) =>
      attempt(() => {
        if (expected === null && next === null) return select.get(...path(key), now()) === undefined
        if (expected === null) return insert.run(...path(key), next, expiry(ttlMs), now()).changes === 1
        if (next === null) return removeIf.run(...path(key), now(), expected).changes === 1
        return replace.run(next, expiry(ttlMs), ...path(key), now(), expected).changes === 1
      }),

    delete: (key) => attempt(() => remove.run(...path(key), now()).changes === 1),

    list: (kind, owner) =>
      attempt(() => ofOwner.all(kind, owner).map((row) => entry(kind, owner, row.id, row.value))),

    async *scan(kind) {
      let last: Key = { kind, owner: '', id: '' }
      for (;;) {
        const rows = await attempt(() => ofKind.all(kind, last.owner, last.id))
        for (const row of rows) yield entry(kind, row.owner, row.id, row.value)
        const end = rows.at(-1)
        if (!end) return
        last = { kind, owner: String(end.owner), id: String(end.id) }
      }
    },

    ping: () =>
      attempt(() => {
        db.exec('SELECT 1')
      }),

    warnings: async () => [],

    close: async () => {
      clearInterval(sweeper)
      if (db.isOpen) db.close()
    },
  }
}

function open(file: string): DatabaseSync {
  try {
    if (file !== ':memory:') protectFile(file)
    const db = new DatabaseSync(file, { timeout: OPEN_MS })
    db.exec(SCHEMA)
    db.exec('PRAGMA busy_timeout = 0')
    return db
  } catch (error) {
    throw new Error(`DATA_DIR: ${file} cannot be opened: ${reason(error)}`)
  }
}

/** Makes the file, and with it the files that SQLite puts beside it, readable by this user only. */
function protectFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
}

/** When a verb last gave up waiting for a lock: those that follow at once do not wait as long again. */
let gaveUpAt = Number.NEGATIVE_INFINITY

async function attempt<T>(work: () => T): Promise<T> {
  const started = performance.now()
  const deadline = started - gaveUpAt < GAVE_UP_MS ? started : started + BUSY_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isLocked(error)) throw new StoreUnavailableError(reason(error))
      if (performance.now() >= deadline) {
        gaveUpAt = performance.now()
        throw new StoreUnavailableError(reason(error))
      }
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

/** SQLITE_BUSY, SQLITE_LOCKED and their extended codes (https://sqlite.org/rescode.html). */
function isLocked(error: unknown): boolean {
  const code = (error as { errcode?: unknown }).errcode
  return typeof code === 'number' && [5, 6].includes(code & 0xff)
}

/** SQLite's own words ("database or disk is full"); they never hold a value. */
function reason(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown fault'
}

function entry(kind: string, owner: unknown, id: unknown, value: unknown): Entry {
  return { key: { kind, owner: String(owner), id: String(id) }, value: String(value) }
}
