/** What a price file is like: its sheets, their columns, and everything that it says outside its tables. */
import { UnreadableFileError } from '../../tables/errors.ts'
import { shorten } from '../../tables/prices.ts'
import type { OpenFile, Row, Sheet } from '../../tables/sheet.ts'
import { type SheetLayout, signOf } from './layout.ts'
import { textOf } from './rows.ts'
import type { ColumnOutline } from './suggestions.ts'
import { texts } from './texts.ts'

export interface SheetOutline {
  /** Empty for a text file. */
  name: string
  isHidden: boolean
  /** Whether its items are sent. */
  isUsed: boolean
  /** The row of the headings; 0: none. */
  headingsRow: number
  columns: ColumnOutline[]
  /** What stands outside the table, each row as its cells joined by ` · `, and comments and what is printed on each page. */
  texts: string[]
}

export interface Outline {
  sheets: SheetOutline[]
  /** Sentences on how the file was read. */
  remarks: string[]
}

/** How many rows are searched for the headings. */
const SEARCHED_ROWS = 200
/** How many rows of a sheet that is not used are looked at. */
const MAX_UNUSED_ROWS = 1_000
/** How many different cells of a column are listed. */
const MAX_VALUES = 20
const MAX_VALUE = 60
/** Different texts of a file outside its tables, and their characters: a file with more of them is not read as it should be. */
const MAX_TEXTS = 1_000
const MAX_TEXT_CHARACTERS = 200_000
const MAX_CELL = 2_000
const MAX_HEADING = 200
const MAX_COLUMNS = 500

/** A heading without line breaks and repeated spaces. */
const headingOf = (cell = '') => shorten(cell.replace(/\s+/g, ' ').trim(), MAX_HEADING)

/** The headings of a row up to the last one; without a row, one blank heading for each column that some row has. */
export function headingsOf(row: Row | undefined, rows: readonly Row[]): string[] {
  const isFilled = (cell: string) => cell.trim() !== ''
  const width = Math.max(0, ...(row ? [row] : rows).map(({ cells }) => cells.findLastIndex(isFilled) + 1))
  if (width > MAX_COLUMNS)
    throw new UnreadableFileError(row?.line ?? 1, texts.unreadable.manyColumns(width, MAX_COLUMNS))
  return Array.from({ length: width }, (_, index) => headingOf(row?.cells[index]))
}

/** Where the headings of a confirmed sheet are in a file: the index of their row, or -1. */
export const findHeadings = ({ columns }: SheetLayout, rows: readonly Row[]): number =>
  rows.findIndex(({ cells }) => columns.every(({ heading }, index) => headingOf(cells[index]) === heading))

/** Reads the first rows of a sheet, and the rest of them afterwards. */
export async function startSheet(sheet: Sheet) {
  const rows = sheet.rows()
  const first: Row[] = []
  for (let next = await rows.next(); !next.done; next = await rows.next()) {
    first.push(...next.value)
    if (first.length >= SEARCHED_ROWS) break
  }
  return { sheet, rows, first }
}
export type StartedSheet = Awaited<ReturnType<typeof startSheet>>

/** Collects the different texts outside the tables of a file. */
export function createTexts() {
  const seen = new Set<string>()
  let characters = 0
  return {
    /** Whether there were too many to show them all. */
    areTooMany: () => seen.size > MAX_TEXTS || characters > MAX_TEXT_CHARACTERS,
    /** Adds a text to the list of its sheet, unless the file has said it before. */
    add(list: string[], text: string): void {
      const shown = shorten(text.replace(/\s+/g, ' ').trim(), MAX_CELL)
      const sign = signOf(shown) || shown
      if (shown === '' || seen.has(sign) || seen.size > MAX_TEXTS || characters > MAX_TEXT_CHARACTERS) return
      seen.add(sign)
      characters += shown.length
      list.push(shown)
    },
  }
}
export type Texts = ReturnType<typeof createTexts>

const joined = (cells: readonly string[]) =>
  cells
    .map((cell) => cell.trim())
    .filter(Boolean)
    .join(' · ')
/** A price that says nothing else. */
const PLAIN_PRICE = /^[\d.,$\s'’-]*\d[\d.,$\s'’-]*$/

