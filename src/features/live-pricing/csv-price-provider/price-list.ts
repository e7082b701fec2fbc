import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Store } from '../contract.ts'
import { bestDiscount, type Reduction } from '../money.ts'
import type { NearStore, NoPrice, Place, Price, PriceLine, PriceProvider } from '../price-provider.ts'
import { boxesAround, distanceKm } from './great-circle.ts'
import { lruLookup } from './lru-lookup.ts'

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

/** A row of an item: its price at every store (null: only where a store has one), its category, and flags. */
type Row = [line: number, price: string | null, category: number | null, more: number]

/** An item as it is priced: with every discount that may apply to it. */
interface Item {
  price: string | null
  hasStorePrices: boolean
  discounts: readonly Discount[]
}

/** What a distance may lose to rounding: the same place has two longitudes at the antimeridian. */
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

/** Opens one price list, which never changes. Throws when it is not a price list of this version. */
export function openPriceList(file: string, now: () => number = Date.now): PriceList {
  // Immutable: SQLite need not look, before each statement, whether somebody has written to the file.
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  const db = new DatabaseSync(url, { readOnly: true })
  try {
    const { user_version: version } = db.prepare('PRAGMA user_version').get() ?? {}
    if (version !== VERSION) throw new Error(`is not a price list of version ${VERSION}`)
  } catch (error) {
    db.close()
    throw error
  }
  const one = (sql: string) => {
    const statement = db.prepare(sql)
    statement.setReturnArrays(true)
    return (value: string) => statement.get(value) as unknown as unknown[] | undefined
  }
  // One statement for all lines, in and out as JSON: the way between SQLite and JavaScript costs more than the search.
  const findItems = one(`SELECT json_group_array(json_array(l.key, i.price, i.category, i.more))
    FROM json_each(?) AS l JOIN items AS i ON i.code = l.value`)
  const findStorePrices = one(`SELECT json_group_array(json_array(l.key, p.price))
    FROM json_each(?) AS l JOIN store_prices AS p ON p.line = l.value`)
  const COLUMNS = `'group', discounts.member_group, 'store', discounts.store, 'kind', discounts.kind,
    'value', discounts.value, 'minQuantity', discounts.min_quantity,
    'from', discounts.from_date, 'until', discounts.until_date`
  const findDiscounts = one(`SELECT json_group_array(json_array(l.key, json_object(${COLUMNS})))
    FROM json_each(?) AS l JOIN discounts ON discounts.item = l.value`)
  const findGroups = one('SELECT json_group_array(name) FROM members WHERE number = ?')
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
    const same = general.get(category)
    const discount: Discount = JSON.parse(String(row.discount))
    if (same) same.push(discount)
    else general.set(category, [discount])
  }

  const stores = new Map<string, Store | null>()
  const ids = new Map<number, string>()
  function storeOf(id: string): Store | null {
    let store = stores.get(id)
    if (store === undefined) {
      const row = storeById(id)
      store = row ? Object.freeze(JSON.parse(String(row[0])) as Store) : null
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
        if (store && away <= place.radiusKm + ROUNDING_KM) found.push({ store, distanceKm: away })
      }
    }
    return found.sort((a, b) => a.distanceKm - b.distanceKm).slice(0, limit)
  }

  /** What a statement finds for keys; each row begins with the number of its key. */
  function rowsOf<T extends unknown[]>(statement: ReturnType<typeof one>, keys: string[]): T[] {
    return keys.length === 0 ? [] : JSON.parse(String(statement(JSON.stringify(keys))?.[0]))
  }

  /** Discounts of everything and of a category: one array for all items that have no others. */
  const shared = new Map<number | null, Discount[]>()
  function discountsOf(category: number | null): Discount[] {
    let discounts = shared.get(category)
    if (discounts === undefined) {
      const ofCategory = category === null ? undefined : general.get(category)
      discounts = [...(general.get(null) ?? []), ...(ofCategory ?? [])]
      shared.set(category, discounts)
    }
    return discounts
  }

  const itemsAt = lruLookup((codes): Map<string, Item> => {
    const rows = rowsOf<Row>(findItems, codes)
    const discounted = rows.flatMap(([at, , , more]) => (more & HAS_DISCOUNTS ? (codes[at] ?? '') : []))
    const own = new Map<string, Discount[]>(discounted.map((code) => [code, []]))
    for (const [at, discount] of rowsOf<[number, Discount]>(findDiscounts, discounted))
      own.get(discounted[at] ?? '')?.push(discount)
    return new Map(
      rows.map(([at, price, category, more]) => {
        const code = codes[at] ?? ''
        const [all, its] = [discountsOf(category), own.get(code)]
        const hasStorePrices = (more & HAS_STORE_PRICES) !== 0
        return [code, { price, hasStorePrices, discounts: its ? [...all, ...its] : all }]
      }),
    )
  })

  const storePricesAt = lruLookup((keys): Map<string, string | null> => {
    const prices = new Map<string, string | null>(keys.map((key) => [key, null]))
    for (const [at, price] of rowsOf<[number, string]>(findStorePrices, keys))
      prices.set(keys[at] ?? '', price)
    return prices
  })

  const groupsAt = lruLookup((numbers): Map<string, string[]> => {
    const groups = numbers.map((number): [string, string[]] => [
      number,
      JSON.parse(String(findGroups(number)?.[0])),
    ])
    return new Map(groups.filter(([, names]) => names.length > 0))
  })

  function prices(lines: readonly PriceLine[], memberNumber: string | null): (Price | NoPrice)[] {
    const groups = memberNumber === null ? [] : (groupsAt([memberNumber])[0] ?? [])
    if (memberNumber !== null && groups.length === 0) return lines.map(() => ({ error: 'member_unknown' }))
    const items = itemsAt(lines.map(({ itemId }) => itemId))
    const local = lines.flatMap(({ storeId }, at) =>
      items[at]?.hasStorePrices && storeOf(storeId) ? [at] : [],
    )
    const theirs = storePricesAt(
      local.map((at) => lineKey(lines[at]?.itemId ?? '', lines[at]?.storeId ?? '')),
    )
    const atStore = new Map(local.map((at, number) => [at, theirs[number]]))
    const ms = now()

    return lines.map(({ storeId, quantity }, at) => {
      const item = items[at]
      if (!item) return { error: 'item_unknown' }
      const store = storeOf(storeId)
      if (!store) return { error: 'store_unknown' }
      const unitPrice = atStore.get(at) ?? item.price ?? NONE
      if (unitPrice === NONE) return { error: 'item_not_in_range' }
      if (unitPrice === POA) return { error: 'price_on_application' }
      if (item.discounts.length === 0) return { unitPrice }
      const today = dateIn(store.tradingHours.timeZone, ms)
      const given = item.discounts.filter(
        ({ group, store, minQuantity, from, until }) =>
          (group === null || groups.includes(group)) &&
          (store === null || store === storeId) &&
          quantity >= minQuantity &&
          from <= today &&
          today <= until,
      )
      const discount = bestDiscount(unitPrice, quantity, given)
      return discount === undefined ? { unitPrice } : { unitPrice, discount }
    })
  }

  return {
    store: async (id) => storeOf(id),
    nearest: async (place, limit) => nearest(place, limit),
    prices: async (lines, memberNumber) => prices(lines, memberNumber),
    close: () => db.close(),
  }
}

const MINUTE_MS = 60_000
const days = new Map<string, { format: Intl.DateTimeFormat; minute: number; day: string }>()

/** The date in a time zone, as 2026-11-21. Days begin with a minute, so it is looked up once a minute. */
function dateIn(timeZone: string, ms: number): string {
  const minute = Math.floor(ms / MINUTE_MS)
  const seen = days.get(timeZone)
  if (seen?.minute === minute) return seen.day
  const format =
    seen?.format ??
    new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const day = format.format(ms)
  days.set(timeZone, { format, minute, day })
  return day
}
