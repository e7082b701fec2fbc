import { UnreadableFileError } from '../../tables/errors.ts'
import { type Decimal, shorten } from '../../tables/prices.ts'
import type { Row } from '../../tables/row.ts'
import { openTable, type Table } from '../../tables/table.ts'
import {
  type ColumnGuess,
  type Columns,
  countFields,
  FIELDS,
  guessColumns,
  isExplicit,
  isNumber,
  isTaxColumn,
  isTaxMark,
  mayIncludeTax,
  namesOtherPrices,
  REQUIRED,
  saysTaxExcluded,
  saysTaxIncluded,
} from './columns.ts'

/** How to read a file, as far as its user has chosen; the rest is recognised. */
export interface Choices {
  columns?: Columns | undefined
  /** The line of the headings; 0 if the file has none. */
  headingsLine?: number | undefined
  /** The name or the number, counted from 1, of the sheet of a workbook. */
  sheet?: string | undefined
  decimal?: Decimal | undefined
  /** The tax that the prices include, in percent: it is removed. 0 sends the prices as they are. */
  gst?: number | undefined
}

/** What only the user can know. */
export const QUESTIONS = ['headings', 'columns', 'decimal', 'gst'] as const
export type Question = (typeof QUESTIONS)[number]

/** How a price file is laid out: recognised, or as its user has chosen. */
export interface Layout {
  headings: string[]
  /** The line of the headings; 0 if the file has none. */
  headingsLine: number
  /** The sheet that is read, and all visible ones; null and empty for text. */
  sheet: string | null
  sheets: string[]
  columns: Columns
  /** Whether a row above the headings says that prices include tax. */
  saysTaxIncluded: boolean
  /** Whose answers are needed. */
  questions: Question[]
  /** User-facing sentences that ask the questions; empty if there are none. */
  mappingErrors: string[]
  /** User-facing sentences on what was assumed. */
  remarks: string[]
  /** The first rows, unparsed. */
  sample: string[][]
}

export interface PriceFile {
  layout: Layout
  /** What the cells of delimited text are separated by. */
  delimiter: string | undefined
  /** The rows below the headings. Can be read only once. */
  rows: AsyncGenerator<Row[]>
  /** Remarks that are complete when all rows have been read. */
  lateRemarks: readonly string[]
  /** Closes the file if its rows are not read. */
  close(): Promise<void>
}

const SAMPLE_ROWS = 3

/** Opens a price file for streaming. Throws `UnreadableFileError`, also while reading the rows. */
export async function openPriceFile(path: string, choices: Choices = {}): Promise<PriceFile> {
  const table = await openTable(path, choices)
  const first: Row[] = []
  for (let next = await table.rows.next(); !next.done; next = await table.rows.next()) {
    first.push(...next.value)
    if (first.length >= SEARCHED_ROWS) break
  }
  const next = table.sheets[table.sheets.indexOf(table.sheet ?? '') + 1]
  // A blank sheet or a cover: the list is on the next one.
  if (first.length < 2 && choices.sheet === undefined && next !== undefined)
    return openPriceFile(path, { ...choices, sheet: next })
  const searched = first.slice(0, SEARCHED_ROWS)
  const place = findHeadings(searched, choices.headingsLine, table.sheet)
  const items = searched.slice(place.skip).map(({ cells }) => cells)
  const guess = guessColumns(place.headings, items)
  const columns = choices.columns ?? guess.columns
  return {
    layout: {
      headings: place.headings,
      headingsLine: place.line,
      sheet: table.sheet ?? null,
      sheets: table.sheets,
      columns,
      saysTaxIncluded: place.saysTaxIncluded,
      ...questionsOf({ columns, choices, place, guess, items }),
      remarks: [...table.remarks, ...sheetRemark(table), ...titleRemark(place)],
      sample: items.slice(0, SAMPLE_ROWS).map((cells) => cells.slice(0, 50).map((cell) => cell.slice(0, 60))),
    },
    delimiter: table.delimiter,
    lateRemarks: table.lateRemarks,
    rows: (async function* () {
      yield first.slice(place.skip)
      yield* table.rows
    })(),
    async close() {
      await table.rows.return(undefined)
    },
  }
}

/** Rows of other sheets must not be missed. */
function sheetRemark({ sheet, sheets }: Pick<Table, 'sheet' | 'sheets'>): string[] {
  const others = sheets.filter((name) => name !== sheet).map((name) => `"${name}"`)
  if (others.length === 0) return []
  return [
    `Only the sheet "${sheet}" is sent, not ${others.slice(0, 5).join(', ')}${others.length > 5 ? ' and others' : ''}.`,
  ]
}

function titleRemark({ line, skip }: Headings): string[] {
  if (skip <= 1) return []
  const above = skip === 2 ? '1 row above them is' : `${skip - 1} rows above them are`
  return [`The headings are on line ${line}; the ${above} not sent.`]
}

interface Recognised {
  columns: Columns
  choices: Choices
  place: Headings
  guess: ColumnGuess
  items: readonly string[][]
}

