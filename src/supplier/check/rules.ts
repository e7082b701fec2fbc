import { randomUUID } from 'node:crypto'
import { Big } from 'big.js'
import * as z from 'zod'
import { NEAREST, PATHS, storeSchema } from '../contract.ts'
import type { Exchange, Probe } from './probe.ts'

/** What a supplier's implementation must do; `given` by the specification, or `assumed` where it shows nothing. */
export interface Rule {
  id: string
  /** The section of the specification. */
  section: string
  basis: 'given' | 'assumed'
  says: string
  /** Resolves to the exchange that shows it. Throws `Broken`, and `Unchecked` when it cannot be told. */
  check(subject: Subject): Promise<Exchange>
}

/** What is checked, and with what. */
export interface Subject {
  probe: Probe
  /** Codes of items that have a price at the store. */
  items: string[]
  /** A store that carries them; otherwise one that the search finds. */
  storeId?: string
  /** A place with stores around it; otherwise several are tried. */
  near?: { latitude: number; longitude: number }
  memberNumber?: string
}

/** A rule is broken: in words, and the exchange that shows it. */
export class Broken extends Error {
  readonly exchange: Exchange
  constructor(message: string, exchange: Exchange) {
    super(message)
    this.exchange = exchange
  }
}

/** A rule could not be checked, and what would help. */
export class Unchecked extends Error {}

const NO_TOKEN = 'there is no access token'
/** Far from any shop: in the South Pacific, at Point Nemo. */
const NOWHERE = { latitude: -48.8767, longitude: -123.3933, radius: 1 }
/** Where stores are looked for, and how far around, in kilometres. */
const TRIED = [
  ...[
    [-25, 134, 2500],
    [-33.87, 151.21, 100],
    [-37.81, 144.96, 100],
    [-27.47, 153.03, 100],
    [-31.95, 115.86, 100],
  ],
  ...[
    [-34.93, 138.6, 100],
    [-41.29, 174.78, 800],
    [51.51, -0.13, 500],
    [39.8, -98.6, 2500],
    [0, 0, 20_000],
  ],
].map(([latitude = 0, longitude = 0, radius = 0]) => ({ latitude, longitude, radius }))

const query = (place: Partial<Record<keyof typeof NEAREST, number | string>>) => {
  const named = Object.entries(place).map(([name, value]) => [
    NEAREST[name as keyof typeof NEAREST],
    String(value),
  ])
  return `${PATHS.nearest}?${new URLSearchParams(Object.fromEntries(named))}`
}
const storePath = (id: string) => PATHS.store.replace('{id}', encodeURIComponent(id))
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function expectStatus(exchange: Exchange, status: number, when: string): void {
  if (exchange.status !== status)
    throw new Broken(`${when} must be answered ${status}, not ${exchange.status || exchange.text}.`, exchange)
}

function arrayOf(exchange: Exchange, when: string): unknown[] {
  expectStatus(exchange, 200, when)
  if (!Array.isArray(exchange.json)) throw new Broken(`${when} must be answered with a JSON array.`, exchange)
  return exchange.json
}

async function withToken(probe: Probe, path: string, body?: unknown): Promise<Exchange> {
  const exchange = await probe.withToken(path, body)
  if (!exchange) throw new Unchecked(NO_TOKEN)
  return exchange
}

interface Search {
  exchange: Exchange
  place: { latitude?: number; longitude?: number; radius: number }
  stores: Record<string, unknown>[]
}

const searches = new WeakMap<Probe, Promise<Search>>()
/** A search that finds stores. */
function search(subject: Subject): Promise<Search> {
  const known = searches.get(subject.probe)
  if (known) return known
  const found = (async () => {
    const places = subject.near ? [5, 50, 500].map((radius) => ({ ...subject.near, radius })) : TRIED
    for (const place of places) {
      const exchange = await withToken(subject.probe, query(place))
      if (Array.isArray(exchange.json) && exchange.json.length > 0)
        return { exchange, place, stores: exchange.json.filter(isRecord) }
    }
    throw new Unchecked('no store was found; name a place with stores around it: --near LATITUDE,LONGITUDE')
  })()
  searches.set(subject.probe, found)
  return found
}

