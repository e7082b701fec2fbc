import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { bestDiscount, type Reduction } from '../money.ts'
import type { NoPrice, Price, PriceLine, PriceProvider } from '../price-provider.ts'
import { type ItemRecord, itemFinder } from './item-index.ts'
import { ITEM_SCHEMA, readItems, readItemTable } from './item-storage.ts'
import { openStores } from './store-search.ts'

/** Version of the schema. Version 1, which had a table of items, can be opened too; files of other versions cannot. */
const VERSION = 2

/** The tables of a price list, filled by `load.ts`. A price is decimal text, POA or NONE. */
export const SCHEMA = `
  PRAGMA user_version = ${VERSION};
  ${ITEM_SCHEMA}
  CREATE TABLE store_prices (line TEXT PRIMARY KEY, price TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE members (number TEXT, name TEXT, PRIMARY KEY (number, name)) STRICT, WITHOUT ROWID;
  CREATE TABLE discounts (
    item TEXT, category INTEGER, member_group TEXT, store TEXT, kind TEXT NOT NULL, value TEXT NOT NULL,
    min_quantity REAL NOT NULL, from_date TEXT NOT NULL, until_date TEXT NOT NULL
  ) STRICT;
  CREATE INDEX discounts_item ON discounts (item) WHERE item IS NOT NULL;
  CREATE TABLE stores (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, store TEXT NOT NULL) STRICT;
  CREATE VIRTUAL TABLE places USING rtree(number, min_latitude, max_latitude, min_longitude, max_longitude);
`

/** Price on application. */
export const POA = 'POA'
/** The store does not sell the item. */
export const NONE = 'NONE'
/** Flags of an item: it has store-specific prices, or discounts of its own. */
export const HAS_STORE_PRICES = 1
export const HAS_DISCOUNTS = 2

/** The key of an item's price at a store. Unambiguous, as ids have no control characters. */
export const lineKey = (item: string, store: string) => `${item}\u001f${store}`

/** An item at a store: its price (null: not sold there), and every discount that may apply to it. */
interface Item {
  price: string | null
  discounts: readonly Discount[]
}

interface Discount extends Reduction {
  group: string | null
  store: string | null
  minQuantity: number
  from: string
  until: string
}

export interface PriceList extends PriceProvider {
  close(): void
}

/** Opens a price list file, which never changes. Throws if it is not a price list of this version. */
export function openPriceList(file: string, now: () => number = Date.now): PriceList {
  // Immutable: SQLite doesn't need to check for changes before each statement.
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  const db = new DatabaseSync(url, { readOnly: true })
  try {
    return priceListOf(db, now)
  } catch (error) {
    db.close()
    throw error
  }
}

function priceListOf(db: DatabaseSync, now: () => number): PriceList {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() ?? {}
  if (version !== VERSION && version !== 1) throw new Error(`not a price list of version ${VERSION}`)
  const { findStore, nearest } = openStores(db)
  const { findItems, findGroups } = openItems(db, version === 1 ? readItemTable(db) : readItems(db))

  function prices(lines: readonly PriceLine[], memberNumber: string | null): (Price | NoPrice)[] {
    const groups = memberNumber === null ? [] : findGroups(memberNumber)
    if (memberNumber !== null && groups.length === 0) return lines.map(() => ({ error: 'member_unknown' }))
    const items = findItems(lines)
    const ms = now()

    return lines.map(({ storeId, quantity }, index) => {
      const item = items[index]
      if (!item) return { error: 'item_unknown' }
      const store = findStore(storeId)
      if (!store) return { error: 'store_unknown' }
      const { price: unitPrice, discounts } = item
      if (unitPrice === null || unitPrice === NONE) return { error: 'item_not_in_range' }
      if (unitPrice === POA) return { error: 'price_on_application' }
      if (discounts.length === 0) return { unitPrice }
      const today = dateIn(store.tradingHours.timeZone, ms)
      const applicable = discounts.filter(
        ({ group, store, minQuantity, from, until }) =>
          (group === null || groups.includes(group)) &&
          (store === null || store === storeId) &&
          quantity >= minQuantity &&
          from <= today &&
          today <= until,
      )
      const discount = bestDiscount(unitPrice, quantity, applicable)
      return discount === undefined ? { unitPrice } : { unitPrice, discount }
    })
  }

  return {
    store: async (id) => findStore(id),
    nearest: async (place, limit) => nearest(place, limit),
    prices: async (lines, memberNumber) => prices(lines, memberNumber),
    close: () => db.close(),
  }
}

