/** What a row of a table comes to: arithmetic on the columns that a person has named, and nothing else. */
import { codeDamage } from '../../tables/damaged-codes.ts'
import { exact, isSpreadsheetError, readPrice, shorten } from '../../tables/prices.ts'
import type { Row } from '../../tables/sheet.ts'
import { ITEM_LIMITS, type Item } from './item.ts'
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

/** An item, the reason why the row is none, or null if it is left out because it is not for sale. */
export type RowResult = Item | string | null

type TextUse = 'code' | 'name' | 'description' | 'unit' | 'category'
type Flag = Extract<Column, { yes: string[] }> & { index: number; isKnown: Map<string, boolean> }

/** Where the columns of each use are. */
function placesOf({ columns }: SheetLayout) {
  const textColumns: { use: TextUse; index: number }[] = []
  const notForSale: Flag[] = []
  let [price, taxIncluded, per]: [number, Flag | undefined, { index: number; divide: boolean } | undefined] =
    [-1, undefined, undefined]
  for (const [index, column] of columns.entries()) {
    const { use } = column
    if (use === 'ignored') continue
    if (use === 'price') price = index
    else if (use === 'price is for this many') per = { index, divide: column.divide }
    else if (use === 'tax included') taxIncluded = flagOf(column, index)
    else if (use === 'not for sale if') notForSale.push(flagOf(column, index))
    else textColumns.push({ use, index })
  }
  return { textColumns, notForSale, price, taxIncluded, per }
}

const flagOf = (column: Extract<Column, { yes: string[] }>, index: number): Flag => ({
  ...column,
  index,
  isKnown: new Map([
    ...column.yes.map((cell) => [cell, true] as const),
    ...column.no.map((cell) => [cell, false] as const),
  ]),
})

/** Creates a function that reads the rows of a sheet. */
export function createRowReader(
  sheet: SheetLayout,
  { tax, currency }: Pick<Statements, 'tax' | 'currency'>,
  delimiter: string | undefined,
): (row: Row) => RowResult {
  const places = placesOf(sheet)
  const { textColumns, notForSale, taxIncluded, per } = places
  const used = sheet.columns.flatMap(({ use }, index) => (use === 'ignored' ? [] : [index]))

  return ({ cells, numbers, struck }) => {
    const shape = shapeProblem(cells, sheet, places.price, delimiter)
    if (shape !== undefined) return shape
    for (const flag of notForSale) {
      const isYes = flag.isKnown.get(textOf(cells[flag.index]))
      if (isYes === undefined)
        return texts.row.unknownValue(flag.heading, shorten(textOf(cells[flag.index]), 40))
      if (isYes) return null
    }
    if (struck?.some((column) => used.includes(column))) return texts.row.struck
    const item: Item = { code: '', price: 0 }
    for (const { use, index } of textColumns) {
      const cell = textOf(cells[index])
      if (cell === '') continue
      const problem = textProblem(use, cell, numbers?.[index])
      if (problem) return problem
      item[use] = cell
    }
    if (item.code === '') return texts.row.noCode
    const price = readPrice(
      textOf(cells[places.price]),
      { decimal: sheet.decimal, currency },
      numbers?.[places.price],
    )
    if (typeof price === 'string') return price
    const count = per ? countOf(cells[per.index]) : 1
    if (count === undefined) return texts.row.notANumber(shorten(textOf(cells[per?.index ?? -1]), 40))
    if (count !== 1 && !per?.divide) return texts.row.severalUnits(count)
    const isIncluded = taxIncluded ? taxIncluded.isKnown.get(textOf(cells[taxIncluded.index])) : tax > 0
    if (isIncluded === undefined)
      return texts.row.unknownValue(
        taxIncluded?.heading ?? '',
        shorten(textOf(cells[taxIncluded?.index ?? -1]), 40),
      )
    const each = count === 1 ? price : exact(price / count)
    item.price = isIncluded ? withoutTax(each, tax) : each
    return item
  }
}

/** To the cent, half up. 15 digits first: 1.005 dollars are 100.49999999999999 cents to a computer. */
const withoutTax = (price: number, tax: number) => Math.round(exact((price / (1 + tax / 100)) * 100)) / 100

/** The number in a cell such as `100`, `100 EA` or `per 100`; undefined if there is not exactly one. */
function countOf(cell = ''): number | undefined {
  const [found, other] = cell.match(/\d[\d,]*(\.\d+)?/g) ?? []
  const count = Number(found?.replaceAll(',', ''))
  return other === undefined && count > 0 ? count : undefined
}

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
  if (cells.length > length && cells.slice(length).some((cell) => cell.trim() !== ''))
    return texts.row.cells(cells.length, length)
  if (delimiter === undefined) return undefined
  // Runs for every cell: avoid allocations for cells without a line break.
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] ?? ''
    if (!cell.includes('\n') && !cell.includes('\r')) continue
    const lines = cell.split(/\r\n|\n|\r/).map((line) => line.split(delimiter))
    const first = [...cells.slice(0, index), ...(lines[0] ?? [])]
    const isRow = (row: readonly string[]) => /\d/.test(row[price] ?? '') && !/\p{L}/u.test(row[price] ?? '')
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
