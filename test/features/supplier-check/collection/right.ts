// Suppliers that the specification gives nothing against.
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Steps, Supplier, Suppliers } from './supplier.ts'
import {
  answers,
  cents,
  exactTotal,
  json,
  parsed,
  referenceData,
  store,
  storeIds,
  text,
  wait,
} from './supplier.ts'

// At most so many calls in each second.
const limited = (perSecond: number, retryAfter: () => string): Supplier => ({
  steps: (base) => {
    let second = 0
    let calls = 0
    return {
      handle(call) {
        const now = Math.floor(Date.now() / 1000)
        if (now !== second) [second, calls] = [now, 0]
        return ++calls > perSecond
          ? json(429, { message: 'Too many calls' }, { 'Retry-After': retryAfter() })
          : base.handle(call)
      },
    }
  },
})

const slow = (milliseconds: () => number): Supplier => ({
  steps: (base) => ({
    async handle(call) {
      await wait(milliseconds())
      return base.handle(call)
    },
  }),
})

const headers = (more: Record<string, string>): Supplier => ({
  steps: answers((answer) => ({ ...answer, headers: { ...answer.headers, ...more } })),
})

const encoded = (encoding: string, encode: (body: Buffer) => Buffer): Supplier => ({
  steps: answers((answer, call) =>
    String(call.headers['accept-encoding'] ?? '').includes(encoding)
      ? {
          ...answer,
          headers: { ...answer.headers, 'Content-Encoding': encoding, Vary: 'Accept-Encoding' },
          body: encode(answer.body),
        }
      : answer,
  ),
})

// JSON in another notation.
const written = (write: (value: any) => string): Supplier => ({
  steps: answers((answer) =>
    answer.body.length ? { ...answer, body: Buffer.from(write(JSON.parse(answer.body.toString()))) } : answer,
  ),
})

function reversed(value: any): any {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, field]) => [name, reversed(field)]),
  )
}

const ids = (rename: (id: string, index: number) => string): Supplier => {
  const changed = referenceData()
  storeIds(rename)(changed)
  return {
    data: storeIds(rename),
    subject: { notInRange: [{ itemId: 'A-300', storeId: changed.stores[1]!.id }] },
  }
}

const jwt = (length: number) => () => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    sub: 'platform-1',
    jti: randomBytes(8).toString('hex'),
    scopes: 'x'.repeat(Math.round(length * 0.7)),
  }
  return `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}.${randomBytes(192).toString('base64url')}`
}

