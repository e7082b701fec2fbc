import type { Exchange } from './exchange.ts'
import { type Coordinates, distanceKm, placeAway, wrap } from './places.ts'
import {
  arrayOf,
  type Checks,
  firstOf,
  judge,
  judgeEach,
  NotCheckedError,
  RuleViolationError,
  remember,
  type Subject,
} from './rule.ts'
import {
  coordinatesOf,
  findStores,
  idOf,
  type LocatedStore,
  locatedStores,
  NO_STORES,
  neighbourKm,
  ONE_STORE,
  type Search,
  searchStores,
} from './stores.ts'

/** Whether a search found a store. */
export const hasFound = ({ stores }: Search, { id }: LocatedStore) =>
  stores.some((store) => String(idOf(store)) === String(id))

/** Whether a search is refused for what it asks for. */
const isInvalid = ({ status }: Exchange) => status === 400 || status === 422

/** Searches around a place. Throws `RuleViolationError` if the answer is not an array. */
async function searchAround(subject: Subject, at: Coordinates, km: number): Promise<Search> {
  const search = await searchStores(subject, {
    ...at,
    radius: km > 10 ? Math.round(km) : Number(km.toFixed(3)),
  })
  if (isInvalid(search.exchange))
    throw new NotCheckedError(
      `a search within ${search.place.radius} km is refused (${search.exchange.status})`,
    )
  arrayOf(search.exchange, `A search within ${search.place.radius} km`)
  return search
}

/** Throws `RuleViolationError` if a search found a store further away than it asked for. */
function expectWithin({ place, exchange, stores }: Search): void {
  for (const store of stores) {
    const at = coordinatesOf(store)
    const km = at ? distanceKm(place, at) : 0
    // Tolerate small differences between models of the Earth.
    if (km > place.radius * 1.006 + 0.05)
      throw new RuleViolationError(
        `A search within ${place.radius} km found a store that is ${km.toFixed(1)} km away.`,
        exchange,
      )
  }
}

/** Of such a distance, all multiples below are whole numbers: an implementation may take no others. */
const MAX_KM = 20
const MIN_KM = 0.3

/**
 * The store to search for, and how far from it: near enough that it is clearly the nearest, so that a limit on the number
 * of stores cannot hide it. Of several, the one furthest from the equator, where degrees of longitude are shortest.
 */
export async function target(subject: Subject): Promise<{ store: LocatedStore; km: number }> {
  const stores = await locatedStores(subject)
  const [best] = stores
    .map((store) => ({ store, km: Math.min(MAX_KM, neighbourKm(store, stores) / 3) }))
    .sort((a, b) => b.km - a.km || Math.abs(b.store.at.latitude) - Math.abs(a.store.at.latitude))
  if (best && best.km >= MIN_KM) return best
  throw new NotCheckedError(
    'no store stands far enough from the others; name another location: --near LAT,LON',
  )
}

interface Meaning {
  isRadius: boolean
  exchange: Exchange
}

/** Finds out whether the distance of a search is a radius or a diameter. Throws `RuleViolationError` if it is neither. */
const meaningOfDistance = remember(async (subject: Subject): Promise<Meaning> => {
  const { store, km } = await target(subject)
  await meaningAt(subject, store, placeAway(store.at, km, 'diagonal'))
  return meaningAt(subject, store, placeAway(store.at, km, 'east'))
})

async function meaningAt(subject: Subject, store: LocatedStore, from: Coordinates): Promise<Meaning> {
  const km = distanceKm(from, store.at)
  // Five percent: more than models of the Earth differ, less than other units or a flat map.
  const around = (factor: number) => searchAround(subject, from, km * factor)
  expectWithin(await around(0.95))
  const radius = await around(1.05)
  if (hasFound(radius, store)) return { isRadius: true, exchange: radius.exchange }
  const tooNarrow = await around(1.9)
  const diameter = await around(2.1)
  if (hasFound(diameter, store) && !hasFound(tooNarrow, store))
    return { isRadius: false, exchange: diameter.exchange }
  const missed = hasFound(diameter, store) ? radius : diameter
  if (missed.stores.length === 1) throw new NotCheckedError(ONE_STORE)
  throw new RuleViolationError(
    `A search within ${missed.place.radius} km did not find a store that is ${km.toFixed(1)} km away.`,
    missed.exchange,
  )
}

