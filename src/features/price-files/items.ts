import { createPriceReader, type Decimal, isSpreadsheetError, shorten } from '../../tables/prices.ts'
import type { Row } from '../../tables/row.ts'
import { hasLostDigits, isConverted, isShortened } from '../../tables/shortened-codes.ts'
import { texts as tableTexts } from '../../tables/texts.ts'
import { type Columns, FIELDS, type Field, namesOtherColumns } from './columns.ts'
import { ITEM_LIMITS, type Item } from './item.ts'
import { createPriceNotes } from './price-notes.ts'
import { texts } from './texts.ts'

/** A rejected row. */
export interface Problem {
  /** Line number, starting at 1. */
  line: number
  /** User-facing reason. */
  reason: string
  /** The row's cells, in full: its user corrects them in the report and uploads that. */
  cells: string[]
}

export function isProblem(result: Item | Problem): result is Problem {
  return 'reason' in result
}

export interface ItemReaderOptions {
  headings: readonly string[]
  columns: Columns
  /** Separates the cells of text; needed to recognise an unclosed quote. */
  delimiter?: string | undefined
  /** The decimal sign of the prices, if it is known. */
  decimal?: Decimal | undefined
  /** The tax that the prices include, in percent, which the import subtracts; undefined if nobody chose one. */
  gst: number | undefined
}

/** Converts rows to items. */
export interface ItemReader {
  /** Converts a row to an item, or returns the problem that prevents it. */
  read(row: Row): Item | Problem
  /** What the decimal sign of the prices can be told from. */
  readonly found: ReturnType<typeof createPriceReader>['found']
}

/** Creates a reader that validates each cell. */
export function createItemReader(options: ItemReaderOptions): ItemReader {
  const { headings, columns, delimiter, decimal, gst } = options
  const prices = createPriceReader(decimal)
  const noteProblem = createPriceNotes({ headings, columns, gst })
  const unclosedQuote = createQuoteCheck(options)
  const mapped = FIELDS.flatMap((field) => {
    const column = columns[field]
    return column === undefined ? [] : [{ field, column }]
  })

  /** The line of headings that name other columns; 0 if there is none. */
  let otherHeadings = 0

  return {
    found: prices.found,
    read(row) {
      const result = readRow(row)
      if (!isProblem(result)) {
        if (otherHeadings === 0) return result
        const reason = texts.row.otherHeadings(otherHeadings)
        return { line: row.line, reason, cells: row.cells }
      }
      if (repeatsHeadings(row.cells, headings)) otherHeadings = 0
      else if (namesOtherColumns(row.cells, options)) otherHeadings = row.line
      return result
    },
  }

  function readRow({ line, cells, numbers, struck }: Row): Item | Problem {
    const problem = (reason: string): Problem => ({ line, reason, cells })
    const rowProblem = shapeProblem(cells, options) ?? (delimiter ? unclosedQuote(cells) : undefined)
    if (rowProblem) return problem(rowProblem)
    const item: Item = { code: '', price: 0 }
    for (const { field, column } of mapped) {
      const cell = textOf(cells[column])
      if (field === 'price') {
        const price = prices.read(cell, numbers?.[column])
        if (typeof price === 'string') return problem(price)
        if (struck?.includes(column)) return problem(texts.row.struck(cell))
        item.price = gst ? withoutTax(price, gst) : price
        continue
      }
      if (cell === '') continue
      if (field === 'code' && (numbers?.[column] ?? 0) >= MAX_NUMBER)
        return problem(tableTexts.code.shortened(cell))
      const reason = textProblem(field, cell)
      if (reason) return problem(reason)
      item[field] = cell
    }
    if (item.code === '') return problem(texts.row.noCode)
    if (isSumName(item.name)) return problem(texts.row.sum(item.name))
    const reason = noteProblem(cells)
    return reason ? problem(reason) : item
  }
}

/** Creates a check for rows that seem to include others. */
function createQuoteCheck({ headings, columns, delimiter, decimal }: ItemReaderOptions) {
  const isPrice = (cell = '') => typeof createPriceReader(decimal ?? 'point').read(textOf(cell)) === 'number'

  /** Whether a line of a cell has a code and a price where the file has them. */
  function isItem(line: string): boolean {
    const cells = line.split(delimiter ?? ',')
    return textOf(cells[columns.code ?? -1]) !== '' && isPrice(cells[columns.price ?? -1])
  }

  /**
   * Detects an unclosed quote, which merges several rows into one cell: the row is complete if only the first line of
   * that cell is used. Without this check, the merged rows would be lost and the first item would get the last row's
   * price.
   */
  function unclosedQuote(cells: string[]): string | undefined {
    // Runs for every cell: avoid allocations for cells without a line break.
    for (let index = 0; index < cells.length; index++) {
      const cell = cells[index] ?? ''
      if (!cell.includes('\n') && !cell.includes('\r')) continue
      const lines = cell.split(/\r\n|\n|\r/)
      const row = [...cells.slice(0, index), ...(lines[0] ?? '').split(delimiter ?? ',')]
      const price = row[columns.price ?? -1]?.trim() ?? ''
      const isRow = row.length === headings.length || cells.length < headings.length
      if ((isRow && isPrice(price)) || lines.slice(1).some(isItem))
        return texts.row.unclosedQuote(lines.length)
    }
    return undefined
  }

  return unclosedQuote
}

