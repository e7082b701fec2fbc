// A small supplier of live prices in plain node:http. Every step of it can be replaced by a variation.
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Subject } from '../../../../src/features/supplier-check/rule.ts'

export const clientId = 'platform-1'
export const clientSecret = 'k7Wq-Zr94-Tm2x-Pd58'

export type Store = {
  id: string
  name: string
  address: Record<string, string>
  latitude: number
  longitude: number
  [field: string]: unknown
}
export type Item = { id: string; price: number; notAt: string[] }
export type Member = { number: string; percent: number; off: number }
export type Data = { stores: Store[]; items: Item[]; members: Member[] }

export type Line = { itemId: unknown; storeId: unknown; quantity: unknown }
export type PriceRequest = { memberNumber?: string | null; items: Line[] }
export type Priced = Record<string, unknown>

export type Call = {
  method: string
  path: string // as sent, without the query
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: Buffer
}
export type Answer = { status: number; headers: Record<string, string>; body: Buffer }
type Later<T> = T | Promise<T>

export type Steps = {
  handle(call: Call): Later<Answer>
  readTokenRequest(call: Call): Record<string, string> | null // null: malformed
  newToken(): string
  refuse(call: Call): Answer | null // the refusal of a call without a valid token
  search(latitude: number, longitude: number, radius: number): unknown[]
  distance(latitude: number, longitude: number, store: Store): number // in kilometres
  lookup(call: Call, id: string): Later<Answer>
  findStore(id: string): Store | undefined
  findMember(number: string): Member | undefined
  prices(call: Call): Later<Answer>
  priceLines(request: PriceRequest): unknown
  priceLine(line: Line, memberNumber: string | null, index: number): Priced
  unitPrice(item: Item, quantity: number, store: Store): number
  discount(item: Item, member: Member | null, unitPrice: number, quantity: number): number
  total(unitPrice: number, quantity: number, discount: number): number
  failed(line: Line, code: string, message: string): Priced
  write(answer: Answer, response: ServerResponse, call: Call): Later<void>
}

// How a supplier differs from the reference.
export type Supplier = {
  subject?: Partial<Subject> // what the check is told
  data?: (data: Data) => void
  steps?: (base: Steps, data: Data) => Partial<Steps>
  expiresIn?: number
  basePath?: string
  server?: (server: Server) => void
}

export type Suppliers = Record<string, Supplier>

export const defaultSubject = {
  items: ['A-100', 'A-200'],
  memberNumber: 'M-1001',
  notInRange: [{ itemId: 'A-300', storeId: 'ST-102' }],
}

// Changes each answer.
export const answers =
  (change: (answer: Answer, call: Call) => Later<Answer>) =>
  (base: Steps): Partial<Steps> => ({
    handle: async (call) => change(await base.handle(call), call),
  })

// Gives stores other ids, also where an item is not sold.
export const storeIds = (rename: (id: string, index: number) => string) => (data: Data) => {
  const ids = new Map(data.stores.map((store, index) => [store.id, rename(store.id, index)]))
  for (const store of data.stores) store.id = ids.get(store.id)!
  for (const item of data.items) item.notAt = item.notAt.map((id) => ids.get(id)!)
}

export const parsed = (call: Call) => JSON.parse(call.body.toString())

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return text(status, JSON.stringify(value), { 'Content-Type': 'application/json', ...headers })
}

export function text(status: number, body: string | Buffer, headers: Record<string, string> = {}): Answer {
  return { status, headers, body: Buffer.from(body as string) }
}

export const wait = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds))

// A number as digits and decimal places: 2.50 is 25 and 1.
function decimal(value: number): { digits: bigint; places: number } {
  const [number, exponent = '0'] = String(value).split('e') as [string, string?]
  const [whole, fraction = ''] = number.split('.') as [string, string?]
  const places = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return places < 0 ? { digits: digits * 10n ** BigInt(-places), places: 0 } : { digits, places }
}

// unitPrice * quantity - discount, exactly.
export function exactTotal(unitPrice: number, quantity: number, discount: number): number {
  const a = decimal(unitPrice),
    b = decimal(quantity),
    c = decimal(discount)
  const places = Math.max(a.places + b.places, c.places)
  const digits =
    a.digits * b.digits * 10n ** BigInt(places - a.places - b.places) -
    c.digits * 10n ** BigInt(places - c.places)
  return Number(`${digits}e-${places}`)
}

export const cents = (amount: number) => Math.round(Number(amount.toFixed(6)) * 100) / 100

const radians = (degrees: number) => (degrees * Math.PI) / 180

export function greatCircle(
  lat1: number,
  lon1: number,
  lat2: number,
  lon2: number,
  earth = 6371.0088,
): number {
  const a =
    Math.sin(radians(lat2 - lat1) / 2) ** 2 +
    Math.cos(radians(lat1)) * Math.cos(radians(lat2)) * Math.sin(radians(lon2 - lon1) / 2) ** 2
  return 2 * earth * Math.asin(Math.min(1, Math.sqrt(a)))
}

