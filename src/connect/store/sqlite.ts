import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { type Entry, type Key, type KeyValueStore, type OwnersPage, StoreUnavailableError } from './store.ts'

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
/** How often expired rows are deleted, in ms; operations ignore them as soon as they expire. */
const PURGE_MS = 60_000
/** How long an operation waits for another process's lock, and how often it retries, in ms. The event loop never waits. */
const BUSY_MS = 2_000
const RETRY_MS = 20
/** How long operations fail without waiting after one has timed out, in ms: a request needs several operations. */
const FAIL_FAST_MS = 500
/** How long opening waits for a lock, in ms. This blocks, but nothing is served yet. */
const OPEN_MS = 2_000
/** How many owners a page has. */
const OWNERS = 500
/** How many expired rows one statement deletes, so that it stays short. */
const PURGE_ROWS = 1_000

export interface SqliteOptions {
  /** Path of the database file, whose folder is created; `:memory:` for a temporary store. */
  file: string
  /** The clock, in ms since 1970. For tests. */
  now?: () => number
  /** The maximum size of the file, in pages of 4 kB. */
  maxPages?: number
}

/**
 * Opens the embedded store: one SQLite file in WAL mode, for a single machine, readable by this user only. Every operation
 * is a single statement, so it is atomic among the processes that share the file, and a killed process never leaves a
 * partly written value. While another process holds a lock, operations are retried for two seconds without blocking.
 * Throws an error that names the file if it cannot be opened. Operations throw `StoreUnavailableError`.
 */
