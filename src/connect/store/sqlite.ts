import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import {
  appOwner,
  checkKey,
  type EntriesPage,
  type Entry,
  type Group,
  type Key,
  type KeyValueStore,
  type Life,
  newsOnly,
  type OnRefusal,
  PERMANENT,
  StoreUnavailableError,
} from './store.ts'

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS entries (
    kind TEXT NOT NULL, owner TEXT NOT NULL, id TEXT NOT NULL,
    value TEXT NOT NULL,
    expires_at INTEGER,
    -- The place of a permanent value among the owner's values of its kind. NULL: the value expires.
    place INTEGER,
    PRIMARY KEY (kind, owner, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS entries_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS entries_place ON entries (kind, owner, place) WHERE place IS NOT NULL;
`
/** How often expired rows are deleted, in ms, and how many at a time, to keep it quick. Operations ignore expired rows. */
const PURGE_MS = 10_000
const PURGE_ROWS = 1_000
/** How long an operation waits for another process's lock, and how often it retries, in ms. This does not block the event loop. */
const BUSY_MS = 2_000
const RETRY_MS = 20
/** How long opening waits for a lock, in ms. This blocks, but the app serves no requests yet. */
const OPEN_MS = 2_000
/** The key that a ping writes, and how long it is kept if the process is killed in the meantime, in ms. */
const PING = { key: { kind: 'ping', owner: appOwner('ping'), id: '' }, ttlMs: 10_000 }
/** How many values of an owner are read before other requests get their turn: a few milliseconds of work. */
const LISTED = 250
/** The number of groups per page. */
const GROUPS = 500
/** Sorts after each kind, which has only lower-case letters and hyphens. */
const LAST_KIND = '~'

export interface SqliteOptions {
  /** Path of the database file, whose folder is created; `:memory:` for a temporary store. */
  file: string
  /** The clock, in ms since 1970. For tests. */
  now?: () => number
  /** The maximum size of the file, in pages of 4 kB. */
  maxPages?: number
  /** Called once, when an operation finds that the file was deleted or replaced. */
  onGone?: (reason: string) => void
  onRefusal?: OnRefusal
}

/**
 * Opens the embedded store: one SQLite file in WAL mode, for a single machine, readable by this user only. Every write is a single
 * statement, so it is atomic among the processes that share the file. A killed process never leaves a partly written value. While
 * another process holds a lock, operations are retried for two seconds without blocking. If the file is deleted or replaced, the
 * store closes, and all further operations fail. Throws an error that names the file if it cannot be opened. Operations throw
 * `StoreUnavailableError`.
 */
export function openSqlite(options: SqliteOptions): KeyValueStore {
  const { file, now = Date.now, maxPages, onGone } = options
  const tellRefusal = newsOnly(options.onRefusal)
  const { db, attempt, close } = guarded(file, onGone)
  if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${Number(maxPages)}`)
  const statements = prepareStatements(db)
  // If this fails, the next operation reports the reason.
  const purging = setInterval(
    () => attempt(() => statements.purge.run(now())).catch(() => {}),
    PURGE_MS,
  ).unref()

  const get = (key: Key) =>
    attempt(() => {
      const row = statements.select.get(...columns(key), now())
      return row ? String(row.value) : null
    })

  return {
    description: `embedded SQLite, ${file}`,

    get,
    // The file's pages are already cached in memory.
    getCached: get,

    set: (key, value, ttlMs) =>
      attempt(() => {
        statements.upsert.run(...columns(key), value, ...lifeOf(ttlMs, now()))
      }),

    compareAndSet: (key, expected, next, life) =>
      attempt(() => swap(statements, key, expected, next, now(), life)),

    delete: (key) => attempt(() => statements.remove.run(...columns(key), now()).changes === 1),

    list: (kind, owner) =>
      entriesOf((from) => attempt(() => statements.ofOwner.all(kind, owner, from)), kind, owner),

    page: (kind, owner, page) => attempt(() => pageOf(statements, kind, owner, page)),

    groups: (kind, cursor) =>
      attempt(() => {
        const [, firstKind = kind ?? '', firstOwner = ''] = /^(\S*) (.*)/s.exec(cursor ?? '') ?? []
        const rows = statements.groups.all(firstKind, firstOwner, kind ?? LAST_KIND)
        const groups = rows.map((row) => ({ kind: String(row.kind), owner: String(row.owner) }))
        const last = groups.at(-1)
        return { groups, cursor: last && groups.length === GROUPS ? cursorAfter(last) : null }
      }),

    ofOwner: (owner) =>
      attempt(() => {
        const rows = statements.allOfOwner.all(owner, now())
        return rows.map((row) => entry(String(row.kind), owner, row.id, row.value))
      }),

    async ping() {
      try {
        await attempt(() => checkFile(db, statements, now()))
        tellRefusal(null)
      } catch (error) {
        tellRefusal(error instanceof StoreUnavailableError ? (error.reason ?? null) : null)
        throw error
      }
    },

    close: async () => {
      clearInterval(purging)
      close()
    },
  }
}

