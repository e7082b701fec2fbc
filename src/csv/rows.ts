import { Readable } from 'node:stream'
import { type CsvError, type Parser, parse } from 'csv-parse'
import { UnreadableFileError, utf8 } from './encoding.ts'

/** One record of a file: its cells, and the line that it begins on, counted from 1. */
export interface Row {
  line: number
  cells: string[]
}

export interface Table {
  /** The first row that is not empty, without spaces around the names. */
  headings: string[]
  delimiter: string
  /** The rows after it, in portions as they are read. */
  rows: AsyncGenerator<Row[]>
}

/** The largest record, in bytes. A quote that is never closed makes the rest of a file into one. */
const MAX_RECORD = 8 * 1024 * 1024
const MOST_COLUMNS = 500
const LONGEST_HEADING = 200
const DELIMITERS = [',', ';', '\t']

/**
 * Reads a CSV file (RFC 4180) as a stream: comma, semicolon or tab, whichever the headings use; a byte order mark,
 * quotes, any line ending. Memory does not grow with the file.
 * Throws `UnreadableFileError`, here or while the rows are read.
 */
export async function readTable(source: AsyncIterable<Uint8Array>): Promise<Table> {
  const chunks = utf8(source)
  const start: Buffer[] = []
  // The headings decide the delimiter; they are in the first chunk unless chunks are tiny.
  for (let size = 0; size < 65_536; ) {
    const { value } = await chunks.next()
    if (!value) break
    start.push(value)
    size += value.length
    if (value.includes(0x0a)) break
  }
  const whole = (async function* () {
    yield* start
    yield* chunks
  })()
  const delimiter = delimiterOf(Buffer.concat(start).toString('utf8'))
  const rows = readRows(whole, delimiter)
  // Not `for await`, which would end the rows on the way out.
  for (let next = await rows.next(); !next.done; next = await rows.next()) {
    const portion = next.value
    // A line by which a spreadsheet names the delimiter.
    if (portion[0]?.cells[0] === 'sep=' || /^sep=.$/.test(portion[0]?.cells.join('') ?? '')) portion.shift()
    const [first, ...more] = portion
    if (!first) continue
    const headings = first.cells.map((cell) => cell.trim())
    if (headings.length > MOST_COLUMNS)
      throw new UnreadableFileError(
        first.line,
        `it has ${headings.length} columns; at most ${MOST_COLUMNS} are read.`,
      )
    if (headings.some((heading) => heading.length > LONGEST_HEADING))
      throw new UnreadableFileError(first.line, `a heading is longer than ${LONGEST_HEADING} characters.`)
    return {
      headings,
      delimiter,
      rows: (async function* () {
        if (more.length > 0) yield more
        yield* rows
      })(),
    }
  }
  throw new UnreadableFileError(1, 'the file has no rows.')
}

/** The delimiter that occurs most in the first line that is not empty, outside of quotes. */
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
    // Inch marks are quotes that quote nothing: 90x45 2" nail.
    relax_quotes: true,
    relax_column_count: true,
    // Named, as files that were put together mix them.
    record_delimiter: ['\r\n', '\n', '\r'],
  })
  const input = Readable.from(chunks, { objectMode: false })
  input.on('error', (error) => parser.destroy(error))
  input.pipe(parser)
  let line = 1
  try {
    for await (const records of portions(parser)) {
      const portion: Row[] = []
      for (const cells of records) {
        if (!isBlank(cells)) portion.push({ line, cells })
        line += 1 + lineBreaks(cells)
      }
      yield portion
    }
  } catch (error) {
    throw explain(error, line)
  } finally {
    input.destroy()
    parser.destroy()
  }
}

/** The records that are ready, as they come: one wait a portion instead of one a record. */
async function* portions(parser: Parser): AsyncGenerator<string[][]> {
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

/** An empty line, or a row of a spreadsheet with nothing in it. */
function isBlank(cells: string[]): boolean {
  return cells[0]?.trim() === '' && cells.every((cell) => cell.trim() === '')
}

/** Line breaks inside of quoted cells. */
function lineBreaks(cells: string[]): number {
  let breaks = 0
  for (const cell of cells) {
    for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) breaks++
  }
  return breaks
}

function explain(error: unknown, line: number): unknown {
  const { code } = error as CsvError
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return new UnreadableFileError(line, `a quote is opened here and not closed${ENDLESS}`)
  if (code === 'CSV_MAX_RECORD_SIZE')
    return new UnreadableFileError(
      line,
      `a row of more than 8 MB begins here, perhaps by a quote that is not closed${ENDLESS}`,
    )
  return error
}

const ENDLESS = ', so that the rest of the file cannot be read. Correct it and try again.'
