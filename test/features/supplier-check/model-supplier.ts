import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { Big } from 'big.js'
import { type fetch, Headers, Response } from 'undici'
import { checkSupplier, type Finding } from '../../../src/features/supplier-check/check-supplier.ts'
import type { Clock } from '../../../src/features/supplier-check/exchange.ts'
import type { Subject } from '../../../src/features/supplier-check/rule.ts'
import { createProbe } from '../../../src/features/supplier-check/supplier-probe.ts'
import { serve } from '../../support/ports.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a wrong supplier may send has any shape
export type Any = any

export type ModelStore = ReturnType<typeof storeOf>

/** A request to the model supplier. */
export interface Asked {
  method: string
  path: string
  /** The fields of a token request, form-encoded or JSON. */
  form: Record<string, string>
  isForm: boolean
  authorization: string | undefined
  json: Any
  /** Whether the model knows the token, and when it was issued. */
  issuedAt: number | undefined
  /** How old the token is, in ms. */
  ageMs: number
  tokens: Map<string, number>
  stores: readonly ModelStore[]
  /** The time in ms since 1970. */
  now(): number
  /** What the model answers to a request that differs. */
  again(change: Partial<Pick<Asked, 'path' | 'authorization' | 'json' | 'form'>>): Answer
}

/** An answer of the model supplier. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: Any
  /** How the body is encoded; UTF-8 by default. */
  encoding?: BufferEncoding
}

/** Changes the answer of the model, which is right, before it is sent. */
export type Tamper = (asked: Asked, answer: Answer) => void

export const CLIENT = { id: 'Platform-1', secret: 'Secret-of-the-Model-9' }
/** An item that exists, and a store that does not sell it. */
export const NOT_IN_RANGE = { itemId: 'ONLY-1', storeId: 'suva' }
export const MEMBER = 'CUST1'

const PRICES: Record<string, number> = { 'FT-1': 5.14, 'DK-2': 12.35, 'ONLY-1': 8 }
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

export const storeOf = (id: string, latitude: number, longitude: number, timeZone: string) => ({
  id,
  name: `Café ${id}`,
  address: {
    street: '1 High Street',
    suburb: 'Centre',
    state: 'VIC',
    postcode: '3000',
    country: 'Australia',
  },
  phone: '03 5550 1234',
  latitude,
  longitude,
  tradingHours: {
    timeZone,
    dailyTradingHours: DAYS.map((day, index) => ({
      day,
      openingHours:
        index < 5
          ? [
              { opens: '07:00', closes: '12:00' },
              { opens: '13:00', closes: '17:30' },
            ]
          : [],
    })),
    publicHolidays: [
      { date: '2026-12-25', name: 'Christmas Day', openingHours: [] },
      { date: '2027-01-01', name: 'New Year', openingHours: [{ opens: '09:00', closes: '12:00' }] },
    ],
  },
})

export const STORES = [
  storeOf('melbourne', -37.81, 144.96, 'Australia/Melbourne'),
  storeOf('northcote', -37.77, 145, 'Australia/Melbourne'),
  storeOf('sydney', -33.87, 151.21, 'Australia/Sydney'),
  storeOf('hobart', -42.88, 147.33, 'Australia/Hobart'),
  storeOf('suva', -17.7, 178.8, 'Pacific/Fiji'),
  storeOf('taveuni', -16.8, -179.9, 'Pacific/Fiji'),
]

/** Where a store is and how far, by the haversine formula. */
function kilometres(latitude: number, longitude: number, store: (typeof STORES)[number]): number {
  const rad = Math.PI / 180
  const a =
    Math.sin(((store.latitude - latitude) * rad) / 2) ** 2 +
    Math.cos(latitude * rad) *
      Math.cos(store.latitude * rad) *
      Math.sin(((store.longitude - longitude) * rad) / 2) ** 2
  return 2 * 6378 * Math.asin(Math.min(1, Math.sqrt(a)))
}

const ok = (body: unknown): Answer => ({ status: 200, headers: {}, body })
const failed = (status: number): Answer => ({ status, headers: {}, body: { title: 'No' } })

function tokenAnswer({ form, tokens, now }: Asked): Answer {
  const { grant_type: type, client_id: id, client_secret: secret } = form
  if (type !== 'client_credentials' || !id || !secret) return failed(400)
  if (id !== CLIENT.id || secret !== CLIENT.secret) return failed(401)
  const token = `Token-${tokens.size}-abcdef`
  tokens.set(token, now())
  return {
    ...ok({ access_token: token, token_type: 'Bearer', expires_in: LIFETIME }),
    headers: { 'cache-control': 'no-store' },
  }
}

/** How long tokens live, in seconds. */
const LIFETIME = 900

function searchAnswer({ path, stores }: Asked): Answer {
  const { searchParams } = new URL(path, 'http://model')
  const [latitude, longitude, radius] = ['latitude', 'longitude', 'radius'].map((name) =>
    searchParams.has(name) ? Number(searchParams.get(name)) : Number.NaN,
  ) as [number, number, number]
  if (!Number.isFinite(latitude + longitude + radius)) return failed(400)
  const found = stores.map((store) => ({ ...store, distance: kilometres(latitude, longitude, store) }))
  const near = found.filter(({ distance }) => distance <= radius)
  return ok(structuredClone(near.sort((a, b) => a.distance - b.distance)))
}

function storeAnswer({ path, stores }: Asked): Answer {
  const store = stores.find(({ id }) => path === `/stores/${encodeURIComponent(id)}`)
  return store ? ok(structuredClone(store)) : failed(404)
}

