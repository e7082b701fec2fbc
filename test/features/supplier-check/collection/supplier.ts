// A small supplier of live prices in plain node:http. Every step of it can be replaced by a variation.
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

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
  number: number // 1 is the first call of this supplier
  alone: boolean // no other call was open when it came
  method: string
  path: string // as sent, without the query
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: Buffer
}
export type Answer = { status: number; headers: Record<string, string>; body: Buffer }
export type TokenRequest = { grant_type?: string; client_id?: string; client_secret?: string }
export type Issued = { token: string; number: number; at: number; until: number; uses: number }
type Later<T> = T | Promise<T>

export type Steps = {
  handle(call: Call): Later<Answer>
  token(call: Call): Later<Answer>
  readTokenRequest(call: Call): TokenRequest | null // null: malformed
  missing(request: TokenRequest): boolean
  grantTypeIsKnown(grantType: string): boolean
  clientIsKnown(id: string, secret: string): boolean
  newToken(): string
  issue(): Priced // the token response
  accept(issued: Issued): boolean
  refuse(call: Call): Answer | null // the refusal of a call without a valid token
  nearest(call: Call): Later<Answer>
  search(latitude: number, longitude: number, radius: number): unknown[]
  distance(latitude: number, longitude: number, store: Store): number // in kilometres
  lookup(call: Call, id: string): Later<Answer>
  findStore(id: string): Store | undefined // of a lookup
  prices(call: Call): Later<Answer>
  priceLines(request: PriceRequest): unknown
  priceLine(line: Line, memberNumber: string | null, index: number): Priced
  findPriceStore(id: string): Store | undefined // of a price request
  findItem(id: string): Item | undefined
  findMember(number: string): Member | undefined
  isSold(item: Item, store: Store): boolean
  unitPrice(item: Item, quantity: number, store: Store): number
  discount(item: Item, member: Member | null, unitPrice: number, quantity: number): number
  total(unitPrice: number, quantity: number, discount: number): number
  priced(line: Line, unitPrice: number, discount: number, total: number): Priced
  failed(line: Line, code: string, message: string): Priced
  write(answer: Answer, response: ServerResponse, call: Call): Later<void>
}

export type Supplier = {
  name: string
  right: boolean
  given: string | null // for a wrong one: what it breaks
  options?: string[] // of the checker
  data?: (data: Data) => void
  steps?: (base: Steps, data: Data, all: Steps, tokens: Map<string, Issued>) => Partial<Steps>
  expiresIn?: number
  basePath?: string
  urlEnd?: string // is added to the address that the checker is given
  server?: (server: Server) => void
}

export const defaultOptions = [
  '--item',
  'A-100',
  '--item',
  'A-200',
  '--member',
  'M-1001',
  '--not-in-range',
  'A-300@ST-102',
]

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

