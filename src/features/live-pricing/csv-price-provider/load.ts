import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../contract.ts'
import { FILES, ID_RULE, isDate, isId, missing, otherFiles } from './files.ts'
import { HAS_DISCOUNTS, HAS_STORE_PRICES, lineKey, NONE, POA, SCHEMA } from './price-list.ts'
import { nextName, tidy } from './price-lists.ts'
import { readHolidays, readHours, readStores } from './read-stores.ts'
import { createProblems, type Problems, readRows } from './table.ts'

export interface Loaded {
  /** How many there are of each, in the words of a summary. */
  counts: Record<
    'items' | 'stores' | 'openings' | 'holidays' | 'prices of single stores' | 'members' | 'discounts',
    number
  >
  /** What is allowed, and is more often a mistake. */
  notes: string[]
}

const PRICE = /^\d{1,9}(\.\d{1,4})?$/
const PRICE_RULE = 'must be dollars such as 1234.5, at most 4 decimals'

/**
 * Makes a price list of the CSV files of a folder, beside those that are there, and puts it in their place at once:
 * whoever reads sees the old one or the new one, whole. Any problem of any file, and nothing is loaded.
 * Throws `PriceListError`, and an error of one line when the folders cannot be read or written.
 */
export async function loadPriceList(from: string, into: string): Promise<Loaded> {
  mkdirSync(into, { recursive: true, mode: 0o700 })
  const draft = join(into, `${randomUUID()}.loading`)
  try {
    const loaded = await fill(draft, from)
    durable(draft)
    renameSync(draft, join(into, nextName(into)))
    durable(into)
    tidy(into)
    return loaded
  } finally {
    for (const path of [draft, `${draft}-journal`]) rmSync(path, { force: true })
  }
}

/** What was written is on the disk when this returns. */
function durable(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } catch {
    // Some systems cannot flush a folder, or a file that is opened for reading.
  } finally {
    closeSync(file)
  }
}

/** Told with problems of the files that the others speak of. */
const LATER =
  'Hours, holidays, prices and discounts were not looked at yet: they speak of these stores and items.'

