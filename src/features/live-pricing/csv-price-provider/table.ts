import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UnreadableFileError } from '../../../tables/errors.ts'
import { createPriceReader, type Decimal, decimalOfColumn, type PriceReader } from '../../../tables/prices.ts'
import type { Row } from '../../../tables/row.ts'
import { openTable } from '../../../tables/table.ts'

/** A price list that cannot be loaded. Each problem names its file and line; `omitted` more are only counted. */
export class PriceListError extends Error {
  readonly problems: string[]
  constructor(problems: string[], omitted: number, hint?: string) {
    const total = problems.length + omitted
    super(
      [
        `The price list has ${total} ${total === 1 ? 'problem' : 'problems'}; nothing was loaded.`,
        ...problems,
        ...(omitted > 0 ? [`... and ${omitted} more.`] : []),
        ...(hint ? [hint] : []),
      ].join('\n'),
    )
    this.name = 'PriceListError'
    this.problems = problems
  }
}

const MAX_LISTED = 20
const MAX_PROBLEMS = 10_000

/** A row that cannot be loaded. */
export interface RowProblem {
  file: string
  line: number
  reason: string
}

/**
 * Collects problems. `skipRows`: rows with a problem are left out and listed; otherwise they prevent the load. `add` and
 * `addRow` throw `PriceListError` if there are too many to continue.
 */
export function createProblems({ skipRows = false }: { skipRows?: boolean } = {}) {
  const problems: string[] = []
  const skipped: RowProblem[] = []
  let omitted = 0
  function add(file: string, line: number, reason: string): void {
    if (problems.length < MAX_LISTED) problems.push(`${file}, line ${line}: ${reason}`)
    else omitted++
    if (omitted >= MAX_PROBLEMS) throw new PriceListError(problems, omitted)
  }
  return {
    /** The rows that are left out. */
    skipped,
    /** Adds a problem with a whole file. */
    add,
    /** Adds a problem with one row. */
    addRow(file: string, line: number, reason: string): void {
      if (skipRows) skipped.push({ file, line, reason })
      else add(file, line, reason)
      if (skipped.length >= MAX_PROBLEMS)
        throw new PriceListError([`${file}, line ${line}: more than ${MAX_PROBLEMS} rows have problems.`], 0)
    },
    /** Throws `PriceListError` if there are problems that prevent the load. `hint` is appended to the message. */
    check(hint?: string): void {
      if (problems.length > 0) throw new PriceListError(problems, omitted, hint)
    },
  }
}
export type Problems = ReturnType<typeof createProblems>

/** A file has prices such as `1,250`, and its other prices tell the decimal sign: read it again with that. */
export class DecimalFoundError extends Error {
  readonly file: string
  readonly decimal: Decimal
  constructor(file: string, decimal: Decimal) {
    super(`${file} has a decimal ${decimal}`)
    this.file = file
    this.decimal = decimal
  }
}

/** What is known about the files of a price list. */
export interface Folder {
  path: string
  /** The decimal sign of all files, or of single ones by name. */
  decimal?: Decimal | undefined
  decimals: Map<string, Decimal>
}

export interface TableRules {
  file: string
  required: readonly string[]
  optional: readonly string[]
  /** Whether to ignore unknown columns. Otherwise they are a problem, since a name may be misspelt. */
  allowOtherColumns?: boolean
}

/** A row, whose handler reports its problems with `reject`. */
export interface TableRow {
  /** The trimmed text of a column, or '' if it does not exist. */
  cell(column: string): string
  /**
   * The price in a column, in dollars as text with up to 4 decimals; the words in `words` are returned as they are. Null
   * if it is invalid, which has been reported.
   */
  price(column: string, words: readonly string[]): string | null
  reject(reason: string): void
}
export type RowHandler = (row: TableRow) => void

const EXTENSIONS = ['.csv', '.xlsx', '.tsv', '.txt']

/** The path of a table of a price list, which may be a spreadsheet: `items.csv` or `items.xlsx`, for example. */
function findTable(folder: string, file: string): string | undefined {
  const paths = EXTENSIONS.map((extension) => join(folder, file.replace(/\.csv$/, extension)))
  return paths.find((path) => existsSync(path))
}

/**
 * Reads a table by column name, in any order. Resolves to false if the file does not exist.
 * Reports problems with rows or columns to `problems`; throws `PriceListError` if the file cannot be read, and
 * `DecimalFoundError`.
 */
