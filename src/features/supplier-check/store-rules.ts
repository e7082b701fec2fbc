import { isDeepStrictEqual } from 'node:util'
import { storeSchema } from '../../supplier-api/contract.ts'
import { otherCase } from './credential-rules.ts'
import { type Exchange, isRecord } from './exchange.ts'
import { longText, oddTexts, oneOfEachShape, otherNumbers } from './odd-texts.ts'
import { storePath } from './places.ts'
import {
  expectRefused,
  expectStatus,
  NotCheckedError,
  type Rule,
  RuleViolationError,
  type Subject,
  UNKNOWN_ID,
  withToken,
} from './rule.ts'
import {
  findStores,
  idOf,
  knownStore,
  lookUpStores,
  ONE_STORE,
  type StoreJson,
  unknownLike,
} from './stores.ts'
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

/** Throws `RuleViolationError` if the store has not the expected form. Unknown fields are allowed. */
function expectForm(store: StoreJson, label: string, exchange: Exchange): void {
  const { issues = [] } = storeSchema.safeParse(store).error ?? {}
  // Another rule counts the days.
  const issue = issues.find(
    ({ code, path }) => code !== 'unrecognized_keys' && path.at(-1) !== 'dailyTradingHours',
  )
  if (issue) throw new RuleViolationError(explain(issue, label), exchange)
  if (isRecord(store.tradingHours) && !Array.isArray(store.tradingHours.dailyTradingHours))
    throw new RuleViolationError(`${label}: tradingHours.dailyTradingHours must be an array.`, exchange)
}

