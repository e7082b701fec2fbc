import type { Sql } from '../../database.ts'

/** A supplier's live pricing as registered with the platform (specification 1.3): its base address and credentials. */
export interface Registration {
  url: string
  clientId: string
  clientSecret: string
}

/** `saved`: by a person in Business setup; the options no longer change it. An empty url: removed. */
export const SCHEMA = `CREATE TABLE IF NOT EXISTS live_pricing (
  bxcontext TEXT PRIMARY KEY, url TEXT NOT NULL, client_id TEXT NOT NULL, client_secret TEXT NOT NULL,
  saved INTEGER NOT NULL
) STRICT;`

export type Registrations = ReturnType<typeof createRegistrations>

export function createRegistrations(sql: Sql) {
  const save = (supplier: string, { url, clientId, clientSecret }: Registration) =>
    void sql.run(
      'INSERT OR REPLACE INTO live_pricing VALUES (?, ?, ?, ?, 1)',
      supplier,
      url,
      clientId,
      clientSecret,
    )
  return {
    find: (supplier: string): Registration | undefined =>
      sql
        .all("SELECT * FROM live_pricing WHERE bxcontext = ? AND url <> ''", supplier)
        .map(({ url, client_id, client_secret }) => ({
          url: String(url),
          clientId: String(client_id),
          clientSecret: String(client_secret),
        }))[0],
    /** Saves what a person entered in Business setup. */
    save,
    /** Removes it, also from the next start. */
    remove: (supplier: string) => save(supplier, { url: '', clientId: '', clientSecret: '' }),
    /** Applies until somebody saves or removes the registration. */
    setDefault(supplier: string, { url, clientId, clientSecret }: Registration): void {
      sql.run(
        `INSERT INTO live_pricing VALUES (?, ?, ?, ?, 0) ON CONFLICT DO UPDATE SET
          url = excluded.url, client_id = excluded.client_id, client_secret = excluded.client_secret WHERE saved = 0`,
        supplier,
        url,
        clientId,
        clientSecret,
      )
    },
  }
}
