import type { Row } from '../../csv/rows.ts'
import { type Columns, FIELDS } from './columns.ts'
import { ITEM_LIMITS, type Item } from './contract.ts'
import { createSeenCodes } from './seen-codes.ts'

/** A rejected row. */
export interface Problem {
  /** Line number, starting at 1. */
  line: number
  /** User-facing reason. */
  reason: string
  /** The row's cells, truncated for display. */
  cells: string[]
}

export interface ItemReader {
  /** Converts a row to an item, or returns the problem that prevents it. */
  read(row: Row): Item | Problem
}

/** Maximum length of a cell in a report, in characters. */
const MAX_CELL_LENGTH = 200
/**
 * First characters that make a spreadsheet treat text as a formula (OWASP, CSV injection), including full-width forms.
 */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/

export function isProblem(result: Item | Problem): result is Problem {
  return 'reason' in result
}

/**
 * Converts rows to items. Validates each cell and rejects duplicate codes (the first row with a code wins).
 * `expected` is the estimated number of rows, which sizes the table of codes.
 */
export function createItemReader(
  { headings, delimiter }: { headings: readonly string[]; delimiter: string },
  columns: Columns,
  expected?: number,
): ItemReader {
  // Locales that use a decimal comma separate CSV cells with semicolons.
  const parsePrice = delimiter === ';' ? parsePriceWithComma : parsePriceWithPoint
  const seen = createSeenCodes(expected)
  const mapped = FIELDS.flatMap((field) => {
    const column = columns[field]
    return column === undefined ? [] : [{ field, column }]
  })

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
      const row = [...cells.slice(0, index), ...(lines[0] ?? '').split(delimiter)]
      const price = row[columns.price ?? -1]?.trim() ?? ''
      if (row.length === headings.length && typeof parsePrice(price) === 'number')
        return `a quote is not closed: one cell contains ${lines.length} lines that look like rows.`
    }
    return undefined
  }

  return {
    read({ line, cells }) {
      const problem = (reason: string): Problem => ({ line, reason, cells: cells.slice(0, 50).map(truncate) })
      const rowProblem = shapeProblem(cells, headings) ?? unclosedQuote(cells)
      if (rowProblem) return problem(rowProblem)
      const item: Item = { code: '', price: 0 }
      for (const { field, column } of mapped) {
        const cell = (cells[column] ?? '').trim()
        if (field === 'price') {
          const price = parsePrice(cell)
          if (typeof price === 'string') return problem(price)
          item.price = price
          continue
        }
        if (cell === '') continue
        const reason = textProblem(field, cell)
        if (reason) return problem(reason)
        item[field] = cell
      }
      if (item.code === '') return problem('the code is missing.')
      const earlier = seen.add(item.code, line)
      if (earlier !== undefined)
        return problem(`the code "${truncate(item.code)}" already occurs on line ${earlier}, which is used.`)
      return item
    },
  }
}

/** Checks that a row has the right number of cells and does not repeat the headings. */
function shapeProblem(cells: string[], headings: readonly string[]): string | undefined {
  const { length } = headings
  if (cells.length < length) return `it has ${cells.length} cells instead of ${length}.`
  if (cells.length > length && cells.slice(length).some((cell) => cell.trim() !== ''))
    return `it has ${cells.length} cells instead of ${length}; a cell may need quotes.`
  // Compare one cell first: it rules out nearly every row.
  if (
    cells[0]?.trim() === headings[0] &&
    headings.every((heading, index) => cells[index]?.trim() === heading)
  )
    return 'this row repeats the headings.'
  return undefined
}

