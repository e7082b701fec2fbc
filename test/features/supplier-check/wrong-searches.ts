import type { Any, Tamper } from './model-supplier.ts'
import { body, type Cases, eachFound, isSearch, onGood, refusing, searchAs, status } from './tampers.ts'

const scaled = (factor: number) =>
  searchAs((query) => query.set('radius', String(Number(query.get('radius')) * factor)))
const found = (change: (stores: Any[], path: string) => unknown) =>
  body(isSearch, (stores, { path }) => change(stores, path))
const longitudeOf = (path: string) => Number(new URL(path, 'http://model').searchParams.get('longitude'))

/** Finds nothing when the first search is repeated: only those that overlap repeat it at once. */
function forgottenSearch(): Tamper {
  const times = new Map<string, number>()
  return found((stores, path) => {
    if (stores.length > 0) times.set(path, (times.get(path) ?? 0) + 1)
    return times.get(path) === 2 ? [] : stores
  })
}

/** Suppliers with a fault of the search. */
export const WRONG_SEARCHES: Record<string, Cases> = {
  'nearest.parameters': { 'other names of the parameters': status(isSearch, 200, 400) },
  'nearest.array': {
    'stores in an object': found((stores) => ({ stores })),
    'ids in place of stores': found((stores) => stores.map(({ id }) => id)),
    '500 for a search': status(isSearch, 200, 500),
  },
  'nearest.radius-used': { 'the same distance always': searchAs((query) => query.set('radius', '100')) },
  'nearest.empty': {
    'a distance that is ignored': scaled(100_000),
    'null in place of an empty array': found((stores) => (stores.length === 0 ? null : stores)),
    '404 in place of an empty array': onGood(isSearch, (answer) => {
      if (answer.body.length === 0) answer.status = 404
    }),
    'a store in every ocean': onGood(isSearch, (answer, asked) => {
      const path = '/stores/nearest?latitude=-33.87&longitude=151.21&radius=1'
      if (answer.body.length === 0) answer.body = asked.again({ path }).body
    }),
  },
  'nearest.overlap': { 'no stores for a search beside others': forgottenSearch() },
  'nearest.zero': {
    '400 for a latitude of 0': refusing(
      (asked) => isSearch(asked) && asked.path.includes('latitude=0&'),
      400,
    ),
  },
  'nearest.ids': {
    'stores without an id': eachFound(() => ({ id: undefined })),
    'an id twice': found(([first, second, ...rest]) =>
      second ? [first, { ...second, id: first.id }, ...rest] : [first].filter(Boolean),
    ),
  },
  'nearest.kilometres': {
    'a distance in metres': scaled(0.001),
    'a distance in miles': scaled(1.609),
    'a distance in nautical miles': scaled(1.852),
    'kilometres converted to miles': scaled(0.621),
    'a square in place of a circle': scaled(1.3),
    'latitude and longitude swapped': searchAs((query) => {
      const latitude = String(query.get('latitude'))
      query.set('latitude', String(query.get('longitude')))
      query.set('longitude', latitude)
    }),
  },
  'nearest.radius': { 'a diameter': scaled(0.5) },
  'nearest.here': {
    'nothing at the location of a store': found((stores) =>
      stores.filter(({ distance }) => distance > 0.001),
    ),
  },
  'nearest.antimeridian': {
    'nothing beyond longitude 180': found((stores, path) =>
      stores.filter(({ longitude }) => Math.abs(longitude - longitudeOf(path)) <= 180),
    ),
  },
  'nearest.distance-field': {
    'a field distance in miles': eachFound(({ distance }) => ({ distance: distance / 1.609 })),
  },
  'nearest.order': {
    'the furthest first': found((stores) => stores.reverse()),
    'stores by name': found((stores) => stores.sort((a, b) => (a.id < b.id ? -1 : 1))),
  },
  'nearest.input': { 'an empty array for a bad latitude': status(isSearch, 400, 200, []) },
}
