import type { DatabaseSync } from 'node:sqlite'
import type { Store } from '../../../supplier-api/contract.ts'
import type { NearStore, Place } from '../price-provider.ts'
import { type Box, boxesAround, distanceKm } from './great-circle.ts'

/** Tolerance for rounding errors, in kilometres: at the antimeridian, the same place has two longitudes. */
const ROUNDING_KM = 1e-6

/** Looks up the stores of a price list by id and by location. Stores that were looked up stay in memory. */
export function openStores(db: DatabaseSync) {
  const storeById = db.prepare('SELECT store FROM stores WHERE id = ?')
  const idByNumber = db.prepare('SELECT id FROM stores WHERE number = ?')
  const byId = new Map<string, Store>()
  const byNumber = new Map<number, Store>()
  const places = loadPlaces(db)

  function findStore(id: string): Store | null {
    const cached = byId.get(id)
    if (cached) return cached
    const row = storeById.get(id)
    // Don't cache unknown ids, which are unlimited.
    if (!row) return null
    const store = Object.freeze(JSON.parse(String(row.store)) as Store)
    byId.set(id, store)
    return store
  }

  function findByNumber(number: number): Store {
    const cached = byNumber.get(number)
    if (cached) return cached
    const store = findStore(String(idByNumber.get(number)?.id)) as Store
    byNumber.set(number, store)
    return store
  }

  function nearest(place: Place, limit: number): NearStore[] {
    const found = boxesAround(place)
      .flatMap((box) => numbersIn(places, box))
      .map((number) => {
        const store = findByNumber(number)
        return { store, distanceKm: distanceKm(place, store) }
      })
      .filter((near) => near.distanceKm <= place.radiusKm + ROUNDING_KM)
    return found.sort((a, b) => a.distanceKm - b.distanceKm).slice(0, limit)
  }

  return { findStore, nearest }
}

/** The locations of all stores in degrees and in single precision, sorted by latitude. */
interface Places {
  numbers: number[]
  latitudes: Float32Array
  longitudes: Float32Array
}

function loadPlaces(db: DatabaseSync): Places {
  const select = db.prepare('SELECT number, min_latitude, min_longitude FROM places ORDER BY min_latitude')
  select.setReturnArrays(true)
  const rows = select.all() as unknown as [number, number, number][]
  return {
    numbers: rows.map(([number]) => number),
    latitudes: Float32Array.from(rows, ([, latitude]) => latitude),
    longitudes: Float32Array.from(rows, ([, , longitude]) => longitude),
  }
}

/** The numbers of the stores in a box. A binary search in memory is faster than a query of the R*Tree. */
function numbersIn({ numbers, latitudes, longitudes }: Places, box: Box): number[] {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((latitudes[middle] as number) < box.minLatitude) low = middle + 1
    else high = middle
  }
  const found: number[] = []
  for (let index = low; index < numbers.length && (latitudes[index] as number) <= box.maxLatitude; index++) {
    const longitude = longitudes[index] as number
    if (longitude >= box.minLongitude && longitude <= box.maxLongitude) found.push(numbers[index] as number)
  }
  return found
}
