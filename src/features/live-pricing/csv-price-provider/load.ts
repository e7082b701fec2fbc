import { closeSync, mkdirSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { codeDamage } from '../../../tables/damaged-codes.ts'
import type { Decimal } from '../../../tables/prices.ts'
import { type ConfirmedItems, FILES, ID_RULE, isDate, isId, rejectOtherFiles, type Source } from './files.ts'
import { NEW_TABLES, NONE, POA, priceListFile } from './price-list.ts'
import { createProblems, type Problem } from './problems.ts'
import { isStorable, RowError, readRows, requireKnown, tooExact } from './read-rows.ts'
import { readHolidays, readHours, readStores, type Stores } from './read-stores.ts'

export interface Loaded {
  /** Number of records by kind; the kinds are worded for a summary. */
  counts: Record<string, number>
  /** The rows with problems, which were left out. */
  leftOut: readonly Problem[]
}

export interface LoadOptions {
  /** Leaves out rows with problems; otherwise they prevent the load. */
  skipProblems?: boolean
  /** The decimal sign of the prices; the point by default. */
  decimal?: Decimal | undefined
  /** The items of a file that a person has confirmed, in place of items.csv as it is documented. */
  items?: ConfirmedItems | undefined
}

/**
 * Replaces the price list in `target` by that of the CSV files in `from`, in one transaction: readers see either the old
 * list or the new one, and a load that fails or is killed changes nothing.
 * Throws `PriceListError`, or a one-line error if a folder cannot be read or written.
 */
export async function loadPriceList(
  from: string,
  target: string,
  options: LoadOptions = {},
): Promise<Loaded> {
  const file = priceListFile(target)
  mkdirSync(target, { recursive: true, mode: 0o700 })
  // Readable by this user only, and so are the files that SQLite creates beside it.
  closeSync(openSync(file, 'a', 0o600))
  const db = new DatabaseSync(file)
  try {
    // With a write-ahead log, readers do not wait for the load.
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA cache_size = -64000; BEGIN IMMEDIATE; ${NEW_TABLES}`)
    const problems = createProblems(options.skipProblems ?? false)
    const loaded = await fill(db, {
      folder: from,
      decimal: options.decimal ?? 'point',
      problems,
      items: options.items,
    })
    db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
    return loaded
  } catch (error) {
    if (error instanceof Error && 'errcode' in error)
      throw new Error(`${file}: ${error.message}. If another load is running, wait until it has ended.`)
    throw error
  } finally {
    // A transaction that is still open is rolled back.
    db.close()
  }
}

/** Added to problems of stores.csv and items.csv, on which the other files depend. */
const NOT_CHECKED_YET =
  'Hours, holidays, prices and discounts have not been checked yet, because they refer to these stores and items.'

async function fill(db: DatabaseSync, source: Source): Promise<Loaded> {
  const { problems } = source
  rejectOtherFiles(source)
  problems.check()
  const stores = await readStores(source)
  await loadItems(db, source)
  await loadMembers(db, source)
  // Stop here: problems in the other files, which refer to these stores and items, would be misleading.
  problems.check(NOT_CHECKED_YET)
  // A truncated export must not replace the live price list.
  if (stores.size === 0)
    problems.addFile({ file: FILES.stores.file, line: 0, reason: 'the file has no stores.' })
  if (countOf(db, 'items') === 0)
    problems.addFile({ file: FILES.items.file, line: 0, reason: 'the file has no items.' })
  problems.check(NOT_CHECKED_YET)
  const openings = await readHours(source, stores)
  const holidays = await readHolidays(source, stores)
  insertStores(db, stores)
  await loadStorePrices(db, source, stores)
  await loadDiscounts(db, source, stores)
  problems.check()
  return {
    counts: {
      items: countOf(db, 'items'),
      stores: stores.size,
      openings,
      holidays,
      'prices of single stores': countOf(db, 'store_prices'),
      members: countOf(db, 'members'),
      discounts: countOf(db, 'discounts'),
    },
    leftOut: problems.leftOut,
  }
}

const countOf = (db: DatabaseSync, table: string) =>
  Number(db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows)

function insertStores(db: DatabaseSync, stores: Stores): void {
  const add = db.prepare('INSERT INTO stores VALUES (?, ?, ?, ?, ?)')
  for (const store of stores.values())
    add.run(store.id, store.latitude, store.longitude, store.tradingHours.timeZone, JSON.stringify(store))
}

/** A confirmed file has no code twice: its check has rejected those. */
async function loadConfirmed(
  db: DatabaseSync,
  { file, items, problems: rejected, invalidRows }: ConfirmedItems,
  problems: Source['problems'],
): Promise<void> {
  const add = db.prepare('INSERT INTO items VALUES (?, ?, ?)')
  for await (const { code, category, price } of items) {
    if (isStorable(price)) add.run(code, category ?? '', String(price))
    else problems.addRow({ file, line: 0, reason: `item ${code}: ${tooExact(String(price))}` })
  }
  for (const { line, reason } of rejected) problems.addRow({ file, line, reason })
  const unlisted = invalidRows - rejected.length
  if (unlisted > 0) problems.addRow({ file, line: 0, reason: `${unlisted} more rows have problems.` })
}

async function loadItems(db: DatabaseSync, source: Source): Promise<void> {
  if (source.items) return loadConfirmed(db, source.items, source.problems)
  const add = db.prepare('INSERT OR IGNORE INTO items VALUES (?, ?, ?)')
  const find = db.prepare('SELECT price FROM items WHERE code = ?')
  /** Items with several prices: it is not known which is right. */
  const conflicts = new Set<string>()
  await readRows(source, FILES.items, ({ cell, price: priceOf }) => {
    const code = cell('code')
    if (!isId(code)) throw new RowError(`code ${ID_RULE}.`)
    const damage = codeDamage(code)
    if (damage !== undefined) throw new RowError(damage)
    const price = priceOf('price', ['', POA]) || null
    if (add.run(code, cell('category'), price).changes > 0) return
    if (conflicts.has(code) || find.get(code)?.price !== price) {
      conflicts.add(code)
      throw new RowError(`the item ${code} occurs more than once with different prices.`)
    }
  })
  const remove = db.prepare('DELETE FROM items WHERE code = ?')
  for (const code of conflicts) remove.run(code)
}

async function loadStorePrices(db: DatabaseSync, source: Source, stores: Stores): Promise<void> {
  const add = db.prepare('INSERT OR IGNORE INTO store_prices VALUES (?, ?, ?)')
  const findItem = db.prepare('SELECT 1 FROM items WHERE code = ?')
  await readRows(source, FILES.prices, ({ cell, price: priceOf }) => {
    const [item, store] = [cell('item'), cell('store')]
    requireKnown('store', store, stores.has(store))
    const price = priceOf('price', [POA, NONE])
    requireKnown('item', item, findItem.get(item) !== undefined)
    if (add.run(item, store, price).changes === 0)
      throw new RowError(`the item ${item} has two prices at the store ${store}.`)
  })
}

async function loadMembers(db: DatabaseSync, source: Source): Promise<void> {
  const add = db.prepare('INSERT OR IGNORE INTO members VALUES (?, ?)')
  await readRows(source, FILES.members, ({ cell }) => {
    const [number, group] = [cell('number'), cell('group')]
    if (!isId(number)) throw new RowError(`number ${ID_RULE}.`)
    if (add.run(number, group).changes === 0)
      throw new RowError(`the member ${number} occurs twice with this group.`)
  })
}

const KINDS = ['percent', 'amount', 'price'] as const

async function loadDiscounts(db: DatabaseSync, source: Source, stores: Stores): Promise<void> {
  const add = db.prepare('INSERT INTO discounts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const findItem = db.prepare('SELECT 1 FROM items WHERE code = ?')
  const categories = textsIn(db, 'SELECT DISTINCT category FROM items')
  const groups = textsIn(db, 'SELECT DISTINCT member_group FROM members')
  await readRows(source, FILES.discounts, ({ cell, price: priceOf }) => {
    const [item, category, group, store] = [cell('item'), cell('category'), cell('group'), cell('store')]
    if (item && category) throw new RowError('specify either an item or a category, not both.')
    if (category && !categories.has(category))
      throw new RowError(`no item has the category ${category.slice(0, 100)}.`)
    if (group && !groups.has(group)) throw new RowError(`no member has the group ${group.slice(0, 100)}.`)
    if (store) requireKnown('store', store, stores.has(store))
    const [kind, second] = KINDS.filter((name) => cell(name) !== '')
    if (!kind || second)
      throw new RowError('specify exactly one of percent, amount (off each unit) or price (per unit).')
    const value = kind === 'percent' ? percentOf(cell(kind)) : priceOf(kind, [])
    if (value === undefined)
      throw new RowError(`percent ${quote(cell(kind))} must be a number from 0 to 100.`)
    const minQuantity = cell('min_quantity') || '0'
    if (!/^\d{1,7}(\.\d{1,4})?$/.test(minQuantity)) throw new RowError('min_quantity must be a number.')
    const [from, until] = [cell('from'), cell('until')]
    if ((from && !isDate(from)) || (until && !isDate(until)))
      throw new RowError('from and until must be dates such as 2026-12-25.')
    if (from && until && until < from) throw new RowError('until is before from.')
    if (item) requireKnown('item', item, findItem.get(item) !== undefined)
    const values = KINDS.map((name) => (name === kind ? Number(value) : null))
    add.run(item, category, group, store, ...values, Number(minQuantity), from, until || '9999-12-31')
  })
}

/** The texts of a column. */
function textsIn(db: DatabaseSync, query: string): Set<string> {
  const rows = db.prepare(query).all()
  return new Set(rows.flatMap((row) => Object.values(row)).map(String))
}

/** A percentage from 0 to 100; undefined if it is none. */
const percentOf = (text: string) =>
  /^\d{1,3}(\.\d{1,4})?%?$/.test(text) && Number.parseFloat(text) <= 100 ? text.replace('%', '') : undefined

const quote = (text: string) => JSON.stringify(text.slice(0, 50))
