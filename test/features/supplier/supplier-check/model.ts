import { setImmediate } from 'node:timers/promises'
import { type fetch, Headers, Response } from 'undici'
import { distanceKm } from '../../../../src/features/supplier/supplier-check/geography.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a wrong supplier answers has any shape
export type Any = any

export interface Answer {
  status: number
  body?: Any
  headers?: Record<string, string>
}

export interface Asked {
  path: string
  query: URLSearchParams
  token: string
  /** The fields of a token request; undefined if it is malformed. */
  form: Any
  json: Any
  isForm: boolean
}

export interface ModelStore {
  id: string
  latitude: number
  longitude: number
}

export interface Line {
  itemId: string
  storeId: string
  quantity: number
}

/** The steps of the supplier, each of which a test can replace. */
export interface Steps {
  now(): number
  stores: ModelStore[]
  expiresIn: number
  isClient(id: string, secret: string): boolean
  token(asked: Asked): Answer
  tokenBody(token: string): Any
  newToken(): string
  /** Whether a token is valid for a path. */
  accepts(token: string, path: string): boolean
  refuse(): Answer
  km(at: { latitude: number; longitude: number }, store: ModelStore): number
  search(latitude: number, longitude: number, radius: number): Any[]
  nearest(query: URLSearchParams): Answer
  lookUp(id: string): Answer
  unitPrice(itemId: string, storeId: string): number
  discount(line: Line, member: string | undefined, unitPrice: number): number
  total(unitPrice: number, quantity: number, discount: number): number
  /** An answer to a line. `index`: its position among `lines`. */
  priceLine(line: Line, member: string | undefined, index: number, lines: Line[]): Any
  failedLine(line: Line, code: string): Any
  prices(request: Any): Answer | Promise<Answer>
  /** The last word on an answer. */
  finish(answer: Answer, asked: Asked): Answer
  /** When each token was issued, in ms. */
  issued: Map<string, number>
}

/** What is different in a supplier, given the steps of the right one. */
export type Change = (right: Steps) => Partial<Steps>

export const CLIENT = { id: 'Platform-1', secret: 'Secret-of-the-Model-9' }

/** What the items cost in Melbourne, and what a member pays less: nothing for the second item. */
const PRICES: Record<string, number> = { 'A-1': 10, 'B-2': 20.5 }
const MEMBERS: Record<string, Record<string, number>> = { 'M-1': { 'A-1': 1 } }

const STORES: ModelStore[] = [
  ['melbourne', -37.8136, 144.9631],
  ['northcote', -37.7697, 144.999],
  ['dandenong', -37.9871, 145.215],
  ['epping', -37.648, 145.02],
  ['sunshine', -37.762, 144.829],
  ['geelong', -38.108, 144.351],
  ['sydney', -33.9105, 151.1936],
  ['penrith', -33.741, 150.699],
  ['hobart', -42.839, 147.304],
  ['perth', -31.9, 115.814],
].map(([id, latitude, longitude]) => ({
  id: String(id),
  latitude: Number(latitude),
  longitude: Number(longitude),
}))

export const cents = (amount: number) => Math.round(amount * 100) / 100

