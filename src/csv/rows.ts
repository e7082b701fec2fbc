import { Readable } from 'node:stream'
import { type CsvError, type Parser, parse } from 'csv-parse'
import { UnreadableFileError, utf8 } from './encoding.ts'

/** A record: its cells and the number of its first line, starting at 1. */
export interface Row {
  line: number
  cells: string[]
}

export interface Table {
  /** The trimmed cells of the first row that is not blank. */
  headings: string[]
  delimiter: string
  /** The remaining rows that are not blank, in batches. */
  rows: AsyncGenerator<Row[]>
}

/** Maximum size of a record, in bytes: an unclosed quote would turn the rest of the file into one record. */
const MAX_RECORD = 8 * 1024 * 1024
const MAX_COLUMNS = 500
const MAX_HEADING_LENGTH = 200
const DELIMITERS = [',', ';', '\t']

/**
 * Streams a CSV file (RFC 4180). Detects the delimiter (comma, semicolon or tab) from the headings; supports a byte
 * order mark, quotes and all line endings. Memory use doesn't depend on the file size.
 * Throws `UnreadableFileError`, also while reading the rows.
 */
export async function readTable(source: AsyncIterable<Uint8Array>): Promise<Table> {
  const chunks = utf8(source)
  const start: Buffer[] = []
  // Read until the end of the headings, which determine the delimiter.
  for (let size = 0; size < 65_536; ) {
    const { value } = await chunks.next()
    if (!value) break
    start.push(value)
    size += value.length
    if (value.includes(0x0a)) break
  }
  const allChunks = (async function* () {
    yield* start
    yield* chunks
  })()
  const delimiter = delimiterOf(Buffer.concat(start).toString('utf8'))
  const rows = readRows(allChunks, delimiter)
  // `for await` would close the generator on return.
  for (let next = await rows.next(); !next.done; next = await rows.next()) {
    const batch = next.value
    // Skip Excel's "sep=;" line.
    if (batch[0]?.cells[0] === 'sep=' || /^sep=.$/.test(batch[0]?.cells.join('') ?? '')) batch.shift()
    const [first, ...rest] = batch
    if (!first) continue
    const headings = first.cells.map((cell) => cell.trim())
    if (headings.length > MAX_COLUMNS)
      throw new UnreadableFileError(
        first.line,
        `it has ${headings.length} columns; the maximum is ${MAX_COLUMNS}.`,
      )
    if (headings.some((heading) => heading.length > MAX_HEADING_LENGTH))
      throw new UnreadableFileError(first.line, `a heading is longer than ${MAX_HEADING_LENGTH} characters.`)
    return {
      headings,
      delimiter,
      rows: (async function* () {
        if (rest.length > 0) yield rest
        yield* rows
      })(),
    }
  }
  throw new UnreadableFileError(1, 'the file has no rows.')
}

/**
 * The delimiter in Excel's "sep=" line, or the most frequent one outside quotes in the first line that is not blank.
 */
function delimiterOf(text: string): string {
  const unquoted = text.replace(/^\ufeff/, '').replace(/"[^"]*"/g, 'quoted')
  const named = /^\s*sep=(.)\s*[\r\n]/.exec(unquoted)?.[1]
  if (named && DELIMITERS.includes(named)) return named
  const line = unquoted.split(/\r\n|\n|\r/).find((candidate) => candidate.trim() !== '') ?? ''
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}

async function* readRows(chunks: AsyncGenerator<Buffer>, delimiter: string): AsyncGenerator<Row[]> {
  const parser = parse({
    bom: true,
    delimiter,
    max_record_size: MAX_RECORD,
    // Allow inch marks: 90x45 2" nail.
    relax_quotes: true,
    relax_column_count: true,
    // Concatenated files may mix line endings.
    record_delimiter: ['\r\n', '\n', '\r'],
  })
  const input = Readable.from(chunks, { objectMode: false })
  input.on('error', (error) => parser.destroy(error))
  input.pipe(parser)
  let line = 1
  try {
    for await (const records of batches(parser)) {
      const batch: Row[] = []
      for (const cells of records) {
        if (!isBlank(cells)) batch.push({ line, cells })
        line += 1 + lineBreaks(cells)
      }
      yield batch
    }
  } catch (error) {
    throw toReadableError(error, line)
  } finally {
    input.destroy()
    parser.destroy()
  }
}

/** Yields all available records at once, which is faster than awaiting each record. */
async function* batches(parser: Parser): AsyncGenerator<string[][]> {
  let failed: unknown
  let wake = () => {}
  parser.on('error', (error) => {
    failed = error
  })
  for (const event of ['readable', 'end', 'close']) parser.on(event, () => wake())
  for (;;) {
    const records: string[][] = []
    for (let record = parser.read(); record !== null; record = parser.read()) records.push(record)
    if (records.length > 0) yield records
    else if (failed) throw failed
    else if (parser.readableEnded || parser.destroyed) return
    else await new Promise<void>((resolve) => (wake = resolve))
  }
}

/** Whether a row has only blank cells. */
function isBlank(cells: string[]): boolean {
  return cells[0]?.trim() === '' && cells.every((cell) => cell.trim() === '')
}

/** The number of line breaks inside quoted cells. */
function lineBreaks(cells: string[]): number {
  let breaks = 0
  for (const cell of cells) {
    for (let index = cell.indexOf('\n'); index >= 0; index = cell.indexOf('\n', index + 1)) breaks++
  }
  return breaks
}

/** Converts errors of csv-parse that users can fix to `UnreadableFileError`. */
function toReadableError(error: unknown, line: number): unknown {
  const { code } = error as CsvError
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return new UnreadableFileError(line, `a quote opened here is never closed${UNCLOSED}`)
  if (code === 'CSV_MAX_RECORD_SIZE')
    return new UnreadableFileError(
      line,
      `a row longer than 8 MB starts here, probably because of an unclosed quote${UNCLOSED}`,
    )
  return error
}

const UNCLOSED = ', so the rest of the file cannot be read. Fix it and try again.'
