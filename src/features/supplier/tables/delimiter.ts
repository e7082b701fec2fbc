/** What separates the columns of a text. */
import { UnreadableFileError } from './errors.ts'
import type { Row } from './sheet.ts'
import { texts } from './texts.ts'

/** The comma last: it may be the decimal sign of the prices. */
const DELIMITERS = ['\t', ';', '|', ',']
/** How many lines decide, and how large a part of them most of them is: titles and notes are others. */
const SAMPLE = 50
const MOST = 0.7

const linesOf = (text: string) => text.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '')

/** The delimiter that occurs equally often in the most lines, and the share of these lines. */
function bestOf(text: string): { delimiter: string; share: number } {
  const lines = linesOf(text.replace(/"[^"]*"/g, 'quoted')).slice(0, SAMPLE)
  let best = { delimiter: ',', count: 0, lines: 0 }
  for (const delimiter of DELIMITERS) {
    const counts = lines.map((line) => line.split(delimiter).length - 1)
    for (const count of counts.filter((found) => found > 0)) {
      const same = counts.filter((other) => other === count).length
      if (same > best.lines || (same === best.lines && count > best.count))
        best = { delimiter, count, lines: same }
    }
  }
  return { delimiter: best.delimiter, share: best.lines / lines.length }
}

/**
 * The delimiter of a text, by its beginning: that of Excel's "sep=" line, or the one that fits best. Throws
 * `UnreadableFileError` if blanks separate the columns.
 */
export function delimiterOf(text: string): string {
  const named = /^\s*sep=(.)\s*[\r\n]/.exec(text)?.[1]
  if (named && DELIMITERS.includes(named)) return named
  const { delimiter, share } = bestOf(text)
  if (!(share >= MOST) && isFixedWidth(linesOf(text).slice(0, SAMPLE)))
    throw new UnreadableFileError(0, texts.unreadable.fixedWidth)
  return delimiter
}

/** Whether a word begins in one and the same place of most lines, behind two blanks. */
function isFixedWidth(lines: readonly string[]): boolean {
  const begun = new Map<number, number>()
  for (const line of lines)
    for (const { 0: gap, index } of line.trimEnd().matchAll(/ {2,}/g))
      begun.set(index + gap.length, (begun.get(index + gap.length) ?? 0) + 1)
  return lines.length > 2 && Math.max(...begun.values()) >= lines.length * MOST
}

/** Passes the rows of a file's only sheet on. Throws `UnreadableFileError` if each of the first ones is a line of CSV in one cell. */
export async function* withoutLines(batches: AsyncIterable<Row[]>): AsyncGenerator<Row[]> {
  let isFirst = true
  for await (const rows of batches) {
    if (isFirst && areLines(rows.slice(0, SAMPLE)))
      throw new UnreadableFileError(0, texts.unreadable.csvInColumn)
    isFirst &&= rows.length === 0
    yield rows
  }
}

const areLines = (rows: readonly Row[]) =>
  rows.length > 2 &&
  rows.every(({ cells }) => cells.findLastIndex((cell) => cell.trim() !== '') === 0) &&
  bestOf(rows.map(({ cells }) => cells[0]).join('\n')).share >= MOST
