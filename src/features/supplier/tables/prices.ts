import { texts } from './texts.ts'

/** The decimal sign of a column of prices. */
export const DECIMALS = ['point', 'comma'] as const
type Decimal = (typeof DECIMALS)[number]

/** The currencies that a price may be in. */
export type Currency = 'AUD' | 'NZD'

/** The highest price that is accepted. */
const MAX_PRICE = 1e9

const USUAL = /^\d{1,9}(\.\d{1,2})?$/
/** The longest price, in characters. The time of some expressions below grows with the square of the length. */
const MAX_LENGTH = 100
/** How a price may name its own currency, before or after the digits. */
const SIGNS: Record<Currency, RegExp> = {
  AUD: /^(?:AUD\s?\$?|AU?\$|\$)\s*|\s*(?:AUD|\$)$/gi,
  NZD: /^(?:NZD\s?\$?|NZ\$|\$)\s*|\s*(?:NZD|\$)$/gi,
}
const NEGATIVE = /^\(|^[-−–]\s*[$\d.,]|^\$\s*[-−–]\s*\d|\d[-−]$/
/** A number in scientific notation as a spreadsheet shows it. The other digits of the number are lost. */
const ROUNDED = /^\d(\.\d\d?)?E[+-]\d\d$/i
const SCIENTIFIC = /^\d{1,12}(\.\d{1,20})?E[+-]?\d{1,2}$/i
/** Stands for a formula without a value: the program that wrote the workbook did not compute it. */
export const NO_VALUE = '#FORMULA!'
const SPREADSHEET_ERROR = /^(#(N\/A|NAME\?|DIV\/0!|GETTING_DATA|[A-Z]{3,8}!)|#{3,}$|Err:\d{3}$)/
/** Thousands are in groups of three, separated by commas, spaces (also no-break and thin ones) or apostrophes. */
const NUMBER = /^(?:\d{1,12}|[1-9]\d{0,2}(?:[,\s'’]\d{3})+)?(?:\.\d{1,20})?$/

/** Whether a cell shows an error of a spreadsheet's formula, such as `#N/A`. */
export const isSpreadsheetError = (cell: string): boolean => SPREADSHEET_ERROR.test(cell)

/**
 * Reads a price, or says why the cell has none in this currency. `number`: the number in a spreadsheet cell, which is shown with a
 * decimal point. The cell is a price only if it shows this number, perhaps rounded. A percentage, a date or an amount in thousands is
 * no price.
 */
export function readPrice(
  cell: string,
  { decimal, currency }: { decimal: Decimal; currency: Currency },
  number?: number,
): number | 'negative' | 'unreadable' {
  const isPointed = decimal === 'point' || number !== undefined
  // Nearly every price takes this short way.
  const price = isPointed && USUAL.test(cell) ? Number(cell) : parsePrice(cell, isPointed, currency)
  if (typeof price === 'string' || number === undefined) return price
  const decimals = /\.(\d*)/.exec(cell)?.[1]?.length ?? 0
  const isRounded = Math.abs(price - number) <= 0.5001 * 10 ** -decimals
  // A price of 0.004 that is shown as 0.00 is not free.
  return isRounded && (price !== 0 || number === 0) ? price : 'unreadable'
}

function parsePrice(cell: string, isPointed: boolean, currency: Currency): ReturnType<typeof readPrice> {
  if (cell.length > MAX_LENGTH || isSpreadsheetError(cell)) return 'unreadable'
  if (NEGATIVE.test(cell)) return 'negative'
  const digits = cell.replace(SIGNS[currency], '')
  const pointed = isPointed ? digits : digits.replace(/[.,]/g, (sign) => (sign === ',' ? '.' : ','))
  const isScientific = SCIENTIFIC.test(digits)
  const isNumber = isScientific ? !ROUNDED.test(digits) : NUMBER.test(pointed) && /\d/.test(pointed)
  const price = exact(Number(isScientific ? digits : pointed.replace(/[,\s'’]/g, '')))
  return isNumber && price <= MAX_PRICE ? price : 'unreadable'
}

/** Rounds to the 15 digits that spreadsheets show. They compute in binary, so 926.6400000000001 stands for 926.64. */
export const exact = (price: number) =>
  // Nearly every price has few digits. Checking for them is several times as fast as rounding.
  Math.round(price * 1e4) / 1e4 === price && Math.abs(price) < 1e9 ? price : Number(price.toPrecision(15))

/** Truncates a cell for a message. */
export function shorten(cell: string, length = 200): string {
  if (cell.length <= length) return cell
  // Copy the text: a slice would keep the whole cell in memory.
  return texts.truncated(Buffer.from(cell.slice(0, length)).toString(), cell.length)
}
