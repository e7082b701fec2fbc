/** Finds the problem of a cell; null if it is valid. Cells have no surrounding spaces. */
import type { Column } from './items.ts'
import type { texts } from './texts.ts'

export type Fault = keyof typeof texts.expectations

/** Control characters and line ends, and in codes all invisible characters, such as a zero-width space. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u
export const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
/** How Excel, LibreOffice, Google Sheets and Numbers show a formula that has failed, and a column that is too narrow. */
const SPREADSHEET_ERROR = /^(#(N\/A|NAME\?|DIV\/0!|GETTING_DATA|[A-Z]{3,8}!)|#{3,}|Err:\d{3})$/i
/** A long number as a spreadsheet shortens it, so that digits are lost. */
const SHORTENED = /^[-+]?\d([.,]\d+)?E[-+]\d{1,3}$/i

/** The problem of a cell in this column. */
export function faultOf(column: Column, cell: string): Fault | null {
  switch (column) {
    case 'code':
      return codeFault(cell)
    case 'price':
      return priceFault(cell)
    case 'name':
    case 'description':
    case 'unit':
    case 'category':
      return damageOf(cell)
  }
}

/** A problem that is possible in any column: damage on the way into the file. */
function damageOf(cell: string): Fault | null {
  if (cell.includes('\ufffd')) return 'encoding'
  if (CONTROL.test(cell)) return 'invisible'
  if (cell.startsWith('=') || SPREADSHEET_ERROR.test(cell)) return 'formula'
  return SHORTENED.test(cell) ? 'shortened' : null
}

const MAX_CODE = 100

function codeFault(cell: string): Fault | null {
  if (cell === '') return 'noCode'
  const damage = damageOf(cell)
  if (damage) return damage
  if (INVISIBLE.test(cell)) return 'invisible'
  return cell.length > MAX_CODE ? 'longCode' : null
}

const PRICE = /^\d{1,9}(\.\d{1,4})?$/
/** Patterns of invalid prices, each with its problem. The first match counts. */
const CAUSES: [looks: RegExp, fault: Fault][] = [
  [/^$/, 'noPrice'],
  [/^[-+]?[\d.,]+E[-+]?\d+$/i, 'exponent'],
  [/^[\d.,]+\s?%$/, 'percent'],
  [/^([-−–]|\().*\d|\d[-−–]$|^\D{1,4}[-−–]\s?\d/, 'negative'],
  [/^(A|AU|NZ|US)?\$|\$$|[€£¥]|^(AUD|NZD|USD)|(AUD|NZD|USD)$/i, 'currency'],
  [/^\d{1,3}([,'’\s]\d{3})+(\.\d*)?$/, 'thousands'],
  [/^\d*,\d+$|^\d{1,3}([.\s]\d{3})+,\d+$|^\d{1,3}(\.\d{3}){2,}$/, 'decimalComma'],
  [/^\d{1,9}\.\d{5,}$/, 'decimals'],
]

/** Digits, and optionally a point and up to four more. For any other price, the problem names the cause. */
function priceFault(cell: string): Fault | null {
  if (PRICE.test(cell)) return null
  const damage = damageOf(cell)
  if (damage && damage !== 'shortened') return damage
  return CAUSES.find(([looks]) => looks.test(cell))?.[1] ?? 'noNumber'
}
