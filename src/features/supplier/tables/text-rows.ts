import { delimiterOf } from './delimiter.ts'
import { type Encoding, readText } from './encoding.ts'
import { UnreadableFileError } from './errors.ts'
import type { Row, Sheet } from './sheet.ts'
import { texts } from './texts.ts'

/** The longest row, in characters. Without a limit, an unclosed quote would turn the rest of the file into one row. */
const MAX_ROW = 2_000_000
/** V8 copies a part of a text only if the part is shorter than this. A longer part keeps the whole text in memory. */
const COPIED = 13

/**
 * Opens delimited text (RFC 4180). The delimiter (comma, semicolon, tab or pipe) is recognised from the first lines; quotes and
 * all line endings are supported, also mixed ones. Memory use doesn't depend on the file size. Throws `UnreadableFileError`,
 * also while reading the rows.
 */
export function openTextSheet(path: string, start: Buffer, encoding: Encoding, checkCpu: () => void): Sheet {
  const delimiter = delimiterOf(new TextDecoder(encoding).decode(start))
  return {
    name: '',
    isHidden: false,
    delimiter,
    rows: () => readRows(readText(path, encoding, checkCpu), delimiter),
    notes: async () => [],
    hiddenRows: () => 0,
  }
}

/**
 * Splits text into rows, and leaves out blank ones. csv-parse would make an error object for each row that is not as wide as the
 * first one. Each of these objects takes several microseconds.
 */
async function* readRows(chunks: AsyncIterable<string>, delimiter: string): AsyncGenerator<Row[]> {
  const plain = `[^\\r\\n${delimiter}]*`
  // There may be spaces before a quote. `"Oak" board` keeps its quotes, as `2" nail` does.
  const cell = new RegExp(`[^\\S\\r\\n${delimiter}]*"([^"]*(?:""[^"]*)*)"(?!")(${plain})|${plain}`, 'y')
  let pending = ''
  let cells: string[] = []
  /** Where the row begins, and how many lines and characters of it have been read. */
  let [line, lines, length] = [1, 1, 0]

  /** The rows that are complete with this chunk. */
  function split(chunk: string): Row[] {
    const text = pending + chunk
    const rows: Row[] = []
    let start = 0
    for (;;) {
      cell.lastIndex = start
      const [all = '', quoted, rest = ''] = cell.exec(text) ?? []
      const end = start + all.length
      // Only what follows shows whether a quote closes the cell, and whether a line feed belongs to the end of the row.
      if (end + 1 >= text.length || (quoted === undefined && all.trimStart().startsWith('"'))) break
      const content = quoted?.replaceAll('""', '"')
      cells.push(copyOf(content === undefined ? all : rest === '' ? content : `"${content}"${rest}`))
      if (content !== undefined) lines += content.split(/\r\n|\n|\r/).length - 1
      length += all.length + 1
      start = end + 1
      if (text[end] === delimiter) continue
      if (text[end] === '\r' && text[start] === '\n') start++
      if (!isBlank(cells) && !(line === 1 && isDelimiterLine(cells))) rows.push({ line, cells })
      cells = []
      line += lines
      ;[lines, length] = [1, 0]
    }
    pending = text.slice(start)
    if (length + pending.length > MAX_ROW) throw new UnreadableFileError(line, texts.unreadable.longRow)
    return rows
  }

  for await (const chunk of chunks) yield split(chunk)
  // The end of the file ends the last row.
  yield split('\n\n')
  if (pending.trim() !== '') throw new UnreadableFileError(line, texts.unreadable.unclosedQuote)
}

const copyOf = (cell: string) => (cell.length < COPIED ? cell : Buffer.from(cell).toString())
const isBlank = (cells: readonly string[]) => cells.every((cell) => cell.trim() === '')
/** Whether a row is Excel's "sep=;" line, in which a file names its delimiter. */
const isDelimiterLine = (cells: readonly string[]) => /^sep=.?$/.test(cells.join(''))
