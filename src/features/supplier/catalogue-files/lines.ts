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
  let total = 0
  const piece = Buffer.alloc(PIECE)
  let filled = 0
  for await (const chunk of chunks) {
    total += chunk.length
    if (total > BOUNDS.bytes) throw new RefusedFileError(texts.refused.large)
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.subarray(at, at + PIECE - filled)
      piece.set(taken, filled)
      filled += taken.length
      at += taken.length
      if (filled < PIECE) continue
      yield piece
      await setImmediate()
      filled = 0
    }
  }
  if (filled > 0) yield piece.subarray(0, filled)
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

/** The separator of a file: the first of comma, semicolon and tab in its first line. */
export const separatorOf = (line: string): string => /[,;\t]/.exec(line)?.[0] ?? ','

/** The cells of a line, without surrounding spaces. `broken`: the beginning of a quoted cell that doesn't end correctly. */
export interface Cells {
  cells: string[]
  broken?: string
}

/**
 * Splits a line into cells. A cell that begins with a quote must end with a quote, and quotes inside are doubled. In other cells,
 * a quote is an ordinary character.
 */
export function cellsOf(line: string, separator: string): Cells {
  if (!line.includes('"')) return { cells: line.split(separator).map((cell) => cell.trim()) }
  const cells: string[] = []
  for (let start = 0; start <= line.length; ) {
    const next = line.indexOf(separator, start)
    const plainEnd = next < 0 ? line.length : next
    const plain = line.slice(start, plainEnd)
    if (!plain.trimStart().startsWith('"')) {
      cells.push(plain.trim())
      start = plainEnd + 1
      continue
    }
    const quote = line.indexOf('"', start)
    const close = closingQuote(line, quote + 1)
    const after = close < 0 ? -1 : line.indexOf(separator, close)
    const end = after < 0 ? line.length : after
    if (close < 0 || line.slice(close + 1, end).trim() !== '')
      return { cells, broken: line.slice(quote, end) }
    const content = line.slice(quote + 1, close).replaceAll('""', '"')
    cells.push(content.trim())
    start = end + 1
  }
  return { cells }
}

/** The index of the closing quote of a cell, or -1. */
function closingQuote(line: string, from: number): number {
  let quote = line.indexOf('"', from)
  while (quote >= 0 && line[quote + 1] === '"') quote = line.indexOf('"', quote + 2)
  return quote
}
