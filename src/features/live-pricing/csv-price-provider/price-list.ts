import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Store } from '../contract.ts'
import { bestDiscount, type Reduction } from '../money.ts'
import type { NearStore, NoPrice, Place, Price, PriceLine, PriceProvider } from '../price-provider.ts'
import { boxesAround, distanceKm } from './great-circle.ts'
import { lruLookup } from './lru-lookup.ts'

/** Version of the schema: files of other versions are not opened. */
const VERSION = 1

/** The tables of a price list, filled by `load.ts`. A price is decimal text, POA or NONE. */
export const SCHEMA = `
  PRAGMA user_version = ${VERSION};
  CREATE TABLE items (
    code TEXT PRIMARY KEY, price TEXT, category INTEGER, more INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
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

/** A row of an item: index of its key, default price (null: only store-specific prices), category and flags. */
type Row = [index: number, price: string | null, category: number | null, flags: number]

/** An item with every discount that may apply to it. */
interface Item {
  price: string | null
  hasStorePrices: boolean
  discounts: readonly Discount[]
}

/** Tolerance for rounding errors, in kilometres: at the antimeridian, the same place has two longitudes. */
const ROUNDING_KM = 1e-6

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
    const { user_version: version } = db.prepare('PRAGMA user_version').get() ?? {}
    if (version !== VERSION) throw new Error(`not a price list of version ${VERSION}`)
  } catch (error) {
    db.close()
    throw error
  }
  const { findStore, nearest } = openStores(db)
  const { findItems, findStorePrices, findGroups } = openItems(db)

  function storePricesOf(lines: readonly PriceLine[], items: readonly (Item | undefined)[]) {
    const indexes = lines.flatMap(({ storeId }, index) =>
      items[index]?.hasStorePrices && findStore(storeId) ? [index] : [],
    )
    const prices = findStorePrices(
      indexes.map((index) => lineKey(lines[index]?.itemId ?? '', lines[index]?.storeId ?? '')),
    )
    return new Map(indexes.map((index, position) => [index, prices[position]]))
  }

  function prices(lines: readonly PriceLine[], memberNumber: string | null): (Price | NoPrice)[] {
    const groups = memberNumber === null ? [] : (findGroups([memberNumber])[0] ?? [])
    if (memberNumber !== null && groups.length === 0) return lines.map(() => ({ error: 'member_unknown' }))
    const items = findItems(lines.map(({ itemId }) => itemId))
    const storePrices = storePricesOf(lines, items)
    const ms = now()

    return lines.map(({ storeId, quantity }, index) => {
      const item = items[index]
      if (!item) return { error: 'item_unknown' }
      const store = findStore(storeId)
      if (!store) return { error: 'store_unknown' }
      const unitPrice = storePrices.get(index) ?? item.price ?? NONE
      if (unitPrice === NONE) return { error: 'item_not_in_range' }
      if (unitPrice === POA) return { error: 'price_on_application' }
      if (item.discounts.length === 0) return { unitPrice }
      const today = dateIn(store.tradingHours.timeZone, ms)
      const applicable = item.discounts.filter(
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

/** Prepares a statement with one parameter that returns at most one row. */
function prepare(db: DatabaseSync, sql: string) {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return (value: string) => statement.get(value) as unknown as unknown[] | undefined
}

/** Looks up stores by id and by location. Stores that were looked up stay in memory. */
function openStores(db: DatabaseSync) {
  const storeById = prepare(db, 'SELECT store FROM stores WHERE id = ?')
  const idByNumber = db.prepare('SELECT id FROM stores WHERE number = ?')
  const inBox = db.prepare(`SELECT number FROM places
    WHERE max_latitude >= ? AND min_latitude <= ? AND max_longitude >= ? AND min_longitude <= ?`)
  inBox.setReturnArrays(true)
  const stores = new Map<string, Store>()
  const ids = new Map<number, string>()

  function findStore(id: string): Store | null {
    const cached = stores.get(id)
    if (cached) return cached
    const row = storeById(id)
    // Don't cache unknown ids, which are unlimited.
    if (!row) return null
    const store = Object.freeze(JSON.parse(String(row[0])) as Store)
    stores.set(id, store)
    return store
  }

  function findByNumber(number: number): Store | null {
    const id = ids.get(number) ?? String(idByNumber.get(number)?.id)
    ids.set(number, id)
    return findStore(id)
  }

  function nearest(place: Place, limit: number): NearStore[] {
    const found: NearStore[] = []
    for (const { minLatitude, maxLatitude, minLongitude, maxLongitude } of boxesAround(place)) {
      const rows = inBox.all(minLatitude, maxLatitude, minLongitude, maxLongitude) as unknown as [number][]
      for (const [number] of rows) {
        const store = findByNumber(number)
        const distance = store ? distanceKm(place, store) : Number.POSITIVE_INFINITY
        if (store && distance <= place.radiusKm + ROUNDING_KM) found.push({ store, distanceKm: distance })
      }
    }
    return found.sort((a, b) => a.distanceKm - b.distanceKm).slice(0, limit)
  }

  return { findStore, nearest }
}

const DISCOUNT = `json_object('group', discounts.member_group, 'store', discounts.store, 'kind', discounts.kind,
  'value', discounts.value, 'minQuantity', discounts.min_quantity,
  'from', discounts.from_date, 'until', discounts.until_date)`

/** Looks up items with their discounts, store-specific prices and the groups of members; all are cached. */
function openItems(db: DatabaseSync) {
  // One statement for all lines, with JSON input and output: calls into SQLite cost more than the lookup itself.
  const selectItems = prepare(
    db,
    `SELECT json_group_array(json_array(l.key, i.price, i.category, i.more))
    FROM json_each(?) AS l JOIN items AS i ON i.code = l.value`,
  )
  const selectStorePrices = prepare(
    db,
    `SELECT json_group_array(json_array(l.key, p.price))
    FROM json_each(?) AS l JOIN store_prices AS p ON p.line = l.value`,
  )
  const selectDiscounts = prepare(
    db,
    `SELECT json_group_array(json_array(l.key, ${DISCOUNT}))
    FROM json_each(?) AS l JOIN discounts ON discounts.item = l.value`,
  )
  const selectGroups = prepare(db, 'SELECT json_group_array(name) FROM members WHERE number = ?')
  const sharedDiscounts = loadSharedDiscounts(db)

  /** Runs a statement for keys. Each row starts with the index of its key. */
  function query<T extends unknown[]>(statement: ReturnType<typeof prepare>, keys: string[]): T[] {
    return keys.length === 0 ? [] : JSON.parse(String(statement(JSON.stringify(keys))?.[0]))
  }

  const findItems = lruLookup((codes): Map<string, Item> => {
    const rows = query<Row>(selectItems, codes)
    const discounted = rows.flatMap(([index, , , flags]) =>
      flags & HAS_DISCOUNTS ? (codes[index] ?? '') : [],
    )
    const own = new Map<string, Discount[]>(discounted.map((code) => [code, []]))
    for (const [index, discount] of query<[number, Discount]>(selectDiscounts, discounted))
      own.get(discounted[index] ?? '')?.push(discount)
    return new Map(
      rows.map(([index, price, category, flags]) => {
        const code = codes[index] ?? ''
        const [common, specific] = [sharedDiscounts(category), own.get(code)]
        const hasStorePrices = (flags & HAS_STORE_PRICES) !== 0
        return [code, { price, hasStorePrices, discounts: specific ? [...common, ...specific] : common }]
      }),
    )
  })

  const findStorePrices = lruLookup((keys): Map<string, string | null> => {
    const prices = new Map<string, string | null>(keys.map((key) => [key, null]))
    for (const [index, price] of query<[number, string]>(selectStorePrices, keys))
      prices.set(keys[index] ?? '', price)
    return prices
  })

  const findGroups = lruLookup((numbers): Map<string, string[]> => {
    const groups = numbers.map((number): [string, string[]] => [
      number,
      JSON.parse(String(selectGroups(number)?.[0])),
    ])
    return new Map(groups.filter(([, names]) => names.length > 0))
  })

  return { findItems, findStorePrices, findGroups }
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
    discounts.push(JSON.parse(String(row.discount)))
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
