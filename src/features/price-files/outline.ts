/** What a price file is like: its sheets, their columns, and everything that it says outside its tables. */
import { UnreadableFileError } from '../../tables/errors.ts'
import { shorten } from '../../tables/prices.ts'
import type { OpenFile, Row, Sheet } from '../../tables/sheet.ts'
import { type SheetLayout, signOf } from './layout.ts'
import { textOf } from './rows.ts'
import { texts } from './texts.ts'

/** A column, as a person is shown it. */
export interface ColumnOutline {
  heading: string
  /** Some different cells of the column. */
  samples: string[]
  /** All different cells, if they are few; otherwise null. */
  values: string[] | null
  isHidden: boolean
}

export interface SheetOutline {
  /** Empty for a text file. */
  name: string
  isHidden: boolean
  /** Whether its items are sent. */
  isUsed: boolean
  /** The row of the headings; 0: none. */
  headingsRow: number
  /** None of a sheet that is not used. */
  columns: ColumnOutline[]
  /** What stands outside the table, each row as its cells joined by ` · `, and comments and what is printed on each page. */
  texts: string[]
}

export interface Outline {
  sheets: SheetOutline[]
  /** The texts as they are compared with those of another file: `signsOf`. */
  signs: string[]
  /** Sentences on how the file was read. */
  remarks: string[]
}

/** A sheet with its first rows, among which are its headings. */
export interface SheetHead {
  sheet: Sheet
  rows: Row[]
}

/** How many rows are searched for the headings, and of a sheet that is not used, how many are looked at. */
const SEARCHED_ROWS = 200
/** How many different cells of a column are listed. */
const MAX_VALUES = 20
const MAX_VALUE = 60
/** Different texts of a file outside its tables, and their characters: a file with more of them is not read as it should be. */
const MAX_TEXTS = 1_000
const MAX_TEXT_CHARACTERS = 200_000
const MAX_HEADING = 200
/** Characters of the text of an item that is none: descriptions are long. */
const MAX_ITEM_TEXT = 2_000
/** How many different rows with ignored cells alone are texts; of more, none is. */
const MAX_ASIDE = 20
const MAX_COLUMNS = 500

export async function readHead(sheet: Sheet): Promise<SheetHead> {
  const rows: Row[] = []
  for await (const batch of sheet.rows()) {
    rows.push(...batch)
    if (rows.length >= SEARCHED_ROWS) break
  }
  return { sheet, rows: rows.slice(0, SEARCHED_ROWS) }
}

/** A heading without line breaks and repeated spaces. */
const headingOf = (cell = '') => shorten(cell.replace(/\s+/g, ' ').trim(), MAX_HEADING)
const isFilled = (cell: string | undefined) => cell !== undefined && cell.trim() !== ''

/** The headings of a row up to the last one; without a row, one blank heading for each column that some row has. */
export function headingsOf(row: Row | undefined, rows: readonly Row[]): string[] {
  const width = Math.max(0, ...(row ? [row] : rows).map(({ cells }) => cells.findLastIndex(isFilled) + 1))
  if (width > MAX_COLUMNS)
    throw new UnreadableFileError(row?.line ?? 1, texts.unreadable.manyColumns(width, MAX_COLUMNS))
  return Array.from({ length: width }, (_, index) => headingOf(row?.cells[index]))
}

/** Whether a row repeats these headings, which are not all blank, and says nothing beside them. */
export const repeats = ({ cells }: Row, headings: readonly string[]): boolean =>
  headings.every((heading, index) => headingOf(cells[index]) === heading) &&
  headings.some((heading) => heading !== '') &&
  !cells.slice(headings.length).some(isFilled)

/** Collects the different texts outside the tables of a file. */
export function createTexts() {
  const seen = new Set<string>()
  let characters = 0
  const areTooMany = () => seen.size > MAX_TEXTS || characters > MAX_TEXT_CHARACTERS
  return {
    /** Whether there were too many to show them all. */
    areTooMany,
    /** Adds a text to the list of its sheet, unless the file has said it before, or another one with the same key. */
    add(list: string[], text: string, key = text): void {
      const shown = text.replace(/\s+/g, ' ').trim()
      if (shown === '' || seen.has(key) || areTooMany()) return
      seen.add(key)
      characters += shown.length
      if (!areTooMany()) list.push(shown)
    },
  }
}

const joined = (cells: readonly string[]) =>
  cells
    .map((cell) => cell.trim())
    .filter(Boolean)
    .join(' · ')
