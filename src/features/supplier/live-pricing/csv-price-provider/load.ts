import { closeSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DAYS, storeSchema } from '../../api/contract.ts'
import { CHECKS, FILES, ignored, TABLES } from './files.ts'
import { priceListFile } from './price-list.ts'
import { Problems, readRows } from './read-rows.ts'

/**
 * Replaces the price list in `target` with the CSV files in `folder`, in one transaction. Readers see either the old list or the new
 * list, and a load that fails or is killed changes no data. Returns the number of rows of each file. Throws an error with up to
 * 100 problems with their lines, or a one-line error if a folder cannot be read or written.
 */
export async function loadPriceList(folder: string, target: string): Promise<Map<string, number>> {
  const file = priceListFile(target)
  mkdirSync(target, { recursive: true, mode: 0o700 })
  // Only this user may read the database and the files that SQLite creates next to it.
  closeSync(openSync(file, 'a', 0o600))
  const db = new DatabaseSync(file)
  try {
    // With a write-ahead log, readers do not wait for the load.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA cache_size = -64000; BEGIN IMMEDIATE')
    const rows = await fill(db, folder)
    db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
    return rows
  } catch (error) {
    if (error instanceof Error && 'errcode' in error)
      throw new Error(`${file}: ${error.message}. If another load is running, wait until it has ended.`)
    throw error
  } finally {
    // Closing rolls back an open transaction.
    db.close()
  }
}

async function fill(db: DatabaseSync, folder: string): Promise<Map<string, number>> {
  const problems = new Problems()
  // Reports unknown files, because a name may be misspelt.
  for (const file of readdirSync(folder))
    if (/\.(csv|tsv|txt|xlsx?)$/i.test(file) && !FILES.includes(file))
      problems.add(file, 0, `rename, convert or remove this file. A price list has ${FILES.join(', ')}.`)
  const rows = new Map<string, number>()
  for (const [name, table] of Object.entries(TABLES)) {
    const { shape } = table.cells
    const columns = [...Object.keys(shape).filter((column) => shape[column] !== ignored), 'line']
    const quoted = (names: readonly string[]) => names.map((column) => `"${column}"`).join(', ')
    db.exec(`DROP TABLE IF EXISTS ${name};
      CREATE TABLE ${name} (${quoted(columns)}, PRIMARY KEY (${quoted(table.key)})) WITHOUT ROWID`)
    const insert = db.prepare(`INSERT OR IGNORE INTO ${name} VALUES (${columns.map(() => '?').join(', ')})`)
    const report = (line: number, problem: string) => problems.add(`${name}.csv`, line, problem)
    const count = await readRows(join(folder, `${name}.csv`), table, report, (row, line) => {
      const values = columns.map((column) => (column === 'line' ? line : (row[column] ?? null)))
      return insert.run(...values).changes > 0
    })
    rows.set(`${name}.csv`, count)
  }
  // Stops here if there are problems, because rows that refer to a faulty row would be reported too.
  problems.check('Whether the rows fit together has not been checked yet.')
  for (const [table, column, condition, problem] of CHECKS) {
    const wrong = db.prepare(`SELECT line, ${column} AS cell FROM ${table} WHERE ${condition} ORDER BY line`)
    for (const { line, cell } of wrong.iterate()) {
      const subject = cell ? `${column.replaceAll('"', '')} "${String(cell).slice(0, 50)}" ` : ''
      problems.add(`${table}.csv`, Number(line), `${subject}${problem}.`)
    }
  }
  problems.check()
  addStores(db)
  return rows
}

/** Adds to each store the JSON that the API sends. A store's own holiday overrides its state's, which overrides a general one. */
function addStores(db: DatabaseSync): void {
  db.exec('ALTER TABLE stores ADD COLUMN json')
  const update = db.prepare('UPDATE stores SET json = ? WHERE id = ?')
  const openings = db.prepare('SELECT opens, closes FROM hours WHERE store = ? AND day = ? ORDER BY opens')
  const holidays = db.prepare(`
    SELECT date, name, hours, min(2 * (store = '') + (state = '')) FROM (
      SELECT *, json_group_array(json_object('opens', opens, 'closes', closes) ORDER BY opens)
        FILTER (WHERE opens <> '') AS hours
      FROM holidays WHERE store = :id OR (store = '' AND state IN ('', :state)) GROUP BY date, store, state
    ) GROUP BY date ORDER BY date`)
  for (const row of db.prepare('SELECT * FROM stores').all()) {
    const { id = '', name, latitude, longitude, time_zone: timeZone, phone } = row
    const { street, suburb, state = '', postcode, country } = row
    const store = storeSchema.parse({
      id,
      name,
      address: { street, suburb, state, postcode, country },
      phone: phone || undefined,
      latitude,
      longitude,
      tradingHours: {
        timeZone,
        dailyTradingHours: DAYS.map((day) => ({ day, openingHours: openings.all(id, day) })),
        publicHolidays: holidays
          .all({ id, state })
          .map(({ date, name, hours }) => ({ date, name, openingHours: JSON.parse(String(hours)) })),
      },
    })
    update.run(JSON.stringify(store), id)
  }
}
