import type { Tamper } from './model-supplier.ts'
import { type Case, eachFound, eachLookup, eachStore, isStore, isToken, onGood, status } from './tampers.ts'

type Hours = { day: string; openingHours: { opens: string; closes: string }[] }
const eachDay = (change: (hours: Hours) => void) =>
  eachStore((store) => store.tradingHours.dailyTradingHours.forEach(change))

/** Lookups that succeed so many times. */
function lastingFor(lookups: number): Tamper {
  let count = 0
  return onGood(isStore, (answer) => {
    if (++count > lookups) answer.status = 500
  })
}

/** Another store from the second lookup of a store on: those overlap. */
function swappedLookups(): Tamper {
  let count = 0
  return onGood(
    ({ path }) => path === '/stores/northcote',
    (answer, asked) => {
      if (++count > 1) answer.body = asked.again({ path: '/stores/hobart' }).body
    },
  )
}

/** Suppliers with a fault of their stores. */
export const WRONG_STORES: Record<string, Case[]> = {
  'store.one': [
    [
      '404 for a store that a search lists',
      (asked, answer) => {
        if (asked.path === '/stores/sydney') answer.status = 404
      },
    ],
    [
      'another store',
      onGood(
        ({ path }) => path === '/stores/hobart',
        (answer, asked) => {
          answer.body = asked.again({ path: '/stores/sydney' }).body
        },
      ),
    ],
    [
      'a list of one store',
      onGood(isStore, (answer) => {
        answer.body = [answer.body]
      }),
    ],
  ],
  'store.odd-id': [
    [
      'a store for a wildcard',
      (asked, answer) => {
        if (asked.path === '/stores/%25') Object.assign(answer, asked.again({ path: '/stores/sydney' }))
      },
    ],
    [
      'a store for its name',
      (asked, answer) => {
        if (/^\/stores\/Caf.*sydney$/.test(asked.path))
          Object.assign(answer, asked.again({ path: '/stores/sydney' }))
      },
      { storeId: 'sydney' },
    ],
    ['500 for a long id', status((asked) => isStore(asked) && asked.path.length > 300, 404, 500)],
    ['500 for an id that is not ASCII', status((asked) => asked.path.endsWith('%C3%A9'), 404, 500)],
  ],
  'access.lasting': [['500 for lookups after some', lastingFor(6)]],
  'store.unknown': [['200 for an unknown store', status(isStore, 404, 200, null)]],
  'store.near-id': [
    ['an id with a suffix', status((asked) => asked.path.startsWith('/stores/sydney-'), 404, 200, {})],
    [
      'the beginning of an id',
      (asked, answer) => {
        if (asked.path === '/stores/sydne') Object.assign(answer, asked.again({ path: '/stores/sydney' }))
      },
    ],
  ],
  'store.case': [
    [
      'ids in any letter case',
      (asked, answer) => {
        if (isStore(asked)) Object.assign(answer, asked.again({ path: asked.path.toLowerCase() }))
      },
    ],
  ],
  'store.overlap': [['the store of another lookup', swappedLookups()]],
  'store.same': [
    [
      'another address in a lookup',
      eachLookup((store) => {
        store.address.street = '2 Low Street'
      }),
    ],
    [
      'other hours in a lookup',
      eachLookup((store) => {
        store.tradingHours.dailyTradingHours[0].openingHours[0].opens = '08:00'
      }),
    ],
    [
      'rounded coordinates in a lookup',
      eachLookup((store) => {
        store.latitude = Math.round(store.latitude)
      }),
    ],
  ],
  'store.form': [
    [
      'no trading hours',
      eachStore((store) => {
        delete store.tradingHours
      }),
    ],
    [
      'a number as the name',
      eachStore((store) => {
        store.name = 7
      }),
    ],
    [
      'hours without minutes',
      eachDay(({ openingHours }) => {
        for (const opening of openingHours) opening.opens = '7'
      }),
    ],
  ],
  'nearest.form': [
    [
      'no trading hours in a search',
      eachFound((store) => {
        delete store.tradingHours
      }),
    ],
    [
      'a latitude as text in a search',
      eachFound((store) => {
        store.latitude = String(store.latitude)
      }),
    ],
  ],
  'store.time-zone': [
    [
      'a time zone of Middle-earth',
      eachStore((store) => {
        if (store.id === 'hobart') store.tradingHours.timeZone = 'Middle/Earth'
      }),
    ],
  ],
  'store.days': [
    [
      'a Monday twice',
      eachStore((store) => {
        store.tradingHours.dailyTradingHours[1].day = 'Monday'
      }),
    ],
    [
      'an eighth day',
      eachStore((store) => {
        store.tradingHours.dailyTradingHours.push(store.tradingHours.dailyTradingHours[0])
      }),
    ],
    [
      'no Sunday',
      eachStore((store) => {
        store.tradingHours.dailyTradingHours.pop()
      }),
    ],
  ],
  'store.holidays': [
    [
      'a holiday twice',
      eachStore((store) => {
        store.tradingHours.publicHolidays.push(store.tradingHours.publicHolidays[0])
      }),
    ],
  ],
  'store.hours': [
    [
      'hours that end before they begin',
      eachDay(({ openingHours }) => {
        if (openingHours[1]) Object.assign(openingHours[1], { opens: '18:00', closes: '09:00' })
      }),
    ],
    [
      'hours that overlap',
      eachDay(({ openingHours }) => {
        if (openingHours[1]) openingHours[1].opens = '11:00'
      }),
    ],
    [
      'hours that overlap on a holiday',
      eachStore((store) => {
        store.tradingHours.publicHolidays[1].openingHours.push({ opens: '10:00', closes: '15:00' })
      }),
    ],
  ],
  'json.utf8': [
    [
      'Latin-1',
      (_asked, answer) => {
        answer.encoding = 'latin1'
      },
    ],
    [
      'requests read as Latin-1',
      onGood(
        ({ path }) => path === '/request-prices',
        (answer) => {
          answer.body = JSON.stringify(answer.body).replaceAll(/[ößé]/g, (letter) =>
            Buffer.from(letter).toString('latin1'),
          )
        },
      ),
    ],
  ],
  'json.type': [
    [
      'a byte order mark',
      onGood(
        ({ path }) => path === '/request-prices',
        (answer) => {
          answer.body = `\ufeff${JSON.stringify(answer.body)}`
        },
      ),
    ],
    [
      'JSON that is called a page',
      onGood(
        (asked) => !isToken(asked),
        ({ headers }) => {
          headers['content-type'] = 'text/html'
        },
      ),
    ],
  ],
}
