import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify'
import type { Problem } from './items.ts'
import { texts } from './texts.ts'

/** Maximum size of a report, in characters. */
const MAX_REPORT = 10_000_000

/**
 * Writes problems to a CSV file: line number, reason and the row's cells. Cells are trimmed, quoted and on a single line, and
 * those that a spreadsheet would treat as a formula get a leading apostrophe (OWASP, CSV injection). The report is
 * truncated, with a note, at 10 million characters. `isReport`: the file is a report itself, whose rows were corrected, so its
 * first two columns are replaced; by default, if it has their headings. Throws the errors of the file system.
 */
export async function writeReport(
  path: string,
  headings: readonly string[],
  problems: readonly Problem[],
  isReport = ADDED.every((heading, index) => headings[index] === heading),
): Promise<void> {
  const csv = stringify({ bom: true, escape_formulas: true, quoted: true, record_delimiter: 'windows' })
  await pipeline(
    Readable.from(rowsOf(headings, problems, isReport)),
    csv,
    createWriteStream(path, { mode: 0o600 }),
  )
}

/** The headings of the columns before those of the file. */
const ADDED = [texts.problems.line, texts.problems.reason]

function* rowsOf(
  headings: readonly string[],
  problems: readonly Problem[],
  isReport: boolean,
): Generator<string[]> {
  const skipped = isReport ? ADDED.length : 0
  yield [...ADDED, ...headings.slice(skipped)].map(singleLine)
  let size = 0
  for (const { line, reason, cells } of problems) {
    const row = [String(line), reason, ...cells.slice(skipped)].map(singleLine)
    size += row.reduce((sum, cell) => sum + cell.length, 0)
    if (size > MAX_REPORT) return yield [String(line), texts.problems.truncated]
    yield row
  }
}

/** Replaces control characters with spaces. */
const singleLine = (cell: string) => cell.replace(/\p{Cc}+/gu, ' ').trim()
