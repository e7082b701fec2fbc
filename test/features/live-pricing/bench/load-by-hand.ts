/** A price list as one loads it by hand: csv-parse, and one prepared insert a row into an indexed table. */
import { createReadStream, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parse } from 'csv-parse'

const { FOLDER = '', FILE = '' } = process.env
rmSync(FILE, { force: true })
const db = new DatabaseSync(FILE)
db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
  CREATE TABLE items (code TEXT PRIMARY KEY, name TEXT, unit TEXT, category TEXT, price TEXT) WITHOUT ROWID; BEGIN`)
const insert = db.prepare('INSERT INTO items VALUES (?, ?, ?, ?, ?)')
for await (const [code, name, unit, category, price] of createReadStream(`${FOLDER}/items.csv`).pipe(
  parse({ from_line: 2 }),
))
  insert.run(code, name, unit, category, price)
db.exec('COMMIT')
db.close()
