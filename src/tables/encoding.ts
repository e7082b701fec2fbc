import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { UnreadableFileError } from './errors.ts'
import { texts } from './texts.ts'

/** Labels of the Encoding standard. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** Magic numbers of file types that users mistake for a table. */
const OTHER_FORMATS: [problem: string, bytes: number[]][] = [
  [texts.unreadable.zip, [0x50, 0x4b, 0x03, 0x04]],
  [texts.unreadable.pdf, [0x25, 0x50, 0x44, 0x46]],
  [texts.unreadable.compressed, [0x1f, 0x8b]],
  // PNG, JPEG, GIF, WebP.
  [texts.unreadable.picture, [0x89, 0x50, 0x4e, 0x47]],
  [texts.unreadable.picture, [0xff, 0xd8, 0xff]],
  [texts.unreadable.picture, [0x47, 0x49, 0x46, 0x38]],
  [texts.unreadable.picture, [0x52, 0x49, 0x46, 0x46]],
]
const NEWLINE = 0x0a

/**
 * Finds out how the text of a file is encoded, by its byte order mark or by all of its bytes: text that is not UTF-8 is
 * Windows-1252, which older accounting systems write. Throws `UnreadableFileError` if the file is empty or not text.
 */
export async function detectEncoding(path: string): Promise<Encoding> {
  let rest: Buffer = Buffer.alloc(0)
  let started = false
  let line = 1
  for await (const bytes of createReadStream(path, { highWaterMark: 1 << 20 })) {
    const chunk = rest.length > 0 ? Buffer.concat([rest, bytes]) : (bytes as Buffer)
    if (!started) {
      rejectOtherFormats(chunk)
      const wide = utf16Of(chunk)
      if (wide) return wide
      started = true
    }
    rejectBinary(chunk, line)
    const complete = chunk.subarray(0, chunk.length - partialBytes(chunk))
    if (!isUtf8(complete)) return notUtf8(path, lineOfInvalid(complete, line))
    line += countLines(complete)
    rest = chunk.subarray(complete.length)
  }
  if (!started) throw new UnreadableFileError(1, texts.unreadable.empty)
  return isUtf8(rest) ? 'utf-8' : notUtf8(path, line)
}

/** Reads a text file and yields it in UTF-8, in chunks of any size. */
export async function* readUtf8(path: string, encoding: Encoding): AsyncGenerator<Buffer> {
  const source = createReadStream(path)
  if (encoding === 'utf-8') return yield* source
  const decoder = new TextDecoder(encoding)
  for await (const bytes of source) {
    const text = decoder.decode(bytes, { stream: true })
    if (text.includes('\0')) throw binary(1)
    yield Buffer.from(text)
  }
  yield Buffer.from(decoder.decode())
}

/** UTF-16 has a byte order mark, or a zero byte in nearly every character of a heading. */
function utf16Of(start: Buffer): Encoding | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
  const sample = start.subarray(0, 64)
  const zeros = [0, 1].map((parity) => sample.filter((byte, at) => byte === 0 && at % 2 === parity).length)
  const [even = 0, odd = 0] = zeros
  if (odd > sample.length / 4 && even === 0) return 'utf-16le'
  return even > sample.length / 4 && odd === 0 ? 'utf-16be' : undefined
}

/**
 * Text with more characters in valid UTF-8 than bytes that are not is damaged UTF-8: reading it as Windows-1252 would
 * garble those characters.
 */
async function notUtf8(path: string, line: number): Promise<Encoding> {
  let characters = 0
  let otherBytes = 0
  for await (const bytes of createReadStream(path)) {
    const others = (bytes as Buffer)
      .toString('latin1')
      .replace(/[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g, () => {
        characters++
        return ''
      })
    otherBytes += others.match(/[\x80-\xff]/g)?.length ?? 0
  }
  if (characters > otherBytes) throw new UnreadableFileError(line, texts.unreadable.damagedText)
  return 'windows-1252'
}

/** A compound file (MS-CFB): the name of its stream, in UTF-16, tells what it is. */
const COMPOUND = Buffer.from([0xd0, 0xcf, 0x11, 0xe0])
const hasStream = (start: Buffer, name: string) => start.includes(Buffer.from(name, 'utf16le'))

function rejectOtherFormats(start: Buffer): void {
  if (start.subarray(0, 4).equals(COMPOUND)) {
    const isEncrypted = hasStream(start, 'EncryptedPackage')
    throw new UnreadableFileError(
      0,
      isEncrypted ? texts.unreadable.encryptedWorkbook : texts.unreadable.oldWorkbook,
    )
  }
  const text = start
    .subarray(0, 4096)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
  if (/^<\?xml[\s\S]*urn:schemas-microsoft-com:office:spreadsheet/i.test(text))
    throw new UnreadableFileError(0, texts.unreadable.xmlSpreadsheet)
  if (/^<(!doctype html|html|head|table|meta|style)\b/i.test(text))
    throw new UnreadableFileError(0, texts.unreadable.webPage)
  const format = OTHER_FORMATS.find(([, bytes]) => bytes.every((byte, index) => start[index] === byte))
  if (format) throw new UnreadableFileError(0, format[0])
}

const binary = (line: number) => new UnreadableFileError(line, texts.unreadable.binary)

function rejectBinary(bytes: Buffer, line: number): void {
  const zero = bytes.indexOf(0)
  if (zero >= 0) throw binary(line + countLines(bytes.subarray(0, zero)))
}

/** The first line that is not valid UTF-8. */
function lineOfInvalid(bytes: Buffer, firstLine: number): number {
  let from = 0
  for (let line = firstLine; ; line++) {
    const end = bytes.indexOf(NEWLINE, from)
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) return line
    from = end + 1
  }
}

/** The number of bytes at the end that belong to a character continued in the next chunk. */
function partialBytes(chunk: Buffer): number {
  for (let back = 1; back <= Math.min(3, chunk.length); back++) {
    const byte = chunk[chunk.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0
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
