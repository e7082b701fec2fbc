import { texts } from './texts.ts'

/** The decimal sign of a column of prices. */
export const DECIMALS = ['point', 'comma'] as const
export type Decimal = (typeof DECIMALS)[number]

/** The currencies that a price may be in. */
export const CURRENCIES = ['AUD', 'NZD'] as const
export type Currency = (typeof CURRENCIES)[number]

/** The highest price that is accepted. */
const MAX_PRICE = 1e9

const USUAL = /^\d{1,9}(\.\d{1,2})?$/
/** The longest price, in characters: some expressions below take time by the square of a length. */
const MAX_LENGTH = 100
/** How a price may name its own currency, before or behind the digits. */
const SIGNS: Record<Currency, RegExp> = {
  AUD: /^(?:AUD\s?\$?|AU?\$|\$)\s*|\s*(?:AUD|\$)$/gi,
  NZD: /^(?:NZD\s?\$?|NZ\$|\$)\s*|\s*(?:NZD|\$)$/gi,
}
const NEGATIVE = /^\(|^[-−–]\s*[$\d.,]|^\$\s*[-−–]\s*\d|\d[-−]$/
/** What a spreadsheet shows of a number in scientific notation: the other digits are lost. */
const ROUNDED = /^\d(\.\d\d?)?E[+-]\d\d$/i
const SCIENTIFIC = /^\d{1,12}(\.\d{1,20})?E[+-]?\d{1,2}$/i
const SPREADSHEET_ERROR = /^(#(N\/A|NAME\?|DIV\/0!|GETTING_DATA|[A-Z]{3,8}!)|#{3,}$|Err:\d{3}$)/
/** Thousands are in groups of three, separated by commas, spaces (also no-break and thin ones) or apostrophes. */
const NUMBER = /^(?:\d{1,12}|[1-9]\d{0,2}(?:[,\s'’]\d{3})+)?(?:\.\d{1,20})?$/

/** Whether a cell shows an error of a spreadsheet's formula, such as `#N/A`. */
export const isSpreadsheetError = (cell: string): boolean => SPREADSHEET_ERROR.test(cell)

/**
 * Reads a price. `shown`: the number of a spreadsheet cell, whose decimal sign is known; NaN if it is shown as something else.
 * Returns the problem if there is no valid price in this currency.
 */
export function readPrice(
  cell: string,
  { decimal, currency }: { decimal: Decimal; currency: Currency },
  shown?: number,
): number | string {
  // Nearly every price: skip the rest.
  if (shown === undefined && decimal === 'point' && USUAL.test(cell)) return Number(cell)
  if (cell === '') return texts.price.missing
  if (cell.length > MAX_LENGTH) return texts.price.noAmount(shorten(cell))
  if (isSpreadsheetError(cell)) return texts.price.formulaError(shorten(cell))
  if (NEGATIVE.test(cell)) return texts.price.negative
  const digits = cell.replace(SIGNS[currency], '')
  if (/\p{L}|\p{Sc}/u.test(digits.replace(/(\d)E(?=[+-]?\d)/i, '$1')))
    return /\d/.test(cell)
      ? texts.price.notAmountIn(shorten(cell), currency)
      : texts.price.noAmount(shorten(cell))
  if (shown !== undefined)
    return Number.isNaN(shown) ? texts.price.notAnAmount(shorten(cell)) : inRange(shown)
  if (ROUNDED.test(digits)) return texts.price.rounded(cell)
  if (SCIENTIFIC.test(digits)) return inRange(exact(Number(digits)))
  const pointed = decimal === 'point' ? digits : digits.replace(/[.,]/g, (sign) => (sign === ',' ? '.' : ','))
  if (!NUMBER.test(pointed) || !/\d/.test(pointed))
    return texts.price.invalid(shorten(cell), decimal === 'comma' ? '1234,50' : '1234.50')
  return inRange(exact(Number(pointed.replace(/[,\s'’]/g, ''))))
}

/** Whether a cell may be a price, with either decimal sign and in either currency. */
export const isAmount = (cell: string): boolean =>
  /\d/.test(cell) &&
  DECIMALS.some((decimal) =>
    CURRENCIES.some((currency) => typeof readPrice(cell.trim(), { decimal, currency }) === 'number'),
  )

/** Whether a column with this cell may be one of prices: a formula with an error may come to an amount as well. */
export const mayBePrice = (cell: string): boolean => isAmount(cell) || isSpreadsheetError(cell)

/** Spreadsheets compute in binary: 926.6400000000001 is 926.64, to the 15 digits that they show. */
export const exact = (price: number) =>
  // Nearly every price has few digits: to round it takes several times as long as to see that.
  Math.round(price * 1e4) / 1e4 === price && Math.abs(price) < 1e9 ? price : Number(price.toPrecision(15))

const inRange = (price: number): number | string => {
  if (price < 0) return texts.price.negative
  return price <= MAX_PRICE ? price : texts.price.tooHigh
}

/** Truncates a cell for a message. */
export function shorten(cell: string, length = 200): string {
  if (cell.length <= length) return cell
  // Copy the text: a slice would keep the whole cell in memory.
  return texts.truncated(Buffer.from(cell.slice(0, length)).toString(), cell.length)
}
