import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UnreadableFileError } from '../../../tables/errors.ts'
import { type Decimal, readPrice } from '../../../tables/prices.ts'
import { openFile, type Row } from '../../../tables/table.ts'

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

/** What is known about the files of a price list. */
export interface Folder {
  path: string
  /** The decimal sign of all prices. */
  decimal: Decimal
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

/**
 * The path of a table of a price list, which may be a spreadsheet: `items.csv` or `items.xlsx`, for example. Throws
 * `PriceListError` if there are several.
 */
function findTable(folder: string, file: string): string | undefined {
  const paths = EXTENSIONS.map((extension) => join(folder, file.replace(/\.csv$/, extension)))
  const [path, other] = paths.filter((candidate) => existsSync(candidate))
  if (path && other)
    throw new PriceListError(
      [`${basename(path)} and ${basename(other)} are both there: keep one of them.`],
      0,
    )
  return path
}

/**
 * Reads a table by column name, in any order. Resolves to false if the file does not exist.
 * Reports problems with rows or columns to `problems`; throws `PriceListError` if the file cannot be read.
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
  const { decimal } = folder
  const opened = await openFile(path).catch((error: unknown) => failed(error, path))
  try {
    const rows = (opened.sheets.find(({ isHidden }) => !isHidden) ?? opened.sheets[0])?.rows()
    if (!rows) return false
    const first: Row[] = []
    for (let next = await rows.next(); !next.done; next = await rows.next()) {
      first.push(...next.value)
      if (first.length >= SEARCHED_ROWS) break
    }
    const at = indexOfHeadings(first.slice(0, SEARCHED_ROWS), rules)
    const headings = readHeadings(first[at], rules, file, problems)
    if (!headings) return true
    const reader = createRowReader(headings, { file, decimal, problems })
    for (const row of first.slice(at + 1)) reader.read(row, handleRow)
    for await (const batch of rows) for (const row of batch) reader.read(row, handleRow)
    return true
  } catch (error) {
    return failed(error, path)
  } finally {
    opened.close()
  }
}

/** Throws what a file cannot be read for. */
function failed(error: unknown, path: string): never {
  if (error instanceof UnreadableFileError)
    throw new PriceListError([`${basename(path)}, line ${error.line}: ${error.problem}`], 0)
  const { code } = error as { code?: unknown }
  throw code && !(error instanceof PriceListError) ? new Error(`${path} cannot be read (${code}).`) : error
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
  { file, decimal, problems }: { file: string; decimal: Decimal; problems: Problems },
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
      const price = readPrice(text, { decimal, currency: 'AUD' }, row.numbers?.[indexes.get(column) ?? -1])
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
