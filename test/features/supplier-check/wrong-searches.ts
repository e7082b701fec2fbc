import type { Tamper } from './model-supplier.ts'
import { type Case, eachFound, isSearch, onGood, searchAs, status } from './tampers.ts'

const scaled = (factor: number) =>
  searchAs((query) => query.set('radius', String(Number(query.get('radius')) * factor)))
const longitudeOf = (path: string) => Number(new URL(path, 'http://model').searchParams.get('longitude'))

/** Finds nothing when the first search is repeated: only those that overlap repeat it at once. */
function forgottenSearch(): Tamper {
  const times = new Map<string, number>()
  return onGood(isSearch, (answer, { path }) => {
    if (answer.body.length === 0) return
    times.set(path, (times.get(path) ?? 0) + 1)
    if (times.get(path) === 2) answer.body = []
  })
}

/** Suppliers with a fault of the search. */
export const WRONG_SEARCHES: Record<string, Case[]> = {
  'nearest.parameters': [['other names of the parameters', status(isSearch, 200, 400)]],
  'nearest.array': [
    [
      'stores in an object',
      onGood(isSearch, (answer) => {
        answer.body = { stores: answer.body }
      }),
    ],
    [
      'ids in place of stores',
      onGood(isSearch, (answer) => {
        answer.body = answer.body.map(({ id }: { id: string }) => id)
      }),
    ],
    ['500 for a search', status(isSearch, 200, 500)],
  ],
  'nearest.radius-used': [['the same distance always', searchAs((query) => query.set('radius', '100'))]],
  'nearest.empty': [
    ['a distance that is ignored', scaled(100_000)],
    [
      'null in place of an empty array',
      onGood(isSearch, (answer) => {
        if (answer.body.length === 0) answer.body = null
      }),
    ],
    [
      '404 in place of an empty array',
      onGood(isSearch, (answer) => {
        if (answer.body.length === 0) answer.status = 404
      }),
    ],
    [
      'a store in every ocean',
      onGood(isSearch, (answer, asked) => {
        const path = '/stores/nearest?latitude=-33.87&longitude=151.21&radius=1'
        if (answer.body.length === 0) answer.body = asked.again({ path }).body
      }),
    ],
  ],
  'nearest.overlap': [['no stores for a search beside others', forgottenSearch()]],
  'nearest.zero': [
    [
      '400 for a latitude of 0',
      (asked, answer) => {
        if (isSearch(asked) && asked.path.includes('latitude=0&')) answer.status = 400
      },
    ],
  ],
  'nearest.ids': [
    [
      'stores without an id',
      onGood(isSearch, (answer) => {
        answer.body = answer.body.map(({ id: _, ...store }: { id: string }) => store)
      }),
    ],
    [
      'an id twice',
      onGood(isSearch, (answer) => {
        answer.body = structuredClone(answer.body)
        if (answer.body.length > 1) answer.body[1].id = answer.body[0].id
      }),
    ],
  ],
  'nearest.kilometres': [
    ['a distance in metres', scaled(0.001)],
    ['a distance in miles', scaled(1.609)],
    ['a distance in nautical miles', scaled(1.852)],
    ['kilometres converted to miles', scaled(0.621)],
    [
      'a square in place of a circle',
      searchAs((query) => query.set('radius', String(Number(query.get('radius')) * 1.3))),
    ],
    [
      'latitude and longitude swapped',
      searchAs((query) => {
        const latitude = String(query.get('latitude'))
        query.set('latitude', String(query.get('longitude')))
        query.set('longitude', latitude)
      }),
    ],
  ],
  'nearest.radius': [['a diameter', scaled(0.5)]],
  'nearest.here': [
    [
      'nothing at the location of a store',
      onGood(isSearch, (answer) => {
        answer.body = answer.body.filter(({ distance }: { distance: number }) => distance > 0.001)
      }),
    ],
  ],
  'nearest.antimeridian': [
    [
      'nothing beyond longitude 180',
      onGood(isSearch, (answer, { path }) => {
        answer.body = answer.body.filter(
          (store: { longitude: number }) => Math.abs(store.longitude - longitudeOf(path)) <= 180,
        )
      }),
    ],
  ],
  'nearest.distance-field': [
    [
      'a field distance in miles',
      eachFound((store) => {
        store.distance /= 1.609
      }),
    ],
  ],
  'nearest.order': [
    ['the furthest first', onGood(isSearch, ({ body }) => body.reverse())],
    [
      'stores by name',
      onGood(isSearch, ({ body }) =>
        body.sort((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)),
      ),
    ],
  ],
  'nearest.input': [['an empty array for a bad latitude', status((asked) => isSearch(asked), 400, 200, [])]],
}
