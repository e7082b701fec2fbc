import { type Any, NOT_IN_RANGE, type Tamper } from './model-supplier.ts'
import {
  body,
  type Cases,
  eachFound,
  eachPrice,
  eachStore,
  fields,
  isPrices,
  isSearch,
  isStore,
  isToken,
  onGood,
  open,
  refusing,
  searchAs,
  status,
  together,
} from './tampers.ts'

const IDS = ['melbourne', 'northcote', 'sydney', 'hobart', 'suva', 'taveuni']
const idOf = (number: unknown) => IDS[Number(number) - 100] ?? 'none'

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
  eachStore(({ id }) => ({ id: 100 + IDS.indexOf(String(id)) }))(asked, answer)
}

const found = (change: (stores: Any[]) => unknown) => body(isSearch, change)
/** Of all stores, only these. */
const only = (ids: readonly string[]): Tamper =>
  together(
    found((stores) => stores.filter(({ id }) => ids.includes(id))),
    refusing((asked) => isStore(asked) && !ids.includes(asked.path.replace('/stores/', '')), 404),
  )

const plainErrors: Tamper = (_asked, answer) => {
  if (answer.status < 400) return
  answer.body = '<h1>No</h1>'
  answer.headers['content-type'] = 'text/html'
}

/** Answers another status from the fourth wrong secret on. */
const afterWrongSecrets = (to: number, isLocked: boolean): Tamper => {
  let failures = 0
  return (asked, answer) => {
    if (isToken(asked) && answer.status === 401) failures++
    if (isToken(asked) && failures > 3 && (isLocked || answer.status === 401)) answer.status = to
  }
}

/** Suppliers that are right, and issue tokens or describe stores in another way. */
export const RIGHT_STORES: Cases = {
  'ids of stores as numbers': { tamper: numericIds, notInRange: [{ ...NOT_IN_RANGE, storeId: '104' }] },
  'ids of items as numbers in its answers': eachPrice(({ itemId: name }) => ({ itemId: { name } })),
  'JSON token requests only': refusing((asked) => isToken(asked) && asked.isForm, 415),
  'JSON token requests only, with --token-json': {
    tamper: refusing((asked) => isToken(asked) && asked.isForm, 400),
    tokenJson: true,
  },
  'other names of the token': body(isToken, ({ access_token: accessToken, expires_in }) => ({
    accessToken,
    tokenType: 'JWT',
    expires_in,
  })),
  'a bearer in lower case, 201 and a long life': together(
    fields(isToken, { token_type: 'bearer', expires_in: 86_400 }),
    status(isToken, 200, 201),
  ),
  'the same token until it expires': onGood(isToken, (answer, { tokens }) => {
    answer.body.access_token = [...tokens.keys()][0]
  }),
  'a token in another header': refusing((asked) => !isToken(asked), 401),
  '403 for a wrong token, and errors as pages': together(
    status((asked) => !isToken(asked), 401, 403),
    plainErrors,
  ),
  'stores for anybody': open((asked) => isSearch(asked) || isStore(asked)),
  '429 after three wrong secrets': afterWrongSecrets(429, false),
  'a lock after three wrong secrets': afterWrongSecrets(401, true),
  'another name of the distance, which is 50 km by default': searchAs((query) => query.set('radius', '50')),
  'a diameter': searchAs((query) => query.set('radius', String(Number(query.get('radius')) / 2))),
  'other parameters of the search': status(isSearch, 200, 400),
  'a single store': only(['hobart']),
  'two stores at the same place': eachStore(({ id }) =>
    id === 'northcote' ? { latitude: -37.81, longitude: 144.96 } : {},
  ),
  'stores near each other, none near longitude 180': only(['melbourne', 'northcote']),
  'whole kilometres only': status((asked) => isSearch(asked) && /radius=\d+\./.test(asked.path), 200, 400),
  'a search that is not sorted': found((stores) => stores.reverse()),
  'the three nearest stores only': found((stores) => stores.slice(0, 3)),
  '400 for a distance above 500 km': status(
    (asked) => isSearch(asked) && Number(/radius=([^&]*)/.exec(asked.path)?.[1]) > 500,
    200,
    400,
  ),
  'stores with other names and places': eachStore(({ id, latitude: lat, longitude: lng }) => ({
    storeId: id,
    geo: { lat, lng },
    id: undefined,
    latitude: undefined,
    longitude: undefined,
    distance: undefined,
    address: undefined,
    phone: undefined,
  })),
  'fewer fields of stores': eachStore(({ tradingHours }) => ({
    phone: undefined,
    distance: undefined,
    tradingHours: { ...tradingHours, publicHolidays: undefined },
  })),
  'fewer fields in a search': eachFound(() => ({ tradingHours: undefined, address: undefined })),
  'more fields everywhere': together(
    eachStore(() => ({ region: 'South', asOf: Math.random(), services: ['delivery'] })),
    eachPrice(() => ({ currency: 'AUD', tax: { rate: 0.1 }, warnings: [] })),
  ),
  'other trading hours': eachStore(() => ({
    tradingHours: { zone: '+10:00', days: [{ mon: '18:00-02:00' }, { mon: '18:00-02:00' }] },
  })),
  'ids of stores in any letter case': (asked, answer) => {
    if (isStore(asked)) Object.assign(answer, asked.again({ path: asked.path.toLowerCase() }))
  },
}
