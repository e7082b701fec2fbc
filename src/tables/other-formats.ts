import { texts } from './texts.ts'

/** Magic numbers of file types that users mistake for a table. */
const BYTES: [problem: string, bytes: number[]][] = [
  // PNG, JPEG, GIF, WebP.
  [texts.unreadable.picture, [0x89, 0x50, 0x4e, 0x47]],
  [texts.unreadable.picture, [0xff, 0xd8, 0xff]],
  [texts.unreadable.picture, [0x47, 0x49, 0x46, 0x38]],
  [texts.unreadable.picture, [0x52, 0x49, 0x46, 0x46]],
]

/** How the text of other formats begins, whatever the name of the file ends with. */
const BEGINNINGS: [problem: string, beginning: RegExp][] = [
  [texts.unreadable.pdf, /^%PDF/],
  [texts.unreadable.sylk, /^ID;P/],
  [texts.unreadable.dif, /^TABLE\s*\r?\n0,1/],
  [texts.unreadable.rtf, /^\{\\rtf/],
  [texts.unreadable.xmlSpreadsheet, /^<\?xml[\s\S]*urn:schemas-microsoft-com:office:spreadsheet/i],
  [texts.unreadable.flatOpenDocument, /^<\?xml[\s\S]*urn:oasis:names:tc:opendocument/i],
  [
    texts.unreadable.webPage,
    /^(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)?<(!doctype html|html|head|body|table|meta|style)\b/i,
  ],
  [texts.unreadable.xml, /^<(\?xml|[a-z][\w:-]*[\s>])/i],
  [texts.unreadable.ndjson, /^\{"[^\n]*\}\s*\r?\n\s*\{"/],
  [texts.unreadable.json, /^(\{\s*"|\[\s*[[{"])/],
]

/** A compound file (MS-CFB): the name of its stream, in UTF-16, tells what it is. */
const COMPOUND = [0xd0, 0xcf, 0x11, 0xe0]

/** What a file is if it is no table, by its first bytes; undefined if nothing says so. */
export function otherFormat(start: Buffer): string | undefined {
  const begins = (bytes: readonly number[]) => bytes.every((byte, index) => start[index] === byte)
  if (begins(COMPOUND)) {
    const isEncrypted = start.includes(Buffer.from('EncryptedPackage', 'utf16le'))
    return isEncrypted ? texts.unreadable.encryptedWorkbook : texts.unreadable.oldWorkbook
  }
  const text = start
    .subarray(0, 4096)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
  const found = BYTES.find(([, bytes]) => begins(bytes)) ?? BEGINNINGS.find(([, known]) => known.test(text))
  return found?.[0]
}
