import * as z from 'zod'
import { storeSchema } from '../contract.ts'
import type { Exchange, Probe } from './probe.ts'
import {
  arrayOf,
  Broken,
  expectStatus,
  isRecord,
  MADE_UP,
  NOWHERE,
  query,
  type Rule,
  type Subject,
  storePath,
  Unchecked,
  withToken,
} from './rule.ts'

/** Where stores are looked for, and how far around, in kilometres. */
const TRIED = [
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

/** How far around the place that was named. */
const WIDENING = [5, 50, 500, 5_000]
/** So many stores tell an order, a radius and ids of their own. */
const ENOUGH = 5

interface Search {
  exchange: Exchange
  place: { latitude?: number; longitude?: number; radius: number }
  stores: Record<string, unknown>[]
}

const searches = new WeakMap<Probe, Promise<Search>>()
/** The first search that finds enough stores; otherwise the one that finds the most. */
function search(subject: Subject): Promise<Search> {
  const known = searches.get(subject.probe)
  if (known) return known
  const found = (async () => {
    const { near } = subject
    const places = near ? WIDENING.map((radius) => ({ ...near, radius })) : TRIED
    let best: Search | undefined
    for (const place of places) {
      const exchange = await withToken(subject.probe, query(place))
      if (!Array.isArray(exchange.json) || exchange.json.length <= (best?.stores.length ?? 0)) continue
      best = { exchange, place, stores: exchange.json.filter(isRecord) }
      if (best.stores.length >= ENOUGH) return best
    }
    if (best) return best
    throw new Unchecked('no store was found; name a place with stores around it: --near LATITUDE,LONGITUDE')
  })()
  searches.set(subject.probe, found)
  return found
}

/** A store to ask prices at. Throws `Unchecked` when none is known. */
export async function knownStore(subject: Subject): Promise<string> {
  if (subject.storeId !== undefined) return subject.storeId
  const [first] = (await search(subject)).stores
  if (typeof first?.id !== 'string')
    throw new Unchecked('no store with an id was found; name one: --store ID')
  return first.id
}

const ONE_STORE = 'only one store was found; name a place between several: --near LATITUDE,LONGITUDE'

/** Throws `Broken` for what is no Store; fields that we do not know pass. */
function inForm(store: unknown, what: string, exchange: Exchange): void {
  const { issues = [] } = storeSchema.safeParse(store).error ?? {}
  const issue = issues.find(({ code }) => code !== 'unrecognized_keys')
  if (issue) throw new Broken(`${[what, ...issue.path].join('.')}: ${issue.message}.`, exchange)
}

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
    says: 'GET /stores/nearest is answered 200 with a JSON array of stores.',
    async check(subject) {
      const exchange = await withToken(subject.probe, query(NOWHERE))
      arrayOf(exchange, 'A search for stores')
      const found = await search(subject)
      if (found.stores.length < arrayOf(found.exchange, 'A search for stores').length)
        throw new Broken('Each element of the array must be a Store.', found.exchange)
      return found.exchange
    },
  },
  {
    id: 'nearest.empty',
    section: '7',
    basis: 'given',
    says: 'A search with no store in range is answered 200 with an empty array.',
    async check({ probe }) {
      const exchange = await withToken(probe, query(NOWHERE))
      const stores = arrayOf(exchange, 'A search in the middle of an ocean')
      if (stores.length === 0) return exchange
      throw new Broken('A search in the middle of an ocean found a store within 1 km.', exchange)
    },
  },
  {
    id: 'nearest.ids',
    section: '2.2',
    basis: 'given',
    says: 'Each store has an id of its own, which is text.',
    async check(subject) {
      const { exchange, stores } = await search(subject)
      const ids = stores.map(({ id }) => id)
      if (ids.some((id) => typeof id !== 'string' || id === ''))
        throw new Broken('A store has no id that is text.', exchange)
      if (new Set(ids).size < ids.length) throw new Broken('Two stores have the same id.', exchange)
      if (ids.length < 2) throw new Unchecked(ONE_STORE)
      return exchange
    },
  },
  {
    id: 'nearest.range',
    section: '4.1',
    basis: 'assumed',
    says: 'The stores are within the radius, which is in kilometres, and the nearest is first.',
    async check(subject) {
      const { exchange, place, stores } = await search(subject)
      const read = z.object({ latitude: z.number(), longitude: z.number() }).array().safeParse(stores)
      if (!read.success) throw new Unchecked('the stores do not say where they are (store.form)')
      const from = { latitude: Number(place.latitude), longitude: Number(place.longitude) }
      const distances = read.data.map((store) => distanceOf(from, store))
      // Another model of the Earth may differ by a little.
      const near = (a: number, b: number) => a <= b * 1.006 + 0.05
      const far = distances.find((distance) => !near(distance, place.radius))
      if (far !== undefined)
        throw new Broken(
          `A store is ${far.toFixed(1)} km away, beyond the radius of ${place.radius} km.`,
          exchange,
        )
      if (!distances.every((distance, at) => near(distances[at - 1] ?? 0, distance)))
        throw new Broken('The stores are not in the order of their distance.', exchange)
      if (distances.length < 2) throw new Unchecked(ONE_STORE)
      return exchange
    },
  },
  {
    id: 'nearest.radius',
    section: '4.1',
    basis: 'assumed',
    says: 'The distance is a radius in kilometres: a narrower search finds the nearer stores, and all of them.',
    async check(subject) {
      const { place, stores } = await search(subject)
      const read = z
        .object({ id: z.string(), latitude: z.number(), longitude: z.number() })
        .array()
        .safeParse(stores)
      if (!read.success) throw new Unchecked('the stores do not say where they are (store.form)')
      const from = { latitude: Number(place.latitude), longitude: Number(place.longitude) }
      const distances = read.data.map((store) => distanceOf(from, store)).sort((a, b) => a - b)
      // Between two stores that are close enough for a mile or a diameter to make a difference.
      const at = distances.findIndex((near, index) => {
        const ratio = (distances[index + 1] ?? 0) / near
        return near > 0.5 && ratio > 1.02 && ratio < 2.5
      })
      if (at < 0)
        throw new Unchecked(
          'too few stores were found to tell; name a place between several: --near LATITUDE,LONGITUDE',
        )
      const radius = Math.sqrt((distances[at] ?? 0) * (distances[at + 1] ?? 0)).toFixed(3)
      const exchange = await withToken(subject.probe, query({ ...from, radius }))
      const found = arrayOf(exchange, 'A narrower search').length
      if (found === at + 1) return exchange
      throw new Broken(`Within ${radius} km are ${at + 1} of the stores, and ${found} are found.`, exchange)
    },
  },
  {
    id: 'nearest.input',
    section: '4.1',
    basis: 'assumed',
    says: 'A search without latitude, longitude or radius, or with a latitude that is none, is answered 400.',
    async check({ probe }) {
      const { latitude, longitude, radius } = NOWHERE
      const bad = [
        { longitude, radius },
        { latitude, radius },
        { latitude, longitude },
        { latitude: 'north', longitude, radius },
      ]
      let last: Exchange | undefined
      for (const place of bad) {
        last = await withToken(probe, query(place))
        expectStatus(
          last,
          400,
          `A search with ${Object.keys(place).join(' and ')} alone, or with a bad latitude,`,
        )
      }
      return last as Exchange
    },
  },
  {
    id: 'store.one',
    section: '4.1',
    basis: 'given',
    says: 'GET /stores/{id} is answered 200 with that store.',
    async check(subject) {
      const id = await knownStore(subject)
      const exchange = await withToken(subject.probe, storePath(id))
      expectStatus(exchange, 200, `The lookup of the store ${id}`)
      if (isRecord(exchange.json) && exchange.json.id === id) return exchange
      throw new Broken(`The answer is not the store ${id}.`, exchange)
    },
  },
  {
    id: 'store.unknown',
    section: '7',
    basis: 'given',
    says: 'GET /stores/{id} with an id that does not exist is answered 404.',
    async check({ probe }) {
      const exchange = await withToken(probe, storePath(MADE_UP))
      expectStatus(exchange, 404, 'The lookup of a store that does not exist')
      return exchange
    },
  },
  {
    id: 'store.form',
    section: '2.2',
    basis: 'assumed',
    says: 'A store has a name, an address, a place and trading hours, of the forms that the OpenAPI document shows.',
    async check(subject) {
      const exchange = await withToken(subject.probe, storePath(await knownStore(subject)))
      inForm(exchange.json, 'the store', exchange)
      return exchange
    },
  },
  {
    id: 'nearest.form',
    section: '4.1',
    basis: 'assumed',
    says: 'The elements that a search answers are Stores, of the same form (store.form).',
    async check(subject) {
      const { exchange, stores } = await search(subject)
      for (const [at, store] of stores.entries()) inForm(store, `store ${at + 1}`, exchange)
      return exchange
    },
  },
]
