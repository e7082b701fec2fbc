import { basename } from 'node:path'
import { UnreadableFileError } from '../../tables/errors.ts'
import type { MergedCells, Row, Table } from '../../tables/row.ts'
import { openTable } from '../../tables/table.ts'
import { type Columns, countFields, guessColumns, isNumber } from './columns.ts'
import {
  cleanHeading,
  findHeadings,
  type Headings,
  MAX_HEADINGS_LINE,
  type Note,
  SEARCHED_ROWS,
} from './headings.ts'
import { type Choices, type Question, questionsOf } from './questions.ts'
import { saysTaxIncluded } from './tax.ts'
import { texts } from './texts.ts'

/** How a price file is laid out: recognised, or as its user has chosen. */
export interface Layout {
  headings: string[]
  /** The line of the headings; 0 if the file has none. */
  headingsLine: number
  /** The sheet that is read, and all visible ones; null and empty for text. */
  sheet: string | null
  sheets: string[]
  columns: Columns
  /** Whether a note around the table says that prices include tax. */
  saysTaxIncluded: boolean
  /** Whose answers are needed. */
  questions: Question[]
  /** Whether the question about the columns is only if the prices are those of the recognised column. */
  isPriceDoubtful: boolean
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
  /** What is printed above and below each page, complete when all rows have been read. */
  printed: readonly string[]
  /** The texts of comments and of text boxes on the sheet. */
  comments: readonly string[]
  /** Cells that are merged with those below them, complete when all rows have been read. */
  merged: readonly MergedCells[]
  /** Closes the file if its rows are not read. */
  close(): Promise<void>
}

const SAMPLE_ROWS = 3

/**
 * Opens a price file for streaming. `fileName`: its name for the user, which may say what prices it has. Throws
 * `UnreadableFileError`, also while reading the rows.
 */
export async function openPriceFile(
  path: string,
  choices: Choices = {},
  fileName = basename(path),
): Promise<PriceFile> {
  const { corrects } = choices
  if (!corrects) return openSheet(path, choices, fileName, choices.sheet)
  const reportChoices = await choicesOfReport(path, choices, corrects)
  if (reportChoices) return openSheet(path, reportChoices, fileName, reportChoices.sheet)
  const file = await openSheet(path, choices, fileName, choices.sheet)
  const { headings, headingsLine } = file.layout
  if (headingsLine > 0 && isSame(headings, corrects)) return file
  await file.close()
  // Columns of another file would be read as codes and prices; a file without headings cannot be told from another one.
  throw new UnreadableFileError(1, texts.unreadable.notTheReport)
}

async function openSheet(
  path: string,
  choices: Choices,
  fileName: string,
  sheet: string | undefined,
): Promise<PriceFile> {
  const table = await openTable(path, { sheet })
  const first = await firstRows(table, choices.headingsLine)
  const searched = choices.headingsLine ? first : first.slice(0, SEARCHED_ROWS)
  const others = await table.readOther()
  const list = choices.sheet === undefined ? listSheet(table, first, others) : undefined
  if (list !== undefined && list !== sheet) return openSheet(path, choices, fileName, list)
  const names = [texts.places.fileName, fileName.replace(/\.\w+$/, ''), true] as const
  const place = findHeadings(searched, choices.headingsLine, [
    names,
    ...(table.sheet === undefined ? [] : [[texts.places.sheetName, table.sheet, true] as const]),
    ...notesOf(others),
  ])
  const items = searched.slice(place.skip).map(({ cells }) => cells)
  const guess = guessColumns(place.headings, items)
  const columns = choices.columns ?? guess.columns
  const rival = choices.sheet === undefined ? withOtherPrices(others, items, columns) : undefined
  return {
    layout: {
      headings: place.headings,
      headingsLine: place.line,
      saysTaxIncluded: place.notes.some(([, note]) => saysTaxIncluded(note)),
      sheet: table.sheet ?? null,
      sheets: table.sheets,
      columns,
      ...questionsOf({
        columns,
        choices,
        place,
        guess,
        items,
        hiddenColumns: table.hiddenColumns,
        sheetQuestion: rival && texts.questions.sheet(table.sheet ?? '', rival.sheet),
      }),
      remarks: [...table.remarks, ...sheetRemark(table), ...titleRemark(place)],
      sample: items.slice(0, SAMPLE_ROWS).map((cells) => cells.slice(0, 50).map((cell) => cell.slice(0, 60))),
    },
    delimiter: table.delimiter,
    lateRemarks: table.lateRemarks,
    printed: table.printed,
    comments: table.comments,
    merged: table.merged,
    rows: (async function* () {
      yield first.slice(place.skip)
      yield* table.rows
    })(),
    async close() {
      await table.rows.return(undefined)
    },
  }
}

