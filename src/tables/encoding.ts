import { createReadStream } from 'node:fs'
import { UnreadableFileError } from './errors.ts'
import { texts } from './texts.ts'

/** Labels of the Encoding standard. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/**
 * Finds out how the text of a file is encoded: UTF-16 by its byte order mark, and otherwise by all of its bytes. Text that is
 * not UTF-8 is Windows-1252, which older accounting systems write, unless more of it is valid UTF-8 than not: it is damaged then.
 * Throws `UnreadableFileError` for that, and if the file is not text.
 */
export async function detectEncoding(path: string, start: Buffer): Promise<Encoding> {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
  const decoder = new TextDecoder()
  let [valid, invalid] = [0, 0]
  const see = (text: string) => {
    if (text.includes('\0')) throw new UnreadableFileError(0, texts.unreadable.binary)
    valid += text.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0
    invalid += text.match(/\ufffd/g)?.length ?? 0
  }
  for await (const bytes of createReadStream(path, { highWaterMark: 1 << 20 }))
    see(decoder.decode(bytes, { stream: true }))
  see(decoder.decode())
  if (invalid === 0) return 'utf-8'
  if (valid > invalid) throw new UnreadableFileError(0, texts.unreadable.damagedText)
  return 'windows-1252'
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
