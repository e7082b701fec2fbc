import { UnreadableFileError } from '../../csv/encoding.ts'
import { readTable } from '../../csv/rows.ts'
import { type ColumnGuess, type Columns, FIELDS, guessColumns, REQUIRED } from './columns.ts'
import type { Item } from './contract.ts'
import { createItemReader, isProblem, type Problem } from './items.ts'

/** The items and problems of some consecutive rows. */
export interface ParsedChunk {
  items: Item[]
  problems: Problem[]
}

export interface PriceFile {
  headings: string[]
  /** The first rows, unparsed; filled while reading. */
  sample: readonly string[][]
  /** Columns guessed from the headings. */
  guess: ColumnGuess
  /** Converts each row to an item or a problem. Can be called only once. */
  read(columns: Columns): AsyncGenerator<ParsedChunk>
}

/** Length of a short row, in bytes: used to estimate the number of rows from the file size. */
const MIN_ROW_BYTES = 32

/**
 * Opens a price file for streaming. `bytes` is its size, if known; it helps to allocate memory.
 * Throws `UnreadableFileError`, also while reading.
 */
export async function openPriceFile(source: AsyncIterable<Uint8Array>, bytes?: number): Promise<PriceFile> {
  const table = await readTable(source)
  const { headings, rows } = table
  const expected = bytes === undefined ? undefined : Math.ceil(bytes / MIN_ROW_BYTES)
  const sample: string[][] = []
  return {
    headings,
    sample,
    guess: guessColumns(headings),
    async *read(columns) {
      const reader = createItemReader(table, columns, expected)
      for await (const chunk of rows) {
        const items: Item[] = []
        const problems: Problem[] = []
        for (const row of chunk) {
          if (sample.length < SAMPLE_ROWS)
            sample.push(row.cells.slice(0, 50).map((cell) => cell.slice(0, 60)))
          const result = reader.read(row)
          if (isProblem(result)) problems.push(result)
          else items.push(result)
        }
        yield { items, problems }
      }
    },
  }
}

export interface Check {
  headings: string[]
  columns: Columns
  /** User-facing reasons why the file cannot be sent with these columns; empty if it can. */
  mappingErrors: string[]
  /** Number of rows, without the headings. */
  rows: number
  validRows: number
  invalidRows: number
  /** The first rows, unparsed. */
  sample: string[][]
  /** The first items, as they will be sent. */
  preview: Item[]
}

/** Maximum number of problems passed to `onProblem`; the rest are only counted. */
export const MAX_PROBLEMS = 10_000
const PREVIEW_ITEMS = 10
const SAMPLE_ROWS = 3

/**
 * Checks every row of a price file. Passes the first 10,000 problems to `onProblem` and awaits what it returns.
 * Throws `UnreadableFileError`, also if the file has no rows after the headings.
 */
export async function checkPriceFile(
  source: AsyncIterable<Uint8Array>,
  {
    columns,
    bytes,
    onProblem,
  }: { columns?: Columns; bytes?: number; onProblem(problem: Problem, headings: string[]): unknown },
): Promise<Check> {
  const file = await openPriceFile(source, bytes)
  const chosen = columns ?? file.guess.columns
  const mappingErrors = mappingErrorsOf(chosen, file)
  const check: Check = {
    headings: file.headings,
    columns: chosen,
    mappingErrors,
    rows: 0,
    validRows: 0,
    invalidRows: 0,
    sample: [],
    preview: [],
  }
  let reported = 0
  for await (const { items, problems } of file.read(chosen)) {
    check.validRows += items.length
    check.invalidRows += problems.length
    if (check.preview.length < PREVIEW_ITEMS)
      check.preview.push(...items.slice(0, PREVIEW_ITEMS - check.preview.length))
    // Until the columns are chosen, every row would have the same problem.
    if (mappingErrors.length > 0) continue
    for (const problem of problems) {
      if (reported === MAX_PROBLEMS) break
      reported++
      await onProblem(problem, file.headings)
    }
  }
  check.rows = check.validRows + check.invalidRows
  check.sample = [...file.sample]
  if (check.rows === 0) throw new UnreadableFileError(1, 'the file has headings but no rows.')
  return mappingErrors.length === 0 ? check : { ...check, validRows: 0, invalidRows: 0, preview: [] }
}

/** Returns the problems with a choice of columns, or those of the guess. */
function mappingErrorsOf(columns: Columns, { headings, guess }: PriceFile): string[] {
  if (columns === guess.columns) return guess.mappingErrors
  const mappingErrors = REQUIRED.filter((field) => columns[field] === undefined).map(
    (field) => `Choose the column for the ${field}.`,
  )
  const chosen = FIELDS.flatMap((field) => columns[field] ?? [])
  if (chosen.some((column) => column >= headings.length))
    mappingErrors.push('A chosen column is not in the file.')
  if (new Set(chosen).size < chosen.length) mappingErrors.push('Two fields use the same column.')
  return mappingErrors
}
