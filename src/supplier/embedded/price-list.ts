import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../contract.ts'
import { bestDiscount, type Reduction } from '../money.ts'
import type { NearStore, NoPrice, Place, Price, PriceBook, PriceLine } from '../price-book.ts'
import { boxesAround, distanceKm } from './great-circle.ts'

/** Changes with the schema: a file of another version is not opened. */
const VERSION = 1

/** The tables of one price list, as `load.ts` fills them. A price is decimal text, POA, or NONE. */
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

/** A price that the store gives when asked; and none at all: the store does not carry the item. */
export const POA = 'POA'
export const NONE = 'NONE'
/** Flags of an item: it has prices of single stores, or discounts of its own. */
export const HAS_STORE_PRICES = 1
export const HAS_DISCOUNTS = 2

/** The key of an item's price at a store; neither part has control characters. */
export const lineKey = (item: string, store: string) => `${item}\u001f${store}`

/** An item's price at every store (null: only where a store has one), its category, and flags. */
type Item = [price: string | null, category: number | null, more: number]

interface Discount extends Reduction {
  group: string | null
  store: string | null
  minQuantity: number
  from: string
  until: string
}

export interface PriceList extends PriceBook {
  close(): void
}

/** Opens one price list, which never changes. Throws when it is not a price list of this version. */
export function openPriceList(file: string, now: () => number = Date.now): PriceList {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const { user_version: version } = db.prepare('PRAGMA user_version').get() ?? {}
    if (version !== VERSION) throw new Error(`is not a price list of version ${VERSION}`)
  } catch (error) {
    db.close()
    throw error
  }
  db.exec('PRAGMA cache_size = -16000')
  const one = (sql: string) => {
    const statement = db.prepare(sql)
    statement.setReturnArrays(true)
    return (value: string) => statement.get(value) as unknown as unknown[] | undefined
  }
  // One statement for all lines, in and out as JSON: the way between SQLite and JavaScript costs more than the search.
  const itemsOf = one(`SELECT json_group_array(json_array(l.key, i.price, i.category, i.more))
    FROM json_each(?) AS l JOIN items AS i ON i.code = l.value`)
  const storePricesOf = one(`SELECT json_group_array(json_array(l.key, p.price))
    FROM json_each(?) AS l JOIN store_prices AS p ON p.line = l.value`)
  const COLUMNS = `'group', member_group, 'store', store, 'kind', kind, 'value', value,
    'minQuantity', min_quantity, 'from', from_date, 'until', until_date`
  const discountsOf = one(`SELECT json_group_array(json_array(l.key, json_object(${COLUMNS})))
    FROM json_each(?) AS l JOIN discounts AS d ON d.item = l.value`)
  const groupsOf = one('SELECT json_group_array(name) FROM members WHERE number = ?')
  const storeById = one('SELECT store FROM stores WHERE id = ?')
  const storeByNumber = db.prepare('SELECT id FROM stores WHERE number = ?')
  const inBox = db.prepare(`SELECT number FROM places
    WHERE max_latitude >= ? AND min_latitude <= ? AND max_longitude >= ? AND min_longitude <= ?`)
  inBox.setReturnArrays(true)

  /** Discounts of a category, or of everything (null): few, and asked for with every line. */
  const general = new Map<number | null, Discount[]>()
  for (const row of db
    .prepare(`SELECT category, json_object(${COLUMNS}) AS discount FROM discounts WHERE item IS NULL`)
    .iterate()) {
    const category = row.category as number | null
    const known = general.get(category) ?? []
    general.set(category, [...known, JSON.parse(String(row.discount))])
  }

  const stores = new Map<string, Store | null>()
  const ids = new Map<number, string>()
  function storeOf(id: string): Store | null {
    let store = stores.get(id)
    if (store === undefined) {
      const row = storeById(id)
      store = row ? (JSON.parse(String(row[0])) as Store) : null
      // Only what exists is kept: ids that do not are without number.
      if (store) stores.set(id, store)
    }
    return store
  }

  function nearest(place: Place, limit: number): NearStore[] {
    const found: NearStore[] = []
    for (const { minLatitude, maxLatitude, minLongitude, maxLongitude } of boxesAround(place)) {
      for (const [number] of inBox.all(minLatitude, maxLatitude, minLongitude, maxLongitude) as unknown as [
        number,
      ][]) {
        let id = ids.get(number)
        if (id === undefined) {
          id = String(storeByNumber.get(number)?.id)
          ids.set(number, id)
        }
        const store = storeOf(id)
        const away = store ? distanceKm(place, store) : Number.POSITIVE_INFINITY
        if (store && away <= place.radiusKm) found.push({ store, distanceKm: away })
      }
    }
    return found.sort((a, b) => a.distanceKm - b.distanceKm).slice(0, limit)
  }

  /** Rows of a statement by the line that they belong to. */
  function byLine<T extends unknown[]>(statement: ReturnType<typeof one>, keys: string[]): [number, ...T][] {
    return JSON.parse(String(statement(JSON.stringify(keys))?.[0]))
  }

  function prices(lines: readonly PriceLine[], memberNumber: string | null): (Price | NoPrice)[] {
    const groups: string[] = memberNumber === null ? [] : JSON.parse(String(groupsOf(memberNumber)?.[0]))
    if (memberNumber !== null && groups.length === 0) return lines.map(() => ({ error: 'member_unknown' }))
    const items: (Item | undefined)[] = new Array(lines.length)
    const codes = lines.map(({ itemId }) => itemId)
    for (const [at, ...item] of byLine<Item>(itemsOf, codes)) items[at] = item
    const flagged = (flag: number) => [...lines.keys()].filter((at) => ((items[at]?.[2] ?? 0) & flag) !== 0)

    const atStore = new Map<number, string>()
    const local = flagged(HAS_STORE_PRICES)
    if (local.length > 0) {
      const keys = local.map((at) => lineKey(lines[at]?.itemId ?? '', lines[at]?.storeId ?? ''))
      for (const [at, price] of byLine<[string]>(storePricesOf, keys)) atStore.set(local[at] ?? -1, price)
    }
    const own = new Map<number, Discount[]>()
    const discounted = flagged(HAS_DISCOUNTS)
    if (discounted.length > 0) {
      const keys = discounted.map((at) => lines[at]?.itemId ?? '')
      for (const [at, discount] of byLine<[Discount]>(discountsOf, keys)) {
        const line = discounted[at] ?? -1
        own.set(line, [...(own.get(line) ?? []), discount])
      }
    }

    return lines.map(({ storeId, quantity }, at) => {
      const item = items[at]
      if (!item) return { error: 'item_unknown' }
      const store = storeOf(storeId)
      if (!store) return { error: 'store_unknown' }
      const unitPrice = atStore.get(at) ?? item[0] ?? NONE
      if (unitPrice === NONE) return { error: 'item_not_in_range' }
      if (unitPrice === POA) return { error: 'price_on_application' }
      const offered = [general.get(null), item[1] === null ? undefined : general.get(item[1]), own.get(at)]
      if (!offered.some(Boolean)) return { unitPrice }
      const today = dateIn(store.tradingHours.timeZone, now())
      const given = offered
        .flat()
        .filter(
          (discount): discount is Discount =>
            discount !== undefined &&
            (discount.group === null || groups.includes(discount.group)) &&
            (discount.store === null || discount.store === storeId) &&
            quantity >= discount.minQuantity &&
            discount.from <= today &&
            today <= discount.until,
        )
      return given.length === 0
        ? { unitPrice }
        : { unitPrice, discount: bestDiscount(unitPrice, quantity, given) }
    })
  }

  return {
    store: async (id) => storeOf(id),
    nearest: async (place, limit) => nearest(place, limit),
    prices: async (lines, memberNumber) => prices(lines, memberNumber),
    close: () => db.close(),
  }
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The date in a time zone, as 2026-11-21. */
function dateIn(timeZone: string, ms: number): string {
  let format = formats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
    formats.set(timeZone, format)
  }
  return format.format(ms)
}
