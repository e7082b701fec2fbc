import { shorten } from '../../tables/prices.ts'
import { type Columns, doubtsPrice, isPricePerSeveral, isTitlePerSeveral, normalize } from './columns.ts'
import { saysTaxIncluded, type TaxMark, taxColumns, taxMarkOf } from './tax.ts'
import { texts } from './texts.ts'

const AMOUNT =
  /^(per|pe|pro|preiseinheit|divisor|unitdivisor|pricingdivisor|pricedenominator|pricemultiple|perunit|unitofprice|pricefor|priceunits|itemsperprice|pricebasis|pricing|pricebreakqty|pricebasisqty|priceterms|sellby|baseqty|stdpriceqty|priceuomqty|costper|(unit)?price(unit|per|qty|quantity|base|divisor|uom|factor|uomfactor)|price(is)?for(qty|quantity)|(qty|quantity|units)perprice|pricing(unit|qty|quantity|uom|factor)|per(qty|quantity))$/
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
const CURRENCY = /^(price|sell|sales?)?(curr|ccy|crcy|cur|waers)(code)?$|currency|währung|^iso$/
/** A currency in the column of the unit. */
const OTHER_MONEY = /^(usd|eur|gbp|cny|rmb|jpy|chf|cad|sgd|hkd|inr|fjd)$/i
/** A column that names the level of a price, and cells that say that it is not for customers. */
const LEVEL = /^price(type|level|list|category|group)$/
const NOT_FOR_CUSTOMERS = /\b(trade|wholesale|dealer|distributor|reseller|cost)\b/i

export interface PriceNotesOptions {
  headings: readonly string[]
  columns: Columns
  /** The tax that the import subtracts, in percent; undefined if nobody chose one. */
  gst: number | undefined
}

/** The columns that say something about prices, and what they said in the first row. */
interface NoteColumns extends PriceNotesOptions {
  price: number
  unit: number
  amounts: number[]
  currencies: number[]
  remarks: number[]
  levels: number[]
  /** Columns, and their cells that say that an item is no longer sold. */
  ended: (readonly [columns: number[], cell: RegExp])[]
  taxes: number[]
  names: number[]
  firstCurrency: string
  firstMark: TaxMark | undefined
}

/** A check of a row's cells. Returns the problem that they say, if any. */
type Check = (cells: readonly string[]) => string | undefined

/**
 * Creates a check of what other columns say about a row: for how many units its price is, as those of SAP do, in which
 * currency, if it includes tax, and if the item is deleted. The currency and the tax of the first row are those of the file.
 */
export function createPriceNotes(options: PriceNotesOptions): Check {
  const { headings, columns } = options
  const { price = -1, name, description, unit = -1 } = columns
  const columnsOf = (known: RegExp) =>
    headings.flatMap((heading, index) => (known.test(normalize(heading)) ? [index] : []))
  const notes: NoteColumns = {
    ...options,
    price,
    unit,
    amounts: columnsOf(AMOUNT),
    currencies: columnsOf(CURRENCY),
    remarks: columnsOf(REMARKS),
    levels: columnsOf(LEVEL),
    ended: [
      [columnsOf(ACTION), DELETED],
      [columnsOf(ENDED), YES],
      [columnsOf(ACTIVE), NO],
    ],
    taxes: taxColumns(headings, price),
    names: [name, description].filter((column) => column !== undefined),
    firstCurrency: '',
    firstMark: undefined,
  }
  return (cells) =>
    unitsProblem(notes, cells) ??
    currencyProblem(notes, cells) ??
    levelProblem(notes, cells) ??
    endedProblem(notes, cells) ??
    nameProblem(notes, cells) ??
    remarkProblem(notes, cells) ??
    taxProblem(notes, cells)
}

