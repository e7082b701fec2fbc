import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../../../supplier-api/contract.ts'
import { codeDamage } from '../../../tables/damaged-codes.ts'
import type { Decimal } from '../../../tables/prices.ts'
import { FILES, findUnknownFiles, ID_RULE, isDate, isId, missingFile } from './files.ts'
import { createItemIndex, type ItemIndex } from './item-index.ts'
import { writeItems } from './item-storage.ts'
import { HAS_DISCOUNTS, HAS_STORE_PRICES, lineKey, NONE, POA, SCHEMA } from './price-list.ts'
import { nextFileName, removeOldFiles } from './price-lists.ts'
import { readHolidays, readHours, readStores } from './read-stores.ts'
import { createProblems, type Folder, type Problems, type RowProblem, readRows } from './table.ts'

export interface Loaded {
  /** Number of records by kind; the kinds are worded for a summary. */
  counts: Record<
    'items' | 'stores' | 'openings' | 'holidays' | 'prices of single stores' | 'members' | 'discounts',
    number
  >
  /** Warnings about input that is valid but probably a mistake. */
  notes: string[]
  /** The rows with problems, which were left out. */
  skipped: RowProblem[]
}

export interface LoadOptions {
  /** Leaves out rows with problems; otherwise they prevent the load. */
  skipProblems?: boolean
  /** The decimal sign of the prices; the point by default. */
  decimal?: Decimal | undefined
}

/**
 * Builds a price list from the CSV files in `from` and swaps it in atomically: readers see either the old list or the
 * new one. If any file has a problem, nothing is loaded.
 * Throws `PriceListError`, or a one-line error if a folder cannot be read or written.
 */
export async function loadPriceList(
  from: string,
  target: string,
  options: LoadOptions = {},
): Promise<Loaded> {
  mkdirSync(target, { recursive: true, mode: 0o700 })
  const draft = join(target, `${randomUUID()}.loading`)
  try {
    const { decimal = 'point' } = options
    const loaded = await fill(draft, { path: from, decimal }, options)
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

/** Fills a new database file from the files of the price list. */
async function fill(file: string, from: Folder, { skipProblems = false }: LoadOptions): Promise<Loaded> {
  const db = new DatabaseSync(file)
  try {
    // An incomplete draft is discarded, so no journal is needed.
    db.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -64000; ${SCHEMA} BEGIN`,
    )
    const problems = createProblems({ skipRows: skipProblems })
    const unknownFiles = findUnknownFiles(from.path, problems)
    problems.check()
    const categories = new Map<string, number>()
    const stores = await readStores(from, problems)
    const index = createItemIndex()
    const items = await loadItems(index, from, problems, categories)
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
    const prices = await loadStorePrices(db, from, problems, { stores, index })
    const discounts = await loadDiscounts(db, from, problems, { stores, categories, index })
    problems.check()
    writeItems(db, index.pages())
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
      skipped: problems.skipped,
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
  index: ItemIndex,
  from: Folder,
  problems: Problems,
  categories: Map<string, number>,
): Promise<number> {
  /** Items with several prices: it is not known which is right. */
  const conflicts = new Set<string>()
  let count = 0
  const exists = await readRows(from, FILES.items, problems, ({ cell, price: priceOf, reject }) => {
    const [code, category] = [cell('code'), cell('category')]
    if (!isId(code)) return reject(`code ${ID_RULE}.`)
    const damage = codeDamage(code)
    if (damage) return reject(damage)
    const text = priceOf('price', ['', POA])
    if (text === null) return
    const price = text === '' ? null : text
    let number: number | null = null
    if (category !== '') {
      number = categories.get(category) ?? categories.size + 1
      categories.set(category, number)
    }
    if (index.add(code, { price, category: number, flags: 0 })) {
      count++
      return
    }
    if (index.priceOf(code) === price && !conflicts.has(code)) return
    conflicts.add(code)
    reject(`the item ${code} occurs more than once with different prices.`)
  })
  if (!exists) throw missingFile(FILES.items.file)
  for (const code of conflicts) index.remove(code)
  return count - conflicts.size
}

async function loadStorePrices(
  db: DatabaseSync,
  from: Folder,
  problems: Problems,
  { stores, index }: { stores: Map<string, Store>; index: ItemIndex },
): Promise<number> {
  const add = db.prepare('INSERT OR IGNORE INTO store_prices VALUES (?, ?)')
  let count = 0
  await readRows(from, FILES.prices, problems, ({ cell, price: priceOf, reject }) => {
    const [item, store] = [cell('item'), cell('store')]
    if (!stores.has(store)) return reject(`unknown store ${store.slice(0, 100)}.`)
    const price = priceOf('price', [POA, NONE])
    if (price === null) return
    if (!index.flag(item, HAS_STORE_PRICES)) return reject(`unknown item ${item.slice(0, 100)}.`)
    if (add.run(lineKey(item, store), price).changes === 0)
      return reject(`the item ${item} has two prices at the store ${store}.`)
    count++
  })
  return count
}

async function loadMembers(db: DatabaseSync, from: Folder, problems: Problems): Promise<number> {
  const add = db.prepare('INSERT OR IGNORE INTO members VALUES (?, ?)')
  let count = 0
  await readRows(from, FILES.members, problems, ({ cell, reject }) => {
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
  from: Folder,
  problems: Problems,
  known: { stores: Map<string, Store>; categories: Map<string, number>; index: ItemIndex },
): Promise<number> {
  const add = db.prepare('INSERT INTO discounts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const { stores, categories, index } = known
  let count = 0
  await readRows(from, FILES.discounts, problems, ({ cell, price: priceOf, reject }) => {
    const [item, category, group, store] = [cell('item'), cell('category'), cell('group'), cell('store')]
    if (item && category) return reject('specify either an item or a category, not both.')
    const number = category ? categories.get(category) : null
    if (number === undefined) return reject(`no item has the category ${category.slice(0, 100)}.`)
    if (store && !stores.has(store)) return reject(`unknown store ${store.slice(0, 100)}.`)
    const [kind, second] = AMOUNTS.filter((name) => cell(name) !== '')
    if (!kind || second)
      return reject('specify exactly one of percent, amount (off each unit) or price (per unit).')
    const value = kind === 'percent' ? percentOf(cell(kind)) : priceOf(kind, [])
    if (value === undefined) return reject(`percent ${quote(cell(kind))} must be a number from 0 to 100.`)
    if (value === null) return
    const minQuantity = cell('min_quantity') || '0'
    if (!/^\d{1,7}(\.\d{1,4})?$/.test(minQuantity)) return reject('min_quantity must be a number.')
    const [first, last] = [cell('from') || '0000-01-01', cell('until') || '9999-12-31']
    if (!(isDate(first) || first === '0000-01-01') || !isDate(last))
      return reject('from and until must be dates such as 2026-12-25.')
    if (last < first) return reject('until is before from.')
    if (item && !index.flag(item, HAS_DISCOUNTS)) return reject(`unknown item ${item.slice(0, 100)}.`)
    add.run(item || null, number, group || null, store || null, kind, value, Number(minQuantity), first, last)
    count++
  })
  return count
}

/** A percentage from 0 to 100; undefined if it is none. */
const percentOf = (text: string) =>
  /^\d{1,3}(\.\d{1,4})?%?$/.test(text) && Number.parseFloat(text) <= 100 ? text.replace('%', '') : undefined

const quote = (text: string) => JSON.stringify(text.slice(0, 50))
