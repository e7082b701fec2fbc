import { stringify } from 'csv-stringify'
import type { Problem } from './items.ts'

/**
 * A CSV writer of problems: line, reason and the row's own cells. A cell that a spreadsheet would run as a formula
 * gets an apostrophe in front (OWASP, CSV injection). Pipe it to a file or an answer.
 */
export function createReport(headings: readonly string[]) {
  const csv = stringify({ bom: true, escape_formulas: true, record_delimiter: 'windows' })
  csv.write(['Line', 'Reason', ...headings])
  return {
    stream: csv,
    /** Resolves to false when the reader should be waited for (`drain`). */
    add: ({ line, reason, cells }: Problem): boolean => csv.write([String(line), reason, ...cells]),
    end: () => csv.end(),
  }
}
