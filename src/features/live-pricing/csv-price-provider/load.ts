import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../contract.ts'
import { FILES, findUnknownFiles, ID_RULE, isDate, isId, missingFile } from './files.ts'
import { HAS_DISCOUNTS, HAS_STORE_PRICES, lineKey, NONE, POA, SCHEMA } from './price-list.ts'
import { nextFileName, removeOldFiles } from './price-lists.ts'
import { readHolidays, readHours, readStores } from './read-stores.ts'
import { createProblems, type Problems, readRows } from './table.ts'

export interface Loaded {
  /** Number of records by kind; the kinds are worded for a summary. */
  counts: Record<
    'items' | 'stores' | 'openings' | 'holidays' | 'prices of single stores' | 'members' | 'discounts',
    number
  >
  /** Warnings about input that is valid but probably a mistake. */
  notes: string[]
}

const PRICE = /^\d{1,9}(\.\d{1,4})?$/
const PRICE_RULE = 'must be dollars such as 1234.5, with at most 4 decimals'

/**
 * Builds a price list from the CSV files in `from` and swaps it in atomically: readers see either the old list or the
 * new one. If any file has a problem, nothing is loaded.
 * Throws `PriceListError`, or a one-line error if a folder cannot be read or written.
 */
export async function loadPriceList(from: string, target: string): Promise<Loaded> {
  mkdirSync(target, { recursive: true, mode: 0o700 })
  const draft = join(target, `${randomUUID()}.loading`)
  try {
    const loaded = await fill(draft, from)
    flush(draft)
    renameSync(draft, join(target, nextFileName(target)))
    flush(target)
    removeOldFiles(target)
    return loaded
  } finally {
    for (const path of [draft, `${draft}-journal`]) rmSync(path, { force: true })
  }
}

/** Flushes a file or folder to disk. */
function flush(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } catch {
    // Some systems cannot flush a folder or a file opened for reading.
  } finally {
    closeSync(file)
  }
}

/** Added to problems of stores.csv and items.csv, on which the other files depend. */
const NOT_CHECKED_YET =
  'Hours, holidays, prices and discounts have not been checked yet, because they refer to these stores and items.'