/** Throws `RuleViolationError` if stores are found only by a distance that is a thousand times larger. */
async function expectNoMetres(subject: Subject, tries: readonly Search[]): Promise<void> {
  for (const { place } of tries) {
    const search = await searchStores(subject, { ...place, radius: place.radius * 1000 })
    if (search.stores.length > 0)
      throw new RuleViolationError(
        `A search within ${place.radius} finds nothing, and one within ${search.place.radius} does: the distance is in kilometres, not in metres.`,
        search.exchange,
      )
  }
}

/** How far beyond the antimeridian to search, in degrees. */
const BEYOND = 0.1
const MAX_DEGREES = 90

/** The distances of a search (specification 4.1). */
export const DISTANCE_CHECKS: Checks = {
  async 'nearest.kilometres'(subject) {
    const { tries } = await findStores(subject)
    for (const search of tries) expectWithin(search)
    if (tries.every(({ stores }) => stores.length === 0)) await expectNoMetres(subject, tries)
    return (await meaningOfDistance(subject)).exchange
  },
  'nearest.radius': judge(
    meaningOfDistance,
    ({ isRadius }) => !isRadius && 'The distance of a search is taken as a diameter.',
  ),
  async 'nearest.here'(subject) {
    const stores = await locatedStores(subject)
    let proof: Exchange | undefined
    for (const store of stores.slice(0, 10)) {
      const search = await searchAround(subject, store.at, 2)
      // Beside it, as if the search before were remembered for the whole region.
      expectWithin(await searchAround(subject, placeAway(store.at, 7, 'east'), 2))
      if (hasFound(search, store)) proof ??= search.exchange
      // Where others are found, a limit on the number of stores may hide it.
      else if (search.stores.length === 0)
        throw new RuleViolationError(
          `The search at the location of store ${store.id} does not find it.`,
          search.exchange,
        )
    }
    if (proof) return proof
    throw new NotCheckedError(
      'searches find other stores at the same place; name another location: --near LAT,LON',
    )
  },
  async 'nearest.antimeridian'(subject) {
    const stores = await locatedStores(subject)
    const [store] = stores.sort((a, b) => Math.abs(b.at.longitude) - Math.abs(a.at.longitude))
    if (!store) throw new NotCheckedError(NO_STORES)
    const { latitude, longitude } = store.at
    const degrees = 180 - Math.abs(longitude) + BEYOND
    if (degrees > MAX_DEGREES) return store.exchange
    const side = Math.sign(longitude) || 1
    const beyond = { latitude, longitude: wrap(longitude + side * degrees) }
    const before = { latitude, longitude: wrap(longitude - side * degrees) }
    // Enough for a diameter too.
    const km = Math.min(20_000, distanceKm(store.at, beyond) * 2.2)
    const control = await searchStores(subject, { ...before, radius: Math.round(km) })
    // A limit on the distance or on the number of stores hides it on its own side as well.
    if (!hasFound(control, store)) return control.exchange
    const search = await searchAround(subject, beyond, km)
    const hasCrossed = search.stores.some((json) => Math.sign(coordinatesOf(json)?.longitude ?? 0) === side)
    if (hasFound(search, store) || hasCrossed) return search.exchange
    throw new RuleViolationError(
      `A search at longitude ${beyond.longitude.toFixed(1)} misses store ${store.id} at ${longitude}, which is in range.`,
      search.exchange,
    )
  },
  'nearest.distance-field': judgeEach(
    async (subject) => {
      const answers = (await findStores(subject)).tries.flatMap(({ place, exchange, stores }) =>
        stores.flatMap((store) => {
          const at = coordinatesOf(store)
          const { distance } = store
          return at && typeof distance === 'number' ? [{ exchange, distance, km: distanceKm(place, at) }] : []
        }),
      )
      const { exchange } = firstOf(answers, 'no search result has a number in the field distance')
      return { exchange, answers }
    },
    ({ distance, km }) =>
      Math.abs(distance - km) > km * 0.01 + 1 &&
      `The distance is ${distance}, but the store is ${km.toFixed(1)} km away.`,
  ),
}
