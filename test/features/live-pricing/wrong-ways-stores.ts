import { isSearch, isStore, onGood, scaled, status, type Tamper } from './wrong-suppliers.ts'

const STORE = { id: 'x', name: 'x' }
/** Ways to break the rules of stores. */
export const STORE_WAYS: Record<string, [string, Tamper][]> = {
  'nearest.array': [
    [
      'stores in an object',
      onGood(isSearch, (answer) => {
        answer.body = { stores: answer.body }
      }),
    ],
    [
      'stores that are not objects',
      onGood(isSearch, (answer) => {
        answer.body = answer.body.length > 0 ? ['x', STORE] : []
      }),
    ],
  ],
  'nearest.empty': [
    [
      'null instead of an empty array',
      onGood(isSearch, (answer) => {
        if (answer.body.length === 0) answer.body = null
      }),
    ],
    [
      '404 instead of an empty array',
      onGood(isSearch, (answer) => {
        if (answer.body.length === 0) answer.status = 404
      }),
    ],
    [
      'a store in the ocean',
      onGood(isSearch, (answer) => {
        if (answer.body.length === 0) answer.body = [STORE]
      }),
    ],
  ],
  'nearest.ids': [
    [
      'a repeated id',
      onGood(isSearch, ({ body }) => {
        if (body.length > 1) body[1].id = body[0].id
      }),
    ],
    [
      'an id that is a number',
      onGood(isSearch, ({ body }) => {
        if (body.length > 0) body[0].id = 7
      }),
    ],
  ],
  'nearest.range': [
    ['the furthest first', onGood(isSearch, ({ body }) => body.reverse())],
    [
      'a store beyond the radius',
      onGood(isSearch, ({ body }) => {
        if (body.length > 0) body[0].latitude = 60
      }),
    ],
  ],
  'nearest.radius': [
    ['a diameter taken for a radius', scaled(0.5)],
    ['miles taken for kilometres', scaled(1.609)],
    ['a radius that is not looked at', scaled(1000)],
  ],
  'nearest.input': [['anything for a bad latitude', status((asked) => isSearch(asked), 400, 200, [])]],
  'store.one': [
    [
      'another store',
      onGood(isStore, ({ body }) => {
        body.id = 'other'
      }),
    ],
    [
      'a list of one store',
      onGood(isStore, (answer) => {
        answer.body = [answer.body]
      }),
    ],
  ],
  'store.unknown': [['404 as 200', status(isStore, 404, 200, null)]],
  'store.form': [
    [
      'no trading hours',
      onGood(isStore, ({ body }) => {
        delete body.tradingHours
      }),
    ],
    [
      'invalid opening hours',
      onGood(isStore, ({ body }) => {
        body.tradingHours.dailyTradingHours[0].openingHours = [{ opens: '7', closes: '17' }]
      }),
    ],
  ],
  'nearest.form': [
    [
      'stores without trading hours in a search',
      onGood(isSearch, ({ body }) => {
        for (const store of body) delete store.tradingHours
      }),
    ],
    [
      'a latitude as text in a search',
      onGood(isSearch, ({ body }) => {
        for (const store of body) store.latitude = String(store.latitude)
      }),
    ],
  ],
}