/** Fills a new database file from the CSV files. */
async function fill(file: string, from: string): Promise<Loaded> {
  const db = new DatabaseSync(file)
  try {
    // An incomplete draft is discarded, so no journal is needed.
    db.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -64000; ${SCHEMA} BEGIN`,
    )
    const problems = createProblems()
    const unknownFiles = findUnknownFiles(from, problems)
    problems.check()
    const categories = new Map<string, number>()
    const stores = await readStores(from, problems)
    const items = await loadItems(db, from, problems, categories)
    const members = await loadMembers(db, from, problems)
    // Stop here: problems in the other files, which refer to these stores and items, would be misleading.
    problems.check(NOT_CHECKED_YET)
    // A truncated export must not replace the live price list.
    if (stores.size === 0) problems.add(FILES.stores.file, 1, 'the file has no stores.')
    if (items === 0) problems.add(FILES.items.file, 1, 'the file has no items.')
    problems.check(NOT_CHECKED_YET)
    const openings = await readHours(from, problems, stores)
    const holidays = await readHolidays(from, problems, [...stores.values()])
    insertStores(db, stores)
    const prices = await loadStorePrices(db, from, problems, stores)
    const discounts = await loadDiscounts(db, from, problems, { stores, categories })
    problems.check()
    db.exec('COMMIT')
    const emptyGroups = db.prepare(`SELECT DISTINCT member_group AS name FROM discounts
      WHERE member_group IS NOT NULL AND member_group NOT IN (SELECT name FROM members)`)
    return {
      counts: {
        items,
        stores: stores.size,
        openings,
        holidays,
        'prices of single stores': prices,
        members,
        discounts,
      },
      notes: [
        ...unknownFiles.map((name) => `${name} was ignored: it does not belong to a price list.`),
        ...(openings === 0
          ? ['Without opening hours (hours.csv), every store is shown as always closed.']
          : []),
        ...emptyGroups
          .all()
          .map(({ name }) => `Discounts apply to the group ${quote(String(name))}, but it has no members.`),
      ],
    }
  } finally {
    db.close()
  }
}

function insertStores(db: DatabaseSync, stores: Map<string, Store>): void {
  const addStore = db.prepare('INSERT INTO stores VALUES (?, ?, ?)')
  const addPlace = db.prepare('INSERT INTO places VALUES (?, ?, ?, ?, ?)')
  let number = 0
  for (const store of stores.values()) {
    const { latitude, longitude } = store
    addStore.run(++number, store.id, JSON.stringify(store))
    addPlace.run(number, latitude, latitude, longitude, longitude)
  }
}

async function loadItems(
  db: DatabaseSync,
  from: string,
  problems: Problems,
  categories: Map<string, number>,
): Promise<number> {
  const add = db.prepare('INSERT OR IGNORE INTO items VALUES (?, ?, ?, 0)')
  let count = 0
  const exists = await readRows(from, FILES.items, problems, (cell, reject) => {
    const [code, price, category] = [cell('code'), cell('price'), cell('category')]
    if (!isId(code)) return reject(`code ${ID_RULE}.`)
    if (price !== '' && price !== POA && !PRICE.test(price))
      return reject(`price ${quote(price)} ${PRICE_RULE}, or ${POA}, or empty if it is only in prices.csv.`)
    let number: number | null = null
    if (category !== '') {
      number = categories.get(category) ?? categories.size + 1
      categories.set(category, number)
    }
    if (add.run(code, price === '' ? null : price, number).changes === 0)
      return reject(`the item ${code} occurs more than once.`)
    count++
  })
  if (!exists) throw missingFile(FILES.items.file)
  return count
}

async function loadStorePrices(
  db: DatabaseSync,
  from: string,
  problems: Problems,
  stores: Map<string, Store>,
): Promise<number> {
  const add = db.prepare('INSERT OR IGNORE INTO store_prices VALUES (?, ?)')
  const flag = createFlagger(db, HAS_STORE_PRICES)
  let count = 0
  await readRows(from, FILES.prices, problems, (cell, reject) => {
    const [item, store, price] = [cell('item'), cell('store'), cell('price')]
    if (!stores.has(store)) return reject(`unknown store ${store.slice(0, 100)}.`)
    if (price !== POA && price !== NONE && !PRICE.test(price))
      return reject(
        `price ${quote(price)} ${PRICE_RULE}, or ${POA}, or ${NONE} if the store does not sell the item.`,
      )
    if (!flag(item)) return reject(`unknown item ${item.slice(0, 100)}.`)
    if (add.run(lineKey(item, store), price).changes === 0)
      return reject(`the item ${item} has two prices at the store ${store}.`)
    count++
  })
  return count
}

/** Returns a function that sets a flag of an item, or returns false if the item does not exist. */
function createFlagger(db: DatabaseSync, flag: number): (code: string) => boolean {
  const mark = db.prepare('UPDATE items SET more = more | ? WHERE code = ?')
  // Rows of the same item are usually adjacent.
  let previous: string | undefined
  return (code) => {
    if (code !== previous && mark.run(flag, code).changes === 0) return false
    previous = code
    return true
  }
}

async function loadMembers(db: DatabaseSync, from: string, problems: Problems): Promise<number> {
  const add = db.prepare('INSERT OR IGNORE INTO members VALUES (?, ?)')
  let count = 0
  await readRows(from, FILES.members, problems, (cell, reject) => {
    const [number, group] = [cell('number'), cell('group')]
    if (!isId(number)) return reject(`number ${ID_RULE}.`)
    if (add.run(number, group).changes === 0)
      return reject(`the member ${number} occurs twice with this group.`)
    count++
  })
  return count
}

const AMOUNTS = ['percent', 'amount', 'price'] as const

async function loadDiscounts(
  db: DatabaseSync,
  from: string,
  problems: Problems,
  { stores, categories }: { stores: Map<string, Store>; categories: Map<string, number> },
): Promise<number> {
  const add = db.prepare('INSERT INTO discounts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const flag = createFlagger(db, HAS_DISCOUNTS)
  let count = 0
  await readRows(from, FILES.discounts, problems, (cell, reject) => {
    const [item, category, group, store] = [cell('item'), cell('category'), cell('group'), cell('store')]
    if (item && category) return reject('specify either an item or a category, not both.')
    const number = category ? categories.get(category) : null
    if (number === undefined) return reject(`no item has the category ${category.slice(0, 100)}.`)
    if (store && !stores.has(store)) return reject(`unknown store ${store.slice(0, 100)}.`)
    const [kind, second] = AMOUNTS.filter((name) => cell(name) !== '')
    if (!kind || second)
      return reject('specify exactly one of percent, amount (off each unit) or price (per unit).')
    const value = cell(kind)
    if (!PRICE.test(value) || (kind === 'percent' && Number(value) > 100))
      return reject(
        `${kind} ${quote(value)} ${kind === 'percent' ? 'must be a number from 0 to 100' : PRICE_RULE}.`,
      )
    const minQuantity = cell('min_quantity') || '0'
    if (!/^\d{1,7}(\.\d{1,4})?$/.test(minQuantity)) return reject('min_quantity must be a number.')
    const [first, last] = [cell('from') || '0000-01-01', cell('until') || '9999-12-31']
    if (!(isDate(first) || first === '0000-01-01') || !isDate(last))
      return reject('from and until must be dates such as 2026-12-25.')
    if (last < first) return reject('until is before from.')
    if (item && !flag(item)) return reject(`unknown item ${item.slice(0, 100)}.`)
    add.run(item || null, number, group || null, store || null, kind, value, Number(minQuantity), first, last)
    count++
  })
  return count
}

const quote = (text: string) => JSON.stringify(text.slice(0, 50))
