/** What a row of a table comes to: arithmetic on the columns that a person has named, and nothing else. */
import { codeDamage } from '../../tables/damaged-codes.ts'
import { exact, isAmount, isSpreadsheetError, readPrice, shorten } from '../../tables/prices.ts'
import type { Row } from '../../tables/sheet.ts'
import { ITEM_LIMITS, type Item } from './batches.ts'
import type { Column, SheetLayout, Statements } from './layout.ts'
import { texts } from './texts.ts'

/** A rejected row. */
export interface Problem {
  /** The sheet; empty for text. */
  sheet: string
  /** Line number, starting at 1. */
  line: number
  /** User-facing reason. */
  reason: string
  cells: string[]
}

/**
 * An item, the reason why the row is none, or null if it is left out because it is not for sale. `removed`: the tax that was removed
 * from its price, in dollars.
 */
export type RowResult = { item: Item; removed: number } | string | null

type TextUse = 'code' | 'name' | 'description' | 'unit' | 'category'

/** A column whose cells say yes or no. */
interface Flag {
  heading: string
  index: number
  meanings: Map<string, boolean>
}

/** A column that says how many the price is for. */
interface Per {
  heading: string
  index: number
  divide: boolean
}

/** Where the columns of each use are. */
function placesOf({ columns }: SheetLayout) {
  const textColumns: { use: TextUse; index: number }[] = []
  const notForSale: Flag[] = []
  let price = -1
  let taxIncluded: Flag | undefined
  let per: Per | undefined
  for (const [index, column] of columns.entries()) {
    switch (column.use) {
      case 'ignored':
        break
      case 'price':
        price = index
        break
      case 'price is for this many':
        per = { index, heading: column.heading, divide: column.divide === true }
        break
      case 'tax included':
        taxIncluded = flagOf(column, index)
        break
      case 'not for sale if':
        notForSale.push(flagOf(column, index))
        break
      default:
        textColumns.push({ use: column.use, index })
    }
  }
  return { textColumns, notForSale, price, taxIncluded, per }
}

const flagOf = ({ heading, yes, no }: Extract<Column, { yes: string[] }>, index: number): Flag => ({
  heading,
  index,
  meanings: new Map([
    ...yes.map((cell) => [cell, true] as const),
    ...no.map((cell) => [cell, false] as const),
  ]),
})

/** What the cell of a flag means, or that nobody has said so. */
function isYes({ heading, index, meanings }: Flag, cells: readonly string[]): boolean | string {
  const cell = textOf(cells[index])
  return meanings.get(cell) ?? texts.row.unknownValue(heading, shorten(cell, 40))
}

/** Creates a function that reads the rows of a sheet. */
export function createRowReader(
  sheet: SheetLayout,
  { tax, currency }: Pick<Statements, 'tax' | 'currency'>,
  delimiter: string | undefined,
): (row: Row) => RowResult {
  const places = placesOf(sheet)
  const used = sheet.columns.flatMap(({ use }, index) => (use === 'ignored' ? [] : [index]))

  return ({ cells, numbers, struck }) => {
    const shape = shapeProblem(cells, sheet, places.price, delimiter)
    if (shape !== undefined) return shape
    for (const flag of places.notForSale) {
      const isLeftOut = isYes(flag, cells)
      if (typeof isLeftOut === 'string') return isLeftOut
      if (isLeftOut) return null
    }
    if (struck?.some((column) => used.includes(column))) return texts.row.struck
    const item: Item = { code: '', price: 0 }
    for (const { use, index } of places.textColumns) {
      const text = textOf(cells[index])
      const cell = use === 'code' ? text.replace(QUOTED, '$1').trim() : text
      if (cell === '') continue
      const problem = textProblem(use, cell, numbers?.[index])
      if (problem) return problem
      item[use] = cell
    }
    if (item.code === '') return texts.row.noCode
    const how = { decimal: sheet.decimal, currency }
    const price = readPrice(textOf(cells[places.price]), how, numbers?.[places.price])
    if (typeof price === 'string') return price
    const isIncluded = places.taxIncluded ? isYes(places.taxIncluded, cells) : tax > 0
    if (typeof isIncluded === 'string') return isIncluded
    // The price that is listed is rounded, and not that of one of a thousand nails.
    const beforeTax = isIncluded ? withoutTax(price, tax) : price
    const { per } = places
    const each = per
      ? priceOfOne(beforeTax, textOf(cells[per.index]), { ...per, ...how, shown: numbers?.[per.index] })
      : beforeTax
    if (typeof each === 'string') return each
    item.price = each
    return { item, removed: isIncluded ? exact((each * tax) / 100) : 0 }
  }
}

