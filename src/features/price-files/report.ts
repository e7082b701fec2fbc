import { stringify } from 'csv-stringify/sync'
import type { Draft } from './layout.ts'
import type { Problem } from './rows.ts'
import { texts } from './texts.ts'

/**
 * The problems as CSV: line number, reason and the row's cells, below the headings of the first sheet. Cells are trimmed,
 * quoted and on a single line, and those that a spreadsheet would treat as a formula get a leading apostrophe (OWASP, CSV
 * injection).
 */
export function reportOf({ sheets }: Draft, problems: readonly Problem[]): string {
  const { line: lineHeading, reason: reasonHeading, sheet: sheetHeading } = texts.problems
  const isWorkbook = sheets.some(({ name }) => name !== '')
  const headings = sheets[0]?.columns.map(({ heading }) => heading) ?? []
  const rows = [
    [...(isWorkbook ? [sheetHeading] : []), lineHeading, reasonHeading, ...headings],
    ...problems.map(({ sheet, line, reason, cells }) => [
      ...(isWorkbook ? [sheet] : []),
      String(line),
      reason,
      ...cells,
    ]),
  ].map((row) => row.map(singleLine))
  return stringify(rows, { bom: true, escape_formulas: true, quoted: true, record_delimiter: 'windows' })
}

/** Replaces control characters with spaces. */
const singleLine = (cell: string) => cell.replace(/\p{Cc}+/gu, ' ').trim()
