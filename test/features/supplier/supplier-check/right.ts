import type { Known } from '../../../../src/features/supplier/supplier-check/rule.ts'
import type { Any, Change } from './model.ts'

/** What else the check is told, and what it cannot prove of this supplier. */
interface More {
  known?: Partial<Known>
  unproven?: string[]
}

/** Changes each answer to a line: its fields, or null for a field that is left out. */
const eachLine =
  (change: (line: Any) => Any): Change =>
  (right) => ({ priceLine: (...line) => change(right.priceLine(...line)) })

/** Changes each store, in searches and lookups. */
const eachStore =
  (change: (store: Any) => Any): Change =>
  (right) => ({
    search: (...place) => right.search(...place).map(change),
    lookUp(id) {
      const answer = right.lookUp(id)
      return answer.status === 200 ? { ...answer, body: change(answer.body) } : answer
    },
  })

/** Other ids of the stores, by their position. The prices are those of the first store. */
const ids =
  (idOf: (index: number) => string): Change =>
  (right) => ({ stores: right.stores.map((store, index) => ({ ...store, id: idOf(index) })) })

/** Writes amounts as this text in place of the shortest one. */
const written = (write: (amount: number) => string): Change => {
  const amounts = ['unitPrice', 'discount', 'totalPrice']
  return () => ({
    finish(answer) {
      const mark = (name: string, value: unknown) =>
        amounts.includes(name) && typeof value === 'number' ? `~${write(value)}~` : value
      return { ...answer, body: JSON.stringify(answer.body, mark)?.replace(/"~([^~]+)~"/g, '$1') }
    },
  })
}

const round = (degrees: number) => Number(degrees.toFixed(2))

