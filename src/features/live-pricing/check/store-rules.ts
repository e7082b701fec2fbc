import * as z from 'zod'
import { storeSchema } from '../contract.ts'
import type { Exchange, Probe } from './probe.ts'
import {
  arrayOf,
  expectStatus,
  isRecord,
  NotCheckedError,
  query,
  REMOTE_PLACE,
  type Rule,
  RuleViolationError,
  type Subject,
  storePath,
  UNKNOWN_ID,
  withToken,
} from './rule.ts'

/** Default search locations; the radius is in kilometres. */
const DEFAULT_PLACES = [
  [-25, 134, 2500],
  [-33.87, 151.21, 100],
  [-37.81, 144.96, 100],
  [-27.47, 153.03, 100],
  [-31.95, 115.86, 100],
  [-34.93, 138.6, 100],
  [-41.29, 174.78, 800],
  [51.51, -0.13, 500],
  [39.8, -98.6, 2500],
  [0, 0, 20_000],
].map(([latitude = 0, longitude = 0, radius = 0]) => ({ latitude, longitude, radius }))

/** Radii to try around `near`, in kilometres. */
const RADII = [5, 50, 500, 5_000]
/** Number of stores needed to check order, radius and unique ids. */
const ENOUGH_STORES = 5

interface Search {
  exchange: Exchange
  place: { latitude?: number; longitude?: number; radius: number }
  stores: Record<string, unknown>[]
}

const searches = new WeakMap<Probe, Promise<Search>>()
/** Runs, once per probe, the first search that finds enough stores, or else the one that finds the most. */
function search(subject: Subject): Promise<Search> {
  const cached = searches.get(subject.probe)
  if (cached) return cached
  const result = (async () => {
    const { near } = subject
    const places = near ? RADII.map((radius) => ({ ...near, radius })) : DEFAULT_PLACES
    let best: Search | undefined
    for (const place of places) {
      const exchange = await withToken(subject.probe, query(place))
      if (!Array.isArray(exchange.json) || exchange.json.length <= (best?.stores.length ?? 0)) continue
      best = { exchange, place, stores: exchange.json.filter(isRecord) }
      if (best.stores.length >= ENOUGH_STORES) return best
    }
    if (best) return best
    throw new NotCheckedError(
      'no stores were found; specify a location with stores nearby: --near LATITUDE,LONGITUDE',
    )
  })()
  searches.set(subject.probe, result)
  return result
}

/** Resolves to the id of a store for price requests. Throws `NotCheckedError` if there is none. */
export async function knownStore(subject: Subject): Promise<string> {
  if (subject.storeId !== undefined) return subject.storeId
  const [first] = (await search(subject)).stores
  if (typeof first?.id !== 'string')
    throw new NotCheckedError('no store with an id was found; specify one with --store ID')
  return first.id
}

const ONE_STORE = 'only one store was found; specify a location between several: --near LATITUDE,LONGITUDE'

/** Throws `RuleViolationError` if the value is not a Store. Unknown fields are allowed. */
function expectStore(store: unknown, label: string, exchange: Exchange): void {
  const { issues = [] } = storeSchema.safeParse(store).error ?? {}
  const issue = issues.find(({ code }) => code !== 'unrecognized_keys')
  if (issue) throw new RuleViolationError(`${[label, ...issue.path].join('.')}: ${issue.message}.`, exchange)
}

/** Distance in kilometres, independent of the implementation in `csv-price-provider`. */
function distanceOf(
  a: { latitude: number; longitude: number },
  b: { latitude: number; longitude: number },
): number {
  const rad = Math.PI / 180
  const cosine =
    Math.sin(a.latitude * rad) * Math.sin(b.latitude * rad) +
    Math.cos(a.latitude * rad) * Math.cos(b.latitude * rad) * Math.cos((a.longitude - b.longitude) * rad)
  return 6371 * Math.acos(Math.max(-1, Math.min(1, cosine)))
}

