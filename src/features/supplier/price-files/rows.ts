/** Reads a row of a table as an item, by arithmetic on the columns that a person has named, and nothing else. */
import { isDamaged } from '../tables/damaged-codes.ts'
import { exact, isSpreadsheetError, NO_VALUE, readPrice, shorten } from '../tables/prices.ts'
import type { Row } from '../tables/sheet.ts'
import type { Item } from './batches.ts'
import { isFilled, textOf, valueIn } from './cells.ts'
import type { Choice, ChosenColumn } from './choice.ts'
import type { Reason } from './found.ts'
import type { ReceivedPrice } from './received.ts'
import { columnFor, MONEY, type Use } from './uses.ts'

/** Why a row is no item. `detail`: the cell that is the reason, shortened. */
export interface Problem {
  reason: Reason
  detail: string
}

/** A code of the file, or one that was received before. */
export interface Code {
  received: ReceivedPrice | null
  /** What becomes of the code. It is not sent if two of its rows have different prices, for example. */
  state: 'absent' | 'leftOut' | 'notSent' | 'sent'
  /** The item of its first valid row, and the number of that row. */
  item: Item | null
  row: number
}
export const newCode = (received: ReceivedPrice | null): Code => ({
  received,
  state: 'absent',
  item: null,
  row: 0,
})

/** An item that may be one of the ten rows. The cells of other items are not kept in memory. */
export interface Candidate {
  code: Code
  item: Item
  cells: readonly string[]
}

const TEXT_USES = ['name', 'description', 'unit', 'category'] as const

const problem = (reason: Reason, cell = ''): Problem => ({ reason, detail: shorten(cell, 200) })

/** Creates a function that reads the rows of a table. `leftOut`: codes that a person has left out, in lower case. */
export function createRowReader(
  choice: Choice,
  { width, delimiter }: Pick<Shape, 'width' | 'delimiter'>,
  leftOut: ReadonlySet<string>,
): (row: Row) => Item | Problem {
  const at = (use: Use) => (columnFor(choice, use)?.number ?? 0) - 1
  const [code, price, count] = [at('code'), at('price'), at('count')]
  const others = TEXT_USES.map((use) => ({ use, index: at(use) })).filter(({ index }) => index >= 0)
  const used = [code, price, count, ...others.map(({ index }) => index)]
  const only = choice.columns.filter(({ use }) => use === 'only').map(tickedIn)
  const { currency, tax } = MONEY[choice.money]
  const taxed = columnFor(choice, 'taxed')
  const isTaxed = taxed ? tickedIn(taxed) : () => true
  const how = { decimal: choice.decimal ?? 'point', currency }
  const isRow = (cells: readonly string[]) => typeof readPrice((cells[price] ?? '').trim(), how) === 'number'
  const shape = { width, delimiter, isRow }

  return ({ cells, numbers, struck }) => {
    const misshapen = shapeProblem(cells, shape)
    if (misshapen) return misshapen
    const item: Item = { code: textOf(cells[code]), price: 0 }
    const amount = textOf(cells[price])
    if (item.code === '') return problem('noCode')
    if (amount === '') return problem('noPrice')
    for (const isTicked of only) if (!isTicked(cells)) return problem('notTicked')
    const struckOut = struck?.find((column) => used.includes(column))
    if (struckOut !== undefined) return problem('struckOut', cells[struckOut])
    const wrongCode = textProblem('code', item.code)
    if (wrongCode) return wrongCode
    if (isDamaged(item.code, numbers?.[code])) return problem('damagedCode', item.code)
    for (const { use, index } of others) {
      const text = textOf(cells[index])
      if (text === '') continue
      const wrong = textProblem(use, text)
      if (wrong) return wrong
      item[use] = text
    }
    const read = readPrice(amount, how, numbers?.[price])
    if (typeof read === 'string') return errorIn(amount) ?? problem(`${read}Price`, amount)
    const divisor = count >= 0 ? countIn(textOf(cells[count]), how, numbers?.[count]) : 1
    if (!(divisor > 0)) return problem('count', cells[count])
    const beforeTax = tax > 0 && isTaxed(cells) ? withoutTax(read, tax) : read
    const parts = divisor * choice.units
    item.price = parts === 1 ? beforeTax : exact(beforeTax / parts)
    return leftOut.size > 0 && leftOut.has(item.code.toLowerCase()) ? problem('leftOut') : item
  }
}

/** Whether a row has one of the ticked values. */
function tickedIn({ number, values }: ChosenColumn): (cells: readonly string[]) => boolean {
  const ticked = new Set(values)
  return (cells) => ticked.has(valueIn(cells[number - 1]))
}

/**
 * Takes the tax off a price, and rounds to the cent, half up. Before that, it rounds to 15 digits, because 1.005 dollars are
 * 100.49999999999999 cents for a computer.
 */
const withoutTax = (price: number, tax: number) => Math.round(exact((price / (1 + tax / 100)) * 100)) / 100

const errorIn = (cell: string): Problem | undefined =>
  isSpreadsheetError(cell) ? problem(cell === NO_VALUE ? 'noValue' : 'errorCell', cell) : undefined

/** How many units the price is for, if a cell says `EA`, `100`, `100 EA` or `per 100`; NaN if it does not say one number. */
function countIn(cell: string, how: Parameters<typeof readPrice>[1], number: number | undefined): number {
  if (/^(ea|each)$/i.test(cell)) return 1
  // The 2 of `m2` belongs to the unit.
  const [found = '', other] = cell.match(/(?<!\b[ckm]?m|\d)\d(?:[\d.,]*\d)?/gi) ?? []
  const count = readPrice(found, how, number)
  return typeof count === 'number' && other === undefined ? count : Number.NaN
}

/** What the rows of a table look like. */
interface Shape {
  width: number
  delimiter: string | undefined
  /** Whether these cells belong to a row with a price. */
  isRow(cells: readonly string[]): boolean
}

/** Finds a cell that is not under a heading, or rows that an open quote has put into one cell. */
function shapeProblem(cells: string[], { width, delimiter, isRow }: Shape): Problem | undefined {
  for (let index = width; index < cells.length; index++) {
    const cell = cells[index] ?? ''
    if (isFilled(cell) && !isSpreadsheetError(cell)) return problem('moreCells', cell)
  }
  if (delimiter === undefined) return undefined
  // Runs for every cell: avoid allocations for cells without a line break.
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] ?? ''
    if (!cell.includes('\n') && !cell.includes('\r')) continue
    const [line = [], ...lines] = cell.split(/\r\n|\n|\r/).map((text) => text.split(delimiter))
    const first = [...cells.slice(0, index), ...line]
    const isCut = first.length === width && cells.length < width && isRow(first)
    if (isCut || lines.some((other) => other.length > 1 && isRow(other))) return problem('openQuote', cell)
  }
  return undefined
}

/** Control characters other than tabs and line breaks, and characters that change the text direction. */
const UNPRINTABLE = /[^\P{Cc}\t\n\r]|\p{Bidi_Control}/u
const INVISIBLE = /[\p{Cc}\p{Cf}]/u

function textProblem(use: 'code' | (typeof TEXT_USES)[number], text: string): Problem | undefined {
  const error = errorIn(text)
  if (error) return error
  // Nearly every text is ASCII, which is faster to test.
  if (/^[ -~]*$/.test(text)) return undefined
  return (use === 'code' ? INVISIBLE : UNPRINTABLE).test(text) ? problem('invisible', text) : undefined
}
