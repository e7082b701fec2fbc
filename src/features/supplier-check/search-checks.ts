import { hasFound, target } from './distance-checks.ts'
import { type Exchange, isRecord, isRefused } from './exchange.ts'
import { distanceKm, placeAway, REMOTE_PLACE, searchPath } from './places.ts'
import {
  arrayOf,
  type Checks,
  demand,
  expectStatus,
  firstOf,
  judge,
  judgeEach,
  NotCheckedError,
  RuleViolationError,
  type Subject,
  withToken,
} from './rule.ts'
import { coordinatesOf, findStores, idOf, NO_STORES, ONE_STORE, searchStores } from './stores.ts'

/** Where coordinates begin and end. */
const EDGES = [
  [0, 0],
  [90, 0],
  [-90, 0],
  [0, 180],
  [0, -180],
] as const

/** What a field may be called that identifies a store: the specification does not show its name. */
const ID_NAME = /id$|code|number|key/i

/** How many searches overlap. */
const OVERLAPPING = 6

/** Searches near a place and near a remote one that overlap, each with which of them it is. */
async function overlappingSearches(subject: Subject) {
  const { tries } = await findStores(subject)
  const { place } = firstOf(
    tries.filter(({ stores }) => stores.length > 0),
    NO_STORES,
  )
  // The token is there before the calls overlap.
  const { exchange } = await searchStores(subject, REMOTE_PLACE)
  const answers = await Promise.all(
    Array.from({ length: OVERLAPPING }, async (_, index) => {
      const isRemote = index % 2 === 1
      return { isRemote, ...(await searchStores(subject, isRemote ? REMOTE_PLACE : place)) }
    }),
  )
  return { exchange, answers }
}

/** The searches, each with the distances of the stores that it found. */
async function searchDistances(subject: Subject) {
  const answers = (await findStores(subject)).tries.map(({ place, exchange, stores }) => {
    const places = stores.flatMap((store) => coordinatesOf(store) ?? [])
    return { exchange, distances: places.map((at) => distanceKm(place, at)) }
  })
  const { exchange } = firstOf(
    answers.filter(({ distances }) => distances.length > 1),
    ONE_STORE,
  )
  return { exchange, answers }
}

const isMisunderstood = ({ status }: Exchange) => status === 400 || status === 422

/** The search for stores (specification 2.2, 4.1, 7). */
export const SEARCH_CHECKS: Checks = {
  'nearest.parameters': judge(
    async (subject) => {
      const { tries } = await findStores(subject)
      return tries.find(({ exchange }) => !isMisunderstood(exchange)) ?? firstOf(tries, NO_STORES)
    },
    ({ exchange }) =>
      isMisunderstood(exchange) && 'Every search by latitude, longitude and radius is refused as invalid.',
  ),
  async 'nearest.array'(subject) {
    const { tries } = await findStores(subject)
    const answered = tries.filter(({ exchange }) => exchange.status === 200)
    const [first] = tries
    if (answered.length === 0) arrayOf(first?.exchange as Exchange, 'A search for stores')
    for (const { exchange } of answered) {
      if (exchange.json === null) continue
      const broken = arrayOf(exchange, 'A search for stores').findIndex((store) => !isRecord(store))
      if (broken >= 0)
        throw new RuleViolationError(`Element ${broken + 1} of the array is not an object.`, exchange)
    }
    const failed = tries.find(({ exchange }) => exchange.status === 0 || exchange.status >= 500)
    if (failed) expectStatus(failed.exchange, 200, 'A search for stores')
    const found = answered.find(({ stores }) => stores.length > 0)
    return (found ?? answered[0])?.exchange as Exchange
  },
  'nearest.empty': judge(
    (subject) => searchStores(subject, REMOTE_PLACE),
    ({ exchange }) => {
      if (isRefused(exchange)) throw new NotCheckedError('the search refuses the token')
      const stores = arrayOf(exchange, 'A search in the middle of an ocean')
      return stores.length > 0 && 'A search in the middle of an ocean found a store within 1 km.'
    },
  ),
  async 'nearest.radius-used'(subject) {
    const narrow = await searchStores(subject, REMOTE_PLACE)
    if (narrow.stores.length > 0) {
      const wide = await searchStores(subject, { ...REMOTE_PLACE, radius: 20_000 })
      if (wide.stores.length === narrow.stores.length)
        throw new RuleViolationError(
          'In the middle of an ocean, a search within 1 km finds as much as one within 20,000 km.',
          narrow.exchange,
        )
    }
    // A distance that is used in place of the one that was asked for.
    const { store, km } = await target(subject).catch(() => ({ store: undefined, km: 0 }))
    if (!store || km < 5) return narrow.exchange
    const near = await searchStores(subject, { ...placeAway(store.at, km, 'east'), radius: 1 })
    if (!hasFound(near, store)) return near.exchange
    throw new RuleViolationError(
      `A search within 1 km finds a store that is ${km.toFixed()} km away.`,
      near.exchange,
    )
  },
  async 'nearest.zero'(subject) {
    let last: Exchange | undefined
    for (const [latitude, longitude] of EDGES) {
      last = await withToken(subject, searchPath({ latitude, longitude, radius: 1 }))
      arrayOf(last, `A search at latitude ${latitude} and longitude ${longitude}`)
    }
    return last as Exchange
  },
  async 'nearest.ids'(subject) {
    const { tries } = await findStores(subject)
    for (const { exchange, stores } of tries) {
      const known = stores.map((store) => idOf(store)).filter((id) => id !== undefined)
      const repeated = known.find((id, index) => known.indexOf(id) < index)
      if (repeated !== undefined)
        throw new RuleViolationError(`The id ${JSON.stringify(repeated)} occurs twice in a result.`, exchange)
    }
    const identified = tries.find(
      ({ stores }) => stores.filter((store) => idOf(store) !== undefined).length > 1,
    )
    if (identified) return identified.exchange
    if (tries.every(({ stores }) => stores.length === 0)) throw new NotCheckedError(NO_STORES)
    const several = tries.find(({ stores }) => stores.length > 1)
    if (several && !several.stores.every((store) => Object.keys(store).some((name) => ID_NAME.test(name))))
      throw new RuleViolationError('The stores have no id: add one, as in "id": "S1".', several.exchange)
    if (several) throw new NotCheckedError('the stores have no field id')
    throw new NotCheckedError(ONE_STORE)
  },
  'nearest.overlap': judgeEach(overlappingSearches, ({ isRemote, exchange, stores }) => {
    // Other rules say what is wrong with a search that fails.
    if (exchange.status !== 200) return undefined
    if (isRemote)
      return stores.length > 0 && 'A search in the middle of an ocean, beside others, found stores.'
    return stores.length === 0 && 'A search beside others finds no store, where it found some before.'
  }),
  'nearest.order': judgeEach(searchDistances, ({ distances }) => {
    // Tolerate small differences between models of the Earth.
    const isSorted = distances.every((km, index) => (distances[index - 1] ?? 0) <= km * 1.006 + 0.05)
    return !isSorted && 'The stores are not sorted by distance.'
  }),
  'nearest.input': demand((subject) => {
    const { latitude, longitude, radius } = REMOTE_PLACE
    const search = (place: Parameters<typeof searchPath>[0]) => () => withToken(subject, searchPath(place))
    return [
      ['A search without latitude', 400, search({ longitude, radius })],
      ['A search without longitude', 400, search({ latitude, radius })],
      ['A search without radius', 400, search({ latitude, longitude })],
      ['A search with the latitude "north"', 400, search({ latitude: 'north', longitude, radius })],
    ]
  }),
}
