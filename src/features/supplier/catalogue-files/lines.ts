/** Splits the bytes of a file into lines, and a line into cells. */
import { setImmediate } from 'node:timers/promises'
import { TextDecoder } from 'node:util'
import { BOUNDS } from './items.ts'
import { texts } from './texts.ts'

/** The whole file is refused; reading stops. The message is the reason, for the user. */
export class RefusedFileError extends Error {}

/** How many bytes are read before other requests are let in. */
const PIECE = 16_384

/**
 * Yields the lines of a file, some at a time, without their ends (CRLF, LF or CR). Bytes that aren't valid text become U+FFFD.
 * Throws `RefusedFileError` for a file that isn't text, or that exceeds the bounds of bytes, lines and a line's length.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  let decoder: TextDecoder | undefined
  let rest = ''
  let count = 0
  for await (const piece of pieces(chunks)) {
    decoder ??= decoderFor(piece)
    // The line feed that may follow a carriage return belongs to the same end of a line.
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

/** Throws `RefusedFileError` if there are too many lines, or if one of them, or the beginning of the next one, is too long. */
function checkBounds(lines: readonly string[], before: number, next: string): void {
  const long = [...lines, next].findIndex((line) => line.length > BOUNDS.lineLength)
  if (long >= 0) throw new RefusedFileError(texts.refused.longLine(before + long + 1))
  if (before + lines.length > BOUNDS.lines) throw new RefusedFileError(texts.refused.manyLines)
}

/** The same bytes in pieces of one size, however they arrive: otherwise single bytes would cost as much as whole pieces. */
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
  // Workbooks, archives and pictures begin with a header that contains zero bytes.
  if (start.includes(0)) throw new RefusedFileError(texts.refused.binary)
  return new TextDecoder('utf-8')
}

/** The separator of a file: the first of comma, semicolon and tab in its first line. */
export const separatorOf = (line: string): string => /[,;\t]/.exec(line)?.[0] ?? ','

/** The cells of a line, without surrounding blanks. `broken`: a quoted cell that doesn't end correctly. */
export interface Cells {
  cells: string[]
  broken?: { kind: 'quoteOpen' | 'textAfterQuote'; found: string }
}

/**
 * Splits a line into cells. A cell that begins with a quote ends with one, and contains quotes doubled. Within other cells, a quote
 * is a character.
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
    if (close < 0) return { cells, broken: { kind: 'quoteOpen', found: line.slice(quote) } }
    const after = line.indexOf(separator, close)
    const end = after < 0 ? line.length : after
    if (line.slice(close + 1, end).trim() !== '')
      return { cells, broken: { kind: 'textAfterQuote', found: line.slice(quote, end) } }
    const content = line.slice(quote + 1, close).replaceAll('""', '"')
    cells.push(content.trim())
    start = end + 1
  }
  return { cells }
}

/** The place of the quote that closes a cell, or -1. */
function closingQuote(line: string, from: number): number {
  let quote = line.indexOf('"', from)
  while (quote >= 0 && line[quote + 1] === '"') quote = line.indexOf('"', quote + 2)
  return quote
}