async function knownStore(subject: Subject): Promise<string> {
  if (subject.storeId !== undefined) return subject.storeId
  const [first] = (await search(subject)).stores
  if (typeof first?.id !== 'string')
    throw new Unchecked('no store with an id was found; name one: --store ID')
  return first.id
}

const MADE_UP = randomUUID()
interface Line {
  itemId: string
  storeId: string
  quantity: unknown
}

/** Requests prices for lines, among them such that cannot be priced. */
async function prices(
  subject: Subject,
  items: Line[],
  memberNumber = subject.memberNumber,
): Promise<Exchange> {
  return withToken(subject.probe, PATHS.prices, {
    ...(memberNumber !== undefined && { memberNumber }),
    items,
  })
}

const mixed = new WeakMap<Probe, Promise<{ exchange: Exchange; lines: Line[] }>>()
/** One request with everything in it: items that should have prices, made-up ones, duplicates, fractions. */
function mixedRequest(subject: Subject) {
  const known = mixed.get(subject.probe)
  if (known) return known
  const made = (async () => {
    const storeId = await knownStore(subject).catch(() => MADE_UP)
    const good = subject.items.flatMap((itemId) =>
      [2.4, 0.1, 3, 1.1].map((quantity) => ({ itemId, storeId, quantity })),
    )
    const lines: Line[] = [
      { itemId: `first-${MADE_UP}`, storeId, quantity: 1 },
      ...good,
      { itemId: `second-${MADE_UP}`, storeId, quantity: 7 },
      ...good.slice(0, 2),
      { itemId: `first-${MADE_UP}`, storeId, quantity: 1 },
    ]
    return { exchange: await prices(subject, lines), lines }
  })()
  mixed.set(subject.probe, made)
  return made
}

/** Every price item that any answer so far has held. */
function allAnswers({ probe }: Subject): { exchange: Exchange; item: Record<string, unknown> }[] {
  return probe.exchanges
    .filter(({ request, status }) => request.startsWith(`POST ${PATHS.prices}\n`) && status === 200)
    .flatMap((exchange) =>
      Array.isArray(exchange.json) ? exchange.json.filter(isRecord).map((item) => ({ exchange, item })) : [],
    )
}

const AMOUNTS = ['unitPrice', 'discount', 'totalPrice'] as const
const isPriced = (item: Record<string, unknown>) =>
  AMOUNTS.every((name) => Number.isFinite(item[name]) && Number(item[name]) >= 0)
const hasNoPrice = (item: Record<string, unknown>) => AMOUNTS.every((name) => item[name] === null)

/** The answer to lines that cannot be priced: the call must succeed, and answer each of them without a price. */
async function unpriced(subject: Subject, lines: Line[], what: string): Promise<Exchange> {
  const exchange = await prices(subject, lines)
  const answers = answersTo(lines, exchange, `A price request with ${what}`)
  if (answers.every(hasNoPrice)) return exchange
  throw new Broken(`${what} must have no price: unitPrice, discount and totalPrice are null.`, exchange)
}

/** One answer for each line. */
function answersTo(lines: Line[], exchange: Exchange, when: string): Record<string, unknown>[] {
  const answers = arrayOf(exchange, when)
  if (answers.length === lines.length && answers.every(isRecord)) return answers
  throw new Broken(`${when} asks for ${lines.length} items, and ${answers.length} are answered.`, exchange)
}

/** Reads what a Store must have; unknown fields pass. */
const tolerantStore = z.looseObject(storeSchema.shape)

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

