import { texts } from './texts.ts'

/** The decimal sign of a column of prices. */
export const DECIMALS = ['point', 'comma'] as const
type Decimal = (typeof DECIMALS)[number]

/** The currencies that a price may be in. */
export type Currency = 'AUD' | 'NZD'

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
/** How a formula is shown that the program that wrote the workbook has not computed. */
export const NO_VALUE = '#FORMULA!'
const SPREADSHEET_ERROR = /^(#(N\/A|NAME\?|DIV\/0!|GETTING_DATA|[A-Z]{3,8}!)|#{3,}$|Err:\d{3}$)/
/** Thousands are in groups of three, separated by commas, spaces (also no-break and thin ones) or apostrophes. */
const NUMBER = /^(?:\d{1,12}|[1-9]\d{0,2}(?:[,\s'’]\d{3})+)?(?:\.\d{1,20})?$/

/** Whether a cell shows an error of a spreadsheet's formula, such as `#N/A`. */
export const isSpreadsheetError = (cell: string): boolean => SPREADSHEET_ERROR.test(cell)

/**
 * Reads a price, or says why it is none in this currency. `shown`: the number of a spreadsheet cell, whose decimal sign is known; NaN
 * if it is shown as something else.
 */
export function readPrice(
  cell: string,
  { decimal, currency }: { decimal: Decimal; currency: Currency },
  shown?: number,
): number | 'negative' | 'unreadable' {
  // Nearly every price: skip the rest.
  if (shown === undefined && decimal === 'point' && USUAL.test(cell)) return Number(cell)
  if (cell.length > MAX_LENGTH || isSpreadsheetError(cell)) return 'unreadable'
  if (NEGATIVE.test(cell)) return 'negative'
  const digits = cell.replace(SIGNS[currency], '')
  if (/\p{L}|\p{Sc}/u.test(digits.replace(/(\d)E(?=[+-]?\d)/i, '$1'))) return 'unreadable'
  if (shown !== undefined) return inRange(shown)
  if (ROUNDED.test(digits)) return 'unreadable'
  if (SCIENTIFIC.test(digits)) return inRange(exact(Number(digits)))
  const pointed = decimal === 'point' ? digits : digits.replace(/[.,]/g, (sign) => (sign === ',' ? '.' : ','))
  if (!NUMBER.test(pointed) || !/\d/.test(pointed)) return 'unreadable'
  return inRange(exact(Number(pointed.replace(/[,\s'’]/g, ''))))
}

/** Spreadsheets compute in binary: 926.6400000000001 is 926.64, to the 15 digits that they show. */
export const exact = (price: number) =>
  // Nearly every price has few digits: to round it takes several times as long as to see that.
  Math.round(price * 1e4) / 1e4 === price && Math.abs(price) < 1e9 ? price : Number(price.toPrecision(15))

const inRange = (price: number) => {
  if (price < 0) return 'negative'
  return price <= MAX_PRICE ? price : 'unreadable'
}

/** Truncates a cell for a message. */
export function shorten(cell: string, length = 200): string {
  if (cell.length <= length) return cell
  // Copy the text: a slice would keep the whole cell in memory.
  return texts.truncated(Buffer.from(cell.slice(0, length)).toString(), cell.length)
}
