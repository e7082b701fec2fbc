import { texts } from './texts.ts'

/** The decimal sign of a column of prices. */
export const DECIMALS = ['point', 'comma'] as const
export type Decimal = (typeof DECIMALS)[number]

/** Reads the prices of one column, and counts what their decimal sign can be told from. */
export interface PriceReader {
  /**
   * Reads a price in dollars. `shown`: the number of a spreadsheet cell, whose decimal sign is known; NaN if it is
   * shown as something else. Returns the problem if there is no valid price, or if an earlier one is in the dollars of
   * another country.
   */
  read(cell: string, shown?: number): number | string
  /** How many prices have a decimal point, a decimal comma, and a sign that could separate decimals or thousands. */
  readonly found: {
    point: number
    comma: number
    ambiguous: number
    /** How many of the ambiguous ones have a comma. */
    withComma: number
    example: string
  }
}

/** The highest price that is accepted, in dollars. */
const MAX_PRICE = 1e9

const USUAL = /^\d{1,9}(\.\d{1,2})?$/
const CURRENCY_BEFORE = /^(?:(?:AU|NZ|A)?\$|(?:AUD|NZD)\s?\$?)/i
const CURRENCY_BEHIND = /(?:AUD|NZD|\$)$/i
/** An amount without its currency, as a spreadsheet shows it: other words may say that it is for 100 units. */
const SHOWN = /^[\s.,'’\d]*\d[\s.,'’]*(e-\d+)?$/i
const OTHER_CURRENCY = /[€£¥₹]|US\$|\b(USD|EUR|GBP|JPY|CNY|CAD|SGD|HKD|INR)\b/i
const NOT_GIVEN = /^([-–—]|\$\s*-|n\/?a|tb[acd]|p\.?o\.?a\.?|call|on application)$/i
const NEGATIVE = /^\(|^[-−–]|[-−]$/
/** What a spreadsheet shows of a number in scientific notation: the other digits are lost. */
const ROUNDED = /^\d(\.\d\d?)?E[+-]\d\d$/i
const SCIENTIFIC = /^\d{1,12}(\.\d{1,20})?E[+-]?\d{1,2}$/i
const SPREADSHEET_ERROR = /^(#(N\/A|NAME\?|DIV\/0!|GETTING_DATA|[A-Z]{3,8}!)|#{3,}$|Err:\d{3}$)/

/** Whether a text names a currency other than the dollar of Australia or New Zealand. */
export const namesOtherCurrency = (text: string): boolean =>
  OTHER_CURRENCY.test(text) || /\b(US|American) dollars?\b|\beuros?\b/i.test(text)

/** Whether a cell shows an error of a spreadsheet's formula, such as `#N/A`. */
export const isSpreadsheetError = (cell: string): boolean => SPREADSHEET_ERROR.test(cell)

/**
 * Creates a reader for a column of prices. Without `decimal`, a price such as `1,250`, which could be 1250 or 1.25, is a
 * problem and counts as ambiguous; the rest of the column may tell which it is.
 */
export function createPriceReader(decimal?: Decimal): PriceReader {
  const found = { point: 0, comma: 0, ambiguous: 0, withComma: 0, example: '' }
  let country: ReturnType<typeof countryOf>
  /** Whether a price named no currency, as those of Australian suppliers do. */
  let isPlain = false
  return {
    found,
    read(cell, shown) {
      // Nearly every price: skip the rest.
      if (shown === undefined && USUAL.test(cell) && decimal !== 'comma') {
        if (cell.includes('.')) found.point++
        isPlain = true
        return inRange(Number(cell))
      }
      const problem = problemOf(cell)
      if (problem) return problem
      const digits = cell.replace(CURRENCY_BEFORE, '').replace(CURRENCY_BEHIND, '').trim()
      const own = countryOf(cell)
      if (own === 'NZD' && isPlain) country ??= 'AUD'
      country ??= own
      if (own && own !== country) return texts.price.mixedCurrencies(shorten(cell), String(country))
      if (shown !== undefined) {
        if (Number.isNaN(shown) || !SHOWN.test(digits)) return texts.price.notDollars(shorten(cell))
        return shown < 0 ? texts.price.negative : inRange(shown)
      }
      if (SCIENTIFIC.test(digits)) return inRange(exact(Number(digits)))
      const sign = decimalOf(digits)
      if (sign === 'ambiguous' && !decimal) {
        found.ambiguous++
        if (digits.includes(',')) found.withComma++
        found.example ||= shorten(cell)
        return texts.price.ambiguous(shorten(cell), asNumber(digits, 'point'), asNumber(digits, 'comma'))
      }
      if (sign === 'invalid' || (decimal && isOther(sign, decimal)))
        return texts.price.invalid(shorten(cell), decimal === 'comma' ? '1234,50' : '1234.50')
      if (sign === 'point' || sign === 'comma') found[sign]++
      return inRange(asNumber(digits, sign === 'ambiguous' || sign === 'none' ? (decimal ?? 'point') : sign))
    },
  }
}

/** Whose dollars a price names. */
function countryOf(cell: string): 'AUD' | 'NZD' | undefined {
  if (/^\d/.test(cell) && !/[a-z]/i.test(cell)) return undefined
  if (/NZ(D|\$)/i.test(cell)) return 'NZD'
  return /AUD|AU?\$/i.test(cell) ? 'AUD' : undefined
}

/** The decimal sign that all prices of the column have; undefined if that cannot be told. */
export function decimalOfColumn({ point, comma, withComma }: PriceReader['found']): Decimal | undefined {
  if (point > 0 && comma > 0) return undefined
  if (point > 0) return 'point'
  // In Australia and New Zealand, the few prices with a decimal comma are rather the mistakes.
  if (withComma > comma) return undefined
  return comma > 0 ? 'comma' : undefined
}

const isOther = (sign: ReturnType<typeof decimalOf>, decimal: Decimal) =>
  (sign === 'point' || sign === 'comma') && sign !== decimal

function problemOf(cell: string): string | undefined {
  if (cell === '') return texts.price.missing
  if (NOT_GIVEN.test(cell)) return texts.price.notGiven(shorten(cell))
  if (NEGATIVE.test(cell.replace(/^\$\s*/, ''))) return texts.price.negative
  if (OTHER_CURRENCY.test(cell)) return texts.price.otherCurrency(shorten(cell))
  if (ROUNDED.test(cell)) return texts.price.rounded(cell)
  if (isSpreadsheetError(cell)) return texts.price.formulaError(shorten(cell))
  return undefined
}

const POINT = /^(\d{0,12}\.\d{1,20}|[1-9]\d{0,2}(,\d{3})+\.\d{1,20}|[1-9]\d{0,2}(,\d{3}){2,})$/
const COMMA = /^(\d{0,12},\d{1,20}|[1-9]\d{0,2}(\.\d{3})+,\d{1,20}|[1-9]\d{0,2}(\.\d{3}){2,})$/
const AMBIGUOUS = /^[1-9]\d{0,2}[.,]\d{3}$/
/** Thousands separated by spaces (also no-break and thin ones) or apostrophes. */
const SPACED = /^[1-9]\d{0,2}([\s'’]\d{3})+([.,]\d{1,20})?$/

function decimalOf(digits: string): Decimal | 'ambiguous' | 'none' | 'invalid' {
  if (/^\d{1,12}$/.test(digits)) return 'none'
  if (SPACED.test(digits)) {
    if (digits.includes('.')) return 'point'
    return digits.includes(',') ? 'comma' : 'none'
  }
  if (AMBIGUOUS.test(digits)) return 'ambiguous'
  if (POINT.test(digits)) return 'point'
  return COMMA.test(digits) ? 'comma' : 'invalid'
}

function asNumber(digits: string, decimal: Decimal): number {
  const thousands = decimal === 'point' ? /[,\s'’]/g : /[.\s'’]/g
  return exact(Number(digits.replace(thousands, '').replace(',', '.')))
}

/** Spreadsheets compute in binary: 926.6400000000001 is 926.64, to the 15 digits that they show. */
export const exact = (price: number) => Number(price.toPrecision(15))

function inRange(price: number): number | string {
  return price <= MAX_PRICE ? price : texts.price.tooHigh
}

/** Truncates a cell for a message. */
export function shorten(cell: string, length = 200): string {
  if (cell.length <= length) return cell
  // Copy the text: a slice would keep the whole cell in memory.
  return texts.truncated(Buffer.from(cell.slice(0, length)).toString(), cell.length)
}