/** A price that says nothing else. */
const PLAIN_PRICE = /^[\d.,$\s'’-]*\d[\d.,$\s'’-]*$/

/** Whether a row has several cells. */
const isWide = ({ cells }: Row) => cells.filter(isFilled).length > 1

/**
 * Outlines a sheet that is used, and passes the rows of its table to `onRow`. The table is every row below the headings that has
 * something in the columns of the code and the price; what stands in other rows, and a price with words, is a text. Throws
 * `UnreadableFileError`, and what `onRow` throws.
 */
export async function outlineSheet(
  { sheet }: SheetHead,
  { columns: layout, headingsRow }: SheetLayout,
  collected: ReturnType<typeof createTexts>,
  onRow: (row: Row) => void,
): Promise<SheetOutline> {
  const found: string[] = []
  const headings = layout.map(({ heading }) => heading)
  const placeOf = (use: string) => layout.findIndex((column) => column.use === use)
  const [code, price] = [placeOf('code'), placeOf('price')]
  const columns = createColumns(headings)
  // Rows whose cells are all ignored: a few are notes, and many are the pictures of items in the export of a shop.
  const aside = new Set<string>()
  const isAside = (cells: readonly string[]) =>
    price >= 0 && !layout.some(({ use }, index) => use !== 'ignored' && isFilled(cells[index]))

  function addText({ cells }: Row, hasCode: boolean): void {
    const text = joined(cells.slice(0, headings.length))
    if (!isAside(cells)) collected.add(found, hasCode ? shorten(text, MAX_ITEM_TEXT) : text)
    else if (aside.size <= MAX_ASIDE) aside.add(text)
  }

  function see(row: Row): void {
    const { cells } = row
    // The first heading first: nearly no row has it.
    if (headingOf(cells[0]) === headings[0] && repeats(row, headings)) return
    if (cells.length > headings.length) collected.add(found, joined(cells.slice(headings.length)))
    const [hasCode, hasPrice] = [isFilled(cells[code]), isFilled(cells[price])]
    const isInTable = code >= 0 && price >= 0 ? hasCode && hasPrice : isWide(row)
    if (isInTable) {
      columns.see(cells)
      const cell = cells[price] ?? ''
      const text = isFilled(headings[price]) ? `${headings[price]}: ${cell}` : cell
      // Each price with a currency or a unit says the same.
      if (price >= 0 && !PLAIN_PRICE.test(cell)) collected.add(found, text, signOf(text))
    } else {
      addText(row, hasCode)
      // An item without a price may be one that is not for sale.
      if (hasCode && isWide(row)) columns.see(cells, (index) => layout[index]?.use === 'not for sale if')
    }
    if (isInTable || isWide(row) || PLAIN_PRICE.test(cells[price] ?? '')) onRow(row)
  }

  for await (const batch of sheet.rows())
    for (const row of batch) {
      if (row.line > headingsRow) see(row)
      else if (row.line < headingsRow) collected.add(found, joined(row.cells))
    }
  if (aside.size <= MAX_ASIDE) for (const text of aside) collected.add(found, text)
  for (const text of await sheet.notes()) collected.add(found, text)
  const { name, isHidden } = sheet
  const seen = columns.outline(sheet.hiddenColumns())
  return { name, isHidden, isUsed: true, headingsRow, columns: seen, texts: found }
}

/**
 * Outlines a sheet that is not used by its first rows. Each is a text, also the headings; but of a list, only what is no row of
 * its table. Throws `UnreadableFileError`.
 */
export async function outlineUnused(
  { sheet, rows }: SheetHead,
  { headingsRow, isList }: { headingsRow: number; isList: boolean },
  collected: ReturnType<typeof createTexts>,
): Promise<SheetOutline> {
  const found: string[] = []
  const isItem = (row: Row) => isList && row.line > headingsRow && isWide(row)
  for (const row of rows) if (!isItem(row)) collected.add(found, joined(row.cells))
  for (const text of await sheet.notes()) collected.add(found, text)
  const { name, isHidden } = sheet
  return { name, isHidden, isUsed: false, headingsRow, columns: [], texts: found }
}

/** Collects the different cells of each column, as long as they are few. */
function createColumns(headings: readonly string[]) {
  const seen = headings.map(() => new Set<string>())
  return {
    see(cells: readonly string[], isSeen = (_index: number) => true): void {
      for (const [index, values] of seen.entries())
        if (values.size <= MAX_VALUES && isSeen(index)) values.add(shorten(textOf(cells[index]), MAX_VALUE))
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