/** A small supplier that is right in everything, but for `change`. */
export function createModel(change: Change = () => ({}), now = Date.now) {
  const steps: Steps = { ...tokenSteps(), ...storeSteps(), ...priceSteps(), now, finish: (answer) => answer }
  const right: Steps = { ...steps }
  Object.assign(steps, change(right))

  function tokenSteps() {
    return {
      expiresIn: 900,
      issued: new Map<string, number>(),
      isClient: (id: string, secret: string) => id === CLIENT.id && secret === CLIENT.secret,
      newToken: () => `Token-${steps.issued.size}-abcdef`,
      tokenBody: (token: string) => ({
        access_token: token,
        token_type: 'Bearer',
        expires_in: steps.expiresIn,
      }),
      token({ form }: Asked): Answer {
        const { grant_type: type, client_id: id, client_secret: secret } = form ?? {}
        if (type !== 'client_credentials' || !id || !secret)
          return { status: 400, body: { error: 'invalid' } }
        if (!steps.isClient(id, secret)) return { status: 401, body: { error: 'no' } }
        const token = steps.newToken()
        steps.issued.set(token, steps.now())
        return { status: 200, body: steps.tokenBody(token) }
      },
      accepts: (token: string) =>
        steps.now() - (steps.issued.get(token) ?? -Infinity) < steps.expiresIn * 1000,
      refuse: (): Answer => ({ status: 401, body: { title: 'No' } }),
    }
  }

  function storeSteps() {
    return {
      stores: STORES,
      km: distanceKm,
      search: (latitude: number, longitude: number, radius: number) =>
        steps.stores
          .map((store) => ({ ...store, distance: steps.km({ latitude, longitude }, store) }))
          .filter(({ distance }) => distance <= radius)
          .sort((a, b) => a.distance - b.distance),
      nearest(query: URLSearchParams): Answer {
        const [latitude = 0, longitude = 0, radius = 0] = ['latitude', 'longitude', 'radius'].map((name) =>
          Number(query.get(name) ?? Number.NaN),
        )
        if (Number.isNaN(latitude + longitude + radius)) return { status: 400 }
        return { status: 200, body: steps.search(latitude, longitude, radius) }
      },
      lookUp(id: string): Answer {
        const store = steps.stores.find((one) => one.id === id)
        return store ? { status: 200, body: store } : { status: 404, body: { title: 'No' } }
      },
    }
  }

  function priceSteps() {
    return {
      unitPrice: (itemId: string, storeId: string) =>
        cents((PRICES[itemId] ?? 0) + steps.stores.findIndex(({ id }) => id === storeId) * 0.25),
      discount: ({ itemId, quantity }: Line, member: string | undefined) =>
        (MEMBERS[member ?? '']?.[itemId] ?? 0) * quantity,
      total: (unitPrice: number, quantity: number, discount: number) =>
        cents(unitPrice * quantity - discount),
      failedLine: (line: Line, errorCode: string) => ({
        ...line,
        ...{ unitPrice: null, discount: null, totalPrice: null },
        ...{ errorCode, errorMessage: 'There is no price.' },
      }),
      priceLine(line: Line, member: string | undefined) {
        const { itemId, storeId, quantity } = line
        if (PRICES[itemId] === undefined) return steps.failedLine(line, 'item_unknown')
        if (!steps.stores.some(({ id }) => id === storeId)) return steps.failedLine(line, 'store_unknown')
        if (itemId === 'B-2' && storeId === 'perth') return steps.failedLine(line, 'not_in_range')
        const unitPrice = steps.unitPrice(itemId, storeId)
        const discount = steps.discount(line, member, unitPrice)
        return { ...line, unitPrice, discount, totalPrice: steps.total(unitPrice, quantity, discount) }
      },
      prices(request: Any): Answer | Promise<Answer> {
        const lines: Line[] = request.items
        if (!Array.isArray(lines)) return { status: 400 }
        const member = request.memberNumber
        return {
          status: 200,
          body: lines.map((line, index) => steps.priceLine(line, member, index, lines)),
        }
      },
    }
  }

  return async (asked: Asked): Promise<Answer> => steps.finish(await answerTo(steps, asked), asked)
}

async function answerTo(steps: Steps, asked: Asked): Promise<Answer> {
  const { path, query, token, json } = asked
  if (path === '/connect/token') return steps.token(asked)
  if (!steps.accepts(token, path)) return steps.refuse()
  if (path === '/stores/nearest') return steps.nearest(query)
  if (path === '/request-prices') return steps.prices(json)
  return steps.lookUp(decodeURIComponent(path.slice('/stores/'.length)))
}

/** A request as the model understands it. */
export function readAsked(
  url: string,
  authorization: string | undefined,
  type: string | undefined,
  body: string,
): Asked {
  const { pathname: path, searchParams: query } = new URL(url, 'http://model')
  const isForm = type?.startsWith('application/x-www-form') === true
  const json = parse(body)
  const form = isForm ? Object.fromEntries(new URLSearchParams(body)) : json
  return { path, query, token: (authorization ?? '').replace('Bearer ', ''), form, json, isForm }
}

function parse(body: string): Any {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** The bytes of an answer. A body that is a text is sent as it is. */
export const bytesOf = ({ body }: Answer) =>
  body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)

/** The model in place of a network, which takes most of the time of a check. */
export function modelFetch(change?: Change, now?: () => number): typeof fetch {
  const model = createModel(change, now)
  return async (url, { headers: list, body } = {}) => {
    const headers = new Headers(list)
    const [authorization, type] = ['authorization', 'content-type'].map(
      (name) => headers.get(name) ?? undefined,
    )
    // Requests that overlap are all there before the first one is answered.
    await setImmediate()
    const answer = await model(readAsked(String(url), authorization, type, String(body ?? '')))
    const { status } = answer
    return new Response(bytesOf(answer), {
      status,
      headers: { 'content-type': 'application/json', ...answer.headers },
    })
  }
}
