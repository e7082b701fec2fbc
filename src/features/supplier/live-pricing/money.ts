import { inspect } from 'node:util'
import { Big } from 'big.js'
import { PriceProviderError } from './price-provider.ts'

declare global {
  interface JSON {
    /** Text that `JSON.stringify` outputs unchanged (TC39 proposal JSON.parse source text access). */
    rawJSON(text: string): { readonly rawJSON: string }
  }
}

/** A number that keeps all of its digits in JSON, even those that a double would lose. */
export type ExactNumber = number | ReturnType<JSON['rawJSON']>

/** Amounts in dollars. */
export type Money = Record<'unitPrice' | 'discount' | 'totalPrice', ExactNumber>

/** Returns a number if it represents the amount exactly, or else raw JSON with all digits. */
function toExactNumber(value: Big): ExactNumber {
  const near = value.toNumber()
  return value.eq(near) ? near : JSON.rawJSON(value.toFixed())
}

/** The longest amount, in characters. */
const MAX_TEXT = 100
/** The largest exponent of an amount, positive or negative. Amounts beyond it are not prices, and might not be JSON numbers. */
const MAX_EXPONENT = 30

const DECIMAL = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i

/** Parses a provider's amount. Throws `PriceProviderError` if it is not a decimal, or is negative or out of range. */
function parseAmount(amount: unknown, name: string): Big {
  const text = typeof amount === 'number' ? String(amount) : amount
  if (typeof text !== 'string' || text.length > MAX_TEXT || !DECIMAL.test(text))
    throw new PriceProviderError(
      `${name} is ${inspect(amount, { depth: -1 }).slice(0, 40)}, not a decimal number`,
    )
  const value = new Big(text)
  if (value.lt(0)) throw new PriceProviderError(`${name} is negative`)
  if (!value.eq(0) && Math.abs(value.e) > MAX_EXPONENT)
    throw new PriceProviderError(`${name} is out of range`)
  return value
}

/**
 * Computes `totalPrice = unitPrice * quantity - discount` (specification 2.4) with exact decimal arithmetic, not rounded.
 * Amounts are dollars, as decimal text or numbers. A number counts as the shortest decimal that parses to it: 0.1 is one tenth.
 * Throws `PriceProviderError` if an amount is not a decimal number or is negative, or if the discount exceeds the price.
 */
export function computeTotals(unitPrice: unknown, quantity: number, discount: unknown = 0): Money {
  const [unit, reduction] = [parseAmount(unitPrice, 'unitPrice'), parseAmount(discount, 'discount')]
  const gross = unit.times(quantity)
  if (reduction.gt(gross)) throw new PriceProviderError('discount is larger than the price of the quantity')
  return {
    unitPrice: toExactNumber(unit),
    discount: toExactNumber(reduction),
    totalPrice: toExactNumber(gross.minus(reduction)),
  }
}

/**
 * Returns the best of these discounts for the quantity, in dollars as decimal text. It is rounded half up to cents, and is at most
 * the price. A discount is a percentage, dollars off each unit, or a unit price in dollars. Returns undefined if the result is 0.
 */
export function bestDiscount(
  unitPrice: string,
  quantity: number,
  { percent, amount, price }: { percent?: unknown; amount?: unknown; price?: unknown },
): string | undefined {
  const unit = new Big(unitPrice)
  const gross = unit.times(quantity)
  const discounts: Big[] = []
  if (typeof percent === 'number') discounts.push(gross.times(percent).times('0.01'))
  if (typeof amount === 'number') discounts.push(new Big(amount).times(quantity))
  if (typeof price === 'number') discounts.push(unit.minus(price).times(quantity))
  const best = discounts.reduce((a, b) => (b.gt(a) ? b : a), new Big(0))
  const rounded = best.round(2, Big.roundHalfUp)
  const discount = rounded.gt(gross) ? gross.round(2, Big.roundDown) : rounded
  return discount.gt(0) ? discount.toFixed() : undefined
}