/** See `KeyValueStore.list`. `read`: reads the next rows, in the order of their ids. */
async function entriesOf(
  read: (from: string) => Promise<Record<string, unknown>[]>,
  kind: string,
  owner: string,
): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let from = ''; ; await setImmediate()) {
    const rows = await read(from)
    for (const row of rows) entries.push(entry(kind, owner, row.id, row.value))
    if (rows.length < LISTED) return entries
    // The first text that sorts after this id.
    from = `${rows.at(-1)?.id}\u0000`
  }
}

/** See `KeyValueStore.page`. */
function pageOf(
  { page, count }: ReturnType<typeof prepareStatements>,
  kind: string,
  owner: string,
  { skip, top }: { skip: number; top: number },
): EntriesPage {
  const rows = page.all(kind, owner, top, skip)
  const entries = rows.map(({ id, value }) => entry(kind, owner, id, value))
  return { entries, total: Number(count.get(kind, owner)?.total) }
}

/** The cursor of the first group that sorts after this one. A kind contains no space. */
const cursorAfter = ({ kind, owner }: Group) => `${kind} ${owner}\u0000`

/** Opens the file. Once it is deleted or replaced, all reads and writes fail. */
function guarded(file: string, onGone?: (reason: string) => void) {
  const { db, identity } = open(file)
  let gone: Error | undefined
  const attempt = <T>(operation: () => T): Promise<T> =>
    unlessLocked(() => {
      if (gone) throw gone
      const result = operation()
      if (identityOf(file) === identity) return result
      gone = new Error(`${file} was deleted or replaced; restart the app to use what is there now`)
      onGone?.(gone.message)
      close()
      throw gone
    })
  function close(): void {
    if (!db.isOpen) return
    // Empties the log of a file that is gone. Otherwise, SQLite would leave the log, and later replay it over the new file.
    if (identityOf(file) !== identity) db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
  }
  return { db, attempt, close }
}

function columns(key: Key) {
  checkKey(key)
  return [key.kind, key.owner, key.id] as const
}
/** The columns `expires_at` and `place`. */
const lifeOf = (life: Life = PERMANENT, now: number) =>
  typeof life === 'number'
    ? ([now + life, null] as const)
    : ([null, life === 'kept' ? 0 : life.place] as const)

/** `KeyValueStore.compareAndSet`, as one statement. */
function swap(
  { select, insert, removeIf, replace, replaceValue }: ReturnType<typeof prepareStatements>,
  key: Key,
  expected: string | null,
  next: string | null,
  now: number,
  life: Life | undefined,
): boolean {
  const of = columns(key)
  if (expected === null && next === null) return select.get(...of, now) === undefined
  if (expected === null) return insert.run(...of, next, ...lifeOf(life, now), now).changes === 1
  if (next === null) return removeIf.run(...of, now, expected).changes === 1
  if (life === 'kept') return replaceValue.run(next, ...of, now, expected).changes === 1
  return replace.run(next, ...lifeOf(life, now), ...of, now, expected).changes === 1
}

