// Suppliers that break a sentence of the specification.
import { gzipSync } from 'node:zlib'
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
  succeeded,
  tokenValue,
} from './change.ts'
import type { Answer, Call, Supplier } from './supplier.ts'
import {
  cents,
  clientId,
  clientSecret,
  exactTotal,
  greatCircle,
  json,
  store,
  text,
  wait,
} from './supplier.ts'

const threeFields = '§2.1 "the response must hold exactly three fields"'
const expiresIn = '§2.1 "expires_in | integer | yes | number of seconds the access token is valid"'
const tokenAnswer =
  '§4.1 "POST | {supplier_base_url}/connect/token | client credentials flow [...] | token response (2.1)"'
const token400 = '§7 "POST /connect/token | 400 | request malformed or required parameters missing"'
const token401 = '§7 "POST /connect/token | 401 | client_id or client_secret invalid"'
const allJson = '§4 "All bodies are JSON unless stated."'
const searchAnswer = '§4.1 "JSON array of Store; an empty array when no store is in range"'
const emptySearch = '§7 "GET /stores/nearest | 200 | no store in range: an empty array, not an error"'
const kilometres = '§4.1 "query: latitude, longitude and a distance in kilometres"'
const uniqueId = '§2.2 "A store is identified by a unique id (string in the path of the lookup endpoint)."'
const oneStore = '§4.1 "path: id (store identifier) | one Store; 404 when the id does not exist"'
const noStore = '§7 "GET /stores/{id} | 404 | no store with that id"'
const priceArray =
  '§4.1 "POST | {supplier_base_url}/request-prices | body per 2.3 | JSON array of price items (2.4)"'
const unitPrice = '§2.4 "unitPrice | number, nullable | price per unit before tax; null on error"'
const discount =
  '§2.4 "discount | number, nullable | total discount for the requested quantity; null on error"'
const total = '§2.4 "totalPrice | number, nullable | unitPrice * quantity - discount; null on error"'
const errorCode =
  '§2.4 "error code | string | present when live pricing cannot be given for the item (e.g. item not in range at the requested store)"'
const errorMessage = '§2.4 "error message | string | text that accompanies the error code"'
const lineError =
  '§7 "item cannot be priced (for example not in range at the requested store): the item carries an error code and message"'
const notAsAWhole =
  '§4.1 "an item that cannot be priced is returned with error fields and possibly null prices. The call does not fail as a whole for that."'
const optionalMember = '§2.3 "The body has an optional member number and a list of PriceItemRequest entries."'
const builderPrices =
  '§1 "obtain current builder-specific prices, including discounts and promotions the builder is entitled to"'

const wrong = (name: string, given: string, variation: Partial<Supplier>): Supplier => ({
  name,
  right: false,
  given,
  ...variation,
})

const fault = () => json(500, { message: 'Fault of the server' })

// SQL LIKE: % is any text and _ any character.
function like(pattern: string, value: string): boolean {
  const source = [...pattern]
    .map((c) => (c === '%' ? '.*' : c === '_' ? '.' : c.replace(/[\\^$.*+?()[\]{}|]/, '\\$&')))
    .join('')
  return new RegExp(`^${source}$`, 's').test(value)
}

