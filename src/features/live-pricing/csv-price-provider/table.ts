import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { UnreadableFileError } from '../../../csv/encoding.ts'
import { readTable } from '../../../csv/rows.ts'

/** What is wrong with the files of a price list; `problems` has one line for each, with its file and line. */
export class PriceListError extends Error {
  readonly problems: string[]
  constructor(problems: string[], more: number, then?: string) {
    super(
      [
        `The price list has ${problems.length + more} ${problems.length + more === 1 ? 'problem' : 'problems'}; nothing was loaded.`,
        ...problems,
        ...(more > 0 ? [`... and ${more} more.`] : []),
        ...(then ? [then] : []),
      ].join('\n'),
    )
    this.name = 'PriceListError'
    this.problems = problems
  }
}

/** Collects problems, and ends the reading when there are too many to be worth it. */
export function createProblems() {
  const problems: string[] = []
  let more = 0
  return {
    add(file: string, line: number, reason: string): void {
      if (problems.length < 20) problems.push(`${file}, line ${line}: ${reason}`)
      else more++
      if (more >= 10_000) throw new PriceListError(problems, more)
    },
    /** Throws when there are any. `then` says what was not looked at for that reason. */
    check(then?: string): void {
      if (problems.length > 0) throw new PriceListError(problems, more, then)
    },
  }
}
export type Problems = ReturnType<typeof createProblems>

export interface TableRules {
  file: string
  required: readonly string[]
  optional: readonly string[]
  /** Whether columns of other names are passed over; otherwise they are a problem, as one may be misspelt. */
  others?: boolean
}

/** The cells of a row by column, without spaces around them; '' where there is none. `wrong` reports the row. */
export type Take = (cell: (column: string) => string, wrong: (reason: string) => void) => void

/**
 * Reads a CSV file of the folder by the names of its columns, in any order; false when there is no such file.
 * What is wrong with a row is reported; with the file, thrown as `PriceListError`.
 */
export async function readRows(
  folder: string,
  { file, required, optional, others = false }: TableRules,
  problems: Problems,
  take: Take,
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
      if (!headings.includes(column)) unreadable(`there is no column "${column}".`)
    for (const [at, heading] of headings.entries()) {
      if (!others && !known.includes(heading))
        unreadable(`"${heading.slice(0, 50)}" is no column of this file. It may have ${known.join(', ')}.`)
      if (known.includes(heading) && headings.indexOf(heading) < at)
        unreadable(`the column "${heading}" is there twice.`)
    }
    if (!readable) return true
    const at = new Map(headings.map((heading, index) => [heading, index]))
    let cells: string[] = []
    let line = 0
    const cell = (column: string) => cells[at.get(column) ?? -1]?.trim() ?? ''
    const wrong = (reason: string) => problems.add(file, line, reason)
    for await (const portion of table.rows) {
      for (const row of portion) {
        ;({ cells, line } = row)
        if (cells.length === headings.length) take(cell, wrong)
        else
          wrong(
            `it has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}, and there are ${headings.length} columns.`,
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