function textProblem(field: string, cell: string): string | undefined {
  const max = field === 'code' ? ITEM_LIMITS.code : ITEM_LIMITS.text
  if (cell.length > max) return `the ${field} has ${cell.length} characters; the maximum is ${max}.`
  const first = cell.charCodeAt(0)
  // Nearly every cell starts with a letter or digit, and checking for that is faster than the regular expression.
  if (first < 0x30 || first > 0x7a || first === 0x3d || first === 0x40) {
    if (FORMULA.test(cell))
      return `the ${field} starts with "${cell[0]}", which spreadsheets treat as a formula; start it with a letter or digit.`
  }
  if (field === 'code' ? /[\p{Cc}\p{Cf}]/u.test(cell) : UNPRINTABLE.test(cell))
    return `the ${field} contains a line break or an invisible character.`
  return undefined
}

/** Control characters other than tabs and line breaks, and characters that change the text direction. */
const UNPRINTABLE = /[^\P{Cc}\t\n\r]|\p{Bidi_Control}/u

const POINT = /^\d{0,10}\.?\d{1,10}$/
const POINT_THOUSANDS = /^[1-9]\d{0,2}(,\d{3})+(\.\d{1,10})?$/
const COMMA = /^\d{1,10},\d{1,10}$/
const COMMA_THOUSANDS = /^[1-9]\d{0,2}(\.\d{3})+(,\d{1,10})?$/
const fromCommaFormat = (text: string) => Number(text.replaceAll('.', '').replace(',', '.'))

/** Returns a price without its currency sign, or the problem with it. */
function parseDigits(cell: string): { digits: string } | string {
  if (cell === '') return 'the price is missing.'
  if (/^\$?\s*[-−(]|-$/.test(cell)) return 'the price is negative.'
  return { digits: cell.replace(/^\$\s*/, '') }
}

/**
 * Parses a price in dollars: `1234.5`, `$1,234.50`. A comma before exactly three digits separates thousands; before one
 * or two digits, or after a zero, it is the decimal separator. Returns the problem if the price is invalid.
 */
function parsePriceWithPoint(cell: string): number | string {
  if (POINT.test(cell)) return checkRange(Number(cell))
  const parsed = parseDigits(cell)
  if (typeof parsed === 'string') return parsed
  const { digits } = parsed
  if (POINT.test(digits)) return checkRange(Number(digits))
  if (POINT_THOUSANDS.test(digits)) return checkRange(Number(digits.replaceAll(',', '')))
  if (/^\d+,\d{1,2}$|^0,\d{1,10}$/.test(digits) || (COMMA_THOUSANDS.test(digits) && digits.includes(',')))
    return checkRange(fromCommaFormat(digits))
  return unknownFormat(cell, '1234.50')
}

/** Parses a price with a decimal comma: `1234,5`, `1.234,50`. Returns the problem if it is invalid or ambiguous. */
function parsePriceWithComma(cell: string): number | string {
  const parsed = parseDigits(cell)
  if (typeof parsed === 'string') return parsed
  const { digits } = parsed
  if (/^[1-9]\d{0,2}\.\d{3}$/.test(digits))
    return `the price "${truncate(cell)}" could mean ${digits.replace('.', '')} or ${digits.replace('.', ',')}; write it with two decimals.`
  if (COMMA.test(digits) || COMMA_THOUSANDS.test(digits)) return checkRange(fromCommaFormat(digits))
  if (POINT.test(digits)) return checkRange(Number(digits))
  if (POINT_THOUSANDS.test(digits) && digits.includes('.'))
    return checkRange(Number(digits.replaceAll(',', '')))
  return unknownFormat(cell, '1234,50')
}

function unknownFormat(cell: string, example: string): string {
  return `the price "${truncate(cell)}" is invalid; write it as ${example}.`
}

function checkRange(price: number): number | string {
  return price <= ITEM_LIMITS.price ? price : 'the price exceeds one billion dollars.'
}

/** Truncates a cell for a report or page. */
function truncate(cell: string): string {
  if (cell.length <= MAX_CELL_LENGTH) return cell
  // Copy the text: a slice would keep the whole cell in memory.
  return `${Buffer.from(cell.slice(0, MAX_CELL_LENGTH)).toString()}… (${cell.length} characters)`
}