function unitsProblem({ amounts, unit }: NoteColumns, cells: readonly string[]): string | undefined {
  const said = amounts.map((column) => cells[column]?.trim() ?? '')
  const ownUnit = cells[unit]?.trim() ?? ''
  const several = said.find(isSeveral) ?? (isSeveralAsUnit(ownUnit) ? ownUnit : undefined)
  if (several !== undefined) return texts.row.severalUnits(shorten(several, 20))
  const other = EACH.test(ownUnit) ? said.find(isOtherUnit) : undefined
  return other === undefined ? undefined : texts.row.otherUnit(shorten(other, 20), ownUnit)
}

function currencyProblem(notes: NoteColumns, cells: readonly string[]): string | undefined {
  if (OTHER_MONEY.test(cells[notes.unit]?.trim() ?? ''))
    return texts.row.otherCurrency(cells[notes.unit] ?? '')
  for (const column of notes.currencies) {
    const currency = currencyOf(cells[column] ?? '')
    if (currency === '') continue
    if (currency !== 'AUD' && currency !== 'NZD') return texts.row.otherCurrency(shorten(currency, 20))
    notes.firstCurrency ||= currency
    if (currency !== notes.firstCurrency) return texts.row.mixedCurrencies(notes.firstCurrency)
  }
  return undefined
}

function levelProblem({ levels }: NoteColumns, cells: readonly string[]): string | undefined {
  const level = levels.map((column) => cells[column] ?? '').find((cell) => NOT_FOR_CUSTOMERS.test(cell))
  return level === undefined ? undefined : texts.row.level(shorten(level, 40))
}

function endedProblem({ ended, headings }: NoteColumns, cells: readonly string[]): string | undefined {
  for (const [columns, deleted] of ended)
    for (const column of columns) {
      const cell = cells[column]?.trim() ?? ''
      if (deleted.test(cell)) return texts.row.deleted(headings[column] ?? '', cell)
    }
  return undefined
}

function nameProblem({ names, gst }: NoteColumns, cells: readonly string[]): string | undefined {
  for (const column of names) {
    const name = cells[column] ?? ''
    if (gst === undefined && /gst|tax/i.test(name) && saysTaxIncluded(name))
      return texts.row.nameWithTax(shorten(name, 60))
    if (isPricePerSeveral(name)) return texts.row.nameOfSeveral(shorten(name, 60))
  }
  return undefined
}

function remarkProblem(notes: NoteColumns, cells: readonly string[]): string | undefined {
  const { remarks, headings, price, gst } = notes
  for (const column of remarks) {
    const remark = cells[column] ?? ''
    if (remark === '') continue
    if (doubtsPrice(remark, headings[price] ?? '') || isTitlePerSeveral(remark))
      return texts.row.remark(shorten(remark, 60))
    if (gst === undefined && saysTaxIncluded(remark)) return texts.row.gst(headings[column] ?? '')
  }
  return undefined
}

/** What a column about tax says of this row. */
function taxProblem(notes: NoteColumns, cells: readonly string[]): string | undefined {
  const { taxes, headings, gst } = notes
  for (const column of taxes) {
    const heading = headings[column] ?? ''
    const mark = taxMarkOf(heading, cells[column] ?? '')
    if (mark === undefined) continue
    if (mark === 'free') {
      if (gst) return texts.row.noGst(heading)
      continue
    }
    notes.firstMark ??= mark
    if (mark !== notes.firstMark) return texts.row.unknownGst(heading)
    if (mark === 'included' && gst === undefined) return texts.row.gst(heading)
  }
  return undefined
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

/** `100`, `per 100`, `100's` and `EA/100` in the column of the unit. A dozen or a box is a unit. */
const isSeveralAsUnit = (unit: string) =>
  /^(per |\/ ?)?(hundred|thousand)$/i.test(unit) ||
  (/^(per |\/ ?|(ea|each) ?\/ ?)?\d[\d,.]*( ?('?s|ea|each))?$/i.test(unit) &&
    Number(unit.replace(/[^\d.]/g, '')) !== 1)
