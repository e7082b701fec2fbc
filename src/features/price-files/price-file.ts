import { UnreadableFileError } from '../../csv/encoding.ts'
import { readTable } from '../../csv/rows.ts'
import { type Columns, FIELDS, type Guess, guessColumns, REQUIRED } from './columns.ts'
import type { Item } from './contract.ts'
import { createItemReader, isProblem, type Problem } from './items.ts'

/** What a portion of the file came to. */
export interface Portion {
  items: Item[]
  problems: Problem[]
}

export interface PriceFile {
  headings: string[]
  /** The first rows that were read, as they are. */
  sample: readonly string[][]
  /** What the headings suggest. */
  guess: Guess
  /** The file's rows, each an item or a problem. Can be read once. */
  read(columns: Columns): AsyncGenerator<Portion>
}

/** Bytes of a short row: a file has fewer rows than its size divided by this. */
const SHORT_ROW = 32

/**
 * Opens a price file for reading as a stream. `bytes` is its size, if known: a hint that spares memory.
 * Throws `UnreadableFileError`, here or while it is read.
 */
export async function openPriceFile(source: AsyncIterable<Uint8Array>, bytes?: number): Promise<PriceFile> {
  const table = await readTable(source)
  const { headings, rows } = table
  const expected = bytes === undefined ? undefined : Math.ceil(bytes / SHORT_ROW)
  const sample: string[][] = []
  return {
    headings,
    sample,
    guess: guessColumns(headings),
    async *read(columns) {
      const reader = createItemReader(table, columns, expected)
      for await (const portion of rows) {
        const items: Item[] = []
        const problems: Problem[] = []
        for (const row of portion) {
          if (sample.length < SAMPLE) sample.push(row.cells.slice(0, 50).map((cell) => cell.slice(0, 60)))
          const read = reader.read(row)
          if (isProblem(read)) problems.push(read)
          else items.push(read)
        }
        yield { items, problems }
      }
    },
  }
}

export interface Check {
  headings: string[]
  columns: Columns
  /** Reasons why the file cannot go as it is mapped; empty when it can. */
  mappingErrors: string[]
  /** Rows after the headings. */
  rows: number
  validRows: number
  invalidRows: number
  /** The first rows, as they are in the file. */
  sample: string[][]
  /** The first items, as they would be sent. */
  preview: Item[]
}

/** Problem rows that are reported; all of them are counted. */
export const MAX_PROBLEMS = 10_000
const FIRST = 10
const SAMPLE = 3

/**
 * Reads the whole file and sends nothing: what would go, what would not. The first 10,000 problems go to
 * `onProblem`, which may return a promise, to be waited for. Throws `UnreadableFileError`, also for a file that has headings only.
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
  let told = 0
  for await (const { items, problems } of file.read(chosen)) {
    check.validRows += items.length
    check.invalidRows += problems.length
    if (check.preview.length < FIRST) check.preview.push(...items.slice(0, FIRST - check.preview.length))
    // Until the columns are chosen, every row would be a problem of the same kind.
    if (mappingErrors.length > 0) continue
    for (const problem of problems) {
      if (told === MAX_PROBLEMS) break
      told++
      await onProblem(problem, file.headings)
    }
  }
  check.rows = check.validRows + check.invalidRows
  check.sample = [...file.sample]
  if (check.rows === 0) throw new UnreadableFileError(1, 'the file has headings and no rows.')
  return mappingErrors.length === 0 ? check : { ...check, validRows: 0, invalidRows: 0, preview: [] }
}

/** What keeps these columns from being used: a guess's own mappingErrors, or a choice that is none. */
function mappingErrorsOf(columns: Columns, { headings, guess }: PriceFile): string[] {
  if (columns === guess.columns) return guess.mappingErrors
  const mappingErrors = REQUIRED.filter((field) => columns[field] === undefined).map(
    (field) => `Choose the column of the ${field}.`,
  )
  const chosen = FIELDS.flatMap((field) => columns[field] ?? [])
  if (chosen.some((column) => column >= headings.length))
    mappingErrors.push('A chosen column is not in the file.')
  if (new Set(chosen).size < chosen.length) mappingErrors.push('A column is chosen for two fields.')
  return mappingErrors
}
