import { Big } from 'big.js'

declare global {
  interface JSON {
    /** Text that `JSON.stringify` outputs unchanged (TC39 proposal JSON.parse source text access). */
    rawJSON(text: string): { rawJSON: string }
    isRawJSON(value: unknown): value is { rawJSON: string }
  }
}

/** Amounts in dollars. */
export interface Money {
  unitPrice: number
  discount: number
  totalPrice: number
}

/** Decimal digits that a double always preserves. */
const MAX_SAFE_DIGITS = 15
/** Doubles lose precision below 10 to the power of minus this. */
const MAX_NEGATIVE_EXPONENT = 300

/** A decimal as a JSON number with all of its digits, even those that a double would lose. */
function toJsonNumber(value: Big): number {
  if (value.c.length <= MAX_SAFE_DIGITS && value.e > -MAX_NEGATIVE_EXPONENT) return value.toNumber()
  return JSON.rawJSON(value.toFixed()) as unknown as number
}

/** An amount of a price provider as text, which `computeTotals` checks. Throws a `TypeError` if it has another type. */
export function amountText(amount: unknown, name: string): string {
  if (typeof amount === 'string') return amount
  if (typeof amount === 'number') return String(amount)
  const given = amount === null ? 'null' : Array.isArray(amount) ? 'an array' : `of type ${typeof amount}`
  throw new TypeError(`${name} is ${given}, not a number or decimal text`)
}

/** The longest amount, in characters. */
const MAX_TEXT = 100
/** Amounts beyond 10 to the power of this are no prices, and their totals would not be JSON numbers. */
const MAX_EXPONENT = 30

const DECIMAL = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i

/** Parses decimal text. Throws a `TypeError` that shows the text if it is none, and a `RangeError` if it is negative. */
function parseDecimal(text: string, name: string): Big {
  if (text.length > MAX_TEXT || !DECIMAL.test(text))
    throw new TypeError(`${name} is ${JSON.stringify(text.slice(0, 40))}, not a number or decimal text`)
  const value = new Big(text)
  if (value.lt(0)) throw new RangeError(`${name} is negative`)
  if (!value.eq(0) && Math.abs(value.e) > MAX_EXPONENT) throw new RangeError(`${name} is out of range`)
  return value
}

/** Parses decimal text without loss of precision. */
const parseNumber = (text: string) =>
  text.length <= MAX_SAFE_DIGITS ? Number(text) : toJsonNumber(new Big(text))

/**
 * Computes `totalPrice = unitPrice * quantity - discount` (specification 2.4) with exact decimal arithmetic, not
 * rounded. Amounts are dollars as decimal text. The quantity is the shortest decimal that parses to the same number, so
 * 0.1 is one tenth. Throws if a price is not a decimal number or is negative, or if the discount exceeds the price.
 */
export function computeTotals(unitPrice: string, quantity: number, discount = '0'): Money {
  const fast = fastMoneyOf(unitPrice, quantity, discount)
  if (fast) return fast
  const [unit, reduction] = [parseDecimal(unitPrice, 'unitPrice'), parseDecimal(discount, 'discount')]
  const gross = unit.times(quantity)
  if (reduction.gt(gross)) throw new RangeError('discount is larger than the price of the quantity')
  return {
    unitPrice: parseNumber(unitPrice),
    discount: parseNumber(discount),
    totalPrice: toJsonNumber(gross.minus(reduction)),
  }
}

const SCALE = 10_000
/** Parses decimal text with up to four decimals to integer ten-thousandths, which doubles handle exactly. */
function parseScaled(text: string): number | undefined {
  if (text.length > MAX_SAFE_DIGITS) return undefined
  let value = 0
  /** How many there are after the point; -1 before it. */
  let decimals = -1
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit
      if (decimals >= 0) decimals++
    } else if (text[at] === '.' && decimals < 0 && at > 0) decimals = 0
    else return undefined
  }
  if (text === '' || decimals === 0 || decimals > 4) return undefined
  const scaled = value * 10 ** (4 - Math.max(decimals, 0))
  return scaled < 10 ** MAX_SAFE_DIGITS ? scaled : undefined
}