/**
 * The price of one, where a cell such as `EA`, `100`, `100 EA` or `per 100` says how many the price is for; or the problem. `shown`:
 * the number of a spreadsheet's cell.
 */
function priceOfOne(
  price: number,
  cell: string,
  { divide, heading, shown, ...how }: Per & Parameters<typeof readPrice>[1] & { shown: number | undefined },
): number | string {
  if (/^(ea|each)$/i.test(cell)) return price
  const [found = '', other] = cell.match(/(?<!\b[ckm]?m|\d)\d(?:[\d.,]*\d)?/gi) ?? []
  const count = shown ?? (other === undefined ? readPrice(found, how) : Number.NaN)
  if (typeof count === 'string' || !(count > 0)) return texts.row.notANumber(shorten(cell, 40))
  if (count === 1) return price
  return divide ? exact(price / count) : texts.row.severalUnits(count, heading)
}

/** To the cent, half up. 15 digits first: 1.005 dollars are 100.49999999999999 cents to a computer. */
const withoutTax = (price: number, tax: number) => Math.round(exact((price / (1 + tax / 100)) * 100)) / 100

/** Typographic quotes around a code are not part of it. */
const QUOTED = /^[“”„‘’](.*)[“”‘’]$/s

/** The text of a cell. `="00123"` is how a spreadsheet is made to keep the zeros of 00123, and so is an apostrophe. */
export function textOf(cell = ''): string {
  const text = cell.trim()
  if (text.startsWith('="') && text.endsWith('"') && text.length > 2) return text.slice(2, -1)
  return /^'([=+@＝＋－＠-]|0\d*$)/.test(text) ? text.slice(1) : text
}

/** Cells that are not under a heading, and rows that an open quote has put into one cell. */
function shapeProblem(
  cells: string[],
  { columns }: SheetLayout,
  price: number,
  delimiter: string | undefined,
): string | undefined {
  const { length } = columns
  if (
    cells.length > length &&
    cells.slice(length).some((cell) => cell.trim() !== '' && !isSpreadsheetError(cell))
  )
    return texts.row[delimiter === undefined ? 'cells' : 'cellsOfText'](cells.length, length)
  if (delimiter === undefined) return undefined
  // Runs for every cell: avoid allocations for cells without a line break.
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] ?? ''
    if (!cell.includes('\n') && !cell.includes('\r')) continue
    const lines = cell.split(/\r\n|\n|\r/).map((line) => line.split(delimiter))
    const first = [...cells.slice(0, index), ...(lines[0] ?? [])]
    const isRow = (row: readonly string[]) => isAmount(row[price] ?? '')
    const isCut = first.length === length && cells.length < length && isRow(first)
    if (isCut || lines.slice(1).some((line) => line.length > 1 && isRow(line)))
      return texts.row.unclosedQuote(lines.length)
  }
  return undefined
}

/** Control characters other than tabs and line breaks, and characters that change the text direction. */
const UNPRINTABLE = /[^\P{Cc}\t\n\r]|\p{Bidi_Control}/u

function textProblem(use: TextUse, cell: string, shown: number | undefined): string | undefined {
  const max = use === 'code' ? ITEM_LIMITS.code : ITEM_LIMITS.text
  if (cell.length > max) return texts.row.tooLong(texts.uses[use], cell.length, max)
  if (isSpreadsheetError(cell)) return texts.row.formulaError(texts.uses[use], shorten(cell))
  // Nearly every text is ASCII, which is faster to test.
  const isPlain = /^[ -~]*$/.test(cell)
  if (use !== 'code')
    return !isPlain && UNPRINTABLE.test(cell) ? texts.row.invisible(texts.uses[use]) : undefined
  if (!isPlain && /[\p{Cc}\p{Cf}]/u.test(cell)) return texts.row.invisible(texts.uses.code)
  return codeDamage(cell, shown)
}
