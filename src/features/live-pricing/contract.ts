/** What the contract in `src/supplier-api` assumes. */
import type { Assumption } from '../../connect/index.ts'

const ASK = "Ask the platform's support team, and change the contract."

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'live-pricing-token-request',
    topic: 'The token request',
    assumed: 'Form-encoded or JSON, or HTTP Basic; errors as in RFC 6749 section 5.2.',
    importance: 2,
    code: 'token-request.ts#readTokenRequest',
    cure: 'Change how the request is read.',
    otherwise: ASK,
  },
  {
    id: 'live-pricing-token-response',
    topic: 'The token response',
    assumed:
      'Exactly `access_token`, `token_type` (`Bearer`) and `expires_in`; sent as `Authorization: Bearer`.',
    importance: 2,
    code: '../../supplier-api/contract.ts#tokenResponseSchema',
    cure: 'Change the schema.',
    otherwise: ASK,
  },
  {
    id: 'nearest-stores',
    topic: 'The store search',
    assumed:
      '`latitude`, `longitude` (degrees) and `radius` (kilometres, up to 50,000); at most 50 stores, nearest first, each with its `distance`.',
    importance: 2,
    code: '../../supplier-api/contract.ts#NEAREST',
    cure: 'Change the names of the parameters.',
    otherwise: ASK,
  },
  {
    id: 'store',
    topic: 'A store',
    assumed:
      '`id`, `name`, `address`, `phone?`, `latitude`, `longitude`, `tradingHours`: `timeZone`, `dailyTradingHours` (Monday to Sunday, each with its `openingHours`), `publicHolidays`.',
    importance: 2,
    code: '../../supplier-api/contract.ts#storeSchema',
    cure: 'Change the schema.',
    otherwise: ASK,
  },
  {
    id: 'price-request',
    topic: 'A price request',
    assumed:
      '`{memberNumber?, items: [{itemId, storeId, quantity}]}`, at most 1,000 items and 1 MB; a quantity up to 1,000,000.',
    importance: 2,
    code: '../../supplier-api/contract.ts#priceRequestSchema',
    cure: 'Change the schema.',
    otherwise: ASK,
  },
  {
    id: 'price-response',
    topic: 'The prices',
    assumed:
      'In the order of the request, `{itemId, storeId, quantity, unitPrice, discount, totalPrice, errorCode?, errorMessage?}`; the error codes are defined by us. A line that is not valid is an error of that line. With an unknown member number, every item has an error.',
    importance: 2,
    code: '../../supplier-api/contract.ts#priceItemSchema',
    cure: 'Change the schema.',
    otherwise: ASK,
  },
  {
    id: 'live-pricing-errors',
    topic: 'Other errors of live pricing',
    assumed: '`application/problem+json`; `401` without a token, `429` with `Retry-After`.',
    importance: 3,
    code: '../../supplier-api/contract.ts#problemSchema',
    cure: 'Change the schema.',
    otherwise: ASK,
  },
]
