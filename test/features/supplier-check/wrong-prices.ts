import { body, type Cases, eachPriced, isPrices, rounded, status, unpriced } from './tampers.ts'

/** Another total of a line. */
type Priced = Record<'unitPrice' | 'quantity' | 'discount' | 'totalPrice', number>
const totals = (change: (price: Priced) => number) => eachPriced((price) => ({ totalPrice: change(price) }))
/** Totals that are computed for another quantity. */
const quantityAs = (change: (quantity: number) => number) =>
  totals(({ unitPrice, quantity, discount }) => rounded(unitPrice * change(quantity) - discount))

/** Suppliers with a fault of their prices. */
export const WRONG_PRICES: Record<string, Cases> = {
  'prices.request': { 'other names in a request': status(isPrices, 200, 400) },
  'prices.array': {
    'prices in an object': body(isPrices, (items) => ({ items })),
    '404 for prices': status(isPrices, 200, 404),
    'a missing element': body(isPrices, (prices) => prices.slice(0, -1)),
  },
  'prices.fields': {
    'prices as text': eachPriced(({ unitPrice }) => ({ unitPrice: String(unitPrice) })),
    'a price that is too large for a number': body(isPrices, (prices) =>
      JSON.stringify(prices).replaceAll(/"unitPrice":[\d.]+/g, '"unitPrice":1e400'),
    ),
  },
  'prices.known': { 'no price for an item that has one': eachPriced(() => unpriced) },
  'prices.negative': {
    'a negative discount': eachPriced(({ discount, totalPrice }) => ({
      discount: discount - 0.5,
      totalPrice: rounded(totalPrice + 0.5),
    })),
  },
  'prices.total': {
    'a total without the quantity': quantityAs(() => 1),
    'a total without the discount': totals(({ totalPrice, discount }) => rounded(totalPrice + discount)),
    'a total that is a cent off': totals(({ totalPrice }) => rounded(totalPrice + 0.01)),
    'whole dollars': totals(({ totalPrice }) => Math.round(totalPrice)),
    'rounding down to cents': totals(({ totalPrice }) => Math.floor(totalPrice * 100 + 1e-6) / 100),
  },
  'prices.exact': {
    'rounding to cents': totals(({ totalPrice }) => Math.round(totalPrice * 100) / 100),
    'binary fractions': totals(({ unitPrice, quantity, discount }) => unitPrice * quantity - discount + 1e-9),
  },
  'prices.fraction': {
    'no fractions': eachPriced(({ quantity }) => (Number.isInteger(quantity) ? {} : unpriced)),
  },
  'prices.large-quantity': { 'a quantity of 10 at most': quantityAs((quantity) => Math.min(10, quantity)) },
  'prices.quantity-limit': {
    'no price for 1,000': eachPriced(({ quantity }) => (quantity === 1000 ? unpriced : {})),
  },
}
