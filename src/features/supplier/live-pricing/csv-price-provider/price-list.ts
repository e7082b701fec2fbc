import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { storeSchema } from '../../api/contract.ts'
import { bestDiscount } from '../money.ts'
import {
  type NoPrice,
  type Price,
  type PriceLine,
  type PriceProvider,
  PriceProviderError,
} from '../price-provider.ts'
import { NONE, POA } from './files.ts'

/** The folder in `DATA_DIR` to which `load-prices` writes the price list and from which the app reads it. */
export const priceListFolder = (dataDir: string) => join(dataDir, 'price-list')

/** The database file in the folder of a price list. */
export const priceListFile = (folder: string) => join(folder, 'prices.sqlite')

/**
 * Provides prices from the database that `load-prices` writes to a folder. Each call reads in one transaction, so that it
 * sees a single version of the price list. If there is no price list yet, methods that read it throw an error.
 */
export function openPriceList(folder: string, now: () => number = Date.now): Required<PriceProvider> {
  let opened: Queries | undefined

  function read<T>(work: (queries: Queries) => T): T {
    opened ??= openQueries(folder)
    const { db } = opened
    db.exec('BEGIN')
    try {
      return work(opened)
    } finally {
      db.exec('COMMIT')
    }
  }

  return {
    store: async (id) =>
      read((queries) => {
        const row = queries.store.get(id)
        return row ? parseStore(row.json) : null
      }),
    nearest: async (place, limit) =>
      read((queries) =>
        queries.nearest
          .all({ ...place, limit })
          .map(({ json, km }) => ({ store: parseStore(json), distanceKm: Number(km) })),
      ),
    prices: async (lines, memberNumber) => read((queries) => findPrices(queries, lines, memberNumber, now)),
    loaded() {
      try {
        return read(() => true)
      } catch {
        return false
      }
    },
    close: () => opened?.db.close(),
  }
}

type Queries = ReturnType<typeof openQueries>

function openQueries(folder: string) {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(priceListFile(folder), { readOnly: true, timeout: 1_000 })
    return prepareQueries(db)
  } catch (error) {
    db?.close()
    const problem = `no price list in ${folder}: run npm run feature -- live-pricing load-prices FOLDER`
    throw new PriceProviderError(problem, { cause: error })
  }
}

function prepareQueries(db: DatabaseSync) {
  db.function('distance_km', { deterministic: true, varargs: true }, (...coordinates) =>
    distanceKm(coordinates.map(Number)),
  )
  return {
    db,
    store: db.prepare('SELECT time_zone, json FROM stores WHERE id = ?'),
    // The same place has two longitudes at the antimeridian. The tolerance is for rounding errors.
    nearest: db.prepare(`
      SELECT json, distance_km(latitude, longitude, :latitude, :longitude) AS km FROM stores
      WHERE km <= :radiusKm + 1e-6 ORDER BY km LIMIT :limit`),
    item: db.prepare(`
      SELECT category, coalesce(prices.price, items.price) AS price
      FROM items LEFT JOIN prices ON item = code AND store = :store WHERE code = :item`),
    member: db.prepare('SELECT 1 FROM members WHERE number = ?'),
    // Among discounts of one kind, the best is the largest percentage, the largest amount, or the lowest price.
    discounts: db.prepare(`
      SELECT max(percent) AS percent, max(amount) AS amount, min(price) AS price FROM discounts
      WHERE (item, category) IN (VALUES (:item, ''), ('', :category), ('', ''))
        AND store IN ('', :store)
        AND ("group" = '' OR "group" IN (SELECT "group" FROM members WHERE number = :member))
        AND min_quantity <= :quantity AND :today BETWEEN "from" AND until`),
  }
}

const parseStore = (json: SQLOutputValue | undefined) => storeSchema.parse(JSON.parse(String(json)))

function findPrices(
  queries: Queries,
  lines: readonly PriceLine[],
  memberNumber: string | null,
  now: () => number,
): (Price | NoPrice)[] {
  if (memberNumber !== null && !queries.member.get(memberNumber))
    return lines.map(() => ({ error: 'member_unknown' }))
  const ms = now()
  return lines.map(({ itemId, storeId, quantity }) => {
    const item = queries.item.get({ item: itemId, store: storeId })
    if (!item) return { error: 'item_unknown' }
    const store = queries.store.get(storeId)
    if (!store) return { error: 'store_unknown' }
    const { category = '', price } = item
    if (typeof price !== 'string' || price === NONE) return { error: 'item_not_in_range' }
    if (price === POA) return { error: 'price_on_application' }
    const today = dateIn(String(store.time_zone), ms)
    const sale = { item: itemId, category, store: storeId, member: memberNumber, quantity, today }
    return { unitPrice: price, discount: bestDiscount(price, quantity, queries.discounts.get(sale) ?? {}) }
  })
}

/** The mean radius of the Earth (IUGG), in kilometres. */
const EARTH_KM = 6371.0088

/** The great-circle distance between two places in degrees, in kilometres, by the haversine formula. */
function distanceKm(degrees: readonly number[]): number {
  const [fromLatitude = 0, fromLongitude = 0, latitude = 0, longitude = 0] = degrees.map(
    (angle) => (angle * Math.PI) / 180,
  )
  const haversine =
    Math.sin((latitude - fromLatitude) / 2) ** 2 +
    Math.cos(fromLatitude) * Math.cos(latitude) * Math.sin((longitude - fromLongitude) / 2) ** 2
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(haversine)))
}

/** Formats by time zone, because creating one takes as long as pricing ten lines. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** The date (YYYY-MM-DD) of a time (ms since 1970) in a time zone. */
function dateIn(timeZone: string, ms: number): string {
  const options = { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' } as const
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-CA', options)
  formats.set(timeZone, format)
  return format.format(ms)
}