function questionsOf({ columns, choices, place, guess, items }: Recognised) {
  const questions: Question[] = []
  const mappingErrors: string[] = []
  const ask = (question: Question, texts: string[]) => {
    if (texts.length === 0) return
    questions.push(question)
    mappingErrors.push(...texts)
  }
  if (place.isUnsure)
    ask('headings', [
      'The first row looks like an item, not like headings. Enter the row of the headings, or 0 if the file has none.',
    ])
  ask('columns', choices.columns ? columnErrors(columns, place.headings) : guess.mappingErrors)
  const isExplicitPrice = isExplicit(place.headings[columns.price ?? -1] ?? '')
  if (place.otherPrices && !isExplicitPrice && !choices.columns && guess.mappingErrors.length === 0)
    ask('columns', [
      `"${shorten(place.otherPrices, 60)}" above the headings may mean that the prices are not recommended retail prices of one unit in dollars: choose the price.`,
    ])
  if (columns.price !== undefined && choices.gst === undefined) {
    const sign = signOfTax(place, columns.price, items)
    if (sign) ask('gst', [taxQuestion(sign)])
  }
  return { questions, mappingErrors }
}

/** What says that prices include tax, as the start of a sentence. */
function signOfTax(
  { headings, saysTaxIncluded: isInTitle }: Headings,
  price: number,
  items: readonly string[][],
) {
  const heading = headings[price] ?? ''
  if (saysTaxIncluded(heading)) return `The heading "${heading}" says`
  if (mayIncludeTax(heading)) return `The heading "${heading}" may mean`
  if (saysTaxExcluded(heading)) return undefined
  if (isInTitle) return 'A row above the headings says'
  const flag = headings.find(
    (name, at) => at !== price && isTaxColumn(name) && items.some((cells) => isTaxMark(cells[at] ?? '')),
  )
  return flag === undefined ? undefined : `The column "${flag}" says`
}

export const taxQuestion = (whatSaysSo: string) =>
  `${whatSaysSo} that prices include GST, but the platform expects prices before tax: choose whether to remove it.`

/** The problems with chosen columns. */
function columnErrors(columns: Columns, headings: readonly string[]): string[] {
  const errors = REQUIRED.filter((field) => columns[field] === undefined).map(
    (field) => `Choose the column for the ${field}.`,
  )
  const chosen = FIELDS.flatMap((field) => columns[field] ?? [])
  if (chosen.some((column) => column >= headings.length)) errors.push('A chosen column is not in the file.')
  if (new Set(chosen).size < chosen.length) errors.push('Two fields use the same column.')
  return errors
}

interface Headings {
  /** The trimmed headings; `Column 1` and so on if the file has none. */
  headings: string[]
  /** The line of the headings, or 0 if the file has none. */
  line: number
  /** How many of the first rows are above the table or are its headings. */
  skip: number
  /** Whether the first row looks like an item, so that it is not known whether the file has headings. */
  isUnsure: boolean
  /** Whether a row above the headings says that prices include tax. */
  saysTaxIncluded: boolean
  /** The title that says that the prices are others than those that the platform expects. */
  otherPrices?: string | undefined
}

/** How many rows are searched for the headings. */
const SEARCHED_ROWS = 40
const MAX_COLUMNS = 500
const MAX_HEADING_LENGTH = 200

/**
 * Finds the headings among the first rows, which may begin with titles. `line`: the line of the headings, if the user
 * chose it; 0 means that the file has none. `sheet`: its name, which is a title too. Throws `UnreadableFileError`.
 */
function findHeadings(rows: readonly Row[], line?: number, sheet = ''): Headings {
  const [first] = rows
  if (!first) throw new UnreadableFileError(1, 'the file has no rows.')
  if (line === 0) return withoutHeadings(rows)
  const index = line === undefined ? indexOfHeadings(rows) : rows.findIndex((row) => row.line === line)
  const row = rows[index]
  if (!row) {
    if (line === undefined) return { ...withoutHeadings(rows), isUnsure: true }
    throw new UnreadableFileError(
      line,
      `it is blank, or not among the first ${SEARCHED_ROWS} rows, so it cannot be the headings.`,
    )
  }
  const headings = row.cells.map((cell) => cell.replace(/\s+/g, ' ').trim())
  while (headings.at(-1) === '') headings.pop()
  if (headings.length > MAX_COLUMNS)
    throw new UnreadableFileError(
      row.line,
      `it has ${headings.length} columns; the maximum is ${MAX_COLUMNS}.`,
    )
  if (headings.some((heading) => heading.length > MAX_HEADING_LENGTH))
    throw new UnreadableFileError(row.line, `a heading is longer than ${MAX_HEADING_LENGTH} characters.`)
  const titles = [sheet, ...rows.slice(0, index).flatMap(({ cells }) => cells)]
  return {
    headings,
    line: row.line,
    skip: index + 1,
    isUnsure: false,
    saysTaxIncluded: titles.some(saysTaxIncluded),
    otherPrices: titles.find(namesOtherPrices),
  }
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

function withoutHeadings(rows: readonly Row[]): Headings {
  const width = Math.min(Math.max(...rows.map(({ cells }) => cells.length)), MAX_COLUMNS)
  return {
    headings: Array.from({ length: width }, (_, index) => `Column ${index + 1}`),
    line: 0,
    skip: 0,
    isUnsure: false,
    saysTaxIncluded: false,
  }
}
