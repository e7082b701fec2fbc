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
/** Below this power of ten, doubles keep fewer. */
const SMALLEST = 300

/** A decimal as a JSON number: all of its digits, also those that a double would lose. */
function json(value: Big): number {
  if (value.c.length <= DIGITS && value.e > -SMALLEST) return value.toNumber()
  // Printed as it is by JSON.stringify, which knows no decimals.
  return JSON.rawJSON(value.toFixed()) as unknown as number
}

/** Decimal text of that length is a number without a loss. */
const numberOf = (text: string) => (text.length <= DIGITS ? Number(text) : json(new Big(text)))

/**
 * What a quantity costs (specification 2.4): `totalPrice = unitPrice * quantity - discount`, exactly, in decimals, and
 * not rounded. The quantity is taken as the shortest decimal that reads as the same number: 0.1 is one tenth.
 * Throws on a price that is no decimal number, or negative, or on a discount above the price of the quantity.
 */
export function moneyOf(unitPrice: string, quantity: number, discount = '0'): Money {
  const short = inTenThousandths(unitPrice, quantity, discount)
  if (short) return short
  const [unit, off] = [new Big(unitPrice), new Big(discount)]
  const whole = unit.times(quantity)
  if (unit.lt(0) || off.lt(0) || off.gt(whole)) throw new RangeError('a price or a discount is out of range')
  return { unitPrice: numberOf(unitPrice), discount: numberOf(discount), totalPrice: json(whole.minus(off)) }
}

const SCALE = 10_000
const DECIMAL = /^\d+(\.\d+)?$/

/** A number of at most four decimals as a whole number of ten-thousandths, which doubles compute with exactly. */
function wholeOf(value: number): number | undefined {
  const whole = Math.round(value * SCALE)
  return value >= 0 && whole / SCALE === value ? whole : undefined
}

/** The same for the usual prices and quantities, in whole numbers: a tenth of the time. Undefined for any others. */
function inTenThousandths(unitText: string, quantity: number, offText: string): Money | undefined {
  if (unitText.length > DIGITS || offText.length > DIGITS) return undefined
  if (!DECIMAL.test(unitText) || !DECIMAL.test(offText)) return undefined
  const [unitPrice, discount] = [Number(unitText), Number(offText)]
  const [unit, count, off] = [wholeOf(unitPrice), wholeOf(quantity), wholeOf(discount)]
  if (unit === undefined || count === undefined || off === undefined) return undefined
  const [whole, less] = [unit * count, off * SCALE]
  if (whole >= 10 ** DIGITS || less > whole) return undefined
  return { unitPrice, discount, totalPrice: (whole - less) / (SCALE * SCALE) }
}

/** What lowers a price: a percentage of it, dollars off each unit, or another price of the unit, as decimal text. */
export interface Reduction {
  kind: 'percent' | 'amount' | 'price'
  value: string
}

/**
 * The discount of the best of several reductions for a quantity, in dollars as decimal text: rounded half up to whole
 * cents, and never more than the price of the quantity. Undefined when none lowers it by a cent.
 */
export function bestDiscount(
  unitPrice: string,
  quantity: number,
  reductions: readonly Reduction[],
): string | undefined {
  if (reductions.length === 0) return undefined
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
  const discount = rounded.gt(whole) ? whole.round(2, Big.roundDown) : rounded
  return discount.gt(0) ? discount.toFixed() : undefined
}
