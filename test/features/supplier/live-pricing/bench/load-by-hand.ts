/** A price list as one loads it by hand: csv-parse, and one prepared insert a row into an indexed table. */
import { createReadStream, readFileSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parse } from 'csv-parse'
import { parse as parseAll } from 'csv-parse/sync'

const { FOLDER = '', FILE = '' } = process.env
rmSync(FILE, { force: true })
const db = new DatabaseSync(FILE)
db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
  CREATE TABLE items (code TEXT PRIMARY KEY, name TEXT, unit TEXT, category TEXT, price TEXT) WITHOUT ROWID;
  CREATE TABLE stores (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE prices (item TEXT, store TEXT, price TEXT, PRIMARY KEY (item, store)) WITHOUT ROWID;
  CREATE TABLE discounts (category TEXT PRIMARY KEY, percent REAL) WITHOUT ROWID; BEGIN`)
const insert = db.prepare('INSERT INTO items VALUES (?, ?, ?, ?, ?)')
for await (const [code, name, unit, category, price] of createReadStream(`${FOLDER}/items.csv`).pipe(
  parse({ from_line: 2 }),
))
  insert.run(code, name, unit, category, price)

const rowsOf = (name: string): Record<string, string>[] =>
  parseAll(readFileSync(`${FOLDER}/${name}`), { columns: true })
const insertStore = db.prepare('INSERT INTO stores VALUES (?)')
for (const { id = '' } of rowsOf('stores.csv')) insertStore.run(id)
const insertPrice = db.prepare('INSERT INTO prices VALUES (?, ?, ?)')
for (const { item = '', store = '', price = '' } of rowsOf('prices.csv')) insertPrice.run(item, store, price)
const insertDiscount = db.prepare('INSERT INTO discounts VALUES (?, ?)')
for (const { category = '', percent } of rowsOf('discounts.csv'))
  insertDiscount.run(category, Number(percent))
db.exec('COMMIT')
db.close()