export function store(
  id: string,
  name: string,
  latitude: number,
  longitude: number,
  state = 'NSW',
  timeZone = 'Australia/Sydney',
): Store {
  const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
  return {
    id,
    name,
    address: {
      street: '12 Station Street',
      suburb: name,
      state,
      postcode: '2000',
      country: state === 'NZ' ? 'NZ' : 'AU',
    },
    latitude,
    longitude,
    phone: '+61 2 5550 0100',
    tradingHours: {
      timeZone,
      dailyTradingHours: days.map((day) => ({
        day,
        openingHours: day === 'Sunday' ? [] : [{ opens: '06:30', closes: '17:00' }],
      })),
      publicHolidays: [{ date: '2026-12-25', name: 'Christmas Day', openingHours: [] }],
    },
  }
}

export function referenceData(): Data {
  return {
    stores: [
      store('ST-101', 'Sydney', -33.8688, 151.2093),
      store('ST-102', 'Parramatta', -33.815, 151.0011),
      store('ST-103', 'Penrith', -33.7511, 150.6942),
      store('ST-201', 'Melbourne', -37.8136, 144.9631, 'VIC', 'Australia/Melbourne'),
      store('ST-202', 'Northcote', -37.77, 145.0, 'VIC', 'Australia/Melbourne'),
      store('ST-203', 'Dandenong', -37.987, 145.215, 'VIC', 'Australia/Melbourne'),
      store('ST-301', 'Brisbane', -27.4698, 153.0251, 'QLD', 'Australia/Brisbane'),
      store('ST-302', 'Ipswich', -27.6146, 152.7609, 'QLD', 'Australia/Brisbane'),
      store('ST-401', 'Perth', -31.9523, 115.8613, 'WA', 'Australia/Perth'),
      store('ST-501', 'Auckland Café Quarter', -36.8485, 174.7633, 'NZ', 'Pacific/Auckland'),
      store('ST-502', 'Manukau', -36.9928, 174.8799, 'NZ', 'Pacific/Auckland'),
    ],
    items: [
      ['A-100', 12.49],
      ['A-200', 5140],
      ['A-300', 899.95],
      ['A-400', 0.35],
      ['A-500', 7.1],
      ['A-600', 64.05],
      ['B-100', 3.99],
      ['B-200', 18.2],
      ['B-300', 1250.5],
      ['B-400', 45],
      ['B-500', 0.07],
      ['B-600', 310.1],
      ['C-100', 9.95],
      ['C-200', 22.75],
      ['C-300', 101.01],
      ['C-400', 8.8],
      ['C-500', 2049.99],
      ['D-100', 15.15],
      ['D-200', 33.33],
      ['D-300', 76.9],
    ].map(([id, price]) => ({
      id: id as string,
      price: price as number,
      notAt: id === 'A-300' ? ['ST-102'] : [],
    })),
    members: [
      { number: 'M-1001', percent: 5, off: 0 },
      { number: 'M-1002', percent: 0, off: 0.05 },
      { number: 'M-1003', percent: 0, off: 0 },
    ],
  }
}

