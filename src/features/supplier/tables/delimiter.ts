/** Finds out what separates the columns of a text. */
import { UnreadableFileError } from './errors.ts'
import type { Row } from './sheet.ts'
import { texts } from './texts.ts'

/** The comma comes last, because it may be the decimal sign of the prices. */
const DELIMITERS = ['\t', ';', '|', ',']
/** How many lines are counted, and which share of them counts as most. Lines with titles and notes may differ. */
const SAMPLE = 50
const MOST = 0.7

const linesOf = (text: string) => text.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '')

/** The delimiter that occurs equally often in the most lines, and the share of these lines. */
function bestOf(text: string): { delimiter: string; share: number } {
  const lines = linesOf(text.replace(/"[^"]*"/g, 'quoted')).slice(0, SAMPLE)
  const found = DELIMITERS.flatMap((delimiter) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1)
    const different = [...new Set(counts)].filter((count) => count > 0)
    return different.map((count) => ({ delimiter, count, fits: counts.filter((n) => n === count).length }))
  })
  const [best] = found.sort((a, b) => b.fits - a.fits || b.count - a.count)
  return { delimiter: best?.delimiter ?? ',', share: (best?.fits ?? 0) / lines.length }
}

/**
 * Finds the delimiter in the beginning of a text: the one that Excel's "sep=" line names, or else the one that fits best. Throws
 * `UnreadableFileError` if the columns are separated by spaces.
 */
export function delimiterOf(text: string): string {
  const named = /^\s*sep=(.)\s*[\r\n]/.exec(text)?.[1]
  if (named && DELIMITERS.includes(named)) return named
  const { delimiter, share } = bestOf(text)
  if (share < MOST && isFixedWidth(linesOf(text).slice(0, SAMPLE)))
    throw new UnreadableFileError(0, texts.unreadable.fixedWidth)
  return delimiter
}

/** Whether most lines have words that are two or more spaces apart. */
const isFixedWidth = (lines: readonly string[]) =>
  lines.length > 2 && lines.filter((line) => /\S {2,}\S/.test(line)).length >= lines.length * MOST

/** Yields the rows of a file's only sheet. Throws `UnreadableFileError` if each of the first rows is a line of CSV in one cell. */
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