const connection: Suppliers = {
  reference: {},
  'idle connections are closed after 5 ms': {
    server: (server) => Object.assign(server, { keepAliveTimeout: 5, keepAliveTimeoutBuffer: 0 }),
  },
  'second call resets a connection': {
    server: (server) => {
      const used = new WeakSet()
      server.prependListener('request', ({ socket }) => {
        if (used.has(socket)) socket.destroy()
        used.add(socket)
      })
    },
  },
  'bodies end with the connection': {
    steps: () => ({
      write(answer, response) {
        response.useChunkedEncodingByDefault = false
        response.shouldKeepAlive = false
        response.writeHead(answer.status, answer.headers)
        response.end(answer.body)
      },
    }),
  },
  '429 with seconds': limited(40, () => '1'),
  '429 with a date': limited(60, () => new Date(Math.ceil(Date.now() / 1000 + 0.5) * 1000).toUTCString()),
  'answers after 100 ms': slow(() => 100),
  'one call after the other': {
    steps: (base) => {
      let last: Promise<unknown> = Promise.resolve()
      return {
        handle(call) {
          const answer = last.then(() => wait(20)).then(() => base.handle(call))
          last = answer.catch(() => {})
          return answer
        },
      }
    },
  },
  'bodies in hundreds of chunks': {
    steps: () => ({
      async write({ status, headers, body }, response) {
        response.writeHead(status, headers)
        const size = Math.ceil(body.length / 300)
        for (let at = 0; at < body.length; at += size) {
          response.write(body.subarray(at, at + size))
          if (at % (size * 50) === 0) await new Promise(setImmediate)
        }
        response.end()
      },
    }),
  },
  'chunks cut a character in two': {
    steps: () => ({
      async write(answer, response) {
        response.writeHead(answer.status, answer.headers)
        const cut = answer.body.findIndex((byte) => byte > 127) + 1
        response.write(answer.body.subarray(0, cut))
        await wait(2)
        response.end(answer.body.subarray(cut))
      },
    }),
  },
  gzip: encoded('gzip', gzipSync),
  'early hints and many headers': {
    steps: (base) => ({
      write(answer, response, call) {
        response.writeEarlyHints({ link: '</openapi.json>; rel=service-desc' })
        const more = Object.fromEntries(
          Array.from({ length: 40 }, (_, index) => [`X-Trace-${index}`, 'x'.repeat(100)]),
        )
        return base.write(
          { ...answer, headers: { ...answer.headers, ...more, 'Set-Cookie': 'lb=3; Path=/' } },
          response,
          call,
        )
      },
    }),
  },
  'charset in capitals and quotes': headers({ 'Content-Type': 'Application/JSON ; Charset="UTF-8"' }),
  'media type of a vendor': headers({ 'Content-Type': 'application/vnd.example.v1+json' }),
  'no content type': {
    steps: answers(({ status, body, headers: { 'Content-Type': _type, ...rest } }) => ({
      status,
      body,
      headers: rest,
    })),
  },
  'base address with a path': { basePath: '/api/v2/live-pricing' },
  'JSON is indented and escaped': written(
    (value) =>
      `\r\n${JSON.stringify(value, null, '\t').replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`,
  ),
  'members in reverse order': written((value) => JSON.stringify(reversed(value))),
}

const tokens: Suppliers = {
  'tokens are JWT of 2 kB': { steps: () => ({ newToken: jwt(2048) }) },
  'tokens with signs': {
    steps: () => ({ newToken: () => `${randomBytes(30).toString('base64')}~._-+/==` }),
  },
  'tokens live for 60 s': { expiresIn: 60 },
  'tokens live for 4 s': { expiresIn: 4 },
  'tokens as forms only': {
    steps: (base) => ({
      readTokenRequest: (call) =>
        call.headers['content-type']?.includes('form') ? base.readTokenRequest(call) : null,
    }),
  },
  'open without a token': { steps: () => ({ refuse: () => null }) },
}