const tokenFields = async ({ probe }: Subject): Promise<[Exchange, Record<string, unknown>]> => {
  const exchange = await probe.granted()
  if (!isRecord(exchange.json)) throw new Unchecked('the token answer is no JSON object')
  return [exchange, exchange.json]
}

const protectedCalls = [query(NOWHERE), storePath(MADE_UP), PATHS.prices]
const bodyOf = (path: string) => path === PATHS.prices && { method: 'POST', body: '{"items":[]}' }

async function refused(
  { probe }: Subject,
  authorization: string | undefined,
  when: string,
): Promise<Exchange> {
  let last: Exchange | undefined
  for (const path of protectedCalls) {
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
    last = await probe.call(path, { ...bodyOf(path), headers })
    expectStatus(last, 401, when)
  }
  return last as Exchange
}

/** The rules of Interface A, in the order in which they are checked. */
export const RULES: Rule[] = [
  {
    ...{ id: 'token.answer', section: '4.1', basis: 'given' },
    says: 'POST /connect/token with the right credentials is answered 200 with a JSON object.',
    async check({ probe }) {
      const exchange = await probe.granted()
      expectStatus(exchange, 200, 'A token request with the right credentials')
      if (!isRecord(exchange.json)) throw new Broken('The token answer must be a JSON object.', exchange)
      return exchange
    },
  },
  {
    ...{ id: 'token.fields', section: '2.1', basis: 'given' },
    says: 'The token answer holds exactly three fields.',
    async check(subject) {
      const [exchange, json] = await tokenFields(subject)
      const names = Object.keys(json)
      if (names.length === 3) return exchange
      throw new Broken(
        `The token answer holds ${names.length} fields (${names.join(', ')}), not three.`,
        exchange,
      )
    },
  },
  {
    ...{ id: 'token.expires_in', section: '2.1', basis: 'given' },
    says: 'expires_in is a whole number of seconds above 0.',
    async check(subject) {
      const [exchange, { expires_in: seconds }] = await tokenFields(subject)
      if (Number.isInteger(seconds) && Number(seconds) > 0) return exchange
      throw new Broken(`expires_in is ${JSON.stringify(seconds)}, not a whole number above 0.`, exchange)
    },
  },
  {
    ...{ id: 'token.names', section: '2.1', basis: 'assumed' },
    says: 'The other two fields are access_token and token_type, which is Bearer.',
    async check(subject) {
      const [exchange, { access_token: token, token_type: type }] = await tokenFields(subject)
      if (typeof token !== 'string' || token === '') throw new Broken('access_token must be text.', exchange)
      if (typeof type === 'string' && type.toLowerCase() === 'bearer') return exchange
      throw new Broken('token_type must be Bearer.', exchange)
    },
  },
  {
    ...{ id: 'token.no-store', section: '2.1', basis: 'assumed' },
    says: 'The token answer has Cache-Control: no-store (RFC 6749 section 5.1).',
    async check({ probe }) {
      const exchange = await probe.granted()
      if (/\bno-store\b/i.test(exchange.headers.get('cache-control') ?? '')) return exchange
      throw new Broken('The token answer must not be stored by what stands between.', exchange)
    },
  },
  {
    ...{ id: 'token.missing', section: '7', basis: 'given' },
    says: 'A token request with a parameter missing, or none, is answered 400.',
    async check({ probe }) {
      const { grant_type, client_id, client_secret } = probe.credentials
      let last = await probe.ask({})
      expectStatus(last, 400, 'A token request without parameters')
      const partly = {
        grant_type: { client_id, client_secret },
        client_id: { grant_type, client_secret },
        client_secret: { grant_type, client_id },
      }
      for (const [name, fields] of Object.entries(partly)) {
        last = await probe.ask(fields)
        expectStatus(last, 400, `A token request without ${name}`)
      }
      return last
    },
  },
  {
    ...{ id: 'token.grant-type', section: '4.1', basis: 'assumed' },
    says: 'Another grant type than client_credentials is answered 400.',
    async check({ probe }) {
      const exchange = await probe.ask({ ...probe.credentials, grant_type: 'password' })
      expectStatus(exchange, 400, 'A token request with grant_type=password')
      return exchange
    },
  },
  {
    ...{ id: 'token.secret', section: '7', basis: 'given' },
    says: 'A wrong client_secret is answered 401.',
    async check({ probe }) {
      const exchange = await probe.ask({ ...probe.credentials, client_secret: `wrong-${MADE_UP}` })
      expectStatus(exchange, 401, 'A token request with a wrong secret')
      return exchange
    },
  },
  {
    ...{ id: 'token.client', section: '7', basis: 'given' },
    says: 'A wrong client_id is answered 401.',
    async check({ probe }) {
      const exchange = await probe.ask({ ...probe.credentials, client_id: `nobody-${MADE_UP}` })
      expectStatus(exchange, 401, 'A token request with an unknown client id')
      return exchange
    },
  },
  {
    ...{ id: 'access.required', section: '5.1', basis: 'assumed' },
    says: 'The other three calls are answered 401 without a token.',
    check: (subject) => refused(subject, undefined, 'A call without a token'),
  },
  {
    ...{ id: 'access.invalid', section: '5.1', basis: 'assumed' },
    says: 'The other three calls are answered 401 with a token that was never issued, be it much like one that was.',
    async check(subject) {
      const exchange = await refused(subject, `Bearer ${MADE_UP}`, 'A call with a made-up token')
      const { json } = await subject.probe.granted()
      const token = isRecord(json) ? json.access_token : undefined
      if (typeof token !== 'string' || token.length < 8) return exchange
      const changed = `${token.slice(0, -6)}${[...token.slice(-6)].reverse().join('')}x`
      return refused(subject, `Bearer ${changed}`, 'A call with a token whose end was changed')
    },
  },
  {
    ...{ id: 'nearest.array', section: '4.1', basis: 'given' },
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
    ...{ id: 'nearest.empty', section: '7', basis: 'given' },
    says: 'A search with no store in range is answered 200 with an empty array.',
    async check({ probe }) {
      const exchange = await withToken(probe, query(NOWHERE))
      const stores = arrayOf(exchange, 'A search in the middle of an ocean')
      if (stores.length === 0) return exchange
      throw new Broken('A search in the middle of an ocean found a store within 1 km.', exchange)
    },
  },
  {
    ...{ id: 'nearest.ids', section: '2.2', basis: 'given' },
    says: 'Each store has an id of its own, which is text.',
    async check(subject) {
      const { exchange, stores } = await search(subject)
      const ids = stores.map(({ id }) => id)
      if (ids.some((id) => typeof id !== 'string' || id === ''))
        throw new Broken('A store has no id that is text.', exchange)
      if (new Set(ids).size === ids.length) return exchange
      throw new Broken('Two stores have the same id.', exchange)
    },
  },
  {
    ...{ id: 'nearest.range', section: '4.1', basis: 'assumed' },
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
      if (distances.every((distance, at) => near(distances[at - 1] ?? 0, distance))) return exchange
      throw new Broken('The stores are not in the order of their distance.', exchange)
    },
  },
  {
    ...{ id: 'nearest.radius', section: '4.1', basis: 'assumed' },
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
    ...{ id: 'nearest.input', section: '4.1', basis: 'assumed' },
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
    ...{ id: 'store.one', section: '4.1', basis: 'given' },
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
    ...{ id: 'store.unknown', section: '7', basis: 'given' },
    says: 'GET /stores/{id} with an id that does not exist is answered 404.',
    async check({ probe }) {
      const exchange = await withToken(probe, storePath(MADE_UP))
      expectStatus(exchange, 404, 'The lookup of a store that does not exist')
      return exchange
    },
  },
  {
    ...{ id: 'store.form', section: '2.2', basis: 'assumed' },
    says: 'A store has a name, an address, a place and trading hours, of the forms that the OpenAPI document shows.',
    async check(subject) {
      const exchange = await withToken(subject.probe, storePath(await knownStore(subject)))
      const read = tolerantStore.safeParse(exchange.json)
      if (read.success) return exchange
      const [issue] = read.error.issues
      throw new Broken(`${issue?.path.join('.') || 'the store'}: ${issue?.message}.`, exchange)
    },
  },
  {
    ...{ id: 'prices.array', section: '4.1', basis: 'given' },
    says: 'POST /request-prices is answered 200 with a JSON array, and one element for each item.',
    async check(subject) {
      const { exchange, lines } = await mixedRequest(subject)
      answersTo(lines, exchange, 'A price request')
      return exchange
    },
  },
  {
    ...{ id: 'prices.empty', section: '4.1', basis: 'assumed' },
    says: 'A price request without items is answered 200 with an empty array.',
    async check(subject) {
      const exchange = await prices(subject, [])
      if (arrayOf(exchange, 'A price request without items').length === 0) return exchange
      throw new Broken('Nothing was asked for, and something is answered.', exchange)
    },
  },
  {
    ...{ id: 'prices.order', section: '4.1', basis: 'assumed' },
    says: 'The answers are in the order of the request, repeat its itemId, storeId and quantity, and keep duplicates.',
    async check(subject) {
      const { exchange, lines } = await mixedRequest(subject)
      const answers = arrayOf(exchange, 'A price request')
      for (const [at, line] of lines.entries()) {
        const answer = answers[at]
        for (const name of ['itemId', 'storeId', 'quantity'] as const)
          if (!isRecord(answer) || answer[name] !== line[name])
            throw new Broken(
              `Answer ${at + 1} is not that to item ${at + 1}: ${name} is not ${JSON.stringify(line[name])}.`,
              exchange,
            )
      }
      return exchange
    },
  },
  {
    ...{ id: 'prices.fields', section: '2.4', basis: 'given' },
    says: 'unitPrice, discount and totalPrice are numbers, none below 0, or all null.',
    async check(subject) {
      const { exchange } = await mixedRequest(subject)
      for (const { exchange: at, item } of allAnswers(subject))
        if (!isPriced(item) && !hasNoPrice(item))
          throw new Broken(
            `The prices of ${JSON.stringify(item.itemId)} are neither such numbers nor all null.`,
            at,
          )
      return exchange
    },
  },
  {
    ...{ id: 'prices.error-names', section: '2.4', basis: 'assumed' },
    says: 'An item without prices has an errorCode and an errorMessage, which are text; one with prices has neither.',
    async check(subject) {
      const { exchange } = await mixedRequest(subject)
      for (const { exchange: at, item } of allAnswers(subject)) {
        for (const name of ['errorCode', 'errorMessage'] as const) {
          const value = item[name]
          const right = hasNoPrice(item) ? typeof value === 'string' && value !== '' : value == null
          if (!right)
            throw new Broken(
              `The answer for ${JSON.stringify(item.itemId)} has ${value == null ? 'no' : 'an'} ${name}.`,
              at,
            )
        }
      }
      return exchange
    },
  },
  {
    ...{ id: 'prices.total', section: '2.4', basis: 'given' },
    says: 'totalPrice is unitPrice * quantity - discount, computed in decimals.',
    async check(subject) {
      await mixedRequest(subject)
      const priced = allAnswers(subject).filter(
        ({ item }) => isPriced(item) && typeof item.quantity === 'number',
      )
      for (const { exchange, item } of priced) {
        const [unit, quantity, off] = [item.unitPrice, item.quantity, item.discount] as [
          number,
          number,
          number,
        ]
        const total = new Big(unit).times(quantity).minus(off)
        if (total.toNumber() !== item.totalPrice)
          throw new Broken(
            `${unit} * ${quantity} - ${off} is ${total.toFixed()}, not ${item.totalPrice}.`,
            exchange,
          )
      }
      const [shown] = priced
      if (!shown) throw new Unchecked('nothing was priced; name items that have a price: --item CODE')
      return shown.exchange
    },
  },
  {
    ...{ id: 'prices.known', section: '4.1', basis: 'given' },
    says: 'An item that has a price is priced, whatever else is in the request.',
    async check(subject) {
      if (subject.items.length === 0) throw new Unchecked('name items that have a price: --item CODE')
      const { exchange } = await mixedRequest(subject)
      const answers = arrayOf(exchange, 'A price request').filter(isRecord)
      for (const code of subject.items) {
        const unpricedOne = answers.find((answer) => answer.itemId === code && !isPriced(answer))
        if (unpricedOne)
          throw new Broken(
            `The item ${code} has no price: ${String(unpricedOne.errorMessage ?? 'no reason is given')}`,
            exchange,
          )
        if (!answers.some((answer) => answer.itemId === code))
          throw new Broken(`The item ${code} is not answered.`, exchange)
      }
      return exchange
    },
  },
  {
    ...{ id: 'prices.item-error', section: '7', basis: 'given' },
    says: 'An item that does not exist is an error of that item, and the call succeeds.',
    check: async (subject) =>
      unpriced(
        subject,
        [{ itemId: MADE_UP, storeId: await knownStore(subject).catch(() => MADE_UP), quantity: 1 }],
        'an item that does not exist',
      ),
  },
  {
    ...{ id: 'prices.store-error', section: '7', basis: 'given' },
    says: 'A store that does not exist is an error of the item, and the call succeeds.',
    check: async (subject) =>
      unpriced(
        subject,
        [{ itemId: subject.items[0] ?? MADE_UP, storeId: MADE_UP, quantity: 1 }],
        'a store that does not exist',
      ),
  },
  {
    ...{ id: 'prices.quantity-error', section: '7', basis: 'assumed' },
    says: 'A quantity of zero or below is an error of the item, and the call succeeds.',
    async check(subject) {
      const storeId = await knownStore(subject).catch(() => MADE_UP)
      const itemId = subject.items[0] ?? MADE_UP
      return unpriced(
        subject,
        [0, -1].map((quantity) => ({ itemId, storeId, quantity })),
        'a quantity of zero or below',
      )
    },
  },
  {
    ...{ id: 'prices.member', section: '2.3', basis: 'given' },
    says: 'The member number is optional: with one and without, the call succeeds.',
    async check(subject) {
      const storeId = await knownStore(subject).catch(() => MADE_UP)
      const lines = [{ itemId: subject.items[0] ?? MADE_UP, storeId, quantity: 1 }]
      const without = await withToken(subject.probe, PATHS.prices, { items: lines })
      answersTo(lines, without, 'A price request without a member number')
      const exchange = await prices(subject, lines, subject.memberNumber ?? MADE_UP)
      answersTo(lines, exchange, 'A price request with a member number')
      return exchange
    },
  },
  {
    ...{ id: 'prices.input', section: '4.1', basis: 'assumed' },
    says: 'A body that is no price request is answered 400.',
    async check({ probe }) {
      let last: Exchange | undefined
      for (const body of ['{"items":', '{}', '{"items":7}', '[]']) {
        last = await withToken(probe, PATHS.prices, body)
        expectStatus(last, 400, `The body ${body}`)
      }
      return last as Exchange
    },
  },
  {
    ...{ id: 'no-faults', section: '7', basis: 'given' },
    says: 'No call of this check was answered 5xx, or not at all.',
    async check({ probe }) {
      const fault = probe.exchanges.find(({ status }) => status === 0 || status >= 500)
      if (fault) throw new Broken(`A call was answered ${fault.status || 'not at all'}.`, fault)
      const last = probe.exchanges.at(-1)
      if (!last) throw new Unchecked('nothing was called')
      return last
    },
  },
]