/** Why a line cannot be priced, if it cannot. */
function errorOf(
  { itemId, storeId, quantity }: Any,
  memberNumber: unknown,
  { stores }: Asked,
): string | undefined {
  if (memberNumber != null && memberNumber !== MEMBER) return 'member_unknown'
  if (!Object.hasOwn(PRICES, itemId)) return 'item_unknown'
  if (!stores.some(({ id }) => id === storeId)) return 'store_unknown'
  if (itemId === NOT_IN_RANGE.itemId && storeId === NOT_IN_RANGE.storeId) return 'item_not_in_range'
  return quantity > 0 ? undefined : 'quantity_invalid'
}

function priceOf({ itemId, storeId, quantity }: Any, memberNumber: unknown, asked: Asked) {
  const line = { itemId, storeId, quantity }
  const errorCode = errorOf(line, memberNumber, asked)
  const errorMessage = `No price: ${errorCode}.`
  if (errorCode)
    return { ...line, unitPrice: null, discount: null, totalPrice: null, errorCode, errorMessage }
  const unitPrice = PRICES[itemId] ?? 0
  const discount = quantity >= 5 ? 0.15 : 0
  return {
    ...line,
    unitPrice,
    discount,
    totalPrice: new Big(unitPrice).times(quantity).minus(discount).toNumber(),
  }
}

function pricesAnswer(asked: Asked): Answer {
  const { json } = asked
  if (!Array.isArray(json?.items)) return failed(400)
  return ok(json.items.map((line: unknown) => priceOf(line, json.memberNumber, asked)))
}

function rightAnswer(asked: Asked): Answer {
  if (asked.path === '/connect/token') return tokenAnswer(asked)
  const issuedAt = asked.tokens.get((asked.authorization ?? '').replace('Bearer ', ''))
  if (issuedAt === undefined) return failed(401)
  if (asked.path.startsWith('/stores/nearest')) return searchAnswer(asked)
  return asked.path === '/request-prices' ? pricesAnswer(asked) : storeAnswer(asked)
}

function parse(body: string) {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** A request as it arrives, by HTTP or without. */
interface Received {
  method: string | undefined
  path: string | undefined
  authorization: string | undefined
  type: string | undefined
  body: string
}

function readAsked(
  { method = '', path = '', authorization, type = '', body }: Received,
  tokens: Map<string, number>,
  now: () => number,
  stores: readonly ModelStore[],
): Asked {
  const isForm = type.startsWith('application/x-www-form')
  const json = parse(body)
  const issuedAt = tokens.get((authorization ?? '').replace('Bearer ', ''))
  const asked: Asked = {
    method,
    path,
    form: isForm ? Object.fromEntries(new URLSearchParams(body)) : (json ?? {}),
    isForm,
    authorization,
    json,
    issuedAt,
    ageMs: now() - (issuedAt ?? now()),
    now,
    tokens,
    stores,
    again: (change) => rightAnswer({ ...asked, ...change }),
  }
  return asked
}

/** A small supplier that is right in everything, with its answers changed by `tamper`. */
function createModel(tamper: Tamper, now: () => number = Date.now, stores: readonly ModelStore[] = STORES) {
  const tokens = new Map<string, number>()
  return (received: Received) => {
    const asked = readAsked(received, tokens, now, stores)
    const answer = rightAnswer(asked)
    tamper(asked, answer)
    const { status, headers, body, encoding } = answer
    const sent = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body), encoding)
    return { status, headers: { 'content-type': 'application/json', ...headers }, sent }
  }
}

/** How an answer is sent. */
export type Send = (
  answer: { status: number; headers: Record<string, string>; sent: Buffer },
  res: ServerResponse,
  req: IncomingMessage,
) => unknown
const send: Send = ({ status, headers, sent }, res) => res.writeHead(status, headers).end(sent)

/** The model as a server. */
export async function startModelSupplier(tamper: Tamper = () => {}, sendBy = send) {
  const model = createModel(tamper)
  const { server, port, close } = await serve(async (req, res) => {
    const { method, url: path, headers } = req
    const { authorization, 'content-type': type } = headers
    await sendBy(model({ method, path, authorization, type, body: await text(req) }), res, req)
  })
  return { server, url: `http://localhost:${port}`, close }
}

/** The model in place of a network, which takes most of the time of a check. */
function modelFetch(tamper: Tamper, now?: () => number, stores?: readonly ModelStore[]): typeof fetch {
  const model = createModel(tamper, now, stores)
  return async (url, { method, headers: list, body } = {}) => {
    const { pathname, search } = new URL(String(url))
    const asked = new Headers(list)
    // Requests that overlap are all there before the first one is answered.
    await setImmediate()
    const { status, headers, sent } = model({
      method,
      path: pathname + search,
      authorization: asked.get('authorization') ?? undefined,
      type: asked.get('content-type') ?? undefined,
      body: String(body ?? ''),
    })
    return new Response(sent, { status, headers })
  }
}

/** Everything that a rule may need. */
export const FULL: Omit<Subject, 'probe'> = {
  items: ['FT-1', 'DK-2'],
  memberNumber: MEMBER,
  notInRange: [NOT_IN_RANGE],
  patienceMs: 0,
}

/** What a check may be told about the model, besides what `FULL` says. */
export type Told = Partial<Omit<Subject, 'probe'>> & {
  tokenJson?: boolean
  clock?: Clock
  stores?: readonly ModelStore[]
}

/** Checks the model supplier, with its answers changed, against all rules. */
export function findingsWith(
  tamper: Tamper,
  { tokenJson = false, clock, stores, ...subject }: Told = {},
): Promise<Finding[]> {
  const probe = createProbe({
    baseUrl: 'http://model',
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    tokenJson,
    fetch: modelFetch(tamper, clock?.now, stores),
    ...(clock && { clock }),
  })
  return Array.fromAsync(checkSupplier({ ...FULL, probe, ...subject }))
}
