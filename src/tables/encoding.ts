import { createReadStream } from 'node:fs'
import { UnreadableFileError } from './errors.ts'
import { otherFormat } from './other-formats.ts'
import { texts } from './texts.ts'

/** Labels of the Encoding standard. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/**
 * Finds out how the text of a file is encoded, by its byte order mark or by all of its bytes: text that is not UTF-8 is
 * Windows-1252, which older accounting systems write. Throws `UnreadableFileError` if the file is empty or not text.
 */
export async function detectEncoding(path: string): Promise<Encoding> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let started = false
  for await (const bytes of createReadStream(path, { highWaterMark: 1 << 20 })) {
    if (!started) {
      const format = otherFormat(bytes)
      if (format) throw new UnreadableFileError(0, format)
      const wide = utf16Of(bytes)
      if (wide) return wide
      started = true
    }
    if (bytes.includes(0)) throw new UnreadableFileError(0, texts.unreadable.binary)
    if (!decodes(decoder, bytes)) return notUtf8(path)
  }
  if (!started) throw new UnreadableFileError(0, texts.unreadable.empty)
  return decodes(decoder) ? 'utf-8' : notUtf8(path)
}

/** Whether the bytes go on as valid text; without any, whether the text may end here. */
function decodes(decoder: InstanceType<typeof TextDecoder>, bytes?: Buffer): boolean {
  try {
    decoder.decode(bytes, { stream: bytes !== undefined })
    return true
  } catch {
    return false
  }
}

/** Reads a text file and yields it in UTF-8, in chunks of any size. */
export async function* readUtf8(path: string, encoding: Encoding): AsyncGenerator<Buffer> {
  const source = createReadStream(path)
  if (encoding === 'utf-8') return yield* source
  const decoder = new TextDecoder(encoding)
  for await (const bytes of source) {
    const text = decoder.decode(bytes, { stream: true })
    if (text.includes('\0')) throw new UnreadableFileError(0, texts.unreadable.binary)
    yield Buffer.from(text)
  }
  yield Buffer.from(decoder.decode())
}

/** UTF-16 has a byte order mark. */
function utf16Of(start: Buffer): Encoding | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  return start[0] === 0xfe && start[1] === 0xff ? 'utf-16be' : undefined
}

/**
 * Text with more characters in valid UTF-8 than bytes that are not is damaged UTF-8: reading it as Windows-1252 would
 * garble those characters.
 */
async function notUtf8(path: string): Promise<Encoding> {
  let characters = 0
  let otherBytes = 0
  for await (const bytes of createReadStream(path)) {
    const others = bytes
      .toString('latin1')
      .replace(/[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g, () => {
        characters++
        return ''
      })
    otherBytes += others.match(/[\x80-\xff]/g)?.length ?? 0
  }
  if (characters > otherBytes) throw new UnreadableFileError(0, texts.unreadable.damagedText)
  return 'windows-1252'
}
