import type { Any } from './model-supplier.ts'
import {
  body,
  type Cases,
  eachFailed,
  eachPrice,
  eachPriced,
  isPrices,
  noError,
  noPrice,
  rounded,
  status,
  together,
  unpriced,
} from './tampers.ts'

const pricesBesideErrors = eachFailed(({ quantity }) => ({
  unitPrice: 5,
  discount: 0,
  totalPrice: 5 * quantity,
}))
const otherErrorShape = eachFailed(({ errorCode: kind, errorMessage: words }) => ({
  kind,
  words,
  ...noError,
}))

/** Suppliers that are right, and answer price requests in another way. */
export const RIGHT_PRICES: Cases = {
  'another price request': status(isPrices, 200, 422),
  'another price request, of which it understands no line': eachPrice(() => unpriced),
  'items that the first store does not sell': eachPriced(({ storeId }) =>
    storeId === 'sydney' ? unpriced : {},
  ),
  'negative discounts': eachPriced(({ discount, totalPrice }) => ({
    discount: discount - 0.5,
    totalPrice: rounded(totalPrice + 0.5),
  })),
  'prices beside an error': pricesBesideErrors,
  'prices beside an error of another shape': together(pricesBesideErrors, otherErrorShape),
  'another error shape': otherErrorShape,
  'a state of each line and its reason': eachPrice(({ errorCode, errorMessage: reason }) => ({
    ...(errorCode ? { status: 'not_found', reason } : { status: 'ok' }),
    ...noError,
  })),
  'an empty error beside prices': eachPriced(() => ({ errorCode: '', errorMessage: null })),
  'no field in place of null or 0': eachPrice(({ unitPrice, discount, totalPrice }) => ({
    unitPrice: unitPrice ?? undefined,
    discount: discount || undefined,
    totalPrice: totalPrice || undefined,
  })),
  'another order, with lines repeated under other names': body(isPrices, (prices: Any[]) =>
    prices
      .map(({ itemId: sku, storeId: branch, quantity, ...price }) => ({
        ...price,
        sku,
        branch,
        qty: String(quantity),
      }))
      .reverse(),
  ),
  'totals rounded to cents': eachPriced(({ totalPrice }) => ({ totalPrice: Number(totalPrice.toFixed(2)) })),
  'whole quantities up to 20': eachPriced(({ quantity }) =>
    Number.isInteger(quantity) && quantity <= 20
      ? {}
      : { ...noPrice, errorCode: 'quantity', errorMessage: 'No.' },
  ),
  'at most 100 lines': status((asked) => isPrices(asked) && asked.json?.items?.length > 100, 200, 413),
  'one element for the same item': body(isPrices, (prices: Any[]) => [
    ...new Map(prices.map((price) => [price.itemId, price])).values(),
  ]),
  '400 for no lines, null and a wrong quantity': (asked, answer) => {
    if (!isPrices(asked) || !Array.isArray(asked.json?.items)) return
    const { items, memberNumber } = asked.json
    if (items.length === 0 || memberNumber === null || items.some(({ quantity }: Any) => quantity <= 0))
      answer.status = 400
  },
  '404 for an unknown member': (asked, answer) => {
    const prices: Any[] = isPrices(asked) && answer.status === 200 ? answer.body : []
    if (prices.some(({ errorCode }) => errorCode === 'member_unknown')) answer.status = 404
  },
  'JSON with a byte order mark and another type': (_asked, answer) => {
    if (answer.status !== 200) return
    answer.body = `\ufeff${JSON.stringify(answer.body)}`
    answer.headers['content-type'] = 'text/json; charset=UTF-8'
  },
}
