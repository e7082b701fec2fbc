import { type CsvError, parse } from 'csv-parse'
import { type Encoding, readUtf8 } from './encoding.ts'
import { UnreadableFileError } from './errors.ts'
import type { Row, Sheet } from './sheet.ts'
import { texts } from './texts.ts'

/** Maximum size of a record and of a line, in bytes: an unclosed quote would turn the rest of the file into one record. */
const MAX_RECORD = 2_000_000
/** The comma last: it may be the decimal sign of the prices. */
const DELIMITERS = ['\t', ';', '|', ',']
/** How much of the file decides on the delimiter, in bytes and lines. */
const SAMPLE_BYTES = 65_536
const SAMPLE_LINES = 50

/**
 * Opens delimited text (RFC 4180). The delimiter (comma, semicolon, tab or pipe) is recognised from the first lines; a byte
 * order mark, quotes and all line endings are supported. Memory use doesn't depend on the file size. Throws
 * `UnreadableFileError`, also while reading the rows.
 */
export async function openTextSheet(path: string, encoding: Encoding): Promise<Sheet> {
  const start: Buffer[] = []
  let size = 0
  for await (const chunk of readUtf8(path, encoding)) {
    start.push(chunk)
    size += chunk.length
    if (size >= SAMPLE_BYTES) break
  }
  const sample = Buffer.concat(start).subarray(0, SAMPLE_BYTES).toString()
  const delimiter = delimiterOf(sample)
  return {
    name: '',
    isHidden: false,
    delimiter,
    rows: () => readRows(readUtf8(path, encoding), delimiter),
    notes: async () => [],
    hiddenColumns: () => new Set(),
    hiddenRows: () => 0,
  }
}

/**
 * The delimiter in Excel's "sep=" line, or the one that occurs equally often in the most lines. Lines above the table,
 * such as a title, have none.
 */
function delimiterOf(text: string): string {
  const unquoted = text.replace(/^\ufeff/, '').replace(/"[^"]*"/g, 'quoted')
  const named = /^\s*sep=(.)\s*[\r\n]/.exec(unquoted)?.[1]
  if (named && DELIMITERS.includes(named)) return named
  const lines = unquoted.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '')
  let best = { delimiter: ',', count: 0, lines: 0 }
  for (const delimiter of DELIMITERS) {
    const counts = lines.slice(0, SAMPLE_LINES).map((line) => line.split(delimiter).length - 1)
    for (const count of counts.filter((found) => found > 0)) {
      const same = counts.filter((other) => other === count).length
      if (same > best.lines || (same === best.lines && count > best.count))
        best = { delimiter, count, lines: same }
    }
  }
  return best.delimiter
}

async function* readRows(chunks: AsyncGenerator<Buffer>, delimiter: string): AsyncGenerator<Row[]> {
  let line = 1
  let rows: Row[] = []
  const parser = parse({
    bom: true,
    delimiter,
    max_record_size: MAX_RECORD,
    // Allow inch marks: 90x45 2" nail.
    relax_quotes: true,
    // `"A1", "Hook, large"`: with the space, the quotes would be part of the cell.
    ltrim: true,
    relax_column_count: true,
    // Concatenated files may mix line endings.
    record_delimiter: ['\r\n', '\n', '\r'],
    // Rows are collected here: as a stream of records, they would take more time.
    on_record(cells: string[]) {
      if (!isBlank(cells) && !(line === 1 && isDelimiterLine(cells))) rows.push({ line, cells })
      line += 1 + lineBreaks(cells)
      return null
    },
  })
  // Those who write learn it, too.
  parser.on('error', () => {})
  try {
    for await (const chunk of chunks) {
      await settled((done) => parser.write(chunk, done))
      yield rows
      rows = []
    }
    await settled((done) => parser.end(done))
    yield rows
  } catch (error) {
    throw toReadableError(error, line)
  }
}

/** Resolves when `work` calls back, and throws the error that it is called back with. */
const settled = (work: (done: (error?: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => work((error) => (error ? reject(error) : resolve())))

/** Whether a row has only blank cells. */
function isBlank(cells: string[]): boolean {
  return cells[0]?.trim() === '' && cells.every((cell) => cell.trim() === '')
}

/** Excel's "sep=;" line, with which a file names its delimiter. */
const isDelimiterLine = (cells: string[]) => cells[0] === 'sep=' || /^sep=.$/.test(cells.join(''))

/** The number of line breaks inside quoted cells. */
function lineBreaks(cells: string[]): number {
  let breaks = 0
  for (const cell of cells) {
    for (let index = cell.indexOf('\n'); index >= 0; index = cell.indexOf('\n', index + 1)) breaks++
    // Old files for the Macintosh have CR alone.
    if (cell.includes('\r')) breaks += cell.match(/\r(?!\n)/g)?.length ?? 0
  }
  return breaks
}

/** Converts errors of csv-parse that users can fix to `UnreadableFileError`. */
function toReadableError(error: unknown, line: number): unknown {
  const { code } = error as CsvError
  if (code === 'CSV_QUOTE_NOT_CLOSED') return new UnreadableFileError(line, texts.unreadable.unclosedQuote)
  if (code === 'CSV_MAX_RECORD_SIZE') return new UnreadableFileError(line, texts.unreadable.longRow)
  return error
}