/** Suppliers that the specification has nothing against, however odd they are. */
export const RIGHT: [name: string, change: Change, more?: More][] = [
  [
    'errors are a list, and amounts are left out',
    eachLine(({ itemId, storeId, quantity, errorCode, ...line }) =>
      errorCode
        ? { itemId, storeId, quantity, errors: [{ id: errorCode, text: 'No' }] }
        : { itemId, storeId, quantity, ...line },
    ),
  ],
  [
    'error fields are null beside a price',
    eachLine((line) => ({ errorCode: null, errorMessage: null, ...line })),
  ],
  [
    'a line in error keeps its unit price',
    eachLine((line) => (line.errorCode ? { ...line, unitPrice: 899.95 } : line)),
  ],
  [
    'refusals are pages with status 403',
    () => ({
      refuse: () => ({ status: 403, body: '<h1>No</h1>', headers: { 'content-type': 'text/html' } }),
    }),
  ],
  [
    'errors have no body',
    () => ({ finish: (answer) => (answer.status < 400 ? answer : { status: answer.status }) }),
  ],
  [
    'stores and lines have more fields',
    (right) => ({
      ...eachStore((store) => ({ ...store, name: 'Main', phone: null, tags: ['a'] }))(right),
      ...eachLine((line) => ({ ...line, currency: 'AUD', promotion: { name: 'None' } }))(right),
    }),
  ],
  ['tokens live for 2147483647 s', () => ({ expiresIn: 2_147_483_647 })],
  ['tokens live for 3 s', () => ({ expiresIn: 3 })],
  [
    'tokens of 5 s are accepted for 20 s more',
    (right) => ({
      expiresIn: 5,
      accepts: (token) => right.now() - (right.issued.get(token) ?? Number.NEGATIVE_INFINITY) < 25_000,
    }),
  ],
  [
    'a token is issued again until it ends',
    (right) => ({ newToken: () => [...right.issued.keys()].at(-1) ?? right.newToken() }),
  ],
  [
    'token requests are JSON only',
    (right) => ({ token: (asked) => (asked.isForm ? { status: 415 } : right.token(asked)) }),
  ],
  [
    'the token response has other names and status 201',
    (right) => ({
      tokenBody: (token) => ({ accessToken: token, tokenType: 'Bearer', expires_in: right.expiresIn }),
      finish: (answer, { path }) =>
        path === '/connect/token' && answer.status === 200 ? { ...answer, status: 201 } : answer,
    }),
  ],
  ['tokens have signs', (right) => ({ newToken: () => `${right.newToken()}~._-+/==` })],
  ['prices have an exponent', written((amount) => amount.toExponential())],
  [
    'prices have four decimals, and totals whole cents',
    (right) => ({ unitPrice: (...item) => right.unitPrice(...item) + 0.0037 }),
  ],
  [
    'a distance of 0 finds nothing: the place of a store is rounded',
    (right) => ({
      search: (...place) => right.search(...place).filter(({ distance }) => distance < place[2]),
    }),
  ],
  [
    'coordinates have two decimals',
    eachStore(({ latitude, longitude, ...store }) => ({
      ...store,
      latitude: round(latitude),
      longitude: round(longitude),
    })),
  ],
  [
    'coordinates are in an object, as texts',
    eachStore(({ latitude, longitude, ...store }) => ({
      ...store,
      position: { lat: String(latitude), lng: String(longitude) },
    })),
  ],
  [
    'the Earth is smaller by 0.4 %, and a store is at the very edge of a search',
    (right) => ({
      km: (at, store) => right.km(at, store) * 0.996,
      stores: [...right.stores, { id: 'edge', latitude: -37.81, longitude: 146.1015 }],
    }),
  ],
  [
    'the distance is a diameter',
    (right) => ({ search: (latitude, longitude, radius) => right.search(latitude, longitude, radius / 2) }),
  ],
  [
    'more than 100 km are refused',
    (right) => ({
      nearest: (query) => (Number(query.get('radius')) > 100 ? { status: 422 } : right.nearest(query)),
    }),
  ],
  [
    'a search finds the three nearest stores, by name',
    (right) => ({
      search: (...place) =>
        right
          .search(...place)
          .slice(0, 3)
          .sort((a, b) => (a.id < b.id ? -1 : 1)),
    }),
  ],
  ['there is one store', (right) => ({ stores: right.stores.slice(0, 1) }), { known: { notInRange: [] } }],
  [
    'store ids have signs and letters of all kinds',
    ids((index) => `店舗 ${index}/#?%&+'`),
    { known: { storeId: "店舗 0/#?%&+'", notInRange: [] } },
  ],
  ['store ids are in storeNumber', eachStore(({ id, ...store }) => ({ storeNumber: id, ...store }))],
  [
    'a store id is a number like the quantity, and lines are answered in the opposite order',
    (right) => ({
      ...ids((index) => String(index + 1))(right),
      async prices(request) {
        const { status, body } = await right.prices(request)
        return { status, body: body.toReversed() }
      },
    }),
    { known: { storeId: '1', notInRange: [] } },
  ],
  [
    'each 31st line has no price for a moment',
    (right) => {
      let lines = 0
      return {
        priceLine: (line, ...rest) =>
          ++lines % 31 === 0 ? right.failedLine(line, 'unavailable') : right.priceLine(line, ...rest),
      }
    },
  ],
  [
    'lines are answered by item code, and repeat their line under other names',
    (right) => ({
      async prices(request) {
        const { status, body } = await right.prices(request)
        const lines = body.map(({ itemId, storeId, quantity, ...line }: Any) => ({
          sku: itemId,
          branch: storeId,
          count: quantity,
          ...line,
        }))
        return { status, body: lines.sort((a: Any, b: Any) => (a.sku < b.sku ? -1 : 1)) }
      },
    }),
  ],
  [
    'quantities are whole, and at most 99',
    (right) => ({
      priceLine: (line, ...rest) =>
        Number.isInteger(line.quantity) && line.quantity < 100
          ? right.priceLine(line, ...rest)
          : right.failedLine(line, 'quantity'),
    }),
  ],
  [
    'from ten up, one costs less',
    (right) => ({
      discount: (line, member, unit) =>
        right.discount(line, member, unit) + (line.quantity >= 10 ? line.quantity : 0),
    }),
  ],
  [
    'calls are limited, with Retry-After',
    (right) => {
      let calls = 0
      return {
        finish: (answer) => (++calls % 20 === 0 ? { status: 429, headers: { 'retry-after': '2' } } : answer),
        expiresIn: right.expiresIn,
      }
    },
  ],
  [
    'all headers are in capitals',
    () => ({
      finish: (answer) => ({
        ...answer,
        headers: { 'CONTENT-TYPE': 'Application/JSON ; Charset="UTF-8"', ...answer.headers },
      }),
    }),
  ],
  [
    'JSON is indented, after a byte order mark',
    () => ({
      finish: (answer) => ({
        ...answer,
        body: answer.body && `\ufeff${JSON.stringify(answer.body, null, '\t')}\n`,
      }),
    }),
  ],
  [
    'endpoints are open without a token',
    () => ({ accepts: () => true }),
    { unproven: ['token.made-up', 'token.end'] },
  ],
]