/** How many columns a report has before those of the file: the line and the reason. */
const REPORT_COLUMNS = 2

/**
 * How to read the report of the problems of a file, whose user has corrected the rows: as the file was, but its columns come
 * after the line and the reason. Undefined if the headings of that file are not there: it is no such report.
 */
async function choicesOfReport(
  path: string,
  choices: Choices,
  headings: readonly string[],
): Promise<Choices | undefined> {
  const table = await openTable(path)
  const rows = await firstRows(table)
  await table.rows.return(undefined)
  const headingsRow = rows.find(({ cells }) =>
    isSame(cells.slice(REPORT_COLUMNS).map(cleanHeading), headings),
  )
  if (!headingsRow) return undefined
  const columns = Object.fromEntries(
    Object.entries(choices.columns ?? {}).map(([field, column]) => [field, column + REPORT_COLUMNS]),
  )
  return { ...choices, columns, headingsLine: headingsRow.line, sheet: table.sheet }
}

/** Whether cells are these headings; in a report, those that would be formulas have an apostrophe. */
function isSame(cells: readonly string[], headings: readonly string[]): boolean {
  const width = cells.findLastIndex((cell) => cell !== '') + 1
  return (
    width === headings.length &&
    headings.every((heading, index) => cells[index] === heading || cells[index] === `'${heading}`)
  )
}

/** The sheet to read in place of a blank one or a cover; undefined if there is none. */
function listSheet({ sheets, sheet }: Table, first: readonly Row[], others: readonly OtherSheet[]) {
  if (isList(first)) return undefined
  const next = sheets[sheets.indexOf(sheet ?? '') + 1]
  return others.find(({ rows }) => isList(rows))?.sheet ?? (first.length < 2 ? next : undefined)
}

/** Whether some rows have headings of a list of items, unlike those of a cover. */
const isList = (rows: readonly Row[]) => rows.some(({ cells }) => countFields(cells) >= 2)

/** The rows among which the headings are. */
async function firstRows({ rows }: Table, headingsLine = 0): Promise<Row[]> {
  const first: Row[] = []
  const needed = Math.min(Math.max(SEARCHED_ROWS, headingsLine), MAX_HEADINGS_LINE)
  for (let next = await rows.next(); !next.done; next = await rows.next()) {
    first.push(...next.value)
    if (first.length >= SEARCHED_ROWS && (first.at(-1)?.line ?? 0) >= needed) break
  }
  return first
}

type OtherSheet = Awaited<ReturnType<Table['readOther']>>[number]

/** What other sheets say about the prices, unless they have prices of their own. */
function notesOf(others: readonly OtherSheet[]): Note[] {
  const notes: Note[] = []
  for (const { sheet, rows } of others) {
    if (isList(rows)) continue
    for (const text of rows.flatMap(({ cells }) => cells)) notes.push([texts.places.sheet(sheet), text])
  }
  return notes
}

/** Another sheet that has one of these items at another price: last year's list, or another price level. */
function withOtherPrices(
  others: readonly OtherSheet[],
  items: readonly string[][],
  { code = -1, price = -1 }: Columns,
): OtherSheet | undefined {
  const prices = new Map(items.map((cells) => [cells[code]?.trim(), cells[price]?.trim()]))
  const isOther = ({ cells }: Row) => {
    const own = prices.get(cells[code]?.trim())
    const other = cells[price]?.trim() ?? ''
    return own !== undefined && own !== other && isNumber(own) && isNumber(other)
  }
  return others.find(({ rows }) => rows.some(isOther))
}

/** Rows of other sheets must not be missed. */
function sheetRemark({ sheet, sheets }: Pick<Table, 'sheet' | 'sheets'>): string[] {
  const others = sheets.filter((name) => name !== sheet)
  if (others.length === 0) return []
  const { otherSheets, manyOtherSheets } = texts.remarks
  return [(others.length > 5 ? manyOtherSheets : otherSheets)(sheet ?? '', others.slice(0, 5))]
}

function titleRemark({ line, titles }: Headings): string[] {
  return titles === 0 ? [] : [texts.remarks.titles(line, titles)]
}