/** The text of a cell. `="00123"` is how a spreadsheet is made to keep the zeros of 00123. */
function textOf(cell = ''): string {
  // A report of problems has an apostrophe before what a spreadsheet would take for a formula, and exports of spreadsheets
  // have one before zeros to keep.
  const text = /^\s*'([=+@＝＋－＠-]|0\d*\s*$)/.test(cell) ? cell.trim().slice(1) : cell.trim()
  return text.startsWith('="') && text.endsWith('"') && text.length > 2 ? text.slice(2, -1) : text
}

/** To the cent, half up. 15 digits first: 1.005 dollars are 100.49999999999999 cents to a computer. */
const withoutTax = (price: number, gst: number) =>
  Math.round(Number(((price / (1 + gst / 100)) * 100).toPrecision(15))) / 100

/** Checks that a row has no cells without a heading, and does not repeat the headings. */
function shapeProblem(cells: string[], { headings, delimiter }: ItemReaderOptions): string | undefined {
  const { length } = headings
  if (cells.length > length && cells.slice(length).some((cell) => cell.trim() !== '')) {
    const { cells: tooMany, cellsWithoutHeadings } = texts.row
    return (delimiter ? tooMany : cellsWithoutHeadings)(cells.length, length)
  }
  return repeatsHeadings(cells, headings) ? texts.row.repeatedHeadings : undefined
}

// Compares one cell first: it rules out nearly every row.
const repeatsHeadings = (cells: readonly string[], headings: readonly string[]): boolean =>
  cells[0]?.trim() === headings[0] &&
  headings.every((heading, index) => (cells[index] ?? '').replace(/\s+/g, ' ').trim() === heading)

function textProblem(field: Field, cell: string): string | undefined {
  const max = field === 'code' ? ITEM_LIMITS.code : ITEM_LIMITS.text
  if (cell.length > max) return texts.row.tooLong(texts.fields[field], cell.length, max)
  if (isSpreadsheetError(cell)) return texts.row.formulaError(texts.fields[field], shorten(cell))
  if (field === 'code') return codeProblem(cell)
  if (UNPRINTABLE.test(cell)) return texts.row.invisible(texts.fields[field])
  if (field === 'unit' && /^\d+\.\d\d$/.test(cell)) return texts.row.numberAsUnit(cell)
  return undefined
}

/** A spreadsheet keeps 15 digits of a number. */
const MAX_NUMBER = 1e15

/** `Sub-total`, `TOTAL (inc GST)`, `GST 10%`. */
const SUM =
  /^(averages?|(total|number|no\.?) (of )?(items|lines|products)|page totals?|(carried|brought) (forward|over|down)|[cb]\/f(wd)?|(sub|grand|net)?[\s-]*totals?\s*:?(\s*\(?(ex|exc|excl|inc|incl|excluding|including|aud|nzd|gst|amount|value)\b.*)?|(plus |add |\+)?gst( \(?\d+ ?%\)?)?:?)$/i

const isSumName = (name: string | undefined): name is string =>
  name !== undefined && name.length < 40 && SUM.test(name) && !/^(gst|net)/i.test(name)

function codeProblem(code: string): string | undefined {
  // Nearly every code is ASCII, which is faster to test.
  if (!/^[ -~]*$/.test(code) && /[\p{Cc}\p{Cf}]/u.test(code)) return texts.row.invisible(texts.fields.code)
  if (isShortened(code) || hasLostDigits(code)) return tableTexts.code.shortened(code)
  if (isConverted(code)) return tableTexts.code.converted(code)
  if (SUM.test(code) || /\btotals?\s*:?$/i.test(code)) return texts.row.sum(code)
  if (code.endsWith(':')) return texts.row.label(code)
  if (/^(nan|null|none|true|false|#?n\/a|[-.]+)$/i.test(code)) return texts.row.noCode
  return undefined
}

/** Control characters other than tabs and line breaks, and characters that change the text direction. */
const UNPRINTABLE = /[^\P{Cc}\t\n\r]|\p{Bidi_Control}/u
