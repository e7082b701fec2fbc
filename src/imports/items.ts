import { ITEM_LIMITS, type Item } from '../platform/contract.ts'
import { type Columns, FIELDS } from './columns.ts'
import type { Row } from './rows.ts'
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
  headings: readonly string[],
  columns: Columns,
  expected?: number,
): ItemReader {
  const seen = createSeenCodes(expected)
  const mapped = FIELDS.flatMap((field) => {
    const column = columns[field]
    return column === undefined ? [] : [{ field, column }]
  })

  return {
    read({ line, cells }) {
      const problem = (reason: string): Problem => ({ line, reason, cells: cells.slice(0, 50).map(shown) })
      const wrong = misshapen(cells, headings)
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
  if (field === 'code' && /\p{Cc}/u.test(cell))
    return 'the code has a line break or another control character.'
  return undefined
}

const PLAIN_PRICE = /^\d{1,10}(\.\d{1,6})?$/
const THOUSANDS = /^\d{1,3}(,\d{3})+(\.\d{1,6})?$/
const DECIMAL_COMMA = /^\d{1,3}(\.\d{3})*,\d{1,2}$|^\d+,\d{1,2}$/

/**
 * A price in dollars: `1234.5`, `$1,234.50`, or with a decimal comma `1.234,50`. Otherwise what is wrong with it.
 * A comma before exactly three digits separates thousands.
 */
function priceOf(cell: string): number | string {
  if (PLAIN_PRICE.test(cell)) return inRange(Number(cell))
  if (cell === '') return 'the price is missing.'
  const text = cell.replace(/^(?:AUD|NZD|USD)?\s*\$?\s*/i, '')
  if (/^[-−(]/.test(text) || /^[-−]/.test(cell) || text.endsWith('-')) return 'the price is negative.'
  if (PLAIN_PRICE.test(text)) return inRange(Number(text))
  if (THOUSANDS.test(text)) return inRange(Number(text.replaceAll(',', '')))
  if (DECIMAL_COMMA.test(text)) return inRange(Number(text.replaceAll('.', '').replace(',', '.')))
  return `the price "${shown(cell)}" cannot be read; write it as 1234.50.`
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
