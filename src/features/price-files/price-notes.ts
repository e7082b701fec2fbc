import { shorten } from '../../tables/prices.ts'
import { type Columns, doubtsPrice, isPricePerSeveral, normalize } from './columns.ts'
import { saysTaxIncluded, type TaxMark, taxColumns, taxMarkOf } from './tax.ts'
import { texts } from './texts.ts'

const AMOUNT =
  /^(per|divisor|costper|(unit)?price(unit|per|qty|quantity|base|divisor|uom|factor|uomfactor)|price(is)?for(qty|quantity)|(qty|quantity|units)perprice|pricing(unit|qty|quantity|uom|factor)|per(qty|quantity))$/
/** A column that says what to do with an item, and cells that say to delete it. */
const ACTION = /^(action|change(type|code)?|update(type|code)?|status|itemstatus)$/
const DELETED = /^(d|del|deleted?|removed?|withdrawn|discontinued|obsolete|inactive)$/i
/** Columns that say of each item if it is no longer sold, or if it is still sold. */
const ENDED = /^(is)?(discontinued|obsolete|deleted|inactive)(flag)?$/
const ACTIVE = /^(is)?(active|current)(flag)?$/
const YES = /^(y|yes|t|true|1|x|discontinued|obsolete|deleted|inactive)$/i
const NO = /^(n|no|f|false|0)$/i
/** A column of remarks about each row. */
const REMARKS = /^(notes?|comments?|remarks?|pricenotes?)$/
const CURRENCY = /^(price|sell|sales)?(currency|curr|ccy|crcy|cur|waers)(code)?$/

export interface PriceNotesOptions {
  headings: readonly string[]
  columns: Columns
  /** The tax that the import subtracts, in percent; undefined if nobody chose one. */
  gst: number | undefined
}

/**
 * Creates a check of what other columns say about a row: for how many units its price is, as those of SAP do, in which
 * currency, if it includes tax, and if the item is deleted. The currency and the tax of the first row are those of the file.
 */
export function createPriceNotes({
  headings,
  columns: { price = -1, name, description, unit = -1 },
  gst,
}: PriceNotesOptions): (cells: readonly string[]) => string | undefined {
  const columnsOf = (known: RegExp) =>
    headings.flatMap((heading, index) => (known.test(normalize(heading)) ? [index] : []))
  const [amounts, currencies, remarks] = [columnsOf(AMOUNT), columnsOf(CURRENCY), columnsOf(REMARKS)]
  const ended = [
    [columnsOf(ACTION), DELETED],
    [columnsOf(ENDED), YES],
    [columnsOf(ACTIVE), NO],
  ] as const
  const taxes = taxColumns(headings, price)
  const names = [name, description].filter((column) => column !== undefined)
  let first = ''
  let firstMark: TaxMark | undefined

  /** What a column about tax says of this row. */
  function taxProblem(cells: readonly string[]): string | undefined {
    for (const column of taxes) {
      const heading = headings[column] ?? ''
      const mark = taxMarkOf(heading, cells[column] ?? '')
      if (mark === undefined) continue
      if (mark === 'free') {
        if (gst) return texts.row.noGst(heading)
        continue
      }
      firstMark ??= mark
      if (mark !== firstMark) return texts.row.unknownGst(heading)
      if (mark === 'included' && gst === undefined) return texts.row.gst(heading)
    }
    return undefined
  }

  return (cells) => {
    const amount = amounts.map((column) => cells[column]?.trim() ?? '').find(isSeveral)
    if (amount !== undefined) return texts.row.severalUnits(shorten(amount, 20))
    if (amounts.length > 0 && EACH.test(cells[unit]?.trim() ?? '')) {
      const other = amounts.map((column) => cells[column]?.trim() ?? '').find(isOtherUnit)
      if (other !== undefined) return texts.row.otherUnit(shorten(other, 20), cells[unit]?.trim() ?? '')
    }
    for (const currency of currencies.map((column) => currencyOf(cells[column] ?? ''))) {
      if (currency === '') continue
      if (currency !== 'AUD' && currency !== 'NZD') return texts.row.otherCurrency(shorten(currency, 20))
      first ||= currency
      if (currency !== first) return texts.row.mixedCurrencies(first)
    }
    for (const [columns, deleted] of ended)
      for (const column of columns) {
        const cell = cells[column]?.trim() ?? ''
        if (deleted.test(cell)) return texts.row.deleted(headings[column] ?? '', cell)
      }
    for (const column of names) {
      const name = cells[column] ?? ''
      if (isPricePerSeveral(name)) return texts.row.nameOfSeveral(shorten(name, 60))
    }
    for (const column of remarks) {
      const remark = cells[column] ?? ''
      if (remark === '') continue
      if (doubtsPrice(remark, headings[price] ?? '')) return texts.row.remark(shorten(remark, 60))
      if (gst === undefined && saysTaxIncluded(remark)) return texts.row.gst(headings[column] ?? '')
    }
    return taxes.length === 0 ? undefined : taxProblem(cells)
  }
}

/** The currency of a cell such as `$`, `A$` or `aud`. */
function currencyOf(cell: string): string {
  const currency = cell.toUpperCase().replaceAll(/[^\p{L}\p{Sc}]/gu, '')
  if (/^(A|AU)\$?$|^AUS$/.test(currency)) return 'AUD'
  if (/^(N|NZ)\$?$/.test(currency)) return 'NZD'
  return currency === '$' ? '' : currency
}

/** Words for several units. `C` is a hundred in the trade; `M` may be a metre. */
const SEVERAL = /^(per |\/ ?)?(hundred|hund?|cen|thousand|thou|th|k|dozen|doz|dz|c|100s|1000s)$/i

const EACH = /^(each|ea|pc|pcs|pce|piece|unit|item)$/i
/** What a price is for, if it is not for one: `BX`, `CTN`, and `M`, which is a thousand where nothing has a length. */
const isOtherUnit = (amount: string) =>
  /^(per |\/ ?)?(m|bx|box|ct|ctn|carton|pr|pair|pk|pkt|pack|packet|bag|roll|plt|pallet|set)$/i.test(amount)

const isSeveral = (amount: string) =>
  SEVERAL.test(amount) ||
  (/^(per |\/ ?)?[\d,.]+$/i.test(amount) && Number(amount.replace(/[^\d.]/g, '')) !== 1)
