import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify'
import type { Draft } from './layout.ts'
import type { Problem } from './rows.ts'
import { texts } from './texts.ts'

/** Maximum size of a report, in characters. */
const MAX_REPORT = 10_000_000

/**
 * Writes problems to a CSV file: line number, reason and the row's cells, below the headings of the first sheet. Cells are
 * trimmed, quoted and on a single line, and those that a spreadsheet would treat as a formula get a leading apostrophe (OWASP,
 * CSV injection). The report is truncated, with a note, at 10 million characters. Throws the errors of the file system.
 */
export async function writeReport(path: string, draft: Draft, problems: readonly Problem[]): Promise<void> {
  const csv = stringify({ bom: true, escape_formulas: true, quoted: true, record_delimiter: 'windows' })
  await pipeline(Readable.from(rowsOf(draft, problems)), csv, createWriteStream(path, { mode: 0o600 }))
}

function* rowsOf({ sheets }: Draft, problems: readonly Problem[]): Generator<string[]> {
  const { line: lineHeading, reason: reasonHeading, sheet: sheetHeading, truncated } = texts.problems
  const isWorkbook = sheets.some(({ name }) => name !== '')
  const headings = sheets[0]?.columns.map(({ heading }) => heading) ?? []
  yield [...(isWorkbook ? [sheetHeading] : []), lineHeading, reasonHeading, ...headings].map(singleLine)
  let size = 0
  for (const { sheet, line, reason, cells } of problems) {
    const row = [...(isWorkbook ? [sheet] : []), String(line), reason, ...cells].map(singleLine)
    size += row.reduce((sum, cell) => sum + cell.length, 0)
    if (size > MAX_REPORT) return yield [String(line), truncated]
    yield row
  }
}

/** Replaces control characters with spaces. */
const singleLine = (cell: string) => cell.replace(/\p{Cc}+/gu, ' ').trim()
