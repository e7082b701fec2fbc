import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { SandboxLead } from './records.ts'

/** One act of consent: what the connected-apps page lists, and what binds tokens to a business. */
export interface Consent {
  grantId: string
  account: string
  client: string
  context: string
  scopes: string[]
  /** ms since 1970. */
  grantedAt: number
}

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS models (
    model TEXT, id TEXT, payload TEXT NOT NULL, grant_id TEXT, uid TEXT, expires_at INTEGER,
    PRIMARY KEY (model, id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS models_grant ON models (grant_id);
  CREATE TABLE IF NOT EXISTS consents (
    grant_id TEXT PRIMARY KEY, account TEXT NOT NULL, client TEXT NOT NULL, context TEXT NOT NULL,
    scopes TEXT NOT NULL, granted_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS leads (
    id INTEGER PRIMARY KEY, context TEXT NOT NULL, lead TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS first_party_tokens (
    token TEXT PRIMARY KEY, kind TEXT NOT NULL, account TEXT NOT NULL, context TEXT NOT NULL,
    expires_at INTEGER, number INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS catalogues (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, context TEXT NOT NULL, name TEXT NOT NULL,
    scope TEXT NOT NULL, updated_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS imports (
    number INTEGER PRIMARY KEY, catalogue TEXT NOT NULL, batch_id TEXT NOT NULL, received INTEGER NOT NULL,
    begun_at INTEGER NOT NULL, last_at INTEGER NOT NULL, failed TEXT, UNIQUE (catalogue, batch_id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS items (
    catalogue TEXT NOT NULL, code TEXT NOT NULL, import INTEGER NOT NULL, item TEXT NOT NULL,
    PRIMARY KEY (catalogue, code)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS access_controls (
    catalogue TEXT NOT NULL, supplier TEXT NOT NULL, external_ref TEXT NOT NULL, pre_approved INTEGER NOT NULL,
    PRIMARY KEY (catalogue, external_ref)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS builder_requests (
    id TEXT PRIMARY KEY, supplier TEXT NOT NULL, builder TEXT NOT NULL, external_ref TEXT NOT NULL,
    state TEXT NOT NULL, requested_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS live_pricing (
    context TEXT PRIMARY KEY, url TEXT NOT NULL, client_id TEXT NOT NULL, client_secret TEXT NOT NULL, saved INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS webhooks (
    context TEXT PRIMARY KEY, url TEXT NOT NULL, secret TEXT NOT NULL
  ) STRICT;
`

export type Database = ReturnType<typeof openDatabase>
export type Sql = Database['sql']

function open(file: string): DatabaseSync {
  try {
    if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const db = new DatabaseSync(file)
    db.exec(SCHEMA)
    return db
  } catch (error) {
    throw new Error(`DATA_DIR: ${file} cannot be opened: ${(error as Error).message}`)
  }
}

/** What the sandbox remembers between runs: grants and tokens, consents, leads that were created. */
export function openDatabase(file: string) {
  const db = open(file)
  const run = (sql: string, ...values: (string | number | null)[]) => db.prepare(sql).run(...values)
  const all = (sql: string, ...values: (string | number | null)[]) => db.prepare(sql).all(...values)
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
  const seconds = () => Math.floor(Date.now() / 1000)
  run('DELETE FROM models WHERE expires_at <= ?', seconds())

  const consent = (row: Record<string, unknown>): Consent => ({
    grantId: String(row.grant_id),
    account: String(row.account),
    client: String(row.client),
    context: String(row.context),
    scopes: JSON.parse(String(row.scopes)),
    grantedAt: Number(row.granted_at),
  })

  return {
    /** oidc-provider's storage of one model. */
    adapter(model: string): Adapter {
      const one = (where: string, value: string): AdapterPayload | undefined => {
        const [row] = all(
          `SELECT payload FROM models WHERE model = ? AND ${where} = ? AND (expires_at IS NULL OR expires_at > ?)`,
          ...[model, value, seconds()],
        )
        return row && JSON.parse(String(row.payload))
      }
      return {
        async upsert(id, payload, expiresIn) {
          const expiresAt = expiresIn ? seconds() + expiresIn : null
          run(
            'INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?, ?, ?)',
            ...[model, id, JSON.stringify(payload), payload.grantId ?? null, payload.uid ?? null, expiresAt],
          )
        },
        find: async (id) => one('id', id),
        findByUid: async (uid) => one('uid', uid),
        findByUserCode: async () => undefined,
        async consume(id) {
          run(
            `UPDATE models SET payload = json_set(payload, '$.consumed', ?) WHERE model = ? AND id = ?`,
            ...[seconds(), model, id],
          )
        },
        async destroy(id) {
          run('DELETE FROM models WHERE model = ? AND id = ?', model, id)
        },
        async revokeByGrantId(grantId) {
          run('DELETE FROM models WHERE model = ? AND grant_id = ?', model, grantId)
        },
      }
    },

    consents: {
      add(given: Consent) {
        run(
          'INSERT INTO consents VALUES (?, ?, ?, ?, ?, ?)',
          ...[
            given.grantId,
            given.account,
            given.client,
            given.context,
            JSON.stringify(given.scopes),
            given.grantedAt,
          ],
        )
      },
      of: (grantId: string): Consent | undefined =>
        all('SELECT * FROM consents WHERE grant_id = ?', grantId).map(consent)[0],
      list: (account?: string): Consent[] =>
        all("SELECT * FROM consents WHERE ? IN (account, '*') ORDER BY granted_at DESC", account ?? '*').map(
          consent,
        ),
      /** Ends a grant: its consent, its codes and its tokens are gone. */
      remove(grantId: string) {
        run('DELETE FROM consents WHERE grant_id = ?', grantId)
        run("DELETE FROM models WHERE grant_id = ? OR (model = 'Grant' AND id = ?)", grantId, grantId)
      },
    },

    /** Makes every access token end now; refresh tokens stay. */
    expireAccessTokens: () =>
      Number(run("DELETE FROM models WHERE model = 'AccessToken'").changes) +
      Number(run("DELETE FROM first_party_tokens WHERE kind = 'access'").changes),

    leads: {
      add(context: string, lead: Omit<SandboxLead, 'id'>): SandboxLead {
        const { lastInsertRowid } = run(
          'INSERT INTO leads (context, lead) VALUES (?, ?)',
          context,
          JSON.stringify(lead),
        )
        return { id: `${context}-N${lastInsertRowid}`, ...lead }
      },
      list: (context: string): SandboxLead[] =>
        all('SELECT id, lead FROM leads WHERE context = ? ORDER BY id DESC', context).map((row) => ({
          id: `${context}-N${row.id}`,
          ...JSON.parse(String(row.lead)),
        })),
    },

    /** For the sandbox's other parts, each of which owns its tables. */
    sql: { run, all, prepare: (sql: string) => db.prepare(sql), transaction },

    /** A setting, made by `create` the first time it is asked for. */
    setting(name: string, create: () => string): string {
      run('INSERT OR IGNORE INTO settings VALUES (?, ?)', name, create())
      return String(all('SELECT value FROM settings WHERE name = ?', name)[0]?.value)
    },

    close: () => db.close(),
  }
}
