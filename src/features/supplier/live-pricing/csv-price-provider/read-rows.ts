import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse'
import type { Table } from './files.ts'

/** A load stops at this many problems. */
const MAX_PROBLEMS = 100

/** Collects the problems of a price list. */
export class Problems {
  readonly #found: string[] = []
  /** Adds a problem. Line 0 means the whole file. Throws if there are too many problems. */
  add(file: string, line: number, problem: string): void {
    this.#found.push(`${file}${line === 0 ? '' : `, line ${line}`}: ${problem}`)
    if (this.#found.length === MAX_PROBLEMS) this.check('There may be more.')
  }
  /** Throws an error that lists the problems, if there are any. `hint` is appended to its message. */
  check(hint?: string): void {
    const { length } = this.#found
    if (length === 0) return
    const title = `The price list has ${length === 1 ? '1 problem' : `${length} problems`}; nothing was loaded.`
    throw new Error([title, ...this.#found, ...(hint ? [hint] : [])].join('\n'))
  }
}

export type Row = Readonly<Record<string, string | number | undefined>>

/** Characters that reveal that a file is not UTF-8: replacements of invalid bytes, and the zero bytes of UTF-16 and workbooks. */
const NOT_UTF8 = /[\ufffd\0]/

/**
 * Passes each row of a CSV file (UTF-8, with commas) to `add`, which returns false if there already is a row with its key. The
 * columns may be in any order. Reports problems with the file, its headings, and its rows. Returns the number of rows.
 */
export async function readRows(
  path: string,
  { cells: rules, key, isRequired = false }: Table,
  report: (line: number, problem: string) => void,
  add: (row: Row, line: number) => boolean,
): Promise<number> {
  let [line, rows] = [0, 0]
  let columns: string[] | undefined
  const unusable = new Error()
  function readRecord(record: string[]): void {
    const text = record.join()
    line += text.includes('\n') ? text.split('\n').length : 1
    if (NOT_UTF8.test(text)) {
      report(line, 'the file is not text in UTF-8. Save it as CSV in UTF-8.')
      throw unusable
    }
    const cells = record.map((cell) => cell.trim())
    if (!cells.some(Boolean)) return
    if (!columns) {
      columns = cells.map((cell) => cell.toLowerCase().replaceAll(' ', '_'))
      const problems = headingProblems(columns, rules)
      for (const problem of problems) report(line, problem)
      if (problems.length > 0) throw unusable
      return
    }
    rows++
    const row = readRow(cells, columns, rules)
    if (typeof row === 'string') report(line, row)
    else if (!add(row, line))
      report(line, `${key.map((name) => `${name} ${row[name]}`).join(', ')} occurs more than once.`)
  }
  // Rows are read in this callback, because a stream of records takes a quarter longer.
  const on_record = (record: string[]) => void readRecord(record)
  // A cell may contain inch marks, as in 90x45 2" nail.
  const parser = parse({ bom: true, relax_quotes: true, relax_column_count: true, on_record })
  try {
    await pipeline(createReadStream(path, 'utf8'), parser)
    if (!columns || (rows === 0 && isRequired)) report(0, 'the file is empty.')
  } catch (error) {
    const { code, syscall, message }: Record<string, unknown> = Object(error)
    if (code === 'CSV_QUOTE_NOT_CLOSED')
      report(line + 1, 'a quote that begins here or further down is not closed.')
    else if (code === 'ENOENT' && isRequired) report(0, 'the folder has no file with this name.')
    else if (syscall !== undefined && code !== 'ENOENT') report(0, `the file cannot be read: ${message}.`)
    else if (error !== unusable && code !== 'ENOENT') throw error
  }
  return rows
}

/** Returns the problems of the headings. A heading is required if its cells are. */
function headingProblems(headings: readonly string[], { shape }: Table['cells']): string[] {
  const known = Object.keys(shape)
  const required = known.filter((name) => !shape[name]?.safeParse(undefined).success)
  const missing = required.filter((name) => !headings.includes(name))
  const wrong = headings.filter((name, at) => name && (!known.includes(name) || headings.indexOf(name) < at))
  const use = `Use ${known.join(', ')}, separated by commas.`
  return [
    ...missing.map((name) => `the column "${name}" is missing.`),
    ...wrong.map((name) => `the column "${name.slice(0, 50)}" is unknown or occurs twice. ${use}`),
  ]
}

/** Returns a row, or its problems. */
function readRow(cells: readonly string[], columns: readonly string[], rules: Table['cells']): Row | string {
  if (cells.slice(columns.length).some(Boolean))
    return `it has ${cells.length} cells instead of ${columns.length}.`
  const row = rules.safeParse(Object.fromEntries(columns.map((name, at) => [name, cells[at] || undefined])))
  if (row.success) return row.data
  const problems = row.error.issues.map(({ path, message }) => {
    const cell = cells[columns.indexOf(path.join())]?.slice(0, 50)
    return `${path.join()} ${cell ? `${JSON.stringify(cell)} ${message}` : 'is blank'}.`
  })
  return problems.join(' ')
}
