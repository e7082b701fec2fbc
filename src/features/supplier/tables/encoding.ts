import { createReadStream } from 'node:fs'
import { UnreadableFileError } from './errors.ts'
import { texts } from './texts.ts'

/** Labels of the Encoding standard. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/**
 * Finds out how the text of a file is encoded: UTF-16 by its byte order mark, and otherwise by all of its bytes. Text that is not
 * UTF-8 is taken for Windows-1252, which older accounting systems write. But if most of its characters outside ASCII are valid UTF-8,
 * the text is damaged. Throws `UnreadableFileError` if the text is damaged, or if the file is not text.
 */
export async function detectEncoding(path: string, start: Buffer, checkCpu: () => void): Promise<Encoding> {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
  let [valid, invalid] = [0, 0]
  for await (const text of readText(path, 'utf-8', checkCpu)) {
    if (!/[^\0-\x7f]/.test(text)) continue
    valid += text.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0
    invalid += text.match(/\ufffd/g)?.length ?? 0
  }
  if (invalid === 0) return 'utf-8'
  if (valid > invalid) throw new UnreadableFileError(0, texts.unreadable.damagedText)
  return 'windows-1252'
}

/** Reads a text file in chunks of any size, without its byte order mark. Throws `UnreadableFileError` if it is not text. */
export async function* readText(
  path: string,
  encoding: Encoding,
  checkCpu: () => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  for await (const bytes of createReadStream(path)) {
    checkCpu()
    const text = decoder.decode(bytes, { stream: true })
    if (text.includes('\0')) throw new UnreadableFileError(0, texts.unreadable.binary)
    yield text
  }
  yield decoder.decode()
}
