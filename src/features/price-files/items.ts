import type { Row } from '../../csv/rows.ts'
import { type Columns, FIELDS } from './columns.ts'
import { ITEM_LIMITS, type Item } from './contract.ts'
import { createSeenCodes } from './seen-codes.ts'

/** A row that cannot go, and why, in words for the user. */
export interface Problem {
  /** Counted from 1. */
  line: number
  reason: string
  /** The row's cells, each cut to what a report can show. */
  cells: string[]
}

export interface ItemReader {
  /** The row as an item, or what is wrong with it. */
  read(row: Row): Item | Problem
}

/** Characters of a cell that a report shows. */
const SHOWN = 200
/** What makes a spreadsheet take text for a formula (OWASP, CSV injection), full-width forms included. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/

export function isProblem(read: Item | Problem): read is Problem {
  return 'reason' in read
}

/**
 * Turns rows into items. Checks each cell and, over the whole file, that no code comes twice (the first one counts).
 * `expected` is how many rows there may be: a hint that spares memory.
 */
export function createItemReader(
  { headings, delimiter }: { headings: readonly string[]; delimiter: string },
  columns: Columns,
  expected?: number,
): ItemReader {
  // Semicolons separate where the comma is the decimal sign.
  const priceOf = delimiter === ';' ? priceWithComma : priceWithPoint
  const seen = createSeenCodes(expected)
  const mapped = FIELDS.flatMap((field) => {
    const column = columns[field]
    return column === undefined ? [] : [{ field, column }]
  })

  /**
   * Rows that an open quote made into one cell: with the first line of that cell the row would be whole, its price
   * included. Taken for text the others would be lost, and the last one's price would go to the first one's item.
   */
  function swallowed(cells: string[]): string | undefined {
    // Looked at for every cell of a file, so that nothing is made for those without a line break.
    for (let at = 0; at < cells.length; at++) {
      const cell = cells[at] ?? ''
      if (!cell.includes('\n') && !cell.includes('\r')) continue
      const lines = cell.split(/\r\n|\n|\r/)
      const row = [...cells.slice(0, at), ...(lines[0] ?? '').split(delimiter)]
      const price = row[columns.price ?? -1]?.trim() ?? ''
      if (row.length === headings.length && typeof priceOf(price) === 'number')
        return `a quote is opened and not closed where it should be: a cell holds ${lines.length} lines that look like rows.`
    }
    return undefined
  }

  return {
    read({ line, cells }) {
      const problem = (reason: string): Problem => ({ line, reason, cells: cells.slice(0, 50).map(shown) })
      const wrong = misshapen(cells, headings) ?? swallowed(cells)
      if (wrong) return problem(wrong)
      const item: Item = { code: '', price: 0 }
      for (const { field, column } of mapped) {
        const cell = (cells[column] ?? '').trim()
        if (field === 'price') {
          const price = priceOf(cell)
          if (typeof price === 'string') return problem(price)
          item.price = price
          continue
        }
        if (cell === '') continue
        const reason = textFault(field, cell)
        if (reason) return problem(reason)
        item[field] = cell
      }
      if (item.code === '') return problem('the code is missing.')
      const earlier = seen.add(item.code, line)
      if (earlier !== undefined)
        return problem(`the code "${shown(item.code)}" is on line ${earlier} already; that one is used.`)
      return item
    },
  }
}

/** What is wrong with a row as a whole. */
function misshapen(cells: string[], headings: readonly string[]): string | undefined {
  const { length } = headings
  if (cells.length < length) return `it has ${cells.length} cells where the headings have ${length}.`
  if (cells.length > length && cells.slice(length).some((cell) => cell.trim() !== ''))
    return `it has ${cells.length} cells where the headings have ${length}; is a quote missing around a cell?`
  // One cell is compared before all of them are.
  if (cells[0]?.trim() === headings[0] && headings.every((heading, at) => cells[at]?.trim() === heading))
    return 'these are the headings again.'
  return undefined
}