function baseSteps(data: Data, steps: Steps, expiresIn: number): Steps {
  const tokens = new Map<string, number>() // until when
  const issue = (call: Call) => {
    const headers = { 'Cache-Control': 'no-store' }
    const { grant_type, client_id: id, client_secret: secret } = steps.readTokenRequest(call) ?? {}
    if (!grant_type || !id || !secret) return json(400, { error: 'invalid_request' }, headers)
    if (grant_type !== 'client_credentials') return json(400, { error: 'unsupported_grant_type' }, headers)
    if (id !== clientId || secret !== clientSecret) return json(401, { error: 'invalid_client' }, headers)
    const access_token = steps.newToken()
    tokens.set(access_token, Date.now() + expiresIn * 1000)
    return json(200, { access_token, token_type: 'Bearer', expires_in: expiresIn }, headers)
  }
  const nearest = ({ query }: Call) => {
    const [latitude, longitude, radius] = ['latitude', 'longitude', 'radius'].map((name) =>
      query.get(name)?.trim() ? Number(query.get(name)) : NaN,
    ) as [number, number, number]
    if (!(Math.abs(latitude) <= 90) || !(Math.abs(longitude) <= 180) || !(radius >= 0))
      return json(400, { message: 'latitude, longitude and radius are required' })
    return json(200, steps.search(latitude, longitude, radius))
  }
  return {
    async handle(call) {
      const { method, path } = call
      if (path === '/connect/token')
        return method === 'POST' ? issue(call) : json(405, { message: 'Use POST' })
      const refusal = steps.refuse(call)
      if (refusal) return refusal
      if (path === '/stores/nearest' && method === 'GET') return nearest(call)
      const id = /^\/stores\/([^/]+)$/.exec(path)
      if (id && method === 'GET') {
        try {
          return steps.lookup(call, decodeURIComponent(id[1]!))
        } catch (error) {
          if (error instanceof URIError) return json(404, { message: 'No such store' })
          throw error
        }
      }
      if (path === '/request-prices' && method === 'POST') return steps.prices(call)
      return json(404, { message: 'No such address' })
    },
    readTokenRequest(call) {
      const type = (call.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
      if (type === 'application/x-www-form-urlencoded')
        return Object.fromEntries(new URLSearchParams(call.body.toString()))
      if (type !== 'application/json') return null
      try {
        const value = JSON.parse(call.body.toString())
        return Object.values(value).every((field) => typeof field === 'string') ? value : null
      } catch {
        return null
      }
    },
    newToken: () => randomBytes(24).toString('base64url'),
    refuse(call) {
      const token = /^Bearer +(\S+)$/i.exec(call.headers.authorization ?? '')?.[1] ?? ''
      return Date.now() < (tokens.get(token) ?? 0)
        ? null
        : json(401, { message: 'A valid token is required' }, { 'WWW-Authenticate': 'Bearer' })
    },
    search: (latitude, longitude, radius) =>
      data.stores
        .map((store) => ({
          ...store,
          distance: Number(steps.distance(latitude, longitude, store).toFixed(3)),
        }))
        .filter((found) => found.distance <= radius)
        .sort((a, b) => a.distance - b.distance),
    distance: (latitude, longitude, store) =>
      greatCircle(latitude, longitude, store.latitude, store.longitude),
    lookup(_call, id) {
      const store = steps.findStore(id)
      return store ? json(200, store) : json(404, { message: 'No such store' })
    },
    findStore: (id) => data.stores.find((store) => store.id === id),
    findMember: (number) => data.members.find((member) => member.number === number),
    prices(call) {
      let request: any
      try {
        request = parsed(call)
      } catch {
        return json(400, { message: 'The body is not JSON' })
      }
      const { memberNumber, items } = request ?? {}
      const isObject = (line: unknown) => typeof line === 'object' && line !== null
      if (!Array.isArray(items) || typeof (memberNumber ?? '') !== 'string' || !items.every(isObject))
        return json(400, { message: 'items is required' })
      return json(200, steps.priceLines(request))
    },
    priceLines: (request) =>
      request.items.map((line, index) => steps.priceLine(line, request.memberNumber ?? null, index)),
    priceLine(line, memberNumber) {
      const { itemId, storeId, quantity } = line
      const isText = typeof itemId === 'string' && typeof storeId === 'string'
      if (!isText || typeof quantity !== 'number' || quantity <= 0)
        return steps.failed(line, 'invalid_line', 'The line needs itemId, storeId and a positive quantity')
      const member = memberNumber === null ? null : steps.findMember(memberNumber)
      if (member === undefined) return steps.failed(line, 'unknown_member', 'There is no such member')
      const item = data.items.find(({ id }) => id === itemId)
      if (!item) return steps.failed(line, 'unknown_item', 'There is no such item')
      const store = data.stores.find(({ id }) => id === storeId)
      if (!store) return steps.failed(line, 'unknown_store', 'There is no such store')
      if (item.notAt.includes(store.id))
        return steps.failed(line, 'not_in_range', 'The store does not sell this item')
      const unitPrice = steps.unitPrice(item, quantity, store)
      const discount = steps.discount(item, member, unitPrice, quantity)
      const totalPrice = steps.total(unitPrice, quantity, discount)
      return { ...echo(line), unitPrice, discount, totalPrice }
    },
    unitPrice: (item) => item.price,
    discount: (_item, member, unitPrice, quantity) =>
      member ? cents(Math.min(unitPrice, (unitPrice * member.percent) / 100 + member.off) * quantity) : 0,
    total: exactTotal,
    failed: (line, errorCode, errorMessage) => ({
      ...echo(line),
      unitPrice: null,
      discount: null,
      totalPrice: null,
      errorCode,
      errorMessage,
    }),
    write(answer, response) {
      response.writeHead(answer.status, { 'Content-Length': answer.body.length, ...answer.headers })
      response.end(answer.body)
    },
  }
}

const echo = ({ itemId, storeId, quantity }: Line) => ({ itemId, storeId, quantity })

export async function startSupplier(supplier: Supplier): Promise<{ url: string; close(): Promise<void> }> {
  const data = referenceData()
  supplier.data?.(data)
  const steps = {} as Steps
  const base = baseSteps(data, steps, supplier.expiresIn ?? 3600)
  Object.assign(steps, base, supplier.steps?.(base, data))
  const basePath = supplier.basePath ?? ''
  const server = createServer(async (request, response) => {
    request.on('error', () => {})
    try {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const [address, query] = request.url!.split(/\?(.*)/s) as [string, string?]
      const path = address.startsWith(basePath) ? address.slice(basePath.length) : '/elsewhere'
      const call: Call = {
        method: request.method!,
        path,
        query: new URLSearchParams(query ?? ''),
        headers: request.headers,
        body: Buffer.concat(chunks),
      }
      await steps.write(await steps.handle(call), response, call)
    } catch (error) {
      if (process.env.VERBOSE) console.error(error)
      if (!response.headersSent) response.writeHead(500, { 'Content-Type': 'application/json' })
      response.end('{"message":"Fault of the server"}')
    }
  })
  // Several suppliers share a process, which may be busy for longer than the default of 5 s.
  server.keepAliveTimeout = 300_000
  supplier.server?.(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${basePath}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
