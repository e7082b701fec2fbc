import { stringify } from 'csv-stringify/sync'
import type { Found, Outline } from './found.ts'
import { detailText } from './sentences.ts'
import { texts } from './texts.ts'

/**
 * The rows that are not sent as CSV: row number, reason and cells, below the headings. Cells are trimmed, quoted and on a single
 * line, and those that a spreadsheet would treat as a formula get a leading apostrophe (OWASP, CSV injection).
 */
export function reportOf({ columns }: Outline, { rejected }: Pick<Found, 'rejected'>): string {
  const { line, reason, detail, reasons } = texts.rejected
  const rows = [
    [line, reason, detail, ...columns.map(({ heading }) => heading)],
    ...rejected.flatMap((group) =>
      group.rows.map((row) => [String(row.row), reasons[group.reason], detailText(row), ...row.cells]),
    ),
  ].map((row) => row.map(singleLine))
  return stringify(rows, { bom: true, escape_formulas: true, quoted: true, record_delimiter: 'windows' })
}

/** Replaces control characters with spaces. */
const singleLine = (cell: string) => cell.replace(/\p{Cc}+/gu, ' ').trim()