/** Prepares a statement with one parameter that returns the values of one column. */
function prepare(db: DatabaseSync, sql: string): (value: string) => string[] {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return (value) => (statement.all(value) as unknown as [string][]).map(([text]) => text)
}

const DISCOUNT = `json_object('group', discounts.member_group, 'store', discounts.store, 'kind', discounts.kind,
  'value', discounts.value, 'minQuantity', discounts.min_quantity,
  'from', discounts.from_date, 'until', discounts.until_date)`

function parseDiscount(json: string): Discount {
  const discount = JSON.parse(json)
  return { ...discount, approximate: Number(discount.value) }
}

/** Looks up items with their discounts, store-specific prices and the groups of members. */
function openItems(db: DatabaseSync, pages: readonly Buffer[]) {
  const find = itemFinder(pages)
  const storePrices = prepare(db, 'SELECT price FROM store_prices WHERE line = ?')
  const ownDiscounts = prepare(db, `SELECT ${DISCOUNT} FROM discounts WHERE item = ?`)
  const findGroups = prepare(db, 'SELECT name FROM members WHERE number = ?')
  const sharedDiscounts = loadSharedDiscounts(db)

  /** The items of lines, by position; undefined if they don't exist. */
  function findItems(lines: readonly PriceLine[]): (Item | undefined)[] {
    const records = find(lines.map(({ itemId }) => itemId))
    return lines.map((line, index) => records[index] && itemOf(line, records[index]))
  }

  function itemOf({ itemId, storeId }: PriceLine, { price, category, flags }: ItemRecord): Item {
    const [storePrice] = flags & HAS_STORE_PRICES ? storePrices(lineKey(itemId, storeId)) : []
    const shared = sharedDiscounts(category)
    const own = flags & HAS_DISCOUNTS ? ownDiscounts(itemId).map(parseDiscount) : []
    return { price: storePrice ?? price, discounts: own.length > 0 ? [...shared, ...own] : shared }
  }

  return { findItems, findGroups }
}

/**
 * Loads the discounts that apply to all items or to a category, which are few and needed often. Returns a function that
 * combines them for a category. Items of the same category share the array.
 */
function loadSharedDiscounts(db: DatabaseSync): (category: number | null) => readonly Discount[] {
  const byCategory = new Map<number | null, Discount[]>()
  const rows = db.prepare(`SELECT category, ${DISCOUNT} AS discount FROM discounts WHERE item IS NULL`)
  for (const row of rows.iterate()) {
    const category = row.category as number | null
    const discounts = byCategory.get(category) ?? []
    discounts.push(parseDiscount(String(row.discount)))
    byCategory.set(category, discounts)
  }
  const combined = new Map<number | null, readonly Discount[]>()
  return (category) => {
    const cached = combined.get(category)
    if (cached) return cached
    const ofCategory = category === null ? [] : (byCategory.get(category) ?? [])
    const discounts = [...(byCategory.get(null) ?? []), ...ofCategory]
    combined.set(category, discounts)
    return discounts
  }
}

const MINUTE_MS = 60_000
const dateCache = new Map<string, { format: Intl.DateTimeFormat; minute: number; day: string }>()

/** The date (YYYY-MM-DD) in a time zone. Computed once a minute, since days start on a full minute. */
function dateIn(timeZone: string, ms: number): string {
  const minute = Math.floor(ms / MINUTE_MS)
  const cached = dateCache.get(timeZone)
  if (cached?.minute === minute) return cached.day
  const format =
    cached?.format ??
    new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const day = format.format(ms)
  dateCache.set(timeZone, { format, minute, day })
  return day
}
