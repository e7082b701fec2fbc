import { type Case, eachPriced, isPrices, onGood, status, unpriced } from './tampers.ts'

/** Prices that are computed for another quantity. */
const quantityAs = (change: (quantity: number) => number) =>
  eachPriced((price) => {
    const quantity = change(price.quantity)
    price.totalPrice = Number((price.unitPrice * quantity - price.discount).toFixed(6))
  })

/** Suppliers with a fault of their prices. */
export const WRONG_PRICES: Record<string, Case[]> = {
  'prices.request': [['other names in a request', status(isPrices, 200, 400)]],
  'prices.array': [
    [
      'prices in an object',
      onGood(isPrices, (answer) => {
        answer.body = { items: answer.body }
      }),
    ],
    ['404 for prices', status(isPrices, 200, 404)],
    ['a missing element', onGood(isPrices, ({ body }) => body.pop())],
  ],
  'prices.fields': [
    [
      'prices as text',
      eachPriced((price) => {
        price.unitPrice = String(price.unitPrice)
      }),
    ],
    [
      'a price that is too large for a number',
      onGood(isPrices, (answer) => {
        answer.body = JSON.stringify(answer.body).replaceAll(/"unitPrice":[\d.]+/g, '"unitPrice":1e400')
      }),
    ],
  ],
  'prices.known': [
    ['no price for an item that has one', eachPriced((price) => Object.assign(price, unpriced))],
  ],
  'prices.negative': [
    [
      'a negative discount',
      eachPriced((price) => {
        price.discount -= 0.5
        price.totalPrice = Number((price.totalPrice + 0.5).toFixed(6))
      }),
    ],
  ],
  'prices.total': [
    ['a total without the quantity', quantityAs(() => 1)],
    [
      'a total without the discount',
      eachPriced((price) => {
        price.totalPrice = Number((price.totalPrice + price.discount).toFixed(6))
      }),
    ],
    [
      'a total that is a cent off',
      eachPriced((price) => {
        price.totalPrice = Number((price.totalPrice + 0.01).toFixed(6))
      }),
    ],
    [
      'whole dollars',
      eachPriced((price) => {
        price.totalPrice = Math.round(price.totalPrice)
      }),
    ],
    [
      'rounding down to cents',
      eachPriced((price) => {
        price.totalPrice = Math.floor(price.totalPrice * 100 + 1e-6) / 100
      }),
    ],
  ],
  'prices.exact': [
    [
      'rounding to cents',
      eachPriced((price) => {
        price.totalPrice = Math.round(price.totalPrice * 100) / 100
      }),
    ],
    [
      'binary fractions',
      eachPriced((price) => {
        price.totalPrice = price.unitPrice * price.quantity - price.discount + 1e-9
      }),
    ],
  ],
  'prices.fraction': [
    [
      'no fractions',
      eachPriced((price) => {
        if (!Number.isInteger(price.quantity)) Object.assign(price, unpriced)
      }),
    ],
  ],
  'prices.large-quantity': [['a quantity of 10 at most', quantityAs((quantity) => Math.min(10, quantity))]],
  'prices.quantity-limit': [
    [
      'no price for 1,000',
      eachPriced((price) => {
        if (price.quantity === 1000) Object.assign(price, unpriced)
      }),
    ],
  ],
}