const tokens: Supplier[] = [
  wrong('token of two fields', threeFields, {
    steps: tokenValue(({ access_token, expires_in }) => ({ access_token, expires_in })),
  }),
  wrong('token with a scope', threeFields, { steps: tokenValue((token) => ({ ...token, scope: 'prices' })) }),
  wrong('third token has a refresh token', threeFields, {
    steps: (base) => {
      let issued = 0
      return {
        issue: () => (++issued === 3 ? { ...base.issue(), refresh_token: base.newToken() } : base.issue()),
      }
    },
  }),
  wrong('expires_in is text', expiresIn, {
    steps: tokenValue((token) => ({ ...token, expires_in: '3600' })),
  }),
  wrong('expires_in is a fraction', expiresIn, {
    steps: (base) => ({ issue: () => ({ ...base.issue(), expires_in: 3600 - 0.25 }) }),
  }),
  wrong('expires_in in milliseconds', expiresIn, {
    expiresIn: 4,
    steps: (base) => ({ issue: () => ({ ...base.issue(), expires_in: 4000 }) }),
  }),
  wrong('expires_in is the time of expiry', expiresIn, {
    steps: (base) => ({
      issue: () => ({ ...base.issue(), expires_in: Math.floor(Date.now() / 1000) + 3600 }),
    }),
  }),
  wrong('expires_in of zero means never', expiresIn, {
    steps: (base) => ({ issue: () => ({ ...base.issue(), expires_in: 0 }) }),
  }),
  wrong('a new token ends the one before', expiresIn, {
    steps: (base, _data, _steps, all) => ({
      accept: (issued) => issued.number === all.size && base.accept(issued),
    }),
  }),
  wrong('only the newest four tokens live', expiresIn, {
    steps: (base, _data, _steps, all) => ({
      accept: (issued) => issued.number > all.size - 4 && base.accept(issued),
    }),
  }),
  wrong('a token ends after 30 calls', expiresIn, {
    steps: (base) => ({ accept: (issued) => issued.uses <= 30 && base.accept(issued) }),
  }),
  wrong('tokens live for two seconds only', expiresIn, {
    steps: (base) => ({ accept: (issued) => Date.now() < issued.at + 2000 && base.accept(issued) }),
  }),
  wrong('tokens begin after a second', expiresIn, {
    steps: (base) => ({ accept: (issued) => Date.now() > issued.at + 1000 && base.accept(issued) }),
  }),
  wrong('last third of a token is refused', expiresIn, {
    expiresIn: 6,
    steps: (base) => ({ accept: (issued) => Date.now() < issued.until - 2000 && base.accept(issued) }),
  }),
  wrong('tokens after the fifth are refused', expiresIn, {
    steps: (base) => ({ accept: (issued) => issued.number <= 5 && base.accept(issued) }),
  }),
  wrong('malformed token request is a fault', token400, {
    steps: (base) => ({
      readTokenRequest(call) {
        if (call.headers['content-type']?.includes('json')) return JSON.parse(call.body.toString())
        return base.readTokenRequest(call)
      },
    }),
  }),
  wrong('malformed token request gives 401', token400, {
    options: options({ more: ['--token-json'] }),
    steps: (base) => ({
      token: (call) =>
        base.readTokenRequest(call) ? base.token(call) : json(401, { error: 'invalid_client' }),
    }),
  }),
  wrong('missing secret gives 401', token400, {
    steps: (base) => ({
      missing: (request) => !request.grant_type || !request.client_id,
      clientIsKnown: (id, secret) => base.clientIsKnown(id, secret),
    }),
  }),
  wrong('missing grant type gives a token', token400, {
    steps: (base) => ({
      missing: (request) => !request.client_id || !request.client_secret,
      grantTypeIsKnown: (grantType) => grantType === undefined || base.grantTypeIsKnown(grantType),
    }),
  }),
  wrong('missing client id is a fault', token400, {
    steps: (base) => ({ missing: (request) => request.client_id!.length === 0 || base.missing(request) }),
  }),
  wrong('wrong secret gives 400', token401, {
    steps: (base) => ({
      token: async (call) => {
        const answer = await base.token(call)
        return answer.status === 401 && base.readTokenRequest(call)?.client_id === clientId
          ? { ...answer, status: 400 }
          : answer
      },
    }),
  }),
  wrong('wrong secret gives 200 and an error', token401, {
    steps: (base) => ({
      token: async (call) => {
        const answer = await base.token(call)
        return answer.status === 401 ? { ...answer, status: 200 } : answer
      },
    }),
  }),
  wrong('any secret gives a token', token401, { steps: () => ({ clientIsKnown: (id) => id === clientId }) }),
  wrong('unknown client gives 403', token401, {
    steps: (base) => ({
      token: async (call) => {
        const answer = await base.token(call)
        return answer.status === 401 && base.readTokenRequest(call)?.client_id !== clientId
          ? { ...answer, status: 403 }
          : answer
      },
    }),
  }),
  wrong('first 16 characters of the secret count', token401, {
    steps: () => ({
      clientIsKnown: (id, secret) => id === clientId && secret.slice(0, 16) === clientSecret.slice(0, 16),
    }),
  }),
  wrong('spaces around the secret are dropped', token401, {
    steps: (base) => ({ clientIsKnown: (id, secret) => base.clientIsKnown(id, secret.trim()) }),
  }),
  wrong('client id in any letter case', token401, {
    steps: (base) => ({ clientIsKnown: (id, secret) => base.clientIsKnown(id.toLowerCase(), secret) }),
  }),
  wrong('client id may hold SQL wildcards', token401, {
    steps: () => ({ clientIsKnown: (id, secret) => like(id, clientId) && secret === clientSecret }),
  }),
  wrong('token answer is text in JSON', tokenAnswer, { steps: tokenValue((token) => JSON.stringify(token)) }),
]

