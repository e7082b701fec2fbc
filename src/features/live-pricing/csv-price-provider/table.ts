import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { UnreadableFileError } from '../../../csv/encoding.ts'
import { readTable } from '../../../csv/rows.ts'

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

/** Collects problems. `add` throws `PriceListError` if there are too many to continue. */
export function createProblems() {
  const problems: string[] = []
  let omitted = 0
  return {
    add(file: string, line: number, reason: string): void {
      if (problems.length < MAX_LISTED) problems.push(`${file}, line ${line}: ${reason}`)
      else omitted++
      if (omitted >= MAX_PROBLEMS) throw new PriceListError(problems, omitted)
    },
    /** Throws `PriceListError` if there are problems. `hint` is appended to the message. */
    check(hint?: string): void {
      if (problems.length > 0) throw new PriceListError(problems, omitted, hint)
    },
  }
}
export type Problems = ReturnType<typeof createProblems>

export interface TableRules {
  file: string
  required: readonly string[]
  optional: readonly string[]
  /** Whether to ignore unknown columns. Otherwise they are a problem, since a name may be misspelt. */
  allowOtherColumns?: boolean
}

/**
 * Handles a row. `cell` returns the trimmed text of a column, or '' if it does not exist; `reject` reports a problem.
 */
export type RowHandler = (cell: (column: string) => string, reject: (reason: string) => void) => void

/**
 * Reads a CSV file by column name, in any order. Resolves to false if the file does not exist.
 * Reports problems with rows or columns to `problems`; throws `PriceListError` if the file is not valid CSV.
 */
export async function readRows(
  folder: string,
  { file, required, optional, allowOtherColumns = false }: TableRules,
  problems: Problems,
  handleRow: RowHandler,
): Promise<boolean> {
  const path = join(folder, file)
  if (!existsSync(path)) return false
  const input = createReadStream(path)
  try {
    const table = await readTable(input)
    const headings = table.headings.map((heading) => heading.toLowerCase().replaceAll(' ', '_'))
    const known = [...required, ...optional]
    let readable = true
    const unreadable = (reason: string) => {
      problems.add(file, 1, reason)
      readable = false
    }
    for (const column of required)
      if (!headings.includes(column)) unreadable(`the column "${column}" is missing.`)
    for (const [index, heading] of headings.entries()) {
      if (!allowOtherColumns && !known.includes(heading))
        unreadable(`"${heading.slice(0, 50)}" is an unknown column. Use ${known.join(', ')}.`)
      if (known.includes(heading) && headings.indexOf(heading) < index)
        unreadable(`the column "${heading}" occurs more than once.`)
    }
    if (!readable) return true
    const indexes = new Map(headings.map((heading, index) => [heading, index]))
    let cells: string[] = []
    let line = 0
    const cell = (column: string) => cells[indexes.get(column) ?? -1]?.trim() ?? ''
    const reject = (reason: string) => problems.add(file, line, reason)
    for await (const chunk of table.rows) {
      for (const row of chunk) {
        ;({ cells, line } = row)
        if (cells.length === headings.length) handleRow(cell, reject)
        else
          reject(
            `it has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'} instead of ${headings.length}.`,
          )
      }
    }
    return true
  } catch (error) {
    if (error instanceof UnreadableFileError)
      throw new PriceListError([`${file}, line ${error.line}: ${error.problem}`], 0)
    const { code } = error as { code?: unknown }
    throw code ? new Error(`${path} cannot be read (${code}).`) : error
  } finally {
    input.destroy()
  }
}