function textFault(field: string, cell: string): string | undefined {
  const most = field === 'code' ? ITEM_LIMITS.code : ITEM_LIMITS.text
  if (cell.length > most) return `the ${field} has ${cell.length} characters; at most ${most} are allowed.`
  const first = cell.charCodeAt(0)
  // Letters and digits begin nearly every cell, and to see that is quicker than the expression.
  if (first < 0x30 || first > 0x7a || first === 0x3d || first === 0x40) {
    if (FORMULA.test(cell))
      return `the ${field} begins with "${cell[0]}", which a spreadsheet takes for a formula; begin it with a letter or digit.`
  }
  if (field === 'code' ? /[\p{Cc}\p{Cf}]/u.test(cell) : UNPRINTABLE.test(cell))
    return `the ${field} has a line break or another character that cannot be seen.`
  return undefined
}

/** Control characters that no text has, other than tabs and line breaks; and those that turn its direction. */
const UNPRINTABLE = /[^\P{Cc}\t\n\r]|\p{Bidi_Control}/u

const POINT = /^\d{0,10}\.?\d{1,10}$/
const POINT_THOUSANDS = /^[1-9]\d{0,2}(,\d{3})+(\.\d{1,10})?$/
const COMMA = /^\d{1,10},\d{1,10}$/
const COMMA_THOUSANDS = /^[1-9]\d{0,2}(\.\d{3})+(,\d{1,10})?$/
const fromComma = (text: string) => Number(text.replaceAll('.', '').replace(',', '.'))

/** The digits of a price, or what is wrong with it. */
function digitsOf(cell: string): { digits: string } | string {
  if (cell === '') return 'the price is missing.'
  if (/^\$?\s*[-−(]|-$/.test(cell)) return 'the price is negative.'
  return { digits: cell.replace(/^\$\s*/, '') }
}

/**
 * A price in dollars: `1234.5`, `$1,234.50`. A comma before exactly three digits separates thousands; before one or
 * two, or after a zero, it is the decimal sign.
 */
function priceWithPoint(cell: string): number | string {
  if (POINT.test(cell)) return inRange(Number(cell))
  const read = digitsOf(cell)
  if (typeof read === 'string') return read
  const { digits } = read
  if (POINT.test(digits)) return inRange(Number(digits))
  if (POINT_THOUSANDS.test(digits)) return inRange(Number(digits.replaceAll(',', '')))
  if (/^\d+,\d{1,2}$|^0,\d{1,10}$/.test(digits) || (COMMA_THOUSANDS.test(digits) && digits.includes(',')))
    return inRange(fromComma(digits))
  return unreadable(cell, '1234.50')
}

/** A price where the comma is the decimal sign: `1234,5`, `1.234,50`. What could be read in two ways is not read. */
function priceWithComma(cell: string): number | string {
  const read = digitsOf(cell)
  if (typeof read === 'string') return read
  const { digits } = read
  if (/^[1-9]\d{0,2}\.\d{3}$/.test(digits))
    return `the price "${shown(cell)}" may be ${digits.replace('.', '')} or ${digits.replace('.', ',')}; write it with two decimals.`
  if (COMMA.test(digits) || COMMA_THOUSANDS.test(digits)) return inRange(fromComma(digits))
  if (POINT.test(digits)) return inRange(Number(digits))
  if (POINT_THOUSANDS.test(digits) && digits.includes('.')) return inRange(Number(digits.replaceAll(',', '')))
  return unreadable(cell, '1234,50')
}

function unreadable(cell: string, example: string): string {
  return `the price "${shown(cell)}" cannot be read; write it as ${example}.`
}

function inRange(price: number): number | string {
  return price <= ITEM_LIMITS.price ? price : 'the price is above a billion dollars.'
}

/** A cell as a report or a page shows it. */
function shown(cell: string): string {
  if (cell.length <= SHOWN) return cell
  // Copied, as a slice would keep the whole cell in memory.
  return `${Buffer.from(cell.slice(0, SHOWN)).toString()}… (${cell.length} characters)`
}