const searches: Supplier[] = [
  wrong('empty search gives 404', emptySearch, {
    steps: answers((answer, call) =>
      call.path === '/stores/nearest' && answer.body.toString() === '[]'
        ? json(404, { message: 'No stores' })
        : answer,
    ),
  }),
  wrong('empty search gives null', emptySearch, {
    steps: searchValue((stores) => (stores.length ? stores : null)),
  }),
  wrong('empty search gives 204', emptySearch, {
    steps: succeeded('/stores/nearest', (answer) =>
      answer.body.toString() === '[]' ? text(204, '') : answer,
    ),
  }),
  wrong('empty search gives an object', emptySearch, {
    steps: searchValue((stores) => (stores.length ? stores : { stores: [] })),
  }),
  wrong('search answer is wrapped', searchAnswer, {
    steps: searchValue((stores) => ({ stores, count: stores.length })),
  }),
  wrong('a single store is not in an array', searchAnswer, {
    steps: searchValue((stores) => (stores.length === 1 ? stores[0] : stores)),
  }),
  wrong('latitude and longitude swapped', kilometres, {
    steps: (base) => ({
      distance: (latitude, longitude, store) => base.distance(longitude, latitude, store),
    }),
  }),
  wrong('radius in miles', kilometres, {
    steps: (base) => ({
      search: (latitude, longitude, radius) => base.search(latitude, longitude, radius * 1.609344),
    }),
  }),
  wrong('radius in metres', kilometres, {
    steps: (base) => ({
      search: (latitude, longitude, radius) => base.search(latitude, longitude, radius / 1000),
    }),
  }),
  wrong('diameter in miles', kilometres, {
    steps: (base) => ({
      search: (latitude, longitude, radius) => base.search(latitude, longitude, (radius * 1.609344) / 2),
    }),
  }),
  wrong('degrees of longitude as long as at the equator', kilometres, {
    steps: () => ({
      distance: (latitude, longitude, store) =>
        111.195 * Math.hypot(store.latitude - latitude, store.longitude - longitude),
    }),
  }),
  wrong('search in a square', kilometres, {
    steps: () => ({
      distance: (latitude, longitude, store) =>
        Math.max(
          greatCircle(latitude, longitude, store.latitude, longitude),
          greatCircle(latitude, longitude, latitude, store.longitude),
        ),
    }),
  }),
  wrong('distance is ignored', emptySearch, {
    steps: (base) => ({ search: (latitude, longitude) => base.search(latitude, longitude, 30000) }),
  }),
  wrong('always the three nearest', emptySearch, {
    steps: (base) => ({
      search: (latitude, longitude) => base.search(latitude, longitude, 30000).slice(0, 3),
    }),
  }),
  wrong('zero counts as missing', '§4.1 "query: latitude, longitude and a distance in kilometres"', {
    steps: (base) => ({
      nearest: (call) =>
        Number(call.query.get('latitude')) && Number(call.query.get('longitude'))
          ? base.nearest(call)
          : json(400, { message: 'Missing' }),
    }),
  }),
  wrong('antimeridian splits the search', kilometres, {
    data: (data) =>
      data.stores.push(
        store('ST-601', 'Taveuni West', -16.8, 179.98, 'FJ', 'Pacific/Fiji'),
        store('ST-602', 'Taveuni East', -16.8, -179.97, 'FJ', 'Pacific/Fiji'),
      ),
    options: near(-16.8, 179.98),
    steps: (base) => ({
      distance: (latitude, longitude, store) =>
        Math.abs(longitude - store.longitude) > 180 ? Infinity : base.distance(latitude, longitude, store),
    }),
  }),
  wrong('two stores with one id', uniqueId, {
    data: (data) => (data.stores.find((store) => store.id === 'ST-202')!.id = 'ST-201') && undefined,
  }),
  wrong('search remembered without its distance', emptySearch, {
    steps: (base) => {
      const known = new Map<string, unknown[]>()
      return {
        search(latitude, longitude, radius) {
          const key = `${latitude},${longitude}`
          if (!known.has(key)) known.set(key, base.search(latitude, longitude, radius))
          return known.get(key)!
        },
      }
    },
  }),
  wrong('position cut to one decimal', kilometres, {
    steps: (base) => ({
      distance: (latitude, longitude, store) =>
        base.distance(Math.trunc(latitude * 10) / 10, Math.trunc(longitude * 10) / 10, store),
    }),
  }),
  wrong('search shows ids of another table', oneStore, {
    steps: searchValue((stores) => stores.map((store) => ({ ...store, id: `row-${store.id}` }))),
  }),
]

