/** What is wrong with a cell, or null. A cell has no blanks around it. */
import type { Column } from './items.ts'
import type { expectations } from './texts.ts'

type Fault = keyof typeof expectations

/** Control characters and line ends; in a code also what cannot be seen, such as a zero-width space. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u
export const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
/** How Excel, LibreOffice, Google Sheets and Numbers show a formula that has failed, and a column that is too narrow. */
const SPREADSHEET_ERROR = /^(#(N\/A|NAME\?|DIV\/0!|GETTING_DATA|[A-Z]{3,8}!)|#{3,}|Err:\d{3})$/i
/** A long number as a spreadsheet shows it: the digits that are missing are lost. */
const SHORTENED = /^[-+]?\d([.,]\d+)?E[-+]\d{1,3}$/i

/** What is wrong with a cell of this column. */
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

/** What is wrong with a cell of any column: it has been damaged on the way into the file. */
function damageOf(cell: string): Fault | null {
  if (cell.includes('\ufffd')) return 'encoding'
  if (CONTROL.test(cell)) return 'invisible'
  if (cell.startsWith('=')) return 'formula'
  if (SPREADSHEET_ERROR.test(cell)) return 'spreadsheetError'
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
/** Why a price isn't one, by what it looks like: the first that fits. */
const CAUSES: [looks: RegExp, fault: Fault][] = [
  [/^$/, 'noPrice'],
  [/^[-+]?[\d.,]+E[-+]?\d+$/i, 'exponent'],
  [/^[\d.,]+\s?%$/, 'percent'],
  [/^([-−–]|\().*\d|\d[-−–]$|^\D{1,4}[-−–]\s?\d/, 'negative'],
  [/^(A|AU|NZ|US)?\$|\$$|[€£¥]|^(AUD|NZD|USD)|(AUD|NZD|USD)$/i, 'currency'],
  [/^\d{1,3}([,'’\s]\d{3})+(\.\d*)?$/, 'thousands'],
  [/^\d*,\d+$|^\d{1,3}([.\s]\d{3})+,\d+$|^\d{1,3}(\.\d{3}){2,}$/, 'decimalComma'],
  [/^\d{1,9}\.\d{5,}$/, 'decimals'],
  [/^\d{10,}(\.\d*)?$/, 'tooHigh'],
]

/** A price is digits, and perhaps a point and up to four more. Anything else has a cause that the fault names. */
function priceFault(cell: string): Fault | null {
  if (PRICE.test(cell)) return null
  const damage = damageOf(cell)
  if (damage && damage !== 'shortened') return damage
  return CAUSES.find(([looks]) => looks.test(cell))?.[1] ?? 'noNumber'
}
