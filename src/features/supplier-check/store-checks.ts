import { isDeepStrictEqual } from 'node:util'
import { storeSchema } from '../../supplier-api/contract.ts'
import { otherCase } from './credential-checks.ts'
import { type Exchange, isRecord } from './exchange.ts'
import { longText, oddTexts, oneOfEachShape, otherNumbers } from './odd-texts.ts'
import { storePath } from './places.ts'
import {
  type Check,
  type Checks,
  expectRefused,
  expectStatus,
  type Fault,
  firstOf,
  judgeEach,
  NotCheckedError,
  type Subject,
  UNKNOWN_ID,
  withToken,
} from './rule.ts'
import { findStores, idOf, knownStore, lookUpStores, NO_STORES, ONE_STORE, unknownLike } from './stores.ts'
import { explain } from './words.ts'

/** Looks up an id that is almost that of a store. Throws `RuleViolationError` if it finds a store. */
async function expectNotFound(
  subject: Subject,
  id: string | number,
  near: string,
  what: string,
): Promise<Exchange> {
  const exchange = await withToken(subject, storePath(near))
  const answered = isRecord(exchange.json) ? idOf(exchange.json) : undefined
  // It may be the id of another store.
  if (!near.includes(UNKNOWN_ID) && exchange.status === 200 && String(answered) === near) return exchange
  // It may also be called invalid: another rule demands 404 for an id that does not exist.
  expectRefused(exchange, `The lookup of store ${id} ${what}`)
  return exchange
}

/** The lookups of stores. Throws `NotCheckedError` if there are none. */
async function storeLookups(subject: Subject) {
  const answers = await lookUpStores(subject)
  const { exchange } = firstOf(answers, 'no store with an id was found; name one with --store ID')
  return { exchange, answers }
}

/** A store, an id that is almost its own, and how it differs. */
type NearId = [store: string | number, near: string, how: string]

/** A check that looks up ids that are almost those of stores, one after the other. */
const demandNothing =
  (listOf: (subject: Subject) => Promise<NearId[]>): Check =>
  async (subject) => {
    let { exchange } = await storeLookups(subject)
    for (const nearId of await listOf(subject)) exchange = await expectNotFound(subject, ...nearId)
    return exchange
  }

/** The known store, and others whose ids have another shape. */
async function differentStores(subject: Subject): Promise<(string | number)[]> {
  const lookups = await lookUpStores(subject)
  return oneOfEachShape([await knownStore(subject), ...lookups.map(({ id }) => id)])
}

/** Ids that a store of data could take for a pattern, a number or another id. */
function oddIds(storeId: string | number): string[] {
  const id = String(storeId)
  // A number may be written in several ways.
  return typeof storeId === 'number'
    ? oddTexts(id)
    : [...oddTexts(id), `${id} `, ` ${id}`, `0${id}`, ...otherNumbers(id)]
}

/** How many lookups overlap. */
const OVERLAPPING = 6

/** Lookups that overlap, each store twice. */
async function overlappingLookups(subject: Subject) {
  const ids = (await lookUpStores(subject)).map(({ id }) => id).slice(0, OVERLAPPING)
  if (ids.length < 2) throw new NotCheckedError(ONE_STORE)
  const lookUp = async (id: string | number) => ({ id, exchange: await withToken(subject, storePath(id)) })
  const answers = await Promise.all([...ids, ...ids].map(lookUp))
  return { exchange: firstOf(answers, ONE_STORE).exchange, answers }
}

/** Fields that a search adds to a store. */
const { distance: _, ...STORE_FIELDS } = storeSchema.shape

const isObject = (value: unknown) => typeof value === 'object'

/** The path of the first field that both objects have, with values that differ; undefined if there is none. */
function differenceOf(a: unknown, b: unknown, names?: readonly string[]): string | undefined {
  if (!isRecord(a) || !isRecord(b)) return undefined
  for (const name of names ?? Object.keys(a)) {
    const [left, right] = [a[name] ?? undefined, b[name] ?? undefined]
    if (left === undefined || right === undefined || isDeepStrictEqual(left, right)) continue
    // A number as a text is another finding: the form of the store.
    if (!isObject(left) && !isObject(right) && String(left) === String(right)) continue
    if (!isRecord(left) || !isRecord(right)) return name
    const inner = differenceOf(left, right)
    if (inner !== undefined) return `${name}.${inner}`
  }
  return undefined
}