const lookups: Supplier[] = [
  wrong('unknown store gives 200 and null', noStore, {
    steps: (base) => ({
      lookup: (call, id) => (base.findStore(id) ? base.lookup(call, id) : json(200, null)),
    }),
  }),
  wrong('unknown store is a fault', noStore, {
    steps: (base) => ({
      lookup: (_call, id) => json(200, { ...base.findStore(id), name: base.findStore(id)!.name }),
    }),
  }),
  wrong('unknown store gives 400', noStore, {
    steps: (base) => ({
      lookup: (call, id) =>
        base.findStore(id) ? base.lookup(call, id) : json(400, { message: 'Invalid id' }),
    }),
  }),
  wrong('id of another form gives 422', noStore, {
    steps: (base) => ({
      lookup: (call, id) =>
        /^ST-\d{3}$/.test(id)
          ? base.lookup(call, id)
          : json(422, { message: 'An id is ST- and three digits' }),
    }),
  }),
  wrong('unknown store gives the first store', noStore, {
    steps: (base, data) => ({ findStore: (id) => base.findStore(id) ?? data.stores[0] }),
  }),
  wrong('lookup gives an array', oneStore, {
    steps: (base) => ({
      lookup: (call, id) => (base.findStore(id) ? json(200, [base.findStore(id)]) : base.lookup(call, id)),
    }),
  }),
  wrong('store ids with SQL wildcards', noStore, {
    steps: (_base, data) => ({ findStore: (id) => data.stores.find((store) => like(id, store.id)) }),
  }),
  wrong('a star in a store id matches all', noStore, {
    steps: (base, data) => ({
      findStore: (id) =>
        id.includes('*')
          ? data.stores.find((store) => like(id.replaceAll('*', '%'), store.id))
          : base.findStore(id),
    }),
  }),
  wrong('a quote in a store id is a fault', noStore, {
    steps: (base) => ({ lookup: (call, id) => (id.includes("'") ? fault() : base.lookup(call, id)) }),
  }),
  wrong('store ids compared as numbers', noStore, {
    data: storeIds((_id, index) => String(1000 + index * 1000)),
    options: options({ notInRange: 'A-300@2000' }),
    steps: (_base, data) => ({
      findStore: (id) => data.stores.find((store) => Number(store.id) === Number(id)),
    }),
  }),
  wrong('leading zeros of a store id are dropped', noStore, {
    data: storeIds((id) => id.slice(3)),
    options: options({ notInRange: 'A-300@102' }),
    steps: (base) => ({ findStore: (id) => base.findStore(id.replace(/^0+/, '')) }),
  }),
  wrong('store ids that begin alike', noStore, {
    steps: (_base, data) => ({ findStore: (id) => data.stores.find((store) => id.startsWith(store.id)) }),
  }),
  wrong('spaces after a store id are dropped', noStore, {
    steps: (base) => ({ findStore: (id) => base.findStore(id.trimEnd()) }),
  }),
  wrong('ids that differ in letter case', oneStore, {
    data: (data) => {
      storeIds((id, index) => (index === 0 ? 'syd-a' : index === 1 ? 'SYD-A' : id))(data)
    },
    options: options({ notInRange: 'A-300@SYD-A' }),
    steps: (_base, data) => ({
      findStore: (id) => data.stores.find((store) => store.id.toLowerCase() === id.toLowerCase()),
    }),
  }),
  wrong('slash in a store id is not found', oneStore, {
    data: storeIds((id) => id.replace('-', '/')),
    options: options({ notInRange: 'A-300@ST/102' }),
    steps: (base) => ({
      lookup: (call, id) =>
        id.includes('/') ? json(404, { message: 'No such address' }) : base.lookup(call, id),
    }),
  }),
  wrong('lookup of one store gives its neighbour', oneStore, {
    steps: (base) => ({ findStore: (id) => base.findStore(id === 'ST-103' ? 'ST-102' : id) }),
  }),
  wrong('lookup has an older position', uniqueId, {
    steps: (base) => ({
      findStore: (id) => {
        const store = base.findStore(id)
        return store?.id === 'ST-202' ? { ...store, name: 'Northcote (old)', latitude: -37.9 } : store
      },
    }),
  }),
]

