import type { Any, Tamper } from './model-supplier.ts'
import {
  body,
  type Cases,
  eachFound,
  eachLookup,
  eachStore,
  isPrices,
  isStore,
  isToken,
  onGood,
  refusing,
  status,
  storeAs,
} from './tampers.ts'

/** Changes the trading hours of each store in place. */
const eachHours = (change: (hours: Any) => void) =>
  eachStore(({ tradingHours }) => {
    change(tradingHours)
  })
const eachDay = (change: (openings: Any[]) => void) =>
  eachHours(({ dailyTradingHours }) => {
    for (const { openingHours } of dailyTradingHours) change(openingHours)
  })

/** Another store from the second lookup of a store on: those overlap. */
function swappedLookups(): Tamper {
  let count = 0
  return onGood(
    ({ path }) => path === '/stores/northcote' && ++count > 1,
    (answer, asked) => Object.assign(answer, asked.again({ path: '/stores/hobart' })),
  )
}

/** Suppliers with a fault of their stores. */
export const WRONG_STORES: Record<string, Cases> = {
  'store.one': {
    '404 for a store that a search lists': refusing(({ path }) => path === '/stores/sydney', 404),
    'another store': onGood(
      ({ path }) => path === '/stores/hobart',
      (answer, asked) => Object.assign(answer, asked.again({ path: '/stores/sydney' })),
    ),
    'a list of one store': body(isStore, (store) => [store]),
  },
  'store.odd-id': {
    'a store for a wildcard': storeAs((path) => path === '/stores/%25', 'sydney'),
    'a store for its name': {
      tamper: storeAs((path) => /^\/stores\/Caf.*sydney$/.test(path), 'sydney'),
      storeId: 'sydney',
    },
    '500 for a long id': status((asked) => isStore(asked) && asked.path.length > 300, 404, 500),
    '500 for an id that is not ASCII': status(({ path }) => path.endsWith('%C3%A9'), 404, 500),
  },
  'store.unknown': { '200 for an unknown store': status(isStore, 404, 200, null) },
  'store.near-id': {
    'an id with a suffix': status(({ path }) => path.startsWith('/stores/sydney-'), 404, 200, {}),
    'the beginning of an id': storeAs((path) => path === '/stores/sydne', 'sydney'),
  },
  'store.case': {
    'ids in any letter case': (asked, answer) => {
      if (isStore(asked)) Object.assign(answer, asked.again({ path: asked.path.toLowerCase() }))
    },
  },
  'store.overlap': { 'the store of another lookup': swappedLookups() },
  'store.same': {
    'another address in a lookup': eachLookup(({ address }) => ({
      address: { ...address, street: '2 Low Street' },
    })),
    'other hours in a lookup': eachLookup((store) => {
      store.tradingHours.dailyTradingHours[0].openingHours[0].opens = '08:00'
    }),
    'rounded coordinates in a lookup': eachLookup(({ latitude }) => ({ latitude: Math.round(latitude) })),
  },
  'store.form': {
    'no trading hours': eachStore(() => ({ tradingHours: undefined })),
    'a number as the name': eachStore(() => ({ name: 7 })),
    'hours without minutes': eachDay((openings) => {
      for (const opening of openings) opening.opens = '7'
    }),
  },
  'nearest.form': {
    'no trading hours in a search': eachFound(() => ({ tradingHours: undefined })),
    'a latitude as text in a search': eachFound(({ latitude }) => ({ latitude: String(latitude) })),
  },
  'store.time-zone': {
    'a time zone of Middle-earth': eachStore(({ id, tradingHours }) => ({
      tradingHours: id === 'hobart' ? { ...tradingHours, timeZone: 'Middle/Earth' } : tradingHours,
    })),
  },
  'store.days': {
    'a Monday twice': eachHours(({ dailyTradingHours }) => {
      dailyTradingHours[1].day = 'Monday'
    }),
    'an eighth day': eachHours(({ dailyTradingHours }) => dailyTradingHours.push(dailyTradingHours[0])),
    'no Sunday': eachHours(({ dailyTradingHours }) => dailyTradingHours.pop()),
  },
  'store.holidays': {
    'a holiday twice': eachHours(({ publicHolidays }) => publicHolidays.push(publicHolidays[0])),
  },
  'store.hours': {
    'hours that end before they begin': eachDay(([, second]) => {
      if (second) Object.assign(second, { opens: '18:00', closes: '09:00' })
    }),
    'hours that overlap': eachDay(([, second]) => {
      if (second) second.opens = '11:00'
    }),
    'hours that overlap on a holiday': eachHours(({ publicHolidays }) =>
      publicHolidays[1].openingHours.push({ opens: '10:00', closes: '15:00' }),
    ),
  },
  'json.utf8': {
    'Latin-1': (_asked, answer) => {
      answer.encoding = 'latin1'
    },
    'requests read as Latin-1': body(isPrices, (prices) =>
      JSON.stringify(prices).replaceAll(/[ößé]/g, (letter) => Buffer.from(letter).toString('latin1')),
    ),
  },
  'json.type': {
    'a byte order mark': body(isPrices, (prices) => `\ufeff${JSON.stringify(prices)}`),
    'JSON that is called a page': onGood(
      (asked) => !isToken(asked),
      ({ headers }) => {
        headers['content-type'] = 'text/html'
      },
    ),
  },
}
