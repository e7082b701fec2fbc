import { isUtf8 } from 'node:buffer'
import { AppError } from '../connect/app-error.ts'

/** A price file that cannot be read at all, or not beyond some place: what is wrong, where, and what to do. */
export class UnreadableFileError extends AppError {
  readonly code = 'file_unreadable'
  readonly status = 400
  /** Counted from 1. */
  readonly line: number
  /** What is wrong, without the line. */
  readonly problem: string
  constructor(line: number, problem: string) {
    super(`Line ${line}: ${problem}`)
    this.line = line
    this.problem = problem
  }
}

const SAVE_AS = 'save it as "CSV UTF-8" and use that'
/** The first bytes of what people take for a CSV file. */
const FOREIGN: [name: string, bytes: number[]][] = [
  ['an Excel workbook or another zip file', [0x50, 0x4b, 0x03, 0x04]],
  ['an old Excel workbook', [0xd0, 0xcf, 0x11, 0xe0]],
  ['a PDF', [0x25, 0x50, 0x44, 0x46]],
  ['a compressed file', [0x1f, 0x8b]],
  ['text in UTF-16', [0xff, 0xfe]],
  ['text in UTF-16', [0xfe, 0xff]],
]
const NEWLINE = 0x0a

/**
 * Passes the bytes of a UTF-8 text on in chunks that end between characters.
 * Throws `UnreadableFileError` with the line at the first byte that is not text in UTF-8, and for an empty file.
 */
export async function* utf8(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let line = 1
  let begun = false
  let rest: Buffer = Buffer.alloc(0)
  for await (const bytes of source) {
    const chunk =
      rest.length > 0
        ? Buffer.concat([rest, bytes])
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    // Enough to know the file by.
    if (!begun && chunk.length < 4) {
      rest = chunk
      continue
    }
    if (!begun) refuseForeign(chunk)
    begun = true
    const whole = chunk.subarray(0, chunk.length - partial(chunk))
    refuseNonText(whole, line)
    rest = chunk.subarray(whole.length)
    line += count(whole)
    if (whole.length > 0) yield whole
  }
  if (!begun && rest.length === 0) throw new UnreadableFileError(1, 'the file is empty.')
  refuseNonText(rest, line)
  if (rest.length > 0) yield rest
}

function refuseForeign(start: Buffer): void {
  const foreign = FOREIGN.find(([, bytes]) => bytes.every((byte, index) => start[index] === byte))
  if (foreign) throw new UnreadableFileError(1, `this is ${foreign[0]}, not a CSV file; ${SAVE_AS}.`)
}

function refuseNonText(bytes: Buffer, line: number): void {
  const zero = bytes.indexOf(0)
  if (zero >= 0) {
    throw new UnreadableFileError(
      line + count(bytes.subarray(0, zero)),
      `this is a binary file, not text (it has a zero byte); ${SAVE_AS}.`,
    )
  }
  if (isUtf8(bytes)) return
  let from = 0
  // Where it is: the first line that is not UTF-8 by itself.
  for (let at = line; ; at++) {
    const end = bytes.indexOf(NEWLINE, from)
    if (end < 0 || !isUtf8(bytes.subarray(from, end)))
      throw new UnreadableFileError(at, `the text is not in UTF-8; ${SAVE_AS}.`)
    from = end + 1
  }
}

/** How many bytes at the end begin a character whose rest is in the next chunk. */
function partial(chunk: Buffer): number {
  for (let back = 1; back <= Math.min(3, chunk.length); back++) {
    const byte = chunk[chunk.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return length > back ? back : 0
    }
  }
  return 0
}

function count(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++
  return lines
}