const places: Suppliers = {
  'distances on an ellipsoid': {
    // Half a percent longer between the poles than along the equator.
    steps: (base) => ({
      distance: (latitude, longitude, store) =>
        base.distance(latitude, longitude, store) *
        (1 + 0.005 * Math.sin(((latitude + store.latitude) * Math.PI) / 360) ** 2),
    }),
  },
  'the edge of a search is outside': {
    steps: (base) => ({
      search: (latitude, longitude, radius) =>
        base.search(latitude, longitude, radius).filter((store: any) => store.distance < radius),
    }),
  },
  '4000 stores': {
    data: (data) => {
      const towns = data.stores.slice()
      let seed = 7
      const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647
      for (let i = 0; i < 4000; i++) {
        const town = towns[i % towns.length]!
        data.stores.push(
          store(
            `N-${i}`,
            `Depot ${i}`,
            Number((town.latitude + random() * 3 - 1.5).toFixed(5)),
            Number((town.longitude + random() * 3 - 1.5).toFixed(5)),
          ),
        )
      }
    },
  },
  'a store at every tenth degree': {
    data: (data) => {
      for (let latitude = -90; latitude <= 90; latitude += 10)
        for (let longitude = -180; longitude < 180; longitude += 10)
          data.stores.push(
            store(
              `G${latitude}:${longitude}`,
              `Grid ${latitude} ${longitude}`,
              latitude,
              longitude,
              'XX',
              'UTC',
            ),
          )
    },
  },
  'stores at both poles': {
    data: (data) =>
      data.stores.push(
        store('POLE-S', 'South Pole', -90, 0, 'AQ', 'Antarctica/South_Pole'),
        store('POLE-S2', 'Dome', -89.9, 120, 'AQ', 'Antarctica/South_Pole'),
        store('POLE-N', 'North Pole', 90, 0, 'XX', 'UTC'),
      ),
    subject: { near: { latitude: -89.95, longitude: -60 } },
  },
  'stores across the antimeridian': {
    data: (data) =>
      data.stores.push(
        store('FJ-1', 'Taveuni West', -16.8, 179.98, 'FJ', 'Pacific/Fiji'),
        store('FJ-2', 'Taveuni East', -16.8, -179.97, 'FJ', 'Pacific/Fiji'),
      ),
    subject: { near: { latitude: -16.8, longitude: 179.98 } },
  },
  'a search finds one store, not always the nearest': {
    steps: (base) => ({
      search: (latitude, longitude, radius) => base.search(latitude, longitude, radius).slice(0, 1),
    }),
  },
  'store ids in Japanese and with marks': ids((_id, index) => `店舗-é${index}-😀`),
  'store ids with spaces and signs': ids((_id, index) => `Store #${index} & Co + 100%?`),
  'store ids with slashes': ids((_id, index) => `NZ/AU\\${index}/../x`),
  'store ids with zeros in front': ids(
    (_id, index) => '0'.repeat(index % 4) + String(7 + Math.floor(index / 4)),
  ),
  'store ids that differ in letter case': ids((_id, index) =>
    [...'syda'].map((c, bit) => ((index >> bit) & 1 ? c.toUpperCase() : c)).join(''),
  ),
  '404 without a body': {
    steps: (base) => ({ lookup: (call, id) => (base.findStore(id) ? base.lookup(call, id) : text(404, '')) }),
  },
  'id is named storeNumber': {
    steps: (base) => {
      const named = ({ id, ...store }: any) => ({ storeNumber: id, ...store })
      return {
        search: (latitude, longitude, radius) => base.search(latitude, longitude, radius).map(named),
        lookup: (call, id) =>
          base.findStore(id) ? json(200, named(base.findStore(id))) : base.lookup(call, id),
      }
    },
  },
}

/** The member has the prices of everybody. */
const LIST_PRICES = { memberNumber: 'M-1003' }

/** Lines that have no price although their item is known, each with an error. */
const failing =
  (fails: (line: any) => boolean, errorCode: string): ((base: Steps) => Partial<Steps>) =>
  (base) => ({
    priceLine(line, member, index) {
      const priced = base.priceLine(line, member, index)
      if (priced.totalPrice === null || !fails(line)) return priced
      return {
        ...priced,
        unitPrice: null,
        discount: null,
        totalPrice: null,
        errorCode,
        errorMessage: 'Not now',
      }
    },
  })

