import { hasFound, target } from './distance-rules.ts'
import { type Exchange, isRecord, isRefused } from './exchange.ts'
import { distanceKm, placeAway, REMOTE_PLACE, searchPath } from './places.ts'
import {
  arrayOf,
  demand,
  expectStatus,
  firstOf,
  judge,
  judgeEach,
  NotCheckedError,
  type Rule,
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

/** The search for stores, without its distances (specification 2.2, 4.1, 7). */
export const SEARCH_RULES: Rule[] = [
  {
    id: 'nearest.parameters',
    title: 'A search takes latitude, longitude and radius.',
    needs: ['access.bearer'],
    check: judge(
      async (subject) => {
        const { tries } = await findStores(subject)
        return tries.find(({ exchange }) => !isMisunderstood(exchange)) ?? firstOf(tries, NO_STORES)
      },
      ({ exchange }) =>
        isMisunderstood(exchange) && 'Every search by latitude, longitude and radius is refused as invalid.',
    ),
  },
  {
    id: 'nearest.array',
    title: 'GET /stores/nearest returns 200 with a JSON array of stores.',
    given: '§4.1',
    needs: ['nearest.parameters'],
    async check(subject) {
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
  },
  {
    id: 'nearest.empty',
    title: 'A search with no stores in range returns 200 with an empty array.',
    given: '§7',
    needs: ['nearest.array'],
    check: judge(
      (subject) => searchStores(subject, REMOTE_PLACE),
      ({ exchange }) => {
        if (isRefused(exchange)) throw new NotCheckedError('the search refuses the token')
        const stores = arrayOf(exchange, 'A search in the middle of an ocean')
        return stores.length > 0 && 'A search in the middle of an ocean found a store within 1 km.'
      },
    ),
  },
  {
    id: 'nearest.radius-used',
    title: 'A search looks at the parameter radius.',
    needs: ['nearest.empty'],
    async check(subject) {
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
  },
  {
    id: 'nearest.zero',
    title: 'A search at latitude 0 and longitude 0, at a pole or at longitude 180 is as valid as any other.',
    given: '§4.1',
    needs: ['nearest.empty'],
    async check(subject) {
      let last: Exchange | undefined
      for (const [latitude, longitude] of EDGES) {
        last = await withToken(subject, searchPath({ latitude, longitude, radius: 1 }))
        arrayOf(last, `A search at latitude ${latitude} and longitude ${longitude}`)
      }
      return last as Exchange
    },
  },
  {
    id: 'nearest.ids',
    title: 'Each store in a search result has a unique id.',
    given: '§2.2',
    needs: ['nearest.array'],
    async check(subject) {
      const { tries } = await findStores(subject)
      for (const { exchange, stores } of tries) {
        const known = stores.map((store) => idOf(store)).filter((id) => id !== undefined)
        const repeated = known.find((id, index) => known.indexOf(id) < index)
        if (repeated !== undefined)
          throw new RuleViolationError(
            `The id ${JSON.stringify(repeated)} occurs twice in a result.`,
            exchange,
          )
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
  },
  {
    id: 'nearest.overlap',
    title: 'Searches that overlap each return the stores of their own place.',
    given: '§4.1',
    needs: ['nearest.empty'],
    check: judgeEach(overlappingSearches, ({ isRemote, exchange, stores }) => {
      // Other rules say what is wrong with a search that fails.
      if (exchange.status !== 200) return undefined
      if (isRemote)
        return stores.length > 0 && 'A search in the middle of an ocean, beside others, found stores.'
      return stores.length === 0 && 'A search beside others finds no store, where it found some before.'
    }),
  },
]
/** Rules of the search that need those about distances. */
export const SEARCH_DETAIL_RULES: Rule[] = [
  {
    id: 'nearest.order',
    title: 'The stores of a search result are sorted by distance, the nearest first.',
    needs: ['nearest.array', 'nearest.kilometres'],
    check: judgeEach(searchDistances, ({ distances }) => {
      // Tolerate small differences between models of the Earth.
      const isSorted = distances.every((km, index) => (distances[index - 1] ?? 0) <= km * 1.006 + 0.05)
      return !isSorted && 'The stores are not sorted by distance.'
    }),
  },
  {
    id: 'nearest.input',
    title: 'A search with a missing parameter or an invalid latitude returns 400.',
    needs: ['nearest.parameters', 'nearest.empty'],
    check: demand((subject) => {
      const { latitude, longitude, radius } = REMOTE_PLACE
      const search = (place: Parameters<typeof searchPath>[0]) => () => withToken(subject, searchPath(place))
      return [
        ['A search without latitude', 400, search({ longitude, radius })],
        ['A search without longitude', 400, search({ latitude, radius })],
        ['A search without radius', 400, search({ latitude, longitude })],
        ['A search with the latitude "north"', 400, search({ latitude: 'north', longitude, radius })],
      ]
    }),
  },
]