// Remembers lines by a part of what was asked.
const remembered = (key: (line: any, member: string | null) => string): Partial<Supplier> => ({
  steps: (base) => {
    const known = new Map<string, any>()
    return {
      priceLine(line, member, index) {
        const name = key(line, member)
        if (!known.has(name)) known.set(name, base.priceLine(line, member, index))
        return { ...known.get(name), itemId: line.itemId, storeId: line.storeId, quantity: line.quantity }
      },
    }
  },
})

const totals = (
  change: (right: number, unitPrice: number, quantity: number, discount: number) => number,
): Partial<Supplier> => ({
  steps: (base) => ({
    total: (unit, quantity, off) => change(base.total(unit, quantity, off), unit, quantity, off),
  }),
})

// Fails the call if a line matches.
const failsWith = (answer: () => Answer, codes: string[]): Partial<Supplier> => ({
  steps: (base) => ({
    prices: async (call) => {
      const right = await base.prices(call)
      if (right.status !== 200) return right
      return JSON.parse(right.body.toString()).some((line: any) => codes.includes(line.errorCode))
        ? answer()
        : right
    },
  }),
})

const lines: Supplier[] = [
  wrong('prices are text', unitPrice, {
    steps: pricedLine((line) => {
      for (const name of ['unitPrice', 'discount', 'totalPrice']) line[name] = line[name].toFixed(2)
    }),
  }),
  wrong('an item of the range with three nulls and no error', errorCode, {
    steps: pricedLine((line) => {
      if (line.itemId === 'A-100') Object.assign(line, { unitPrice: null, discount: null, totalPrice: null })
    }),
  }),
  wrong('totals above 999 are text', total, {
    steps: pricedLine((line) => {
      if (line.totalPrice >= 1000)
        line.totalPrice = line.totalPrice.toLocaleString('en-AU', { minimumFractionDigits: 2 })
    }),
  }),
  wrong('snake case', unitPrice, {
    steps: priceValue((all) =>
      all.map(({ unitPrice, totalPrice, ...line }) => ({
        ...line,
        unit_price: unitPrice,
        total_price: totalPrice,
      })),
    ),
  }),
  wrong('empty text instead of null', unitPrice, {
    steps: failedLine((line) => Object.assign(line, { unitPrice: '', discount: '', totalPrice: '' })),
  }),
  wrong('error without a code', errorCode, { steps: failedLine((line) => delete line.errorCode) }),
  wrong('error without a message', errorMessage, { steps: failedLine((line) => delete line.errorMessage) }),
  wrong('message is empty if not in range', lineError, {
    steps: failedLine((line) => line.errorCode === 'not_in_range' && (line.errorMessage = '')),
  }),
  wrong('code is a number', errorCode, { steps: failedLine((line) => (line.errorCode = 1004)) }),
  wrong('error is true', errorCode, {
    steps: failedLine((line) => {
      delete line.errorCode
      delete line.errorMessage
      line.error = true
    }),
  }),
  wrong('error is an object', errorCode, {
    steps: failedLine((line) => {
      line.error = { code: line.errorCode, message: line.errorMessage }
      delete line.errorCode
      delete line.errorMessage
    }),
  }),
  wrong('a single line is not in an array', priceArray, {
    steps: priceValue((all) => (all.length === 1 ? all[0] : all)),
  }),
  wrong('lines keyed by item', priceArray, {
    steps: priceValue((all) => Object.fromEntries(all.map((line) => [line.itemId, line]))),
  }),
  wrong('not in range has nulls and no error', lineError, {
    steps: failedLine((line) => {
      if (line.errorCode === 'not_in_range') {
        delete line.errorCode
        delete line.errorMessage
      }
    }),
  }),
  wrong('lines that are not in range are left out', notAsAWhole, {
    steps: priceValue((all) => all.filter((line) => line.errorCode !== 'not_in_range')),
  }),
  wrong(
    'not in range fails the call',
    notAsAWhole,
    failsWith(() => json(422, { message: 'Not in range' }), ['not_in_range']),
  ),
  wrong(
    'unknown item fails the call with 404',
    notAsAWhole,
    failsWith(() => json(404, { message: 'No such item' }), ['unknown_item']),
  ),
  wrong('lines after an error have no price', notAsAWhole, {
    steps: priceValue((all) => {
      const first = all.findIndex((line) => line.errorCode)
      return all.map((line, index) =>
        first >= 0 && index > first
          ? {
              ...line,
              unitPrice: null,
              discount: null,
              totalPrice: null,
              errorCode: 'aborted',
              errorMessage: 'A line failed',
            }
          : line,
      )
    }),
  }),
  wrong('unknown store is priced as head office', lineError, {
    steps: (base, data) => ({ findPriceStore: (id) => base.findPriceStore(id) ?? data.stores[0] }),
  }),
  wrong('item codes that begin alike', lineError, {
    steps: (base, data) => ({
      findItem: (id) =>
        base.findItem(id) ?? data.items.find((item) => id.length > 2 && item.id.startsWith(id)),
    }),
  }),
  wrong('item codes with SQL wildcards', lineError, {
    steps: (_base, data) => ({ findItem: (id) => data.items.find((item) => like(id, item.id)) }),
  }),
  wrong(
    'discount of a member is not taken off',
    total,
    totals((_right, unit, quantity) => exactTotal(unit, quantity, 0)),
  ),
  wrong('discount is per unit', discount, {
    steps: (base) => ({
      priced: (line, unit, off, sum) =>
        base.priced(line, unit, Number((off / (line.quantity as number)).toFixed(4)), sum),
    }),
  }),
  wrong(
    'total in whole dollars',
    total,
    totals((right) => Math.round(right)),
  ),
  wrong(
    'total with tax from ten up',
    total,
    totals((right, _unit, quantity) => (quantity >= 10 ? cents(right * 1.1) : right)),
  ),
  wrong(
    'quantity is one byte',
    total,
    totals((_right, unit, quantity, off) =>
      exactTotal(unit, quantity > 255 ? Math.floor(quantity) & 255 : quantity, off),
    ),
  ),
  wrong(
    'total with 32 bits',
    total,
    totals((right) => (Math.round(right * 1000) | 0) / 1000),
  ),
  wrong(
    'a cent is lost for a quantity of seven',
    total,
    totals((right, _unit, quantity) => (quantity % 7 === 0 ? cents(right - 0.01) : right)),
  ),
  wrong(
    'total in single precision',
    total,
    totals((right) => Math.fround(right)),
  ),
  wrong('total in six digits', total, {
    options: options({ items: ['A-100', 'C-500'] }),
    ...totals((right) => Number(right.toPrecision(6))),
  }),
  wrong(
    'fraction of a quantity is cut off',
    total,
    totals((_right, unit, quantity, off) => exactTotal(unit, Math.max(1, Math.floor(quantity)), off)),
  ),
  wrong('only 100 lines have a price', notAsAWhole, {
    steps: priceValue((all) =>
      all.map((line, index) =>
        index < 100 ? line : { ...line, unitPrice: null, discount: null, totalPrice: null },
      ),
    ),
  }),
  wrong('second batch has quantities of the first', total, {
    steps: (base) => ({
      priceLines: (request) =>
        request.items.map((line, index) => ({
          ...base.priceLine(
            { ...line, quantity: request.items[index % 50]!.quantity },
            request.memberNumber ?? null,
            index,
          ),
          quantity: line.quantity,
        })),
    }),
  }),
  wrong(
    'prices remembered across stores',
    lineError,
    remembered((line, member) => `${line.itemId}|${line.quantity}|${member}`),
  ),
  wrong(
    'prices remembered across quantities',
    total,
    remembered((line, member) => `${line.itemId}|${line.storeId}|${member}`),
  ),
  wrong(
    'prices remembered across members',
    builderPrices,
    remembered((line) => `${line.itemId}|${line.storeId}|${line.quantity}`),
  ),
  wrong('a member loses the quantity', total, {
    steps: (base) => ({
      priceLine(line, member, index) {
        if (member === null || typeof line.quantity !== 'number') return base.priceLine(line, member, index)
        return { ...base.priceLine({ ...line, quantity: 1 }, member, index), quantity: line.quantity }
      },
    }),
  }),
  wrong('member number is required', optionalMember, {
    steps: (base) => ({
      prices: (call) =>
        call.body.includes('"memberNumber"')
          ? base.prices(call)
          : json(400, { message: 'memberNumber is required' }),
    }),
  }),
  wrong('unknown member is a fault', notAsAWhole, failsWith(fault, ['unknown_member'])),
]

