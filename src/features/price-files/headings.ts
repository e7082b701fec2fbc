import { UnreadableFileError } from '../../tables/errors.ts'
import type { Row } from '../../tables/row.ts'
import { countFields, guessColumns, isNumber, mayBePrice } from './columns.ts'
import { texts } from './texts.ts'

/** The headings of a file, and what stands around its table. */
export interface Headings {
  /** The trimmed headings; `Column 1` and so on if the file has none. */
  headings: string[]
  /** The line of the headings, or 0 if the file has none. */
  line: number
  /** How many of the first rows are above the table. */
  titles: number
  /** How many of the first rows are above the table or are its headings. */
  skip: number
  /** Whether the first row looks like an item, so that it is not known whether the file has headings. */
  isUnsure: boolean
  /** What stands around the table. */
  notes: Note[]
}

/** Where a note stands, in the middle of a sentence, and what it says. */
export type Note = readonly [where: string, text: string, isName?: boolean]

/** How many rows are searched for the headings. */
export const SEARCHED_ROWS = 40
/** How far down the headings can be that the user names. */
export const MAX_HEADINGS_LINE = 10_000
const MAX_COLUMNS = 500
const MAX_HEADING_LENGTH = 200

/**
 * Finds the headings among the first rows, which may begin with titles. `line`: the line of the headings, if the user
 * chose it; 0 means that the file has none. `names`: notes that are outside of the rows. Throws `UnreadableFileError`.
 */
export function findHeadings(rows: readonly Row[], line: number | undefined, names: Note[]): Headings {
  const [first] = rows
  if (!first) throw new UnreadableFileError(1, texts.unreadable.noRows)
  if (line === 0) return withoutHeadings(rows, names)
  const index = line === undefined ? indexOfHeadings(rows) : rows.findIndex((row) => row.line === line)
  const row = rows[index]
  if (!row) {
    if (line === undefined) return { ...withoutHeadings(rows, names), isUnsure: true }
    throw new UnreadableFileError(line, texts.unreadable.notHeadings(MAX_HEADINGS_LINE))
  }
  const upper = limited(row.line, row.cells.map(cleanHeading))
  const second = secondRow(upper, rows[index + 1])
  const headings = second ? limited(row.line, joinHeadings(upper, second)) : upper
  const titles = rows.slice(0, index).flatMap(({ cells }) => cells)
  return {
    headings,
    line: row.line,
    titles: index,
    skip: index + (second ? 2 : 1),
    isUnsure: false,
    notes: [
      ...titles.map((text): Note => [texts.places.aboveHeadings, text]),
      ...besideHeadings(headings, rows.slice(index + 1)),
      ...names,
    ],
  }
}

/** A heading without line breaks and repeated spaces. */
export const cleanHeading = (cell: string) => cell.replace(/\s+/g, ' ').trim()

/** The headings without blank ones at the end. Throws `UnreadableFileError` if they are too many or too long. */
function limited(line: number, cells: readonly string[]): string[] {
  const headings = cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1)
  if (headings.length > MAX_COLUMNS)
    throw new UnreadableFileError(line, texts.unreadable.manyColumns(headings.length, MAX_COLUMNS))
  if (headings.some((heading) => heading.length > MAX_HEADING_LENGTH))
    throw new UnreadableFileError(line, texts.unreadable.longHeading(MAX_HEADING_LENGTH))
  return headings
}

/** The heading above a cell, which a group of columns has in its first one only: `Price` above `Trade` and `Retail`. */
const headingAbove = (headings: readonly string[], column: number) =>
  headings.slice(0, column + 1).findLast((heading) => heading !== '') ?? ''

/** The row below the headings if it says more about the prices, such as `Trade` and `Retail`, and is no item. */
function secondRow(headings: readonly string[], next: Row | undefined): Row | undefined {
  if (!next || next.cells.some(isNumber)) return undefined
  const filled = next.cells.flatMap((cell, column) => (cell.trim() === '' ? [] : [column]))
  const { code, name, description } = guessColumns(headings).columns
  const isOfItem = filled.some((column) => [code, name, description].includes(column))
  return !isOfItem && filled.some((column) => mayBePrice(headingAbove(headings, column))) ? next : undefined
}

function joinHeadings(headings: readonly string[], second: Row): string[] {
  const width = Math.max(headings.length, second.cells.length)
  return Array.from({ length: width }, (_, column) => {
    const below = cleanHeading(second.cells[column] ?? '')
    return below === '' ? (headings[column] ?? '') : `${headingAbove(headings, column)} ${below}`.trim()
  })
}

/**
 * The row that names a code and a price or at least two fields; otherwise the first one as wide as the table that has no
 * number. -1 if there is none before the first item.
 */
function indexOfHeadings(rows: readonly Row[]): number {
  const fields = rows.map(({ cells }) => (cells.some(isPriceLike) ? 0 : countFields(cells)))
  const named = fields.findIndex((count) => count >= 2)
  if (named >= 0) return named
  const widths = rows.map(({ cells }) => cells.filter((cell) => cell.trim() !== '').length)
  const width = Math.max(...widths)
  const unknown = rows.findIndex(
    ({ cells }, index) => (widths[index] ?? 0) * 2 > width && !cells.some(isPriceLike),
  )
  const firstItem = rows.findIndex(
    ({ cells }, index) => (widths[index] ?? 0) * 2 > width && cells.some(isPriceLike),
  )
  return firstItem >= 0 && firstItem < unknown ? -1 : unknown
}

/** Whether a cell could be a price, and is not a year in a heading. */
const isPriceLike = (cell: string) => isNumber(cell) && !/^\s*20\d\d\s*$/.test(cell)

/** Headings of columns without a cell are notes beside the table. */
function besideHeadings(headings: readonly string[], rows: readonly Row[]): Note[] {
  const isEmpty = (column: number) => rows.every(({ cells }) => (cells[column] ?? '').trim() === '')
  return headings.flatMap((text, column): Note[] =>
    text !== '' && isEmpty(column) ? [[texts.places.besideHeadings, text]] : [],
  )
}

function withoutHeadings(rows: readonly Row[], notes: Note[]): Headings {
  const width = Math.min(Math.max(...rows.map(({ cells }) => cells.length)), MAX_COLUMNS)
  return {
    headings: Array.from({ length: width }, (_, index) => texts.headingOf(index + 1)),
    line: 0,
    titles: 0,
    skip: 0,
    isUnsure: false,
    notes,
  }
}
