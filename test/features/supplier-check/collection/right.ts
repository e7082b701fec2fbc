// Suppliers that the specification gives nothing against.
import { randomBytes } from 'node:crypto'
import { deflateSync, gzipSync } from 'node:zlib'
import {
  answers,
  failedLine,
  near,
  options,
  parsed,
  pricedLine,
  priceValue,
  searchValue,
  storeIds,
  tokenValue,
} from './change.ts'
import type { Answer, Steps, Supplier } from './supplier.ts'
import { cents, exactTotal, greatCircle, json, referenceData, store, text, wait } from './supplier.ts'

const right = (name: string, variation: Partial<Supplier> = {}): Supplier => ({
  name,
  right: true,
  given: null,
  ...variation,
})

// At most so many calls in each second.
const limited = (perSecond: number, retryAfter: () => string): Partial<Supplier> => ({
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

const slow = (milliseconds: () => number): Partial<Supplier> => ({
  steps: (base) => ({
    async handle(call) {
      await wait(milliseconds())
      return base.handle(call)
    },
  }),
})

const headers = (more: Record<string, string>): Partial<Supplier> => ({
  steps: answers((answer) => ({ ...answer, headers: { ...answer.headers, ...more } })),
})

const encoded = (encoding: string, encode: (body: Buffer) => Buffer): Partial<Supplier> => ({
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
const written = (write: (value: any) => string): Partial<Supplier> => ({
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

const ids = (rename: (id: string, index: number) => string): Partial<Supplier> => {
  const changed = referenceData()
  storeIds(rename)(changed)
  return { data: storeIds(rename), options: options({ notInRange: `A-300@${changed.stores[1]!.id}` }) }
}

const refusal = (status: number, body: string, more: Record<string, string> = {}): Partial<Supplier> => ({
  steps: (base) => ({ refuse: (call) => base.refuse(call) && text(status, body, more) }),
})

const withMemberAnswer = (answer: () => Answer): Partial<Supplier> => ({
  steps: (base, _data, steps) => ({
    prices(call) {
      try {
        const { memberNumber } = parsed(call)
        if (typeof memberNumber === 'string' && !steps.findMember(memberNumber)) return answer()
      } catch {}
      return base.prices(call)
    },
  }),
})

// The ellipsoid of WGS 84, by Vincenty's formula.
function onEllipsoid(lat1: number, lon1: number, lat2: number, lon2: number): number {
  const a = 6378.137,
    f = 1 / 298.257223563,
    b = a * (1 - f),
    rad = Math.PI / 180
  const L = (lon2 - lon1) * rad
  const U1 = Math.atan((1 - f) * Math.tan(lat1 * rad)),
    U2 = Math.atan((1 - f) * Math.tan(lat2 * rad))
  let lambda = L
  for (let i = 0; i < 200; i++) {
    const sinSigma = Math.hypot(
      Math.cos(U2) * Math.sin(lambda),
      Math.cos(U1) * Math.sin(U2) - Math.sin(U1) * Math.cos(U2) * Math.cos(lambda),
    )
    if (sinSigma === 0) return 0
    const cosSigma = Math.sin(U1) * Math.sin(U2) + Math.cos(U1) * Math.cos(U2) * Math.cos(lambda)
    const sigma = Math.atan2(sinSigma, cosSigma)
    const sinAlpha = (Math.cos(U1) * Math.cos(U2) * Math.sin(lambda)) / sinSigma
    const cos2 = 1 - sinAlpha ** 2
    const cosM = cos2 === 0 ? 0 : cosSigma - (2 * Math.sin(U1) * Math.sin(U2)) / cos2
    const C = (f / 16) * cos2 * (4 + f * (4 - 3 * cos2))
    const next =
      L + (1 - C) * f * sinAlpha * (sigma + C * sinSigma * (cosM + C * cosSigma * (2 * cosM ** 2 - 1)))
    if (Math.abs(next - lambda) < 1e-12) {
      const u2 = (cos2 * (a ** 2 - b ** 2)) / b ** 2
      const A = 1 + (u2 / 16384) * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)))
      const B = (u2 / 1024) * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))
      const delta =
        B *
        sinSigma *
        (cosM +
          (B / 4) *
            (cosSigma * (2 * cosM ** 2 - 1) - (B / 6) * cosM * (4 * sinSigma ** 2 - 3) * (4 * cosM ** 2 - 3)))
      return b * A * (sigma - delta)
    }
    lambda = next
  }
  return greatCircle(lat1, lon1, lat2, lon2)
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

const connection: Supplier[] = [
  right('reference'),
  right('idle connections are closed after 5 ms', {
    server: (server) => Object.assign(server, { keepAliveTimeout: 5, keepAliveTimeoutBuffer: 0 }),
  }),
  right('second call resets a connection', {
    server: (server) => {
      const used = new WeakSet()
      server.prependListener('request', ({ socket }) => {
        if (used.has(socket)) socket.destroy()
        used.add(socket)
      })
    },
  }),
  right('each answer closes its connection', headers({ Connection: 'close' })),
  right('bodies end with the connection', {
    steps: () => ({
      write(answer, response) {
        response.useChunkedEncodingByDefault = false
        response.shouldKeepAlive = false
        response.writeHead(answer.status, answer.headers)
        response.end(answer.body)
      },
    }),
  }),
  right(
    '429 with seconds',
    limited(40, () => '1'),
  ),
  right(
    '429 with a date',
    limited(60, () => new Date(Math.ceil(Date.now() / 1000 + 0.5) * 1000).toUTCString()),
  ),
  right('429 after five wrong secrets', {
    steps: (base) => {
      let failures: number[] = []
      return {
        async token(call) {
          failures = failures.filter((at) => at > Date.now() - 3000)
          if (failures.length >= 5) return json(429, { error: 'slow_down' }, { 'Retry-After': '3' })
          const answer = await base.token(call)
          if (answer.status === 401) failures.push(Date.now())
          return answer
        },
      }
    },
  }),
  right(
    'answers after 100 ms',
    slow(() => 100),
  ),
  right(
    'answers after 350 ms',
    slow(() => 350),
  ),
  right(
    'some answers take two seconds',
    slow(() => (Math.random() < 0.03 ? 2000 : 5)),
  ),
  right('one call after the other', {
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
  }),
  right('bodies in chunks of a byte', {
    steps: () => ({
      async write(answer, response) {
        response.writeHead(answer.status, answer.headers)
        for (const [index, byte] of answer.body.entries()) {
          response.write(Buffer.of(byte))
          if (index % 50 === 0) await new Promise(setImmediate)
        }
        response.end()
      },
    }),
  }),
  right('chunks cut a character in two', {
    steps: () => ({
      async write(answer, response) {
        response.writeHead(answer.status, answer.headers)
        const cut = answer.body.findIndex((byte) => byte > 127) + 1
        response.write(answer.body.subarray(0, cut))
        await wait(2)
        response.end(answer.body.subarray(cut))
      },
    }),
  }),
  right('gzip', encoded('gzip', gzipSync)),
  right('deflate', encoded('deflate', deflateSync)),
  right('content encoding identity', headers({ 'Content-Encoding': 'identity' })),
  right('early hints and many headers', {
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
  }),
  right('charset in capitals and quotes', headers({ 'Content-Type': 'Application/JSON ; Charset="UTF-8"' })),
  right('charset spelled utf8', headers({ 'Content-Type': 'application/json;charset=utf8' })),
  right('media type of a vendor', headers({ 'Content-Type': 'application/vnd.example.v1+json' })),
  right('no content type', {
    steps: answers(({ status, body, headers: { 'Content-Type': _type, ...rest } }) => ({
      status,
      body,
      headers: rest,
    })),
  }),
  right('base address with a path and a slash', { basePath: '/api/v2/live-pricing', urlEnd: '/' }),
  right(
    'JSON is indented and escaped',
    written(
      (value) =>
        `\r\n${JSON.stringify(value, null, '\t').replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`,
    ),
  ),
  right(
    'numbers with an exponent',
    written((value) =>
      JSON.stringify(value, (name, field) =>
        ['unitPrice', 'discount', 'totalPrice'].includes(name) && typeof field === 'number'
          ? `~${field.toExponential()}~`
          : field,
      ).replace(/"~([^~]+)~"/g, '$1'),
    ),
  ),
  right(
    'prices with six places',
    written((value) =>
      JSON.stringify(value, (name, field) =>
        ['unitPrice', 'discount', 'totalPrice'].includes(name) && typeof field === 'number'
          ? `~${field.toFixed(6)}~`
          : field,
      ).replace(/"~([^~]+)~"/g, '$1'),
    ),
  ),
  right(
    'members in reverse order',
    written((value) => JSON.stringify(reversed(value))),
  ),
]

const tokens: Supplier[] = [
  right('tokens are JWT of 2 kB', { steps: () => ({ newToken: jwt(2048) }) }),
  right('tokens with signs', {
    steps: () => ({ newToken: () => `${randomBytes(30).toString('base64')}~._-+/==` }),
  }),
  right('tokens live for 60 s', { expiresIn: 60 }),
  right('tokens live for a day', { expiresIn: 86400 }),
  right('tokens live for 4 s', { expiresIn: 4 }),
  right('one token until it expires', {
    expiresIn: 20,
    steps: (base) => {
      let last: { token: any; at: number } | undefined
      return {
        issue() {
          const age = last ? Math.ceil((Date.now() - last.at) / 1000) : Infinity
          if (age < 15) return { ...last!.token, expires_in: 20 - age }
          last = { token: base.issue(), at: Date.now() }
          return last.token
        },
      }
    },
  }),
  right('tokens as JSON only', {
    steps: (base) => ({
      readTokenRequest: (call) =>
        call.headers['content-type']?.includes('json') ? base.readTokenRequest(call) : null,
    }),
  }),
  right('tokens as forms only', {
    steps: (base) => ({
      readTokenRequest: (call) =>
        call.headers['content-type']?.includes('form') ? base.readTokenRequest(call) : null,
    }),
  }),
  right('token fields in camel case', {
    steps: tokenValue(({ access_token, token_type, expires_in }) => ({
      accessToken: access_token,
      tokenType: token_type,
      expires_in,
    })),
  }),
  right('token response has status 201', {
    steps: answers((answer, call) =>
      call.path === '/connect/token' && answer.status === 200 ? { ...answer, status: 201 } : answer,
    ),
  }),
  right('open without a token', { steps: () => ({ refuse: () => null }) }),
  right('refusals are 403 with an empty body', refusal(403, '')),
  right(
    'refusals are pages',
    refusal(401, '<h1>Unauthorized</h1>', {
      'Content-Type': 'text/html',
      'WWW-Authenticate': 'Bearer error="invalid_token"',
    }),
  ),
]

const places: Supplier[] = [
  right('distance is a diameter', {
    steps: (base) => ({
      search: (latitude, longitude, radius) => base.search(latitude, longitude, radius / 2),
    }),
  }),
  right('distances on the ellipsoid', {
    steps: () => ({
      distance: (latitude, longitude, store) =>
        onEllipsoid(latitude, longitude, store.latitude, store.longitude),
    }),
  }),
  right('the edge of a search is outside', {
    steps: (base) => ({
      search: (latitude, longitude, radius) =>
        base.search(latitude, longitude, radius).filter((store: any) => store.distance < radius),
    }),
  }),
  right('4000 stores', {
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
  }),
  right('a store at every tenth degree', {
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
  }),
  right('stores at both poles', {
    data: (data) =>
      data.stores.push(
        store('POLE-S', 'South Pole', -90, 0, 'AQ', 'Antarctica/South_Pole'),
        store('POLE-S2', 'Dome', -89.9, 120, 'AQ', 'Antarctica/South_Pole'),
        store('POLE-N', 'North Pole', 90, 0, 'XX', 'UTC'),
      ),
    options: near(-89.95, -60),
  }),
  right('stores across the antimeridian', {
    data: (data) =>
      data.stores.push(
        store('FJ-1', 'Taveuni West', -16.8, 179.98, 'FJ', 'Pacific/Fiji'),
        store('FJ-2', 'Taveuni East', -16.8, -179.97, 'FJ', 'Pacific/Fiji'),
      ),
    options: near(-16.8, 179.98),
  }),
  right('stores at 0,0', {
    data: (data) =>
      data.stores.push(
        store('ZERO', 'Null Island', 0, 0, 'XX', 'UTC'),
        store('ZERO-2', 'Gulf', 0.02, -0.03, 'XX', 'UTC'),
      ),
    options: near(0, 0),
  }),
  right('one store in all', {
    data: (data) =>
      (data.stores = [store('H-1', 'Hobart', -42.8821, 147.3272, 'TAS', 'Australia/Hobart')]) && undefined,
    options: options({ notInRange: 'A-999@H-1', more: ['--near', '-42.9,147.3'] }),
  }),
  right('at most five stores, by name', {
    steps: (base) => ({
      search: (latitude, longitude, radius) =>
        (base.search(latitude, longitude, radius).slice(0, 5) as { name: string }[]).sort((a, b) =>
          a.name.localeCompare(b.name),
        ),
    }),
  }),
  right('a search finds one store, not always the nearest', {
    steps: (base) => ({
      search: (latitude, longitude, radius) => base.search(latitude, longitude, radius).slice(0, 1),
    }),
  }),
  right('searches have few fields', {
    steps: searchValue((stores) => stores.map(({ id, name }) => ({ id, name }))),
  }),
  right('stores of another form', {
    steps: (_base, data) => {
      for (const entry of data.stores) {
        const { latitude, longitude, tradingHours: _hours, address: _address, ...rest } = entry
        const geo = {
          position: { lat: latitude, lng: longitude },
          hours: 'Mon-Fri 6-17',
          address: '12 Station Street',
        }
        Object.defineProperty(entry, 'toJSON', { value: () => ({ ...rest, ...geo }) })
      }
      return {
        search: (latitude, longitude, radius) =>
          data.stores.filter(
            (store) => greatCircle(latitude, longitude, store.latitude, store.longitude) <= radius,
          ),
      }
    },
  }),
  right(
    'store ids in Japanese and with marks',
    ids((_id, index) => `店舗-é${index}-😀`),
  ),
  right(
    'store ids with spaces and signs',
    ids((_id, index) => `Store #${index} & Co + 100%?`),
  ),
  right(
    'store ids with slashes',
    ids((_id, index) => `NZ/AU\\${index}/../x`),
  ),
  right(
    'store ids with zeros in front',
    ids((_id, index) => '0'.repeat(index % 4) + String(7 + Math.floor(index / 4))),
  ),
  right(
    'store ids that differ in letter case',
    ids((_id, index) => [...'syda'].map((c, bit) => ((index >> bit) & 1 ? c.toUpperCase() : c)).join('')),
  ),
  right('store ids in any letter case', {
    steps: (_base, data) => ({
      findStore: (id) => data.stores.find((store) => store.id.toLowerCase() === id.toLowerCase()),
      findPriceStore: (id) => data.stores.find((store) => store.id.toLowerCase() === id.toLowerCase()),
    }),
  }),
  right('404 without a body', {
    steps: (base) => ({ lookup: (call, id) => (base.findStore(id) ? base.lookup(call, id) : text(404, '')) }),
  }),
  right('id is named storeNumber', {
    steps: (base) => {
      const named = ({ id, ...store }: any) => ({ storeNumber: id, ...store })
      return {
        search: (latitude, longitude, radius) => base.search(latitude, longitude, radius).map(named),
        lookup: (call, id) =>
          base.findStore(id) ? json(200, named(base.findStore(id))) : base.lookup(call, id),
      }
    },
  }),
  right('distance is named distance', {
    steps: (base) => ({
      nearest(call) {
        const query = new URLSearchParams(call.query)
        query.set('radius', call.query.get('distance') ?? '')
        return base.nearest({ ...call, query })
      },
    }),
  }),
]

/** The member has the prices of everybody. */
const LIST_PRICES = options({ member: 'M-1003' })

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

const prices: Supplier[] = [
  right('second piece at half price', {
    options: LIST_PRICES,
    steps: () => ({
      discount: (_item, _member, unit, quantity) =>
        Math.min(unit * quantity, cents(Math.floor(quantity / 2) * unit * 0.5)),
    }),
  }),
  right('three for the price of two', {
    options: LIST_PRICES,
    steps: () => ({ discount: (_item, _member, unit, quantity) => cents(Math.floor(quantity / 3) * unit) }),
  }),
  right('packs of two above ten', {
    options: LIST_PRICES,
    steps: failing((line) => line.quantity > 10 && line.quantity % 2 === 1, 'quantity_invalid'),
  }),
  right('one new price during the check', {
    options: LIST_PRICES,
    steps: (base) => {
      let requests = 0
      return {
        priceLines: (request) => (requests++, base.priceLines(request)),
        unitPrice: (item, quantity, store) =>
          cents(base.unitPrice(item, quantity, store) * (requests > 40 ? 1.02 : 1)),
      }
    },
  }),
  right('each 30th line is unavailable for a moment', {
    steps: (base) => {
      let lines = 0
      return failing(() => lines++ % 31 === 30, 'price_unavailable')(base)
    },
  }),
  right('stock of 300 pieces, counted over the lines of a call', {
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
  }),
  right('a quantity above 10,000 refuses the request', {
    steps: (base) => ({
      prices: (call) =>
        parsed(call).items?.some?.((line: any) => line.quantity > 10_000)
          ? json(400, { message: 'The quantity is too large' })
          : base.prices(call),
    }),
  }),
  right('prices change with each request', {
    steps: (base) => {
      let requests = 0
      return {
        priceLines: (request) => (requests++, base.priceLines(request)),
        unitPrice: (item, quantity, store) =>
          cents(base.unitPrice(item, quantity, store) + (requests % 9) * 0.37),
      }
    },
  }),
  right('two prices in turn for a single line, and none of a member', {
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
  }),
  right('two prices in turn, the same at each store', {
    steps: (base) => {
      let requests = 0
      return {
        priceLines: (request) => (requests++, base.priceLines(request)),
        unitPrice: (item, quantity, store) => cents(base.unitPrice(item, quantity, store) + (requests % 2)),
      }
    },
  }),
  right('a first store "1", and answers in another order', {
    data: (data) => {
      for (const [index, store] of data.stores.entries()) store.id = String(index + 1)
    },
    steps: (base) => ({ priceLines: (request) => [base.priceLines(request)].flat().toReversed() }),
  }),
  right('prices change each second', {
    steps: (base) => ({
      unitPrice: (item, quantity, store) =>
        cents(base.unitPrice(item, quantity, store) + (Math.floor(Date.now() / 1000) % 60) * 0.11),
    }),
  }),
  right('prices with four places', {
    data: (data) => {
      for (const item of data.items) item.price = Number((item.price + 0.0037).toFixed(4))
    },
  }),
  right('four places and totals in whole cents', {
    data: (data) => {
      for (const item of data.items) item.price = Number((item.price + 0.0037).toFixed(4))
    },
    steps: (base) => ({ total: (unit, quantity, off) => cents(base.total(unit, quantity, off)) }),
  }),
  right('lower unit price from ten up', {
    steps: () => ({ unitPrice: (item, quantity) => (quantity >= 10 ? cents(item.price * 0.9) : item.price) }),
  }),
  right('discount for all from twelve up', {
    steps: (base) => ({
      discount: (item, member, unit, quantity) =>
        cents(base.discount(item, member, unit, quantity) + (quantity >= 12 ? unit : 0)),
    }),
  }),
  right('all is free', {
    steps: () => ({ discount: (_item, _member, unit, quantity) => exactTotal(unit, quantity, 0) }),
  }),
  right('never a discount', { steps: () => ({ discount: () => 0 }) }),
  right('prices are by store', {
    steps: (base, data) => ({
      unitPrice: (item, quantity, store) =>
        cents(base.unitPrice(item, quantity, store) + data.stores.indexOf(store) * 0.1),
    }),
  }),
  right('error fields are null if there is a price', {
    steps: pricedLine((line) => Object.assign(line, { errorCode: null, errorMessage: null })),
  }),
  right('code and message by other names', {
    steps: failedLine((line) => {
      Object.assign(line, {
        code: `LP-${line.errorCode.length}`,
        message: 'Für diesen Artikel gibt es hier keinen Preis – bitte anfragen',
      })
      delete line.errorCode
      delete line.errorMessage
    }),
  }),
  right('a line in error keeps its unit price', {
    steps: failedLine((line) => line.errorCode === 'not_in_range' && (line.unitPrice = 899.95)),
  }),
  right('other names of the echo, and extra fields', {
    steps: priceValue((all) =>
      all.map(({ itemId, storeId, quantity, ...line }) => ({
        sku: itemId,
        branch: storeId,
        requested: quantity,
        currency: 'AUD',
        promotions: [],
        ...line,
      })),
    ),
  }),
  right('lines by item code', {
    steps: priceValue((all) => all.sort((a, b) => (String(a.itemId) < String(b.itemId) ? -1 : 1))),
  }),
  right('unknown members have list prices', {
    steps: (base) => ({ findMember: (number) => base.findMember(number) ?? { number, percent: 0, off: 0 } }),
  }),
  right(
    'unknown member fails the call with 404',
    withMemberAnswer(() => json(404, { message: 'No such member' })),
  ),
  right('at most 50 lines', {
    steps: (base) => ({
      prices(call) {
        try {
          if (parsed(call).items.length > 50) return json(413, { message: 'At most 50 lines' })
        } catch {}
        return base.prices(call)
      },
    }),
  }),
  right('whole quantities up to 99', {
    steps: (base) => ({
      priceLine: (line, member, index) =>
        Number.isInteger(line.quantity) && (line.quantity as number) <= 99
          ? base.priceLine(line, member, index)
          : base.failed(line, 'quantity', 'A quantity is a whole number up to 99'),
    }),
  }),
  right('no lines gives 400', {
    steps: (base) => ({
      prices(call) {
        try {
          if (parsed(call).items.length === 0) return json(400, { message: 'No lines' })
        } catch {}
        return base.prices(call)
      },
    }),
  }),
  right('quantity of zero costs nothing', {
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
  }),
  right('price on application', {
    steps: (base) => ({
      priceLine: (line, member, index) =>
        line.itemId === 'A-200'
          ? base.failed(line, 'POA', 'Price on application')
          : base.priceLine(line, member, index),
    }),
  }),
  right('lines of a price request are named lines', {
    steps: (base) => ({
      prices(call) {
        try {
          const { lines, ...rest } = parsed(call)
          return base.prices({ ...call, body: Buffer.from(JSON.stringify({ ...rest, items: lines })) })
        } catch {
          return base.prices(call)
        }
      },
    }),
  }),
]

export const rightSuppliers: Supplier[] = [...connection, ...tokens, ...places, ...prices]