/** Stores (specification 2.2, 4.1, 7). */
export const STORE_RULES: Rule[] = [
  {
    id: 'store.one',
    title: 'GET /stores/{id} returns 200 with that store, for each store that a search found.',
    given: '§4.1',
    needs: ['access.bearer'],
    async check(subject) {
      const lookups = await lookUpStores(subject)
      for (const { id, exchange, found } of lookups) {
        if (!found && exchange.status === 404)
          throw new NotCheckedError(`there is no store ${id}; name one that exists with --store ID`)
        expectStatus(exchange, 200, `The lookup of store ${id}`)
        if (!isRecord(exchange.json))
          throw new RuleViolationError(`The lookup of store ${id} must return a JSON object.`, exchange)
        const answered = idOf(exchange.json)
        if (answered !== undefined && String(answered) !== String(id))
          throw new RuleViolationError(
            `The lookup of store ${id} returns another store: ${answered}.`,
            exchange,
          )
      }
      const [first] = lookups
      if (first) return first.exchange
      throw new NotCheckedError('no store with an id was found; name one with --store ID')
    },
  },
  {
    id: 'store.unknown',
    title: 'GET /stores/{id} with an unknown id returns 404.',
    given: '§7',
    needs: ['access.bearer'],
    async check(subject) {
      const known = await knownStore(subject).catch(() => UNKNOWN_ID)
      const exchange = await withToken(subject, storePath(unknownLike(known)))
      if (exchange.status === 401) throw new NotCheckedError('the lookup of a store refuses the token')
      expectStatus(exchange, 404, 'The lookup of a store that does not exist')
      return exchange
    },
  },
  {
    id: 'store.near-id',
    title: 'GET /stores/{id} with an id that only begins or ends like that of a store finds nothing.',
    given: '§7',
    needs: ['store.one', 'store.unknown'],
    async check(subject) {
      let last: Exchange | undefined
      for (const id of await differentStores(subject)) {
        const text = String(id)
        await expectNotFound(subject, id, `${text}-${UNKNOWN_ID}`, 'with a text added to its id')
        if (text.length > 1) {
          await expectNotFound(subject, id, text.slice(0, -1), 'without the last character of its id')
          await expectNotFound(subject, id, text.slice(1), 'without the first character of its id')
        }
        last = await expectNotFound(subject, id, `${UNKNOWN_ID}-${text}`, 'with a text before its id')
      }
      return last as Exchange
    },
  },
  {
    id: 'store.odd-id',
    title:
      'GET /stores/{id} with a wildcard, a quote, spaces, many or unusual letters, another form of a number, or the name of the store finds nothing.',
    given: '§7',
    needs: ['store.near-id'],
    async check(subject) {
      const lookups = await lookUpStores(subject)
      const known = lookups.map((lookup) => String(lookup.id))
      let last: Exchange | undefined
      for (const id of await differentStores(subject)) {
        const { json } = lookups.find((lookup) => lookup.id === id)?.exchange ?? {}
        const names = isRecord(json) && typeof json.name === 'string' && json.name !== '' ? [json.name] : []
        for (const odd of [...oddIds(id), ...names, `${id}é`, `${id}😀`].filter(
          (shape) => !known.includes(shape),
        ))
          last = await expectNotFound(subject, id, odd, `as ${JSON.stringify(odd)}`)
        await expectNotFound(subject, id, longText(String(id)), 'with 300 characters added to its id')
      }
      return last as Exchange
    },
  },
  {
    id: 'store.case',
    title: 'The letter case of a store id counts.',
    needs: ['store.near-id'],
    async check(subject) {
      const lookups = await lookUpStores(subject)
      const id = lookups.map((lookup) => String(lookup.id)).find((text) => otherCase(text) !== text)
      if (id === undefined) throw new NotCheckedError('no store id has letters')
      return expectNotFound(subject, id, otherCase(id), 'in another letter case')
    },
  },
  {
    id: 'store.overlap',
    title: 'Lookups that overlap each return their own store.',
    given: '§4.1',
    needs: ['store.one'],
    async check(subject) {
      const ids = (await lookUpStores(subject)).map(({ id }) => id).slice(0, OVERLAPPING)
      if (ids.length < 2) throw new NotCheckedError(ONE_STORE)
      const exchanges = await Promise.all([...ids, ...ids].map((id) => withToken(subject, storePath(id))))
      for (const [index, exchange] of exchanges.entries()) {
        const id = ids[index % ids.length]
        // Other rules say what is wrong with a lookup that fails.
        if (exchange.status !== 200) continue
        const answered = isRecord(exchange.json) ? idOf(exchange.json) : undefined
        if (answered !== undefined && String(answered) !== String(id))
          throw new RuleViolationError(
            `The lookup of store ${id} beside others returns another store: ${answered}.`,
            exchange,
          )
      }
      return exchanges[0] as Exchange
    },
  },
  {
    id: 'store.same',
    title: 'A search and a lookup return the same data for a store: fields that both have are equal.',
    given: '§2.2',
    needs: ['store.one', 'nearest.array'],
    async check(subject) {
      const pairs = (await lookUpStores(subject)).filter(({ found }) => found)
      for (const { id, exchange, found } of pairs) {
        const difference = differenceOf(found?.json, exchange.json, Object.keys(STORE_FIELDS))
        if (difference)
          throw new RuleViolationError(
            `For store ${id}, the search and the lookup have another ${difference}.`,
            exchange,
          )
      }
      const [first] = pairs
      if (first) return first.exchange
      throw new NotCheckedError('no search found a store; name a location with stores nearby: --near LAT,LON')
    },
  },
  {
    id: 'store.form',
    title: 'A store has an id, name, address, coordinates and trading hours as in the OpenAPI document.',
    needs: ['store.one'],
    async check(subject) {
      const lookups = await lookUpStores(subject)
      for (const { id, exchange } of lookups) expectForm(exchange.json as StoreJson, `store ${id}`, exchange)
      return lookups[0]?.exchange as Exchange
    },
  },
  {
    id: 'nearest.form',
    title: 'Each store of a search result has this form too (see store.form).',
    needs: ['nearest.array', 'store.form'],
    async check(subject) {
      const { tries } = await findStores(subject)
      for (const { exchange, stores } of tries)
        for (const [index, store] of stores.entries())
          expectForm(store, `store ${index + 1} of the result`, exchange)
      const found = tries.find(({ stores }) => stores.length > 0)
      if (found) return found.exchange
      throw new NotCheckedError('no search found a store; name a location with stores nearby: --near LAT,LON')
    },
  },
]
