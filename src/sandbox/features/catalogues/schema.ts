/** The tables of catalogues, and of the imports that another feature receives. */
export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS catalogues (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, bxcontext TEXT NOT NULL, name TEXT NOT NULL,
    scope TEXT NOT NULL, updated_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS imports (
    number INTEGER PRIMARY KEY, catalogue TEXT NOT NULL, batch_id TEXT NOT NULL, received INTEGER NOT NULL,
    started_at INTEGER NOT NULL, completes_at INTEGER, ended TEXT, UNIQUE (catalogue, batch_id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS items (
    catalogue TEXT NOT NULL, code TEXT NOT NULL, import INTEGER NOT NULL, item TEXT NOT NULL,
    PRIMARY KEY (catalogue, code)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS access_controls (
    catalogue TEXT NOT NULL, supplier TEXT NOT NULL, external_ref TEXT NOT NULL, pre_approved INTEGER NOT NULL,
    PRIMARY KEY (catalogue, external_ref)
  ) STRICT;
`