/** Converts a number with up to four decimals to integer ten-thousandths. */
function toScaledInteger(value: number): number | undefined {
  const whole = Math.round(value * SCALE)
  return value >= 0 && whole / SCALE === value ? whole : undefined
}

/**
 * `computeTotals` in integer arithmetic, ten times as fast. Returns undefined for numbers that are too large or too precise.
 */
function fastMoneyOf(unitText: string, quantity: number, offText: string): Money | undefined {
  const unit = parseScaled(unitText)
  const off = parseScaled(offText)
  const count = toScaledInteger(quantity)
  if (unit === undefined || count === undefined || off === undefined) return undefined
  const whole = unit * count
  const less = off * SCALE
  if (whole >= 10 ** MAX_SAFE_DIGITS || less > whole) return undefined
  // A quotient of exact integers is the double that is nearest to the decimal, as if its text had been parsed.
  return {
    unitPrice: unit / SCALE,
    discount: off / SCALE,
    totalPrice: (whole - less) / (SCALE * SCALE),
  }
}

/** A price reduction: a percentage, an amount off each unit, or a lower unit price (dollars). */
export interface Reduction {
  kind: 'percent' | 'amount' | 'price'
  /** Decimal text. */
  value: string
  /** `value` as the nearest number. */
  approximate: number
}

/** More than the relative error of a discount in doubles, which is a few roundings of 1.1e-16 each. */
const TOLERANCE = 1e-14

/**
 * Applies the best of several reductions. Returns the discount for the quantity in dollars as decimal text, rounded
 * half up to cents and capped at the price. Returns undefined if it is less than a cent.
 */
export function bestDiscount(
  unitPrice: string,
  quantity: number,
  reductions: readonly Reduction[],
): string | undefined {
  if (reductions.length === 0) return undefined
  const cents = centsInDoubles(Number(unitPrice), quantity, reductions)
  if (cents !== undefined) return cents > 0 ? String(cents / 100) : undefined
  const unit = new Big(unitPrice)
  const gross = unit.times(quantity)
  let best = new Big(0)
  for (const { kind, value } of closeToBest(Number(unitPrice), reductions)) {
    const offUnit = kind === 'price' ? unit.minus(value) : new Big(value)
    const discount = kind === 'percent' ? gross.times(value).times('0.01') : offUnit.times(quantity)
    if (discount.gt(best)) best = discount
  }
  const rounded = best.round(2, Big.roundHalfUp)
  const discount = rounded.gt(gross) ? gross.round(2, Big.roundDown) : rounded
  return discount.gt(0) ? discount.toFixed() : undefined
}

/** What a reduction takes off a unit, as far as doubles can tell. */
function offUnit(unit: number, { kind, approximate }: Reduction): number {
  if (kind === 'percent') return (unit * approximate) / 100
  return kind === 'price' ? unit - approximate : approximate
}

/**
 * `bestDiscount` in cents, in doubles, eight times as fast. Returns undefined if their error could change the cents: if the
 * discount is close to a half cent or to the price.
 */
function centsInDoubles(
  unit: number,
  quantity: number,
  reductions: readonly Reduction[],
): number | undefined {
  let best = 0
  for (const reduction of reductions) best = Math.max(best, offUnit(unit, reduction))
  const hundred = quantity * 100
  const error = Math.max(best, unit) * hundred * TOLERANCE
  const cents = Math.round(best * hundred - error)
  const isSafe = cents === Math.round(best * hundred + error) && cents <= unit * hundred - error
  return isSafe ? cents : undefined
}

/**
 * The reductions that may be the best one, each once, as far as doubles can tell: decimals take a hundred times as long,
 * and a category may have thousands of discounts.
 */
function closeToBest(unit: number, reductions: readonly Reduction[]): Iterable<Reduction> {
  if (reductions.length === 1) return reductions
  let best = 0
  for (const reduction of reductions) best = Math.max(best, offUnit(unit, reduction))
  const least = best - Math.max(best, unit) * TOLERANCE
  const close = new Map<string, Reduction>()
  for (const reduction of reductions)
    if (offUnit(unit, reduction) >= least) close.set(reduction.kind + reduction.value, reduction)
  return close.values()
}
