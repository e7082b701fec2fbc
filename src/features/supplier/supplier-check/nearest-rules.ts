import type { Search } from './client.ts'
import { type Coordinates, distanceKm, placeAway, REMOTE_PLACE, slackKm } from './geography.ts'
import { type Exchange, isClientError } from './http.ts'
import { expectStatus, expectThat, firstOf, inTurn, UnprovenError } from './outcomes.ts'
import { isRecord } from './read.ts'
import { type Rule, type Rules, remember, type Supplier } from './rule.ts'
import { discoveredBy, knownStores, type LocatedStore, locatedStores, spread } from './stores.ts'

/**
 * Distances in searches from places that are 20 km away from a store. They lie on both sides of 20 km, and on both sides of 40 km
 * in case the distance is a diameter (section 4.1 has both).
 */
const DISTANCES_KM = [16, 22, 30, 36, 44]
/** Up to this distance, every store must be found. A supplier may limit the distance (specification 8). */
const SURE_KM = 25
/** Wide distances. They are tried in this order until the supplier accepts one, because a supplier may refuse a distance. */
const WIDE_KM = [20_000, 5_000, 500, 100]
const MAX_PLACES = 6
/** Stores closer to a pole are left out, because degrees of longitude are too short there. */
const MAX_LATITUDE = 80

/** Throws `WrongError` unless a search returns an array, and `UnprovenError` if the supplier refuses the search. */
function expectArray({ place, exchange }: Search): Exchange {
  const what = `A search within ${place.radius} km`
  if (isClientError(exchange)) throw new UnprovenError(`${what} is refused (${exchange.status})`)
  expectStatus(exchange, [200], what)
  const holds = Array.isArray(exchange.json) && exchange.json.every(isRecord)
  return expectThat(holds, exchange, `${what} must return a JSON array of objects, also for one store.`)
}

const kmTo = ({ place }: Search, store: { at: Coordinates }) => distanceKm(place, store.at)

/** How far the furthest store of a search is, in kilometres; 0 if none has coordinates. */
const furthestKm = ({ place, stores }: Search) =>
  Math.max(0, ...stores.map(({ at }) => (at ? distanceKm(place, at) : 0)))

const hasFound = ({ stores }: Search, { id }: LocatedStore) =>
  stores.some((store) => String(store.id) === String(id))

/** Throws `WrongError` if a search found a store that is clearly further away than it asked for. */
function expectWithin(search: Search): Exchange {
  const { radius } = search.place
  const km = furthestKm(search)
  const message = `A search within ${radius} km finds a store that is ${km.toFixed(1)} km away.`
  return expectThat(km <= radius + slackKm(radius), search.exchange, message)
}

/** Throws `WrongError` if a search leaves out a store that is clearly nearer than another one that it finds. */
function expectNearest(search: Search, all: readonly LocatedStore[]): Exchange {
  const furthest = furthestKm(search)
  const isNearer = (km: number) => km + slackKm(km) < furthest
  const missed = all.find((store) => isNearer(kmTo(search, store)) && !hasFound(search, store))
  const message = `A search finds a store that is ${furthest.toFixed(1)} km away, and not store ${missed?.id}, which is nearer.`
  return expectThat(!missed, search.exchange, message)
}

/**
 * Throws `WrongError` if a search misses one of these stores within `reach` kilometres. A store may be missing
 * if the list is full. A full list has as many stores as the longest list of all searches (`limit`), and none of them is further
 * away than the missing store. Specification 8 does not show how long a list may be.
 */
function expectAll(search: Search, reach: number, all: readonly LocatedStore[], limit: number): Exchange {
  const { place, exchange, stores } = search
  const isFull = (km: number) =>
    stores.length > 0 && stores.length >= limit && furthestKm(search) <= km + slackKm(km)
  const near = all.filter((store) => kmTo(search, store) <= reach)
  const missed = near.find((store) => !hasFound(search, store) && !isFull(kmTo(search, store)))
  const km = missed ? kmTo(search, missed).toFixed(1) : ''
  const message = `A search within ${place.radius} km does not find store ${missed?.id}, which is ${km} km away.`
  return expectThat(!missed, exchange, message)
}

/**
 * Searches from places that are 20 km away from a store, for two stores. One of these is the furthest from the equator, where
 * degrees of longitude are shortest.
 */
const around = remember(async (supplier: Supplier): Promise<Search[]> => {
  const stores = (await locatedStores(supplier)).filter(({ at }) => Math.abs(at.latitude) < MAX_LATITUDE)
  const byLatitude = stores.toSorted((a, b) => Math.abs(b.at.latitude) - Math.abs(a.at.latitude))
  const searches: Search[] = []
  for (const { at } of new Set([...byLatitude.slice(0, 1), ...stores.slice(0, 1)]))
    for (const place of [placeAway(at, 20, 0), placeAway(at, 14.14, 14.14)])
      for (const radius of DISTANCES_KM) searches.push(await supplier.client.search({ ...place, radius }))
  return searches
})

