import { isUtf8 } from 'node:buffer'
import { AppError } from '../connect/app-error.ts'

/** A CSV file that cannot be read from some line on. The message says why and what to do. */
export class UnreadableFileError extends AppError {
  readonly code = 'file_unreadable'
  readonly status = 400
  /** Line number, starting at 1. */
  readonly line: number
  /** The message without the line number. */
  readonly problem: string
  constructor(line: number, problem: string) {
    super(`Line ${line}: ${problem}`)
    this.line = line
    this.problem = problem
  }
}

const SAVE_AS = 'save it as "CSV UTF-8" and try again'
/** Magic numbers of file types that users commonly mistake for CSV. */
const OTHER_FORMATS: [name: string, bytes: number[]][] = [
  ['an Excel workbook or another zip file', [0x50, 0x4b, 0x03, 0x04]],
  ['an old Excel workbook', [0xd0, 0xcf, 0x11, 0xe0]],
  ['a PDF', [0x25, 0x50, 0x44, 0x46]],
  ['a compressed file', [0x1f, 0x8b]],
  ['text in UTF-16', [0xff, 0xfe]],
  ['text in UTF-16', [0xfe, 0xff]],
]
const NEWLINE = 0x0a

/**
 * Validates UTF-8 and yields it in chunks that end between characters.
 * Throws `UnreadableFileError` with the line of the first invalid byte, or if the file is empty.
 */
export async function* utf8(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let line = 1
  let started = false
  let rest: Buffer = Buffer.alloc(0)
  for await (const bytes of source) {
    const chunk =
      rest.length > 0
        ? Buffer.concat([rest, bytes])
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    // Wait for enough bytes to detect the format.
    if (!started && chunk.length < 4) {
      rest = chunk
      continue
    }
    if (!started) rejectOtherFormats(chunk)
    started = true
    const complete = chunk.subarray(0, chunk.length - partialBytes(chunk))
    rejectInvalidText(complete, line)
    rest = chunk.subarray(complete.length)
    line += countLines(complete)
    if (complete.length > 0) yield complete
  }
  if (!started && rest.length === 0) throw new UnreadableFileError(1, 'the file is empty.')
  rejectInvalidText(rest, line)
  if (rest.length > 0) yield rest
}

function rejectOtherFormats(start: Buffer): void {
  const format = OTHER_FORMATS.find(([, bytes]) => bytes.every((byte, index) => start[index] === byte))
  if (format) throw new UnreadableFileError(1, `this is ${format[0]}, not a CSV file; ${SAVE_AS}.`)
}

function rejectInvalidText(bytes: Buffer, line: number): void {
  const zero = bytes.indexOf(0)
  if (zero >= 0) {
    throw new UnreadableFileError(
      line + countLines(bytes.subarray(0, zero)),
      `this is a binary file, not text (it has a zero byte); ${SAVE_AS}.`,
    )
  }
  if (isUtf8(bytes)) return
  let from = 0
  // Find the first line that is not valid UTF-8.
  for (let current = line; ; current++) {
    const end = bytes.indexOf(NEWLINE, from)
    if (end < 0 || !isUtf8(bytes.subarray(from, end)))
      throw new UnreadableFileError(current, `the text is not in UTF-8; ${SAVE_AS}.`)
    from = end + 1
  }
}

/** The number of bytes at the end that belong to a character continued in the next chunk. */
function partialBytes(chunk: Buffer): number {
  for (let back = 1; back <= Math.min(3, chunk.length); back++) {
    const byte = chunk[chunk.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) {
      return sequenceLength(byte) > back ? back : 0
    }
  }
  return 0
}

/** The length of a UTF-8 sequence, by its first byte (0xc0 or above). */
function sequenceLength(byte: number): number {
  if (byte >= 0xf0) return 4
  return byte >= 0xe0 ? 3 : 2
}

function countLines(bytes: Buffer): number {
  let lines = 0
  for (let index = bytes.indexOf(NEWLINE); index >= 0; index = bytes.indexOf(NEWLINE, index + 1)) lines++
  return lines
}