export async function readRows(
  folder: Folder,
  rules: TableRules,
  problems: Problems,
  handleRow: RowHandler,
): Promise<boolean> {
  const path = findTable(folder.path, rules.file)
  if (!path) return false
  const file = basename(path)
  const decimal = folder.decimal ?? folder.decimals.get(file)
  const prices = createPriceReader(decimal)
  try {
    const table = await openTable(path)
    const first: Row[] = []
    for (let next = await table.rows.next(); !next.done; next = await table.rows.next()) {
      first.push(...next.value)
      if (first.length >= SEARCHED_ROWS) break
    }
    const at = indexOfHeadings(first.slice(0, SEARCHED_ROWS), rules)
    const headings = readHeadings(first[at], rules, file, problems)
    if (!headings) {
      await table.rows.return(undefined)
      return true
    }
    const reader = createRowReader(headings, { file, prices, problems })
    for (const row of first.slice(at + 1)) reader.read(row, handleRow)
    for await (const rows of table.rows) for (const row of rows) reader.read(row, handleRow)
    requireDecimal(prices.found, file, problems)
    return true
  } catch (error) {
    if (error instanceof UnreadableFileError)
      throw new PriceListError([`${file}, line ${error.line}: ${error.problem}`], 0)
    if (error instanceof PriceListError || error instanceof DecimalFoundError) throw error
    const { code } = error as { code?: unknown }
    throw code ? new Error(`${path} cannot be read (${code}).`) : error
  }
}

/** How many rows are searched for the headings, above which there may be titles. */
const SEARCHED_ROWS = 40

const namesOf = ({ cells }: Row) => cells.map((cell) => cell.trim().toLowerCase().replaceAll(' ', '_'))

/** The row with all required columns, or the first one. */
function indexOfHeadings(rows: readonly Row[], { required, optional }: TableRules): number {
  const wanted = required.length > 0 ? required : optional.slice(0, 1)
  const at = rows.findIndex((row) => wanted.every((column) => namesOf(row).includes(column)))
  return Math.max(at, 0)
}

/** The column names; undefined if one is missing or unknown, which has been reported. */
function readHeadings(
  row: Row | undefined,
  { required, optional, allowOtherColumns = false }: TableRules,
  file: string,
  problems: Problems,
): string[] | undefined {
  if (!row) {
    problems.add(file, 1, 'the file is empty.')
    return undefined
  }
  const headings = namesOf(row)
  while (headings.at(-1) === '') headings.pop()
  const known = [...required, ...optional]
  const reasons = required
    .filter((column) => !headings.includes(column))
    .map((column) => `the column "${column}" is missing.`)
  for (const [index, heading] of headings.entries()) {
    if (!allowOtherColumns && !known.includes(heading))
      reasons.push(`"${heading.slice(0, 50)}" is an unknown column. Use ${known.join(', ')}.`)
    if (known.includes(heading) && headings.indexOf(heading) < index)
      reasons.push(`the column "${heading}" occurs more than once.`)
  }
  for (const reason of reasons) problems.add(file, row.line, reason)
  return reasons.length === 0 ? headings : undefined
}

/** Passes rows to a handler, which gets the same object for each. */
function createRowReader(
  headings: readonly string[],
  { file, prices, problems }: { file: string; prices: PriceReader; problems: Problems },
) {
  const indexes = new Map(headings.map((heading, index) => [heading, index]))
  let row: Row = { line: 0, cells: [] }
  const cell = (column: string) => row.cells[indexes.get(column) ?? -1]?.trim() ?? ''
  const reject = (reason: string) => problems.addRow(file, row.line, reason)
  const current: TableRow = {
    cell,
    reject,
    price(column, words) {
      const text = cell(column)
      if (words.includes(text)) return text
      const { ambiguous } = prices.found
      const price = prices.read(text, row.numbers?.[indexes.get(column) ?? -1])
      // Reported once for the file: the other prices may tell which it is.
      if (prices.found.ambiguous > ambiguous) return null
      const problem = typeof price === 'string' ? price : decimalsProblem(price, text)
      if (problem === undefined) return String(price)
      const others = words.filter((word) => word !== '').join(' or ')
      reject(others === '' ? problem : `${problem} Or write ${others}.`)
      return null
    },
  }
  return {
    read(next: Row, handleRow: RowHandler): void {
      row = next
      if (
        row.cells.length > headings.length &&
        row.cells.slice(headings.length).some((text) => text.trim() !== '')
      )
        reject(`it has ${row.cells.length} cells instead of ${headings.length}.`)
      else handleRow(current)
    },
  }
}

/** Prices are stored with 4 decimals. */
function decimalsProblem(price: number, text: string): string | undefined {
  return /^\d{1,9}(\.\d{1,4})?$/.test(String(price))
    ? undefined
    : `the price ${JSON.stringify(text.slice(0, 50))} must have at most 9 digits and 4 decimals.`
}

/** Prices that could be read in two ways need the decimal sign of the others. */
function requireDecimal(found: PriceReader['found'], file: string, problems: Problems): void {
  if (found.ambiguous === 0) return
  const decimal = decimalOfColumn(found)
  if (decimal) throw new DecimalFoundError(file, decimal)
  const example = JSON.stringify(found.example.slice(0, 50))
  problems.add(
    file,
    1,
    `prices such as ${example} could be read in two ways: add --decimal point or --decimal comma.`,
  )
}