export function openSqlite({ file, now = Date.now, maxPages }: SqliteOptions): KeyValueStore {
  const db = open(file)
  const inode = inodeOf(file)
  if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${Number(maxPages)}`)
  const statements = prepareStatements(db)
  const purging = startPurging(db, statements, now)
  const attempt = createAttempts()

  const get = (key: Key) =>
    attempt(() => {
      const row = statements.select.get(...columns(key), now())
      return row ? String(row.value) : null
    })

  return {
    shared: false,
    description: `embedded SQLite, ${file}`,

    get,
    // The file is in memory already.
    getCached: get,

    set: (key, value, ttlMs) =>
      attempt(() => {
        statements.upsert.run(...columns(key), value, expiry(now(), ttlMs))
      }),

    compareAndSet: (key, expected, next, ttlMs) =>
      attempt(() => swap(statements, key, expected, next, now(), ttlMs)),

    delete: (key) => attempt(() => statements.remove.run(...columns(key), now()).changes === 1),

    list: (kind, owner) =>
      attempt(() => statements.ofOwner.all(kind, owner).map((row) => entry(kind, owner, row.id, row.value))),

    partitions: async () => ['file'],

    owners: (kind, _partition, cursor) => attempt(() => ownersPage(statements, kind, cursor)),

    ofOwner: (owner) =>
      attempt(() => {
        const rows = statements.allOfOwner.all(owner, now())
        return rows.map((row) => entry(String(row.kind), owner, row.id, row.value))
      }),

    ping: () =>
      attempt(() => {
        if (inodeOf(file) !== inode) throw new Error(`${file} is not the file that this process has opened`)
        checkFile(db, statements)
      }),

    warnings: async () => [],

    close: async () => {
      clearInterval(purging)
      if (db.isOpen) db.close()
    },
  }
}

/** Lets expiries follow the clock, at once and each minute, when rows that have expired are deleted as well. */
function startPurging(
  db: DatabaseSync,
  statements: ReturnType<typeof prepareStatements>,
  now: () => number,
): NodeJS.Timeout {
  followClock(db, statements, now())
  return setInterval(() => {
    followClock(db, statements, now())
    deleteExpired(db, statements, now)
  }, PURGE_MS).unref()
}

const columns = ({ kind, owner, id }: Key) => [kind, owner, id] as const
const expiry = (now: number, ttlMs: number | undefined) => (ttlMs === undefined ? null : now + ttlMs)

/** `KeyValueStore.compareAndSet`, as one statement. */
function swap(
  { select, insert, removeIf, replace }: ReturnType<typeof prepareStatements>,
  key: Key,
  expected: string | null,
  next: string | null,
  now: number,
  ttlMs: number | undefined,
): boolean {
  const [place, expiresAt] = [columns(key), expiry(now, ttlMs)] as const
  if (expected === null && next === null) return select.get(...place, now) === undefined
  if (expected === null) return insert.run(...place, next, expiresAt, now).changes === 1
  if (next === null) return removeIf.run(...place, now, expected).changes === 1
  return replace.run(next, expiresAt, ...place, now, expected).changes === 1
}

/** Every operation is one of these; `now` and expiry times are in ms since 1970. */
function prepareStatements(db: DatabaseSync) {
  const alive = 'kind = ? AND owner = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?)'
  return {
    select: db.prepare(`SELECT value FROM entries WHERE ${alive}`),
    upsert: db.prepare(`INSERT INTO entries VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`),
    insert: db.prepare(`INSERT INTO entries VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
    WHERE entries.expires_at <= ?`),
    replace: db.prepare(`UPDATE entries SET value = ?, expires_at = ? WHERE ${alive} AND value = ?`),
    remove: db.prepare(`DELETE FROM entries WHERE ${alive}`),
    removeIf: db.prepare(`DELETE FROM entries WHERE ${alive} AND value = ?`),
    ofOwner: db.prepare(`SELECT id, value FROM entries
    WHERE kind = ? AND owner = ? AND expires_at IS NULL`),
    firstOwners: db.prepare(`SELECT DISTINCT owner FROM entries WHERE kind = ? AND expires_at IS NULL
    ORDER BY owner LIMIT ${OWNERS}`),
    owners: db.prepare(`SELECT DISTINCT owner FROM entries WHERE kind = ? AND owner > ?
    AND expires_at IS NULL ORDER BY owner LIMIT ${OWNERS}`),
    allOfOwner: db.prepare(`SELECT kind, id, value FROM entries
    WHERE owner = ? AND (expires_at IS NULL OR expires_at > ?)`),
    clock: db.prepare(`SELECT value FROM entries WHERE kind = '' AND owner = '' AND id = 'clock'`),
    setClock: db.prepare(`INSERT INTO entries VALUES ('', '', 'clock', ?, NULL)
    ON CONFLICT DO UPDATE SET value = excluded.value`),
    moveExpiries: db.prepare('UPDATE entries SET expires_at = expires_at - ? WHERE expires_at IS NOT NULL'),
    purge: db.prepare(`DELETE FROM entries WHERE (kind, owner, id) IN
    (SELECT kind, owner, id FROM entries WHERE expires_at <= ? LIMIT ${PURGE_ROWS})`),
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

/** Makes the file, and with it the files that SQLite creates beside it, readable by this user only. */
function protectFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
}

/** The inode of a database file; null in memory. Throws if there is no such file. */
const inodeOf = (file: string) => (file === ':memory:' ? null : statSync(file).ino)

/** Throws if the file is damaged, or if another process has locked it. */
function checkFile(db: DatabaseSync, { clock }: ReturnType<typeof prepareStatements>): void {
  // The row must come from the file: not from its log, nor from memory.
  db.exec('PRAGMA wal_checkpoint(PASSIVE); PRAGMA shrink_memory; BEGIN IMMEDIATE')
  try {
    clock.get()
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK')
  }
}

function ownersPage(
  statements: ReturnType<typeof prepareStatements>,
  kind: string,
  cursor: string | null,
): OwnersPage {
  const rows = cursor === null ? statements.firstOwners.all(kind) : statements.owners.all(kind, cursor)
  const owners = rows.map(({ owner }) => String(owner))
  return { owners, cursor: owners.length < OWNERS ? null : (owners.at(-1) ?? null) }
}

/** By how much the clock of the machine may be set back, in ms, before expiries follow it. */
const CLOCK_TOLERANCE_MS = 5_000

/**
 * Notes the time. If the clock was set back meanwhile, moves all expiries by as much: otherwise a lock of a process that was
 * killed, or a short pause, would last until the old time comes again.
 */
function followClock(
  db: DatabaseSync,
  { clock, setClock, moveExpiries }: ReturnType<typeof prepareStatements>,
  now: number,
): void {
  try {
    db.exec('BEGIN IMMEDIATE')
  } catch {
    // Another process has the lock, or the store is closed: the next one follows.
    return
  }
  try {
    const aheadMs = Number(clock.get()?.value ?? now) - now
    if (aheadMs > CLOCK_TOLERANCE_MS) moveExpiries.run(aheadMs)
    setClock.run(String(now))
    db.exec('COMMIT')
  } catch {
    // A full disk, for example: expired rows are deleted next.
    if (db.isTransaction) db.exec('ROLLBACK')
  }
}

/** Deletes rows that have expired; other work runs between the batches. */
function deleteExpired(
  db: DatabaseSync,
  statements: ReturnType<typeof prepareStatements>,
  now: () => number,
): void {
  try {
    const isFull = db.isOpen && statements.purge.run(now()).changes === PURGE_ROWS
    if (isFull) setImmediate(() => deleteExpired(db, statements, now))
  } catch {
    // The next write reports the error.
  }
}

/** Runs the operations of a store, again while another process has the lock. */
function createAttempts() {
  /** When an operation last timed out waiting for the lock. */
  let timedOutAt = Number.NEGATIVE_INFINITY

  return async <T>(operation: () => T): Promise<T> => {
    const started = performance.now()
    const deadline = started - timedOutAt < FAIL_FAST_MS ? started : started + BUSY_MS
    for (;;) {
      try {
        return operation()
      } catch (error) {
        const expired = performance.now() >= deadline
        if (isLocked(error) && expired) timedOutAt = performance.now()
        // An error of the caller, such as a key that is no text, is not temporary.
        if (error instanceof TypeError) throw error
        if (!isLocked(error) || expired) throw new StoreUnavailableError(reason(error))
      }
      await pause(RETRY_MS)
    }
  }
}

/** SQLITE_BUSY, SQLITE_LOCKED and their extended codes (https://sqlite.org/rescode.html). */
function isLocked(error: unknown): boolean {
  const code = (error as { errcode?: unknown }).errcode
  return typeof code === 'number' && [5, 6].includes(code & 0xff)
}

/** SQLite's message, such as "database or disk is full"; it never contains a value. */
function reason(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error'
}

function entry(kind: string, owner: unknown, id: unknown, value: unknown): Entry {
  return { key: { kind, owner: String(owner), id: String(id) }, value: String(value) }
}
