import type { Search } from './client.ts'
import { type Coordinates, DEFAULT_PLACES, RADII } from './geography.ts'
import { isClientError } from './http.ts'
import { firstOf } from './outcomes.ts'
import { coordinatesOf, type StoreId } from './read.ts'
import { remember, type Supplier } from './rule.ts'

/** A store with an id and coordinates. */
export interface LocatedStore {
  id: StoreId
  at: Coordinates
}

/** What is needed where no store is known. */
export const NO_STORES = 'no store was found; name a place with stores nearby: --near LAT,LON'

/** The searches around `--near`, or some cities, and `--store`. Throws `UnprovenError` if each is refused. */
export const discoveredBy = remember(async ({ client, known }: Supplier): Promise<Search[]> => {
  const { near, storeId } = known
  const named = storeId === undefined ? undefined : coordinatesOf((await client.lookUp(storeId)).json)
  const searches: Search[] = []
  for (const place of [...(near ? [near] : DEFAULT_PLACES), ...(named ? [named] : [])])
    for (const radius of RADII) searches.push(await client.search({ ...place, radius }))
  const answered = searches.filter(({ exchange }) => !isClientError(exchange))
  firstOf(answered, 'every search is refused; the names of its parameters are an assumption')
  return answered
})

/** The stores that the searches find, each once. Throws `UnprovenError` if there are none, or if they have no id. */
export const knownStores = remember(async (supplier: Supplier) => {
  const found = (await discoveredBy(supplier)).flatMap(({ stores }) => stores)
  const stores = found.flatMap(({ id, at }) => (id === undefined ? [] : [{ id, at }]))
  const byId = new Map(stores.map((store) => [String(store.id), store]))
  firstOf(found, NO_STORES)
  firstOf(stores, 'no store has a field like id; the specification does not show its name')
  return [...byId.values()]
})

/** The stores whose coordinates can be read. Throws `UnprovenError` if there are none. */
export async function locatedStores(supplier: Supplier): Promise<LocatedStore[]> {
  const located = (await knownStores(supplier)).flatMap(({ at, id }) => (at ? [{ id, at }] : []))
  firstOf(located, 'no store that is found has coordinates; the specification does not show their fields')
  return located
}

/** At most `count` of these, spread evenly. */
export const spread = <T>(all: readonly T[], count: number): T[] =>
  all.filter((_, index) => index % Math.ceil(all.length / count) === 0)