/**
 * Outlines a sheet while its rows are read. The table is every row below the headings that has something in the columns of
 * the code and the price; what stands in other rows, and a price with words, is a text. `isItem`, which gets the rows of the
 * table, is called only for a sheet that is used.
 */
export async function outlineSheet(
  { sheet, rows, first }: StartedSheet,
  layout: SheetLayout,
  { isUsed, collected, onRow }: { isUsed: boolean; collected: Texts; onRow?(row: Row): void },
): Promise<SheetOutline> {
  const headingsAt =
    layout.headingsRow === 0 ? -1 : first.findIndex(({ line }) => line === layout.headingsRow)
  const found: string[] = []
  const headings = layout.columns.map(({ heading }) => heading)
  const placeOf = (use: string) => layout.columns.findIndex((column) => column.use === use)
  const [code, price] = [placeOf('code'), placeOf('price')]
  const columns = createColumns(headings)
  const isFilled = (cell: string | undefined) => cell !== undefined && cell.trim() !== ''

  function see(row: Row): void {
    const { cells } = row
    if (cells[0] !== undefined && headingOf(cells[0]) === headings[0] && repeats(cells, headings)) return
    const isWide = cells.length > headings.length
    if (isWide) collected.add(found, joined(cells.slice(headings.length)))
    const isInTable =
      code >= 0 && price >= 0
        ? isFilled(cells[code]) && isFilled(cells[price])
        : cells.filter(isFilled).length > 1
    if (!isInTable) collected.add(found, joined(cells.slice(0, headings.length)))
    else {
      columns.see(cells)
      const cell = cells[price] ?? ''
      if (price >= 0 && !PLAIN_PRICE.test(cell)) collected.add(found, cell)
    }
    if (isInTable || cells.filter(isFilled).length > 1) onRow?.(row)
  }

  // The headings of a sheet that is not used are shown as what it says: it may have nothing else.
  const above = first.slice(0, Math.max(headingsAt + (isUsed ? 0 : 1), 0))
  for (const { cells } of above) collected.add(found, joined(cells))
  const below = first.slice(headingsAt + 1)
  for (const row of below) see(row)
  let count = below.length
  for await (const batch of rows) {
    for (const row of batch) see(row)
    count += batch.length
    if (!isUsed && count > MAX_UNUSED_ROWS) break
  }
  for (const text of [...(await sheet.comments()), ...sheet.printed]) collected.add(found, text)
  return {
    name: sheet.name,
    isHidden: sheet.isHidden,
    isUsed,
    headingsRow: layout.headingsRow,
    columns: columns.outline(sheet.hiddenColumns),
    texts: found,
  }
}

const repeats = (cells: readonly string[], headings: readonly string[]) =>
  headings.some((heading) => heading !== '') &&
  headings.every((heading, index) => headingOf(cells[index]) === heading)

/** Collects the different cells of each column, as long as they are few. */
function createColumns(headings: readonly string[]) {
  const seen = headings.map(() => new Set<string>())
  return {
    see(cells: readonly string[]): void {
      for (const [index, values] of seen.entries())
        if (values.size <= MAX_VALUES) values.add(shorten(textOf(cells[index]), MAX_VALUE))
    },
    outline: (hidden: ReadonlySet<number>): ColumnOutline[] =>
      headings.map((heading, index) => {
        const values = [...(seen[index] ?? [])]
        const samples = values.filter((value) => value !== '').slice(0, 3)
        const areFew = values.length <= MAX_VALUES && values.every((value) => value.length <= MAX_VALUE)
        return { heading, samples, values: areFew ? values : null, isHidden: hidden.has(index) }
      }),
  }
}

/** Sentences on how the file was read. */
export function remarksOn({ encoding, sheets }: OpenFile, used: readonly string[]): string[] {
  const hidden = sheets
    .filter(({ name }) => used.includes(name))
    .reduce((sum, sheet) => sum + sheet.hiddenRows(), 0)
  return [
    ...(encoding?.startsWith('utf-16') ? [texts.remarks.utf16] : []),
    ...(encoding === 'windows-1252' ? [texts.remarks.windows1252] : []),
    ...(hidden > 0 ? [texts.remarks.hiddenRows(hidden)] : []),
  ]
}