const transport: Supplier[] = [
  wrong('answers in Latin-1', allJson, {
    steps: answers((answer) => ({ ...answer, body: Buffer.from(answer.body.toString(), 'latin1') })),
  }),
  wrong('bodies read as Latin-1', allJson, {
    steps: (base) => ({
      prices: (call) => base.prices({ ...call, body: Buffer.from(call.body.toString('latin1')) }),
    }),
  }),
  wrong('long answers are cut off', allJson, {
    steps: answers((answer) =>
      answer.body.length > 4000 ? { ...answer, body: answer.body.subarray(0, 4000) } : answer,
    ),
  }),
  wrong('gzip without a header', allJson, {
    steps: succeeded('/request-prices', (answer) => ({ ...answer, body: gzipSync(answer.body) })),
  }),
  wrong('single quotes in place of double ones', allJson, {
    steps: succeeded('/stores/', (answer) => ({
      ...answer,
      body: Buffer.from(answer.body.toString().replaceAll('"', "'")),
    })),
  }),
  wrong('fault at every eleventh price request', priceArray, {
    steps: (base) => {
      let calls = 0
      return { prices: (call) => (++calls % 11 === 0 ? fault() : base.prices(call)) }
    },
  }),
  wrong('fault if calls overlap', priceArray, {
    steps: (base) => ({
      async prices(call) {
        await wait(3)
        return call.alone ? base.prices(call) : fault()
      },
    }),
  }),
  wrong('overlapping price requests are mixed up', priceArray, {
    steps: (base) => {
      let current: Call
      return {
        async prices(call) {
          current = call
          await wait(15)
          return base.prices(current)
        },
      }
    },
  }),
  wrong('member numbers of overlapping price requests are mixed up', builderPrices, {
    steps: (base) => {
      let current: string | null = null
      return {
        async prices(call) {
          const { memberNumber = null } = parsed(call)
          current = memberNumber
          await wait(15)
          const body = { ...parsed(call), memberNumber: current ?? undefined }
          return base.prices({ ...call, body: Buffer.from(JSON.stringify(body)) })
        },
      }
    },
  }),
  wrong('totals are wrong with the third token', total, {
    steps: (base, _data, _steps, all) => ({
      async prices(call) {
        const answer = await base.prices(call)
        const token = call.headers.authorization?.slice('Bearer '.length) ?? ''
        if (answer.status !== 200 || (all.get(token)?.number ?? 0) < 3) return answer
        return json(
          200,
          JSON.parse(answer.body.toString()).map((line: any) =>
            line.totalPrice === null ? line : { ...line, totalPrice: cents(line.totalPrice + 1) },
          ),
        )
      },
    }),
  }),
  wrong('lookups fail from the 60th call on', oneStore, {
    steps: (base) => ({
      lookup: (call, id) => (call.number >= 60 && base.findStore(id) ? fault() : base.lookup(call, id)),
    }),
  }),
]

export const wrongSuppliers: Supplier[] = [...tokens, ...searches, ...lookups, ...lines, ...transport]