/** The statements of all operations. `now` and expiry times are in ms since 1970. */
function prepareStatements(db: DatabaseSync) {
  const alive = 'kind = ? AND owner = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?)'
  const written = `INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at, place = excluded.place`
  return {
    select: db.prepare(`SELECT value FROM entries WHERE ${alive}`),
    upsert: db.prepare(written),
    insert: db.prepare(`${written} WHERE entries.expires_at <= ?`),
    replace: db.prepare(
      `UPDATE entries SET value = ?, expires_at = ?, place = ? WHERE ${alive} AND value = ?`,
    ),
    replaceValue: db.prepare(`UPDATE entries SET value = ? WHERE ${alive} AND value = ?`),
    remove: db.prepare(`DELETE FROM entries WHERE ${alive}`),
    removeIf: db.prepare(`DELETE FROM entries WHERE ${alive} AND value = ?`),
    ofOwner: db.prepare(`SELECT id, value FROM entries
    WHERE kind = ? AND owner = ? AND id >= ? AND expires_at IS NULL ORDER BY id LIMIT ${LISTED}`),
    page: db.prepare(`SELECT id, value FROM entries
    WHERE kind = ? AND owner = ? AND place IS NOT NULL ORDER BY place DESC, id DESC LIMIT ? OFFSET ?`),
    count: db.prepare(`SELECT count(*) AS total FROM entries
    WHERE kind = ? AND owner = ? AND place IS NOT NULL`),
    groups: db.prepare(`SELECT DISTINCT kind, owner FROM entries WHERE (kind, owner) >= (?, ?) AND kind <= ?
    AND expires_at IS NULL ORDER BY kind, owner LIMIT ${GROUPS}`),
    anyRow: db.prepare('SELECT value FROM entries LIMIT 1'),
    allOfOwner: db.prepare(`SELECT kind, id, value FROM entries
    WHERE owner = ? AND (expires_at IS NULL OR expires_at > ?)`),
    purge: db.prepare(`DELETE FROM entries WHERE (kind, owner, id) IN
    (SELECT kind, owner, id FROM entries WHERE expires_at <= ? LIMIT ${PURGE_ROWS})`),
  }
}

function open(file: string): { db: DatabaseSync; identity: string } {
  try {
    if (file !== ':memory:') protectFile(file)
    // Read this first, so that a file that replaces it in the meantime isn't mistaken for the opened file.
    const identity = identityOf(file)
    const db = new DatabaseSync(file, { timeout: OPEN_MS })
    db.exec(SCHEMA)
    db.exec('PRAGMA busy_timeout = 0')
    return { db, identity }
  } catch (error) {
    const cure = isDamaged(error)
      ? '. Restore a backup, or move the file away to begin with an empty store'
      : ''
    throw new Error(`DATA_DIR: ${file} cannot be opened: ${reason(error)}${cure}`)
  }
}

/** Makes the file, and with it the files that SQLite creates beside it, readable by this user only. */
function protectFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
}

/** Returns a text that identifies the current file at this path. Without a file, as for `:memory:`, it is constant. */
function identityOf(file: string): string {
  const { dev, ino } = statSync(file, { throwIfNoEntry: false }) ?? {}
  return `${dev} ${ino}`
}

/** Throws if the file cannot be written, is damaged, or is locked by another process. */
function checkFile(
  db: DatabaseSync,
  { anyRow, upsert, remove }: ReturnType<typeof prepareStatements>,
  now: number,
): void {
  // The row must come from the file, not from memory, and not from the log, which the last check has copied to the file.
  db.exec('PRAGMA shrink_memory')
  anyRow.get()
  // The value is longer than a page, so it does not fit into a full file. It is deleted immediately.
  upsert.run(...columns(PING.key), 'x'.repeat(5_000), now + PING.ttlMs)
  remove.run(...columns(PING.key), now)
  db.exec('PRAGMA wal_checkpoint(PASSIVE)')
}

/** Runs an operation, and repeats it while another process has the lock. SQLite's own wait would block the event loop. */
async function unlessLocked<T>(operation: () => T): Promise<T> {
  for (const deadline = performance.now() + BUSY_MS; ; await pause(RETRY_MS)) {
    try {
      return operation()
    } catch (error) {
      if (error instanceof TypeError) throw error
      if (!isLocked(error) || performance.now() >= deadline) throw new StoreUnavailableError(reason(error))
    }
  }
}

/** Whether SQLite failed with one of these codes, or with an extended code of theirs (https://sqlite.org/rescode.html). */
function hasCode(error: unknown, codes: readonly number[]): boolean {
  const code: unknown = Object(error).errcode
  return typeof code === 'number' && codes.includes(code & 0xff)
}

/** SQLITE_BUSY, SQLITE_LOCKED. */
const isLocked = (error: unknown) => hasCode(error, [5, 6])
/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const isDamaged = (error: unknown) => hasCode(error, [11, 26])

/** SQLite's message, such as "database or disk is full"; it never contains a value. */
function reason(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error'
}

function entry(kind: string, owner: unknown, id: unknown, value: unknown): Entry {
  return { key: { kind, owner: String(owner), id: String(id) }, value: String(value) }
}