/** The rule that a search at the mirror image of a store, on the other side of latitude or longitude 0, does not find it. */
const signRule = (name: 'latitude' | 'longitude'): Rule => ({
  given: ['4.1', `The sign of a ${name} counts: a search at the opposite ${name} does not find the store.`],
  needs: ['nearest.empty'],
  async check(supplier) {
    const stores = await locatedStores(supplier)
    // At latitude or longitude 0, and at longitude 180, the mirror image is the same place.
    const mirrored = stores.map(({ at, id }) => ({ id, at, place: { ...at, [name]: -at[name] } }))
    const far = mirrored.filter(({ at, place }) => distanceKm(at, place) > 4 * SURE_KM)
    const { at, place, ...store } = firstOf(far, `no store stands far enough from ${name} 0`)
    const search = await supplier.client.search({ ...place, radius: SURE_KM })
    expectArray(search)
    const message = `A search at ${name} ${place[name]} finds store ${store.id}, which is at ${at[name]}.`
    return expectThat(!search.stores.some(({ id }) => id === store.id), search.exchange, message)
  },
})

/** The search for stores (specification 2.2, 4.1, 7). */
export const NEAREST_RULES: Rules = {
  'nearest.array': {
    given: ['4.1', 'GET /stores/nearest returns a JSON array of stores.'],
    check: async (supplier) => inTurn(await discoveredBy(supplier), expectArray),
  },
  'nearest.empty': {
    given: ['7', 'A search with no store in range returns 200 and an empty array.'],
    needs: ['nearest.array'],
    async check({ client }) {
      const { exchange, stores } = await client.search(REMOTE_PLACE)
      const what = 'A search within 1 km in the middle of an ocean'
      expectStatus(exchange, [200], what)
      return expectThat(
        stores.length === 0 && Array.isArray(exchange.json),
        exchange,
        `${what} finds stores.`,
      )
    },
  },
  'nearest.longitude-sign': signRule('longitude'),
  'nearest.latitude-sign': signRule('latitude'),
  'nearest.zero-distance': {
    given: ['4.1', 'A search with a distance of 0 finds no store at another place.'],
    needs: ['nearest.empty'],
    async check(supplier) {
      const stores = spread(await locatedStores(supplier), MAX_PLACES)
      const places = stores.flatMap(({ at }) => [at, placeAway(at, 7, 7)])
      return inTurn(places, async (place) => {
        const search = await supplier.client.search({ ...place, radius: 0 })
        // The specification shows no limits of the distance, so a supplier may refuse 0.
        if (!isClientError(search.exchange)) expectArray(search)
        return expectWithin(search)
      })
    },
  },
  'nearest.all': {
    given: ['4.1', 'A search finds all stores within its distance, which may be a radius or a diameter.'],
    needs: ['nearest.empty'],
    async check(supplier) {
      const stores = await locatedStores(supplier)
      for (const { at } of spread(stores, MAX_PLACES)) await supplier.client.search({ ...at, radius: 2 })
      await inTurn(await around(supplier), expectArray)
      // Specification 8 shows no limits of the distance, so a supplier may refuse a search. A search with 0 finds nothing.
      const isUsual = ({ place, exchange }: Search) => place.radius > 0 && !isClientError(exchange)
      const searches = supplier.client.searches.filter(isUsual)
      const isBeyond = (search: Search, km: number) => furthestKm(search) > km + slackKm(km)
      const isRadius = searches.some((search) => isBeyond(search, search.place.radius / 2))
      const limit = Math.max(...searches.map((search) => search.stores.length))
      return inTurn(searches, (search) => {
        const reach = Math.min(search.place.radius / (isRadius ? 1 : 2), SURE_KM)
        return expectAll(search, Math.max(0, reach - slackKm(reach)), stores, limit)
      })
    },
  },
  'nearest.nearest': {
    given: ['4.1', 'A search leaves out no store that is nearer than one that it finds.'],
    needs: ['nearest.empty'],
    async check(supplier) {
      const stores = await locatedStores(supplier)
      for (const { at } of spread(stores, MAX_PLACES))
        for (const radius of WIDE_KM)
          if (!isClientError((await supplier.client.search({ ...at, radius })).exchange)) break
      return inTurn(supplier.client.searches, (search) => expectNearest(search, stores))
    },
  },
  'nearest.within': {
    given: ['4.1', 'A search finds no store further away than its distance, which is in kilometres.'],
    needs: ['nearest.empty'],
    async check(supplier) {
      await around(supplier)
      return inTurn(supplier.client.searches, expectWithin)
    },
  },
  'nearest.unique-ids': {
    given: ['2.2', 'Each store in a search result has an id of its own.'],
    needs: ['nearest.array'],
    async check(supplier) {
      await knownStores(supplier)
      return inTurn(supplier.client.searches, ({ exchange, stores }) => {
        const ids = stores.map(({ id }) => id).filter((id) => id !== undefined)
        const isUnique = new Set(ids.map(String)).size === ids.length
        return expectThat(isUnique, exchange, 'Two stores of a search result have the same id.')
      })
    },
  },
}
