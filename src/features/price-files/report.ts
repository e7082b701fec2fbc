import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify'
import { StoreUnavailableError } from '../../connect/store/store.ts'
import type { Problem } from './items.ts'

export interface Report {
  /** Writes a problem, after the headings of its file; waits for a slow disk. */
  add(problem: Problem, headings: readonly string[]): Promise<void>
  /** Resolves when everything is on disk. */
  end(): Promise<void>
}

/** The largest report, in characters: rows can be long. */
const MAX_REPORT = 10_000_000

/**
 * A CSV file of problems: line, reason and the row's own cells. A cell that a spreadsheet would run as a formula gets
 * an apostrophe in front (OWASP, CSV injection), and every cell is on one line and in quotes, so that no reader finds
 * another beginning in it. Without a problem there is no file; a report of 10 million characters ends with a line that says
 * so.
 * Both methods throw `StoreUnavailableError` when it cannot be written.
 */
export function createReport(path: string): Report {
  const csv = stringify({ bom: true, escape_formulas: true, quoted: true, record_delimiter: 'windows' })
  let written: Promise<void> | undefined
  let size = 0

  function begin(headings: readonly string[]): Promise<void> {
    const done = pipeline(csv, createWriteStream(path, { mode: 0o600 })).catch((error: unknown) => {
      throw new StoreUnavailableError(`a report cannot be written (${(error as NodeJS.ErrnoException).code})`)
    })
    // Told to whoever adds or ends, not to the process.
    done.catch(() => {})
    csv.write(['Line', 'Reason', ...headings].map(oneLine))
    return done
  }

  return {
    async add({ line, reason, cells }, headings) {
      written ??= begin(headings)
      if (size > MAX_REPORT) return
      const row = [String(line), reason, ...cells].map(oneLine)
      size += row.reduce((sum, cell) => sum + cell.length, 0)
      if (size > MAX_REPORT) row.splice(0, row.length, String(line), 'The report ends here: it is too long.')
      if (csv.write(row)) return
      await Promise.race([once(csv, 'drain').catch(() => written), written])
    },
    async end() {
      csv.end()
      await written
    },
  }
}

/** Line breaks and other control characters as spaces; a tab or line break in front still counts as a formula's. */
function oneLine(cell: string): string {
  const first = /^[\t\r]/.test(cell) ? "'" : ''
  return first + cell.replace(/\p{Cc}+/gu, ' ')
}
