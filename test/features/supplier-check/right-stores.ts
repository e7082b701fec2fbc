import { type Asked, NOT_IN_RANGE, type Tamper } from './model-supplier.ts'
import {
  type Case,
  eachFound,
  eachPrice,
  eachStore,
  isPrices,
  isSearch,
  isStore,
  isToken,
  onGood,
  open,
  searchAs,
  status,
  together,
} from './tampers.ts'

const IDS = ['melbourne', 'northcote', 'sydney', 'hobart', 'suva', 'taveuni']
const numberOf = (id: unknown) => 100 + IDS.indexOf(String(id))
const idOf = (number: unknown) => IDS[Number(number) - 100] ?? 'none'
// biome-ignore lint/suspicious/noExplicitAny: a line of any shape
type Any = any

/** Stores whose ids are numbers, in answers and in requests. */
const numericIds: Tamper = (asked, answer) => {
  const [, path] = /^\/stores\/(\d+)$/.exec(asked.path) ?? []
  if (path) Object.assign(answer, asked.again({ path: `/stores/${idOf(path)}` }))
  if (isPrices(asked) && Array.isArray(asked.json?.items) && asked.issuedAt) {
    const items = asked.json.items.map((line: Any) => ({ ...line, storeId: idOf(line.storeId) }))
    Object.assign(answer, asked.again({ json: { ...asked.json, items } }))
    for (const [index, price] of [answer.body].flat().entries())
      price.storeId = asked.json.items[index]?.storeId
  }
  eachStore((store) => {
    store.id = numberOf(store.id)
  })(asked, answer)
}

/** Of all stores, only these. */
const only = (ids: readonly string[]): Tamper =>
  together(
    onGood(isSearch, (answer) => {
      answer.body = answer.body.filter(({ id }: { id: string }) => ids.includes(id))
    }),
    onGood(isStore, (answer, { path }) => {
      if (!ids.includes(path.replace('/stores/', ''))) answer.status = 404
    }),
  )

const plainErrors: Tamper = (_asked, answer) => {
  if (answer.status < 400) return
  answer.body = '<h1>No</h1>'
  answer.headers['content-type'] = 'text/html'
}

/** Suppliers that are right, and issue tokens or describe stores in another way. */
export const RIGHT_STORES: Case[] = [
  ['ids of stores as numbers', numericIds, { notInRange: [{ ...NOT_IN_RANGE, storeId: '104' }] }],
  [
    'ids of items as numbers in its answers',
    eachPrice((price) => {
      price.itemId = { name: price.itemId }
    }),
  ],
  [
    'JSON token requests only',
    (asked, answer) => {
      if (isToken(asked) && asked.isForm) answer.status = 415
    },
  ],
  [
    'JSON token requests only, with --token-json',
    (asked, answer) => {
      if (isToken(asked) && asked.isForm) answer.status = 400
    },
    { tokenJson: true },
  ],
  [
    'other names of the token',
    onGood(isToken, ({ body }) => {
      Object.assign(body, { accessToken: body.access_token, tokenType: 'JWT' })
      delete body.access_token
      delete body.token_type
    }),
  ],
  [
    'a bearer in lower case, 201 and a long life',
    onGood(isToken, (answer) => {
      answer.status = 201
      Object.assign(answer.body, { token_type: 'bearer', expires_in: 86_400 })
    }),
  ],
  [
    'the same token until it expires',
    onGood(isToken, (answer, { tokens }) => {
      answer.body.access_token = [...tokens.keys()][0]
    }),
  ],
  [
    'a token in another header',
    (asked, answer) => {
      if (!isToken(asked)) answer.status = 401
    },
  ],
  [
    '403 for a wrong token, and errors as pages',
    together(
      status((asked) => !isToken(asked), 401, 403),
      plainErrors,
    ),
  ],
  ['stores for anybody', open((asked) => isSearch(asked) || isStore(asked))],
  [
    '429 after three wrong secrets',
    (() => {
      let failures = 0
      return (asked: Asked, answer) => {
        if (isToken(asked) && answer.status === 401 && ++failures > 3) answer.status = 429
      }
    })(),
  ],
  [
    'a lock after three wrong secrets',
    (() => {
      let failures = 0
      return (asked: Asked, answer) => {
        if (isToken(asked) && answer.status === 401) failures++
        if (isToken(asked) && failures > 3) answer.status = 401
      }
    })(),
  ],
  ['another name of the distance, which is 50 km by default', searchAs((query) => query.set('radius', '50'))],
  ['a diameter', searchAs((query) => query.set('radius', String(Number(query.get('radius')) / 2)))],
  [
    'other parameters of the search',
    (asked, answer) => {
      if (isSearch(asked) && asked.issuedAt) answer.status = 400
    },
  ],
  ['a single store', only(['hobart'])],
  [
    'two stores at the same place',
    eachStore((store) => {
      if (store.id === 'northcote') Object.assign(store, { latitude: -37.81, longitude: 144.96 })
    }),
  ],
  ['stores near each other, none near longitude 180', only(['melbourne', 'northcote'])],
  [
    'whole kilometres only',
    (asked, answer) => {
      if (isSearch(asked) && /radius=\d+\./.test(asked.path) && asked.issuedAt) answer.status = 400
    },
  ],
  ['a search that is not sorted', onGood(isSearch, ({ body }) => body.reverse())],
  ['the three nearest stores only', onGood(isSearch, ({ body }) => body.splice(3))],
  [
    '400 for a distance above 500 km',
    (asked, answer) => {
      const radius = Number(new URL(asked.path, 'http://model').searchParams.get('radius'))
      if (isSearch(asked) && asked.issuedAt && radius > 500) answer.status = 400
    },
  ],
  [
    'stores with other names and places',
    eachStore((store) => {
      Object.assign(store, { storeId: store.id, geo: { lat: store.latitude, lng: store.longitude } })
      for (const name of ['id', 'latitude', 'longitude', 'distance', 'address', 'phone']) delete store[name]
    }),
  ],
  [
    'fewer fields of stores',
    eachStore((store) => {
      delete store.phone
      delete store.distance
      delete store.tradingHours.publicHolidays
    }),
  ],
  [
    'fewer fields in a search',
    eachFound((store) => {
      delete store.tradingHours
      delete store.address
    }),
  ],
  [
    'more fields everywhere',
    together(
      eachStore((store) => {
        Object.assign(store, { region: 'South', asOf: Math.random(), services: ['delivery'] })
      }),
      eachPrice((price) => {
        Object.assign(price, { currency: 'AUD', tax: { rate: 0.1 }, warnings: [] })
      }),
    ),
  ],
  [
    'other trading hours',
    eachStore((store) => {
      store.tradingHours = { zone: '+10:00', days: [{ mon: '18:00-02:00' }, { mon: '18:00-02:00' }] }
    }),
  ],
  [
    'ids of stores in any letter case',
    (asked, answer) => {
      if (isStore(asked)) Object.assign(answer, asked.again({ path: asked.path.toLowerCase() }))
    },
  ],
]
