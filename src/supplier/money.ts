import { Big } from 'big.js'

declare global {
  interface JSON {
    /** Text that JSON.stringify prints as it is (ECMAScript, source text access). */
    rawJSON(text: string): unknown
  }
}

export interface Money {
  unitPrice: number
  discount: number
  totalPrice: number
}

/** Digits that every double keeps. */
const DIGITS = 15

/** A decimal as a JSON number: all of its digits, also those that a double would lose. */
function json(value: Big): number {
  if (value.c.length <= DIGITS) return value.toNumber()
  // Printed as it is by JSON.stringify, which knows no decimals.
  return JSON.rawJSON(value.toFixed()) as unknown as number
}

/**
 * What a quantity costs (specification 2.4): `totalPrice = unitPrice * quantity - discount`, exactly, in decimals, and
 * not rounded. The quantity is taken as the shortest decimal that reads as the same number: 0.1 is one tenth.
 * Throws on a price that is no decimal number, or negative, or on a discount above the price of the quantity.
 */
export function moneyOf(unitPrice: string, quantity: number, discount = '0'): Money {
  const unit = new Big(unitPrice)
  const whole = unit.times(quantity)
  if (discount === '0') {
    if (unit.lt(0)) throw new RangeError('a price is negative')
    return { unitPrice: json(unit), discount: 0, totalPrice: json(whole) }
  }
  const off = new Big(discount)
  if (unit.lt(0) || off.lt(0) || off.gt(whole)) throw new RangeError('a price or discount is out of range')
  return { unitPrice: json(unit), discount: json(off), totalPrice: json(whole.minus(off)) }
}

/** What lowers a price: a percentage of it, dollars off each unit, or another price of the unit, as decimal text. */
export interface Reduction {
  kind: 'percent' | 'amount' | 'price'
  value: string
}

/**
 * The discount of the best of several reductions for a quantity, in dollars as decimal text: rounded half up to whole
 * cents, and never more than the price of the quantity. '0' when none lowers it.
 */
export function bestDiscount(unitPrice: string, quantity: number, reductions: readonly Reduction[]): string {
  const unit = new Big(unitPrice)
  const whole = unit.times(quantity)
  let best = new Big(0)
  for (const { kind, value } of reductions) {
    const off =
      kind === 'percent'
        ? whole.times(value).times('0.01')
        : (kind === 'amount' ? new Big(value) : unit.minus(value)).times(quantity)
    if (off.gt(best)) best = off
  }
  const rounded = best.round(2, Big.roundHalfUp)
  return (rounded.gt(whole) ? whole.round(2, Big.roundDown) : rounded).toFixed()
}
