/** Splits the bytes of a file into lines, and a line into cells. */
import { setImmediate } from 'node:timers/promises'
import { TextDecoder } from 'node:util'
import { BOUNDS } from './items.ts'
import { texts } from './texts.ts'

/** Refuses the whole file, and stops reading it. The message tells the user the reason. */
export class RefusedFileError extends Error {}

/** How many bytes are read before other requests get a turn. */
const PIECE = 16_384

/**
 * Yields the lines of a file in groups, without line ends (CRLF, LF or CR). Bytes that aren't valid text become U+FFFD.
 * Throws `RefusedFileError` for a file that isn't text, or that exceeds the limits for bytes, lines or the length of a line.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  let decoder: TextDecoder | undefined
  let rest = ''
  let count = 0
  for await (const piece of pieces(chunks)) {
    decoder ??= decoderFor(piece)
    // A line feed after a carriage return belongs to the same line end.
    const lines = (rest + decoder.decode(piece, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    checkBounds(lines, count, rest)
    count += lines.length
    yield lines
  }
  const last = (rest + (decoder?.decode() ?? '')).replace(/\r$/, '')
  if (last === '') return
  checkBounds([last], count, '')
  yield [last]
}

/** Throws `RefusedFileError` if there are too many lines, or if a line (or the beginning of the next line) is too long. */
function checkBounds(lines: readonly string[], before: number, next: string): void {
  const long = [...lines, next].findIndex((line) => line.length > BOUNDS.lineLength)
  if (long >= 0) throw new RefusedFileError(texts.refused.longLine(before + long + 1))
  if (before + lines.length > BOUNDS.lines) throw new RefusedFileError(texts.refused.manyLines)
}

/** Regroups the bytes into pieces of equal size, because a file that arrives byte by byte would otherwise take too long. */
async function* pieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let [total, waiting] = [0, 0]
  let parts: Uint8Array[] = []
  for await (const chunk of chunks) {
    total += chunk.length
    if (total > BOUNDS.bytes) throw new RefusedFileError(texts.refused.large)
    parts.push(chunk)
    waiting += chunk.length
    if (waiting < PIECE) continue
    let rest = Buffer.concat(parts)
    for (; rest.length >= PIECE; rest = rest.subarray(PIECE)) {
      yield rest.subarray(0, PIECE)
      await setImmediate()
    }
    parts = [rest]
    waiting = rest.length
  }
  if (waiting > 0) yield Buffer.concat(parts)
}

/** Finds the encoding by the byte order mark: UTF-16, or else UTF-8. Throws `RefusedFileError` if the first bytes aren't text. */
function decoderFor(start: Uint8Array): TextDecoder {
  const [first, second] = start
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le')
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be')
  // The headers of workbooks, archives and pictures contain zero bytes.
  if (start.includes(0)) throw new RefusedFileError(texts.refused.binary)
  return new TextDecoder('utf-8')
}

/** The cells of a line, without surrounding spaces. `broken`: from a cell that begins with a quote and doesn't end correctly. */
export interface Cells {
  cells: string[]
  broken?: string
}

/**
 * Returns a function that splits a line into cells. The separator is the first of comma, semicolon and tab in the line with the
 * names. A cell that begins with a quote must end with a quote, and quotes inside are doubled. In other cells, a quote is an
 * ordinary character.
 */
export function splitterFor(names: string): (line: string) => Cells {
  const separator = /[,;\t]/.exec(names)?.[0] ?? ','
  const blank = `[^\\S${separator}]`
  const quoted = `"([^"]*(?:""[^"]*)*)"${blank}*`
  const cell = new RegExp(`${blank}*(?:${quoted}|(?!"|${blank})([^${separator}]*))(${separator}|$)`, 'y')
  return (line) => {
    if (!line.includes('"')) return { cells: line.split(separator).map((text) => text.trim()) }
    const cells: string[] = []
    cell.lastIndex = 0
    for (;;) {
      const start = cell.lastIndex
      const [found, content, plain = '', end] = cell.exec(line) ?? []
      if (found === undefined) return { cells, broken: line.slice(start).trim() }
      cells.push((content?.replaceAll('""', '"') ?? plain).trim())
      if (end === '') return { cells }
    }
  }
}
