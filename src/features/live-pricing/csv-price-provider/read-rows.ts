import { basename } from 'node:path'
import { UnreadableFileError } from '../../../tables/errors.ts'
import { type Decimal, readPrice } from '../../../tables/prices.ts'
import type { OpenFile, Row } from '../../../tables/sheet.ts'
import { openFile } from '../../../tables/table.ts'
import { type FileRules, findFile, type Source } from './files.ts'

/** A row whose handler has found a problem with it. */
export class RowError extends Error {}

/** Throws `RowError` if a row refers to something that another file does not have. */
export function requireKnown(kind: 'item' | 'store', id: string, isKnown: boolean): void {
  if (!isKnown) throw new RowError(`unknown ${kind} ${id.slice(0, 100)}.`)
}

/** A row below the headings. */
export interface TableRow {
  /** The trimmed text of a column, or '' if it does not exist. */
  cell(column: string): string
  /**
   * The price in a column, in dollars as text with up to 4 decimals; the words in `words` are returned as they are. Throws
   * `RowError` if it is invalid.
   */
  price(column: string, words: readonly string[]): string
}

/**
 * Reads a file by column name, in any order; a file that is not required may be missing. Reports problems with columns, and
 * with the rows for which the handler throws `RowError`.
 */
export async function readRows(
  source: Source,
  rules: FileRules,
  handleRow: (row: TableRow) => void,
): Promise<void> {
  const { problems } = source
  const path = findFile(source.folder, rules.file)
  if (path === undefined) {
    if (rules.mustExist)
      problems.addFile({ file: rules.file, line: 0, reason: 'the folder has no file with this name.' })
    return
  }
  const file = basename(path)
  let opened: OpenFile | undefined
  try {
    opened = await openFile(path)
    // A hidden sheet is nobody's table.
    const sheet = opened.sheets.find(({ isHidden }) => !isHidden) ?? opened.sheets[0]
    let columns: string[] | undefined
    for await (const rows of sheet?.rows() ?? []) {
      for (const row of rows) {
        if (columns) {
          const problem = problemOf(tableRow(row, columns, source.decimal), row, columns, handleRow)
          if (problem !== undefined) problems.addRow({ file, line: row.line, reason: problem })
          continue
        }
        columns = row.cells.map((cell) => cell.trim().toLowerCase().replaceAll(' ', '_'))
        const reasons = headingProblems(columns, rules)
        for (const reason of reasons) problems.addFile({ file, line: row.line, reason })
        if (reasons.length > 0) return
      }
    }
    if (!columns) problems.addFile({ file, line: 0, reason: 'the file is empty.' })
  } catch (error) {
    if (error instanceof UnreadableFileError)
      return problems.addFile({ file, line: error.line, reason: error.problem })
    if (error instanceof Error && 'syscall' in error)
      throw new Error(`${path} cannot be read: ${error.message}`)
    throw error
  } finally {
    opened?.close()
  }
}

/** Prices are stored with 4 decimals. */
export const isStorable = (price: number | string) => /^\d{1,9}(\.\d{1,4})?$/.test(String(price))
export const tooExact = (price: string) =>
  `the price ${JSON.stringify(price.slice(0, 50))} must have at most 9 digits and 4 decimals.`

/** What is wrong with the column names, if anything. */
function headingProblems(names: readonly string[], { required, optional, hint = '' }: FileRules): string[] {
  const known = [...required, ...optional]
  const missing = required.filter((column) => !names.includes(column))
  const unknown = names.filter((name) => name !== '' && !known.includes(name))
  const repeated = names.filter((name, index) => known.includes(name) && names.indexOf(name) < index)
  return [
    ...missing.map((column) => `the column "${column}" is missing.`),
    ...unknown.map((name) => `"${name.slice(0, 50)}" is an unknown column. Use ${known.join(', ')}.${hint}`),
    ...repeated.map((name) => `the column "${name}" occurs more than once.`),
  ]
}

/** Passes a row to its handler. Returns the problem with it, if there is one. */
function problemOf(
  tableRow: TableRow,
  { cells }: Row,
  columns: readonly string[],
  handleRow: (row: TableRow) => void,
): string | undefined {
  if (cells.slice(columns.length).some((text) => text.trim() !== ''))
    return `it has ${cells.length} cells instead of ${columns.length}.`
  try {
    handleRow(tableRow)
    return undefined
  } catch (error) {
    if (error instanceof RowError) return error.message
    throw error
  }
}

function tableRow({ cells, numbers }: Row, columns: readonly string[], decimal: Decimal): TableRow {
  const cell = (column: string) => cells[columns.indexOf(column)]?.trim() ?? ''
  return {
    cell,
    price(column, words) {
      const text = cell(column)
      if (words.includes(text)) return text
      const price = readPrice(text, { decimal, currency: 'AUD' }, numbers?.[columns.indexOf(column)])
      if (isStorable(price)) return String(price)
      const reason = typeof price === 'string' ? price : tooExact(text)
      const isOtherSign =
        decimal === 'point' && typeof readPrice(text, { decimal: 'comma', currency: 'AUD' }) === 'number'
      const hint = isOtherSign ? ' If the comma is the decimal sign, add --decimal comma.' : ''
      const others = words.filter((word) => word !== '').join(' or ')
      throw new RowError(`${reason}${hint}${others === '' ? '' : ` Or write ${others}.`}`)
    },
  }
}