/** What is wrong with the form of a store. Unknown fields are allowed. */
function faultOfForm(store: unknown, label: string): Fault {
  const { issues = [] } = storeSchema.safeParse(store).error ?? {}
  // Another rule counts the days.
  const issue = issues.find(
    ({ code, path }) => code !== 'unrecognized_keys' && path.at(-1) !== 'dailyTradingHours',
  )
  if (issue) return explain(issue, label)
  const { tradingHours } = isRecord(store) ? store : {}
  const hasDays = !isRecord(tradingHours) || Array.isArray(tradingHours.dailyTradingHours)
  return !hasDays && `${label}: tradingHours.dailyTradingHours must be an array.`
}

/** Stores (specification 2.2, 4.1, 7). */
export const STORE_CHECKS: Checks = {
  'store.one': judgeEach(storeLookups, ({ id, exchange, found }) => {
    if (!found && exchange.status === 404)
      throw new NotCheckedError(`there is no store ${id}; name one that exists with --store ID`)
    expectStatus(exchange, 200, `The lookup of store ${id}`)
    if (!isRecord(exchange.json)) return `The lookup of store ${id} must return a JSON object.`
    const answered = idOf(exchange.json)
    const isOther = answered !== undefined && String(answered) !== String(id)
    return isOther && `The lookup of store ${id} returns another store: ${answered}.`
  }),
  async 'store.unknown'(subject) {
    const known = await knownStore(subject).catch(() => UNKNOWN_ID)
    const exchange = await withToken(subject, storePath(unknownLike(known)))
    if (exchange.status === 401) throw new NotCheckedError('the lookup of a store refuses the token')
    expectStatus(exchange, 404, 'The lookup of a store that does not exist')
    return exchange
  },
  'store.near-id': demandNothing(async (subject) =>
    (await differentStores(subject)).flatMap((id): NearId[] => {
      const text = String(id)
      const cut: NearId[] = [
        [id, text.slice(0, -1), 'without the last character of its id'],
        [id, text.slice(1), 'without the first character of its id'],
      ]
      return [
        [id, `${text}-${UNKNOWN_ID}`, 'with a text added to its id'],
        ...(text.length > 1 ? cut : []),
        [id, `${UNKNOWN_ID}-${text}`, 'with a text before its id'],
      ]
    }),
  ),
  'store.odd-id': demandNothing(async (subject) => {
    const lookups = await lookUpStores(subject)
    const known = lookups.map(({ id }) => String(id))
    return (await differentStores(subject)).flatMap((id): NearId[] => {
      const { json } = lookups.find((lookup) => lookup.id === id)?.exchange ?? {}
      const names = isRecord(json) && typeof json.name === 'string' && json.name !== '' ? [json.name] : []
      const odd = [...oddIds(id), ...names, `${id}é`, `${id}😀`].filter((shape) => !known.includes(shape))
      return [
        ...odd.map((shape): NearId => [id, shape, `as ${JSON.stringify(shape)}`]),
        [id, longText(String(id)), 'with 300 characters added to its id'],
      ]
    })
  }),
  'store.case': demandNothing(async (subject) => {
    const ids = (await lookUpStores(subject)).map(({ id }) => String(id))
    const id = ids.find((text) => otherCase(text) !== text)
    if (id === undefined) throw new NotCheckedError('no store id has letters')
    return [[id, otherCase(id), 'in another letter case']]
  }),
  'store.overlap': judgeEach(overlappingLookups, ({ id, exchange }) => {
    const answered = isRecord(exchange.json) ? idOf(exchange.json) : undefined
    // Other rules say what is wrong with a lookup that fails.
    const isOther = exchange.status === 200 && answered !== undefined && String(answered) !== String(id)
    return isOther && `The lookup of store ${id} beside others returns another store: ${answered}.`
  }),
  'store.same': judgeEach(
    async (subject) => {
      const answers = (await lookUpStores(subject)).filter(({ found }) => found)
      return { exchange: firstOf(answers, NO_STORES).exchange, answers }
    },
    ({ id, exchange, found }) => {
      const difference = differenceOf(found?.json, exchange.json, Object.keys(STORE_FIELDS))
      return difference && `For store ${id}, the search and the lookup have another ${difference}.`
    },
  ),
  'store.form': judgeEach(storeLookups, ({ id, exchange }) => faultOfForm(exchange.json, `store ${id}`)),
  'nearest.form': judgeEach(
    async (subject) => {
      const found = (await findStores(subject)).tries.filter(({ stores }) => stores.length > 0)
      const answers = found.flatMap(({ exchange, stores }) =>
        stores.map((store, index) => ({ exchange, store, label: `store ${index + 1} of the result` })),
      )
      return { exchange: firstOf(found, NO_STORES).exchange, answers }
    },
    ({ store, label }) => faultOfForm(store, label),
  ),
}