/** Stores (specification 2.2, 4.1, 7). */
export const STORE_RULES: Rule[] = [
  {
    id: 'nearest.array',
    section: '4.1',
    basis: 'given',
    requirement: 'GET /stores/nearest returns 200 with a JSON array of stores.',
    async check(subject) {
      const exchange = await withToken(subject.probe, query(REMOTE_PLACE))
      arrayOf(exchange, 'A search for stores')
      const found = await search(subject)
      if (found.stores.length < arrayOf(found.exchange, 'A search for stores').length)
        throw new RuleViolationError('Each element of the array must be a Store.', found.exchange)
      return found.exchange
    },
  },
  {
    id: 'nearest.empty',
    section: '7',
    basis: 'given',
    requirement: 'A search with no stores in range returns 200 with an empty array.',
    async check({ probe }) {
      const exchange = await withToken(probe, query(REMOTE_PLACE))
      const stores = arrayOf(exchange, 'A search in the middle of an ocean')
      if (stores.length === 0) return exchange
      throw new RuleViolationError('A search in the middle of an ocean found a store within 1 km.', exchange)
    },
  },
  {
    id: 'nearest.ids',
    section: '2.2',
    basis: 'given',
    requirement: 'Each store has a unique id, which is a string.',
    async check(subject) {
      const { exchange, stores } = await search(subject)
      const ids = stores.map(({ id }) => id)
      if (ids.some((id) => typeof id !== 'string' || id === ''))
        throw new RuleViolationError('A store has no id, or its id is not a string.', exchange)
      if (new Set(ids).size < ids.length)
        throw new RuleViolationError('Two stores have the same id.', exchange)
      if (ids.length < 2) throw new NotCheckedError(ONE_STORE)
      return exchange
    },
  },
  {
    id: 'nearest.range',
    section: '4.1',
    basis: 'assumed',
    requirement: 'The stores are within the radius, in kilometres, and sorted by distance.',
    async check(subject) {
      const { exchange, place, stores } = await search(subject)
      const parsed = z.object({ latitude: z.number(), longitude: z.number() }).array().safeParse(stores)
      if (!parsed.success) throw new NotCheckedError('the stores have no coordinates (see store.form)')
      const from = { latitude: Number(place.latitude), longitude: Number(place.longitude) }
      const distances = parsed.data.map((store) => distanceOf(from, store))
      // Tolerate small differences between models of the Earth.
      const near = (a: number, b: number) => a <= b * 1.006 + 0.05
      const far = distances.find((distance) => !near(distance, place.radius))
      if (far !== undefined)
        throw new RuleViolationError(
          `A store is ${far.toFixed(1)} km away, beyond the radius of ${place.radius} km.`,
          exchange,
        )
      if (!distances.every((distance, index) => near(distances[index - 1] ?? 0, distance)))
        throw new RuleViolationError('The stores are not sorted by distance.', exchange)
      if (distances.length < 2) throw new NotCheckedError(ONE_STORE)
      return exchange
    },
  },
  {
    id: 'nearest.radius',
    section: '4.1',
    basis: 'assumed',
    requirement: 'The radius is in kilometres: a smaller radius returns exactly the stores within it.',
    async check(subject) {
      const { place, stores } = await search(subject)
      const parsed = z
        .object({ id: z.string(), latitude: z.number(), longitude: z.number() })
        .array()
        .safeParse(stores)
      if (!parsed.success) throw new NotCheckedError('the stores have no coordinates (see store.form)')
      const from = { latitude: Number(place.latitude), longitude: Number(place.longitude) }
      const distances = parsed.data.map((store) => distanceOf(from, store)).sort((a, b) => a - b)
      // Choose a radius between two stores such that miles or a diameter would give a different result.
      const last = distances.findIndex((near, index) => {
        const ratio = (distances[index + 1] ?? 0) / near
        return near > 0.5 && ratio > 1.02 && ratio < 2.5
      })
      if (last < 0)
        throw new NotCheckedError(
          'too few stores were found; specify a location between several: --near LATITUDE,LONGITUDE',
        )
      const radius = Math.sqrt((distances[last] ?? 0) * (distances[last + 1] ?? 0)).toFixed(3)
      const exchange = await withToken(subject.probe, query({ ...from, radius }))
      const found = arrayOf(exchange, 'A narrower search').length
      if (found === last + 1) return exchange
      throw new RuleViolationError(
        `${last + 1} of the stores are within ${radius} km, but the search found ${found}.`,
        exchange,
      )
    },
  },
  {
    id: 'nearest.input',
    section: '4.1',
    basis: 'assumed',
    requirement: 'A search with a missing parameter or an invalid latitude returns 400.',
    async check({ probe }) {
      const { latitude, longitude, radius } = REMOTE_PLACE
      const invalid = [
        { longitude, radius },
        { latitude, radius },
        { latitude, longitude },
        { latitude: 'north', longitude, radius },
      ]
      let last: Exchange | undefined
      for (const place of invalid) {
        last = await withToken(probe, query(place))
        expectStatus(
          last,
          400,
          `A search with ${Object.keys(place).join(' and ')} only, or with an invalid latitude,`,
        )
      }
      return last as Exchange
    },
  },
  {
    id: 'store.one',
    section: '4.1',
    basis: 'given',
    requirement: 'GET /stores/{id} returns 200 with that store.',
    async check(subject) {
      const id = await knownStore(subject)
      const exchange = await withToken(subject.probe, storePath(id))
      expectStatus(exchange, 200, `The lookup of store ${id}`)
      if (isRecord(exchange.json) && exchange.json.id === id) return exchange
      throw new RuleViolationError(`The response is not store ${id}.`, exchange)
    },
  },
  {
    id: 'store.unknown',
    section: '7',
    basis: 'given',
    requirement: 'GET /stores/{id} with an unknown id returns 404.',
    async check({ probe }) {
      const exchange = await withToken(probe, storePath(UNKNOWN_ID))
      expectStatus(exchange, 404, 'The lookup of a store that does not exist')
      return exchange
    },
  },
  {
    id: 'store.form',
    section: '2.2',
    basis: 'assumed',
    requirement:
      'A store has a name, an address, coordinates and trading hours that match the OpenAPI document.',
    async check(subject) {
      const exchange = await withToken(subject.probe, storePath(await knownStore(subject)))
      expectStore(exchange.json, 'the store', exchange)
      return exchange
    },
  },
  {
    id: 'nearest.form',
    section: '4.1',
    basis: 'assumed',
    requirement: 'Search results are Stores that match the OpenAPI document (see store.form).',
    async check(subject) {
      const { exchange, stores } = await search(subject)
      for (const [index, store] of stores.entries()) expectStore(store, `store ${index + 1}`, exchange)
      return exchange
    },
  },
]
