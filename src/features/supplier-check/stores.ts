import { type Exchange, isRecord } from './exchange.ts'
import {
  type Coordinates,
  DEFAULT_PLACES,
  distanceKm,
  type Place,
  RADII,
  searchPath,
  storePath,
} from './places.ts'
import { NotCheckedError, remember, type Subject, UNKNOWN_ID, withToken } from './rule.ts'

/** A JSON object that describes a store. */
export type StoreJson = Record<string, unknown>

/** A store that a search found. */
export interface FoundStore {
  id: string | number
  json: StoreJson
  /** The search that found it. */
  exchange: Exchange
}

/** A search for stores. */
export interface Search {
  place: Place
  exchange: Exchange
  /** The objects that it found; empty if the answer is not an array. */
  stores: StoreJson[]
}

/** Searches in several places. `stores`: all that were found and have an id, each once. */
export const findStores = remember(async (subject: Subject) => {
  const { near } = subject
  const places = near ? RADII.map((radius) => ({ ...near, radius })) : DEFAULT_PLACES
  const tries: Search[] = []
  const stores = new Map<string, FoundStore>()
  for (const place of places) {
    const search = await searchStores(subject, place)
    tries.push(search)
    for (const json of search.stores) {
      const id = idOf(json)
      if (id !== undefined && !stores.has(String(id)))
        stores.set(String(id), { id, json, exchange: search.exchange })
    }
  }
  return { tries, stores: [...stores.values()] }
})

/** Searches for stores. */
export async function searchStores(subject: Subject, place: Place): Promise<Search> {
  const exchange = await withToken(subject, searchPath(place))
  const stores = Array.isArray(exchange.json) ? exchange.json.filter(isRecord) : []
  return { place, exchange, stores }
}

/** The most stores that are looked up. */
const MAX_LOOKUPS = 50

/** Looks up the stores that were found, at most `MAX_LOOKUPS`, and the one that `--store` names. */
export const lookUpStores = remember(async (subject: Subject) => {
  const { stores } = await findStores(subject)
  const ids = stores.slice(0, MAX_LOOKUPS).map(({ id }) => id)
  if (subject.storeId !== undefined && !ids.some((id) => String(id) === subject.storeId))
    ids.unshift(subject.storeId)
  const lookups: { id: string | number; exchange: Exchange; found: FoundStore | undefined }[] = []
  for (const id of ids)
    lookups.push({
      id,
      exchange: await withToken(subject, storePath(id)),
      found: stores.find((store) => store.id === id),
    })
  return lookups
})

/** What is needed where no store is known. */
export const NO_STORES = 'no store was found; name a location with stores nearby: --near LAT,LON'

/** What is needed where one store is not enough. */
export const ONE_STORE = 'only one store was found; name a location between several: --near LAT,LON'

/** The id of a store for price requests, as the implementation writes it. Throws `NotCheckedError` if there is none. */
export async function knownStore(subject: Subject): Promise<string | number> {
  const { stores } = await findStores(subject)
  if (subject.storeId !== undefined)
    return stores.find(({ id }) => String(id) === subject.storeId)?.id ?? subject.storeId
  const [first] = stores
  if (!first) throw new NotCheckedError('no store with an id was found; name one with --store ID')
  return first.id
}

/** An id that does not exist, of the same type as another. */
export function unknownLike(id: string | number): string | number {
  if (typeof id === 'number') return 987_654_321
  return /^\d+$/.test(id) ? '987654321' : UNKNOWN_ID
}

/** The id of a store: `id`, or a similar name, as the specification does not name the field. */
export function idOf(store: StoreJson): string | number | undefined {
  const id = fieldOf(store, ['id', 'storeid', 'identifier'])
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? id : undefined
}

/** The coordinates of a store, in the store or in an object of it; undefined if there are none. */
export function coordinatesOf(store: StoreJson): Coordinates | undefined {
  for (const json of [store, ...Object.values(store).filter(isRecord)]) {
    const [latitude, longitude] = [
      fieldOf(json, ['latitude', 'lat']),
      fieldOf(json, ['longitude', 'lng', 'lon', 'long']),
    ].map((value) => (typeof value === 'string' && value !== '' ? Number(value) : value))
    if (typeof latitude === 'number' && typeof longitude === 'number' && Math.abs(latitude) <= 90)
      if (Math.abs(longitude) <= 180) return { latitude, longitude }
  }
  return undefined
}

/** A value by the name of its field, in any letter case and with or without separators. */
function fieldOf(json: StoreJson, names: readonly string[]): unknown {
  const [, value] =
    Object.entries(json).find(([name]) => names.includes(name.toLowerCase().replaceAll(/[_-]/g, ''))) ?? []
  return value
}

/** A store with coordinates. */
export interface LocatedStore extends FoundStore {
  at: Coordinates
}

/** The stores that were found, with their coordinates. Throws `NotCheckedError` if there are none. */
export async function locatedStores(subject: Subject): Promise<LocatedStore[]> {
  const { stores } = await findStores(subject)
  if (stores.length === 0) throw new NotCheckedError(NO_STORES)
  const located = stores.flatMap((store) => {
    const at = coordinatesOf(store.json)
    return at ? [{ ...store, at }] : []
  })
  if (located.length === 0) throw new NotCheckedError('the stores have no latitude and longitude')
  return located
}

/** The distance from a store to the nearest of the others that is not at the same place, in kilometres. */
export function neighbourKm(store: LocatedStore, others: readonly LocatedStore[]): number {
  return Math.min(...others.filter(({ id }) => id !== store.id).map(({ at }) => distanceKm(store.at, at)))
}