async function fill(file: string, from: string): Promise<Loaded> {
  const db = new DatabaseSync(file)
  try {
    // A draft that is cut off is thrown away: nothing of it must be recovered.
    db.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -64000; ${SCHEMA} BEGIN`,
    )
    const problems = createProblems()
    const passedOver = otherFiles(from, problems)
    problems.check()
    const categories = new Map<string, number>()
    const stores = await readStores(from, problems)
    const items = await loadItems(db, from, problems, categories)
    const members = await loadMembers(db, from, problems)
    // The other files speak of these stores and items; what would be said of them now would mislead.
    problems.check(LATER)
    // An export that was cut off must not replace what is there.
    if (stores.size === 0) problems.add(FILES.stores.file, 1, 'there is no store in it.')
    if (items === 0) problems.add(FILES.items.file, 1, 'there is no item in it.')
    problems.check(LATER)
    const openings = await readHours(from, problems, stores)
    const holidays = await readHolidays(from, problems, [...stores.values()])
    insertStores(db, stores)
    const prices = await loadStorePrices(db, from, problems, stores)
    const discounts = await loadDiscounts(db, from, problems, { stores, categories })
    problems.check()
    db.exec('COMMIT')
    const without = db.prepare(`SELECT DISTINCT member_group AS name FROM discounts
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
        ...passedOver.map((name) => `${name} was passed over: it is no file of a price list.`),
        ...(openings === 0
          ? ['Without opening hours (hours.csv) every store is told to be closed on every day.']
          : []),
        ...without
          .all()
          .map(({ name }) => `No member is in the group ${quoted(String(name))}, which discounts are for.`),
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
  const there = await readRows(from, FILES.items, problems, (cell, wrong) => {
    const [code, price, category] = [cell('code'), cell('price'), cell('category')]
    if (!isId(code)) return wrong(`code ${ID_RULE}.`)
    if (price !== '' && price !== POA && !PRICE.test(price))
      return wrong(`price ${quoted(price)} ${PRICE_RULE}, or ${POA}, or nothing if only prices.csv has it.`)
    let number: number | null = null
    if (category !== '') {
      number = categories.get(category) ?? categories.size + 1
      categories.set(category, number)
    }
    if (add.run(code, price === '' ? null : price, number).changes === 0)
      return wrong(`the item ${code} was there before.`)
    count++
  })
  if (!there) throw missing(FILES.items.file)
  return count
}

async function loadStorePrices(
  db: DatabaseSync,
  from: string,
  problems: Problems,
  stores: Map<string, Store>,
): Promise<number> {
  const add = db.prepare('INSERT OR IGNORE INTO store_prices VALUES (?, ?)')
  const flag = flagger(db, HAS_STORE_PRICES)
  let count = 0
  await readRows(from, FILES.prices, problems, (cell, wrong) => {
    const [item, store, price] = [cell('item'), cell('store'), cell('price')]
    if (!stores.has(store)) return wrong(`there is no store ${store.slice(0, 100)}.`)
    if (price !== POA && price !== NONE && !PRICE.test(price))
      return wrong(
        `price ${quoted(price)} ${PRICE_RULE}, or ${POA}, or ${NONE} if the store does not carry the item.`,
      )
    if (!flag(item)) return wrong(`there is no item ${item.slice(0, 100)}.`)
    if (add.run(lineKey(item, store), price).changes === 0)
      return wrong(`the item ${item} had a price at the store ${store} before.`)
    count++
  })
  return count
}

/** Marks an item; false when there is none of that code. The rows of one item often stand together. */
function flagger(db: DatabaseSync, flag: number): (code: string) => boolean {
  const mark = db.prepare('UPDATE items SET more = more | ? WHERE code = ?')
  let last: string | undefined
  return (code) => {
    if (code !== last && mark.run(flag, code).changes === 0) return false
    last = code
    return true
  }
}

async function loadMembers(db: DatabaseSync, from: string, problems: Problems): Promise<number> {
  const add = db.prepare('INSERT OR IGNORE INTO members VALUES (?, ?)')
  let count = 0
  await readRows(from, FILES.members, problems, (cell, wrong) => {
    const [number, group] = [cell('number'), cell('group')]
    if (!isId(number)) return wrong(`number ${ID_RULE}.`)
    if (add.run(number, group).changes === 0) return wrong(`the member ${number} was in that group before.`)
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
  const flag = flagger(db, HAS_DISCOUNTS)
  let count = 0
  await readRows(from, FILES.discounts, problems, (cell, wrong) => {
    const [item, category, group, store] = [cell('item'), cell('category'), cell('group'), cell('store')]
    if (item && category) return wrong('it names an item and a category; one of them is enough.')
    const number = category ? categories.get(category) : null
    if (number === undefined) return wrong(`there is no item of the category ${category.slice(0, 100)}.`)
    if (store && !stores.has(store)) return wrong(`there is no store ${store.slice(0, 100)}.`)
    const [kind, second] = AMOUNTS.filter((name) => cell(name) !== '')
    if (!kind || second)
      return wrong('it must have one of percent, amount (off each unit) and price (of the unit).')
    const value = cell(kind)
    if (!PRICE.test(value) || (kind === 'percent' && Number(value) > 100))
      return wrong(
        `${kind} ${quoted(value)} ${kind === 'percent' ? 'must be a number from 0 to 100' : PRICE_RULE}.`,
      )
    const least = cell('min_quantity') || '0'
    if (!/^\d{1,7}(\.\d{1,4})?$/.test(least)) return wrong('min_quantity must be a number.')
    const [first, last] = [cell('from') || '0000-01-01', cell('until') || '9999-12-31']
    if (!(isDate(first) || first === '0000-01-01') || !isDate(last))
      return wrong('from and until must be days such as 2026-12-25.')
    if (last < first) return wrong('until is before from.')
    if (item && !flag(item)) return wrong(`there is no item ${item.slice(0, 100)}.`)
    add.run(item || null, number, group || null, store || null, kind, value, Number(least), first, last)
    count++
  })
  return count
}

const quoted = (text: string) => JSON.stringify(text.slice(0, 50))
