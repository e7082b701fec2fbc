/** The assumptions of the contract in `src/features/supplier/api`. */
import type { Assumption } from '../../../connect/index.ts'

const COMMON = {
  importance: 2,
  cure: 'Change the contract.',
} as const

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    ...COMMON,
    id: 'live-pricing-token',
    topic: 'The token request and response',
    assumed:
      'The request: form-encoded or JSON. The response: exactly `access_token`, `token_type` (`Bearer`) and `expires_in`; sent as `Authorization: Bearer`. Errors as in RFC 6749 section 5.2.',
    code: '../api/contract.ts#tokenResponseSchema',
  },
  {
    ...COMMON,
    id: 'live-pricing-stores',
    topic: 'The store search, and a store',
    assumed:
      '`latitude`, `longitude` (degrees) and `radius` (kilometres, up to 50,000); at most 50 stores, nearest first, each with its `distance`. A store: `id`, `name`, `address`, `phone?`, `latitude`, `longitude`, `tradingHours`: `timeZone`, `dailyTradingHours` (Monday to Sunday, each with its `openingHours`), `publicHolidays`.',
    code: '../api/contract.ts#storeSchema',
  },
  {
    ...COMMON,
    id: 'live-pricing-prices',
    topic: 'A price request, and the prices',
    assumed:
      '`{memberNumber?, items: [{itemId, storeId, quantity}]}`, at most 1,000 items and 1 MB; a quantity up to 1,000,000. The prices, in the order of the request: `{itemId, storeId, quantity, unitPrice, discount, totalPrice, errorCode?, errorMessage?}`; we define the error codes. If a line is not valid, only that line has an error. With an unknown member number, every item has an error.',
    code: '../api/contract.ts#priceItemSchema',
  },
  {
    ...COMMON,
    id: 'live-pricing-errors',
    topic: 'Other errors of live pricing',
    assumed: '`application/problem+json`; `401` without a token, `429` with `Retry-After`.',
    importance: 3,
    code: '../api/contract.ts#problemSchema',
  },
]
