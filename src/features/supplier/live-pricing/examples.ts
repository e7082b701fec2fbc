/** Examples of requests and answers for the OpenAPI document. They work with the sample price list. */
import type * as z from 'zod'
import {
  DAYS,
  GRANT_TYPE,
  ITEM_ERRORS,
  NEAREST,
  type PriceItem,
  type priceRequestSchema,
  type Store,
} from '../api/contract.ts'

const store: Store = {
  id: 'northcote',
  name: 'Summit Northcote',
  address: {
    street: '310 High Street',
    suburb: 'Northcote',
    state: 'VIC',
    postcode: '3070',
    country: 'Australia',
  },
  phone: '03 5550 1191',
  latitude: -37.7697,
  longitude: 144.999,
  tradingHours: {
    timeZone: 'Australia/Melbourne',
    dailyTradingHours: DAYS.map((day) => ({
      day,
      openingHours: day === 'Sunday' ? [] : [{ opens: '06:30', closes: '17:30' }],
    })),
    publicHolidays: [
      { date: '2026-12-24', name: 'Stocktake', openingHours: [{ opens: '07:00', closes: '12:00' }] },
      { date: '2026-12-25', name: 'Christmas Day', openingHours: [] },
    ],
  },
}

const sold = { itemId: 'FT-1001', storeId: 'northcote', quantity: 2.4 }
const notSold = { itemId: 'MB-1002', storeId: 'darwin', quantity: 1 }
const noPrice = { unitPrice: null, discount: null, totalPrice: null, errorCode: 'item_not_in_range' } as const

const priceRequest: z.input<typeof priceRequestSchema> = { memberNumber: 'CUST1002', items: [sold, notSold] }
const prices: PriceItem[] = [
  { ...sold, unitPrice: 5.14, discount: 0.99, totalPrice: 11.346 },
  { ...notSold, ...noPrice, errorMessage: ITEM_ERRORS.item_not_in_range },
]

export const EXAMPLES = {
  tokenRequest: { grant_type: GRANT_TYPE, client_id: 'CLIENT_ID', client_secret: 'CLIENT_SECRET' },
  token: {
    access_token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.signature',
    token_type: 'Bearer',
    expires_in: 900,
  },
  /** Query parameters. */
  search: { [NEAREST.latitude]: -37.77, [NEAREST.longitude]: 145, [NEAREST.radius]: 5 },
  stores: [{ ...store, distance: 0.094 }],
  store,
  priceRequest,
  prices,
} as const