const prices: Suppliers = {
  'second piece at half price': {
    subject: LIST_PRICES,
    steps: () => ({
      discount: (_item, _member, unit, quantity) =>
        Math.min(unit * quantity, cents(Math.floor(quantity / 2) * unit * 0.5)),
    }),
  },
  'three for the price of two': {
    subject: LIST_PRICES,
    steps: () => ({ discount: (_item, _member, unit, quantity) => cents(Math.floor(quantity / 3) * unit) }),
  },
  'packs of two above ten': {
    subject: LIST_PRICES,
    steps: failing((line) => line.quantity > 10 && line.quantity % 2 === 1, 'quantity_invalid'),
  },
  'one new price during the check': {
    subject: LIST_PRICES,
    steps: (base) => {
      let requests = 0
      return {
        priceLines: (request) => (requests++, base.priceLines(request)),
        unitPrice: (item, quantity, store) =>
          cents(base.unitPrice(item, quantity, store) * (requests > 40 ? 1.02 : 1)),
      }
    },
  },
  'each 30th line is unavailable for a moment': {
    steps: (base) => {
      let lines = 0
      return failing(() => lines++ % 31 === 30, 'price_unavailable')(base)
    },
  },
  'stock of 300 pieces, counted over the lines of a call': {
    steps: (base) => {
      const left = new Map<string, number>()
      const isOut = (line: any) => {
        const have = left.get(line.itemId) ?? 300
        if (line.quantity <= have) left.set(line.itemId, have - line.quantity)
        return line.quantity > have
      }
      return {
        ...failing(isOut, 'out_of_stock')(base),
        prices: (call) => {
          left.clear()
          return base.prices(call)
        },
      }
    },
  },
  'a quantity above 10,000 refuses the request': {
    steps: (base) => ({
      prices: (call) =>
        parsed(call).items?.some?.((line: any) => line.quantity > 10_000)
          ? json(400, { message: 'The quantity is too large' })
          : base.prices(call),
    }),
  },
  'prices change with each request': {
    steps: (base) => {
      let requests = 0
      return {
        priceLines: (request) => (requests++, base.priceLines(request)),
        unitPrice: (item, quantity, store) =>
          cents(base.unitPrice(item, quantity, store) + (requests % 9) * 0.37),
      }
    },
  },
  'two prices in turn for a single line, and none of a member': {
    data: (data) => {
      for (const member of data.members) Object.assign(member, { percent: 0, off: 0 })
    },
    steps: (base) => {
      let requests = 0
      return {
        priceLines(request) {
          if (request.items.length === 1) requests++
          return base.priceLines(request)
        },
        unitPrice: (item, quantity, store) => cents(base.unitPrice(item, quantity, store) + (requests % 2)),
      }
    },
  },
  'a first store "1", and answers in another order': {
    data: (data) => {
      for (const [index, store] of data.stores.entries()) store.id = String(index + 1)
    },
    steps: (base) => ({ priceLines: (request) => [base.priceLines(request)].flat().toReversed() }),
  },
  'prices with four places': {
    data: (data) => {
      for (const item of data.items) item.price = Number((item.price + 0.0037).toFixed(4))
    },
  },
  'four places and totals in whole cents': {
    data: (data) => {
      for (const item of data.items) item.price = Number((item.price + 0.0037).toFixed(4))
    },
    steps: (base) => ({ total: (unit, quantity, off) => cents(base.total(unit, quantity, off)) }),
  },
  'lower unit price from ten up': {
    steps: () => ({ unitPrice: (item, quantity) => (quantity >= 10 ? cents(item.price * 0.9) : item.price) }),
  },
  'discount for all from twelve up': {
    steps: (base) => ({
      discount: (item, member, unit, quantity) =>
        cents(base.discount(item, member, unit, quantity) + (quantity >= 12 ? unit : 0)),
    }),
  },
  'all is free': {
    steps: () => ({ discount: (_item, _member, unit, quantity) => exactTotal(unit, quantity, 0) }),
  },
  'never a discount': { steps: () => ({ discount: () => 0 }) },
  'prices are by store': {
    steps: (base, data) => ({
      unitPrice: (item, quantity, store) =>
        cents(base.unitPrice(item, quantity, store) + data.stores.indexOf(store) * 0.1),
    }),
  },
  'unknown members have list prices': {
    steps: (base) => ({ findMember: (number) => base.findMember(number) ?? { number, percent: 0, off: 0 } }),
  },
  'quantity of zero costs nothing': {
    steps: (base) => ({
      priceLine: (line, member, index) =>
        line.quantity === 0
          ? {
              ...base.priceLine({ ...line, quantity: 1 }, member, index),
              quantity: 0,
              ...(base.priceLine({ ...line, quantity: 1 }, member, index).errorCode
                ? {}
                : { discount: 0, totalPrice: 0 }),
            }
          : base.priceLine(line, member, index),
    }),
  },
  'price on application': {
    steps: (base) => ({
      priceLine: (line, member, index) =>
        line.itemId === 'A-200'
          ? base.failed(line, 'POA', 'Price on application')
          : base.priceLine(line, member, index),
    }),
  },
}

export const rightSuppliers: Suppliers = { ...connection, ...tokens, ...places, ...prices }