function baseSteps(data: Data, steps: Steps, tokens: Map<string, Issued>, expiresIn: number): Steps {
  let issuedTokens = 0
  return {
    async handle(call) {
      if (call.path === '/connect/token')
        return call.method === 'POST' ? steps.token(call) : json(405, { message: 'Use POST' })
      const refusal = steps.refuse(call)
      if (refusal) return refusal
      if (call.path === '/stores/nearest' && call.method === 'GET') return steps.nearest(call)
      const id = /^\/stores\/([^/]+)$/.exec(call.path)
      if (id && call.method === 'GET') {
        try {
          return steps.lookup(call, decodeURIComponent(id[1]!))
        } catch (error) {
          if (error instanceof URIError) return json(404, { message: 'No such store' })
          throw error
        }
      }
      if (call.path === '/request-prices' && call.method === 'POST') return steps.prices(call)
      return json(404, { message: 'No such address' })
    },
    token(call) {
      const headers = { 'Cache-Control': 'no-store' }
      const request = steps.readTokenRequest(call)
      if (!request || steps.missing(request)) return json(400, { error: 'invalid_request' }, headers)
      if (!steps.grantTypeIsKnown(request.grant_type!))
        return json(400, { error: 'unsupported_grant_type' }, headers)
      if (!steps.clientIsKnown(request.client_id!, request.client_secret!))
        return json(401, { error: 'invalid_client' }, headers)
      return json(200, steps.issue(), headers)
    },
    readTokenRequest(call) {
      const type = (call.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
      if (type === 'application/x-www-form-urlencoded')
        return Object.fromEntries(new URLSearchParams(call.body.toString()))
      if (type !== 'application/json') return null
      try {
        const value = JSON.parse(call.body.toString())
        if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
        return Object.values(value).every((field) => typeof field === 'string') ? value : null
      } catch {
        return null
      }
    },
    missing: (request) => !request.grant_type || !request.client_id || !request.client_secret,
    grantTypeIsKnown: (grantType) => grantType === 'client_credentials',
    clientIsKnown: (id, secret) => id === clientId && secret === clientSecret,
    newToken: () => randomBytes(24).toString('base64url'),
    issue() {
      const token = steps.newToken()
      const now = Date.now()
      tokens.set(token, { token, number: ++issuedTokens, at: now, until: now + expiresIn * 1000, uses: 0 })
      return { access_token: token, token_type: 'Bearer', expires_in: expiresIn }
    },
    accept: (issued) => Date.now() < issued.until,
    refuse(call) {
      const token = /^Bearer +(\S+)$/i.exec(call.headers.authorization ?? '')?.[1]
      const issued = token === undefined ? undefined : tokens.get(token)
      if (issued) issued.uses++
      return issued && steps.accept(issued)
        ? null
        : json(401, { message: 'A valid token is required' }, { 'WWW-Authenticate': 'Bearer' })
    },
    nearest(call) {
      const [latitude, longitude, radius] = ['latitude', 'longitude', 'radius'].map((name) => {
        const value = call.query.get(name)
        return value === null || value.trim() === '' ? NaN : Number(value)
      }) as [number, number, number]
      if (!(Math.abs(latitude) <= 90) || !(Math.abs(longitude) <= 180) || !(radius >= 0))
        return json(400, { message: 'latitude, longitude and radius are required' })
      return json(200, steps.search(latitude, longitude, radius))
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
    prices(call) {
      let request: unknown
      try {
        request = JSON.parse(call.body.toString())
      } catch {
        return json(400, { message: 'The body is not JSON' })
      }
      const { memberNumber, items } = (request ?? {}) as Record<string, unknown>
      const memberIsText =
        memberNumber === undefined || memberNumber === null || typeof memberNumber === 'string'
      if (
        !Array.isArray(items) ||
        !memberIsText ||
        items.some((line) => typeof line !== 'object' || line === null)
      )
        return json(400, { message: 'items is required' })
      return json(200, steps.priceLines(request as PriceRequest))
    },
    priceLines: (request) =>
      request.items.map((line, index) => steps.priceLine(line, request.memberNumber ?? null, index)),
    priceLine(line, memberNumber) {
      const { itemId, storeId, quantity } = line
      if (
        typeof itemId !== 'string' ||
        typeof storeId !== 'string' ||
        typeof quantity !== 'number' ||
        quantity <= 0
      )
        return steps.failed(
          line,
          'invalid_line',
          'The line needs an itemId, a storeId and a positive quantity',
        )
      const member = memberNumber === null ? null : steps.findMember(memberNumber)
      if (member === undefined) return steps.failed(line, 'unknown_member', 'There is no such member')
      const item = steps.findItem(itemId)
      if (!item) return steps.failed(line, 'unknown_item', 'There is no such item')
      const store = steps.findPriceStore(storeId)
      if (!store) return steps.failed(line, 'unknown_store', 'There is no such store')
      if (!steps.isSold(item, store))
        return steps.failed(line, 'not_in_range', 'The store does not sell this item')
      const unitPrice = steps.unitPrice(item, quantity, store)
      const discount = steps.discount(item, member, unitPrice, quantity)
      return steps.priced(line, unitPrice, discount, steps.total(unitPrice, quantity, discount))
    },
    findPriceStore: (id) => data.stores.find((store) => store.id === id),
    findItem: (id) => data.items.find((item) => item.id === id),
    findMember: (number) => data.members.find((member) => member.number === number),
    isSold: (item, store) => !item.notAt.includes(store.id),
    unitPrice: (item) => item.price,
    discount: (_item, member, unitPrice, quantity) =>
      member ? cents(Math.min(unitPrice, (unitPrice * member.percent) / 100 + member.off) * quantity) : 0,
    total: exactTotal,
    priced: (line, unitPrice, discount, totalPrice) => ({ ...echo(line), unitPrice, discount, totalPrice }),
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
  const tokens = new Map<string, Issued>()
  const steps = {} as Steps
  const base = baseSteps(data, steps, tokens, supplier.expiresIn ?? 3600)
  Object.assign(steps, base, supplier.steps?.(base, data, steps, tokens))
  const basePath = supplier.basePath ?? ''
  let calls = 0
  let open = 0
  const server = createServer(async (request, response) => {
    const number = ++calls
    const alone = ++open === 1
    response.on('close', () => open--)
    request.on('error', () => {})
    try {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const [address, query] = request.url!.split(/\?(.*)/s) as [string, string?]
      const path = address.startsWith(basePath) ? address.slice(basePath.length) : '/elsewhere'
      const call: Call = {
        number,
        alone,
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
    url: `http://127.0.0.1:${port}${basePath}${supplier.urlEnd ?? ''}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
