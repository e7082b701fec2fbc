import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify'
import { StoreUnavailableError } from '../../connect/store/store.ts'
import type { Problem } from './items.ts'

export interface Report {
  /** Appends a problem; the first call also writes the headings. Waits if the disk is slow. */
  add(problem: Problem, headings: readonly string[]): Promise<void>
  /** Resolves when everything is on disk. */
  end(): Promise<void>
}

/** Maximum size of a report, in characters. */
const MAX_REPORT = 10_000_000

/**
 * Writes a CSV report of problems: line number, reason and the row's cells. Cells are quoted and on a single line, and
 * those that a spreadsheet would treat as a formula get a leading apostrophe (OWASP, CSV injection). The file is
 * created with the first problem, and truncated, with a note, at 10 million characters. Both methods throw
 * `StoreUnavailableError` if the report cannot be written.
 */
export function createReport(path: string): Report {
  const csv = stringify({ bom: true, escape_formulas: true, quoted: true, record_delimiter: 'windows' })
  let written: Promise<void> | undefined
  let size = 0

  function open(headings: readonly string[]): Promise<void> {
    const done = pipeline(csv, createWriteStream(path, { mode: 0o600 })).catch((error: unknown) => {
      throw new StoreUnavailableError(`a report cannot be written (${(error as NodeJS.ErrnoException).code})`)
    })
    // `add` and `end` report the error; prevent an unhandled rejection.
    done.catch(() => {})
    csv.write(['Line', 'Reason', ...headings].map(oneLine))
    return done
  }

  return {
    async add({ line, reason, cells }, headings) {
      written ??= open(headings)
      if (size > MAX_REPORT) return
      const row = [String(line), reason, ...cells].map(oneLine)
      size += row.reduce((sum, cell) => sum + cell.length, 0)
      if (size > MAX_REPORT)
        row.splice(0, row.length, String(line), 'The report was truncated because it is too long.')
      if (csv.write(row)) return
      await Promise.race([once(csv, 'drain').catch(() => written), written])
    },
    async end() {
      csv.end()
      await written
    },
  }
}

/** Replaces control characters with spaces; escapes a leading tab or line break, which may start a formula. */
function oneLine(cell: string): string {
  const prefix = /^[\t\r]/.test(cell) ? "'" : ''
  return prefix + cell.replace(/\p{Cc}+/gu, ' ')
}
