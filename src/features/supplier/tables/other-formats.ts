import { texts } from './texts.ts'

/** How files of other formats begin, whatever their names are: as Latin-1, without zero bytes and a byte order mark. */
const FORMATS: [name: string, beginning: RegExp][] = [
  ['a picture', /^(\x89PNG|\xff\xd8\xff|GIF8|RIFF)/],
  ['an Excel workbook with a password', /^\xd0\xcf.\xe0.*EncryptedPackage/s],
  ['an old Excel workbook (.xls)', /^\xd0\xcf.\xe0/s],
  ['a PDF', /^%PDF/],
  ['a SYLK file (.slk), or a CSV whose first heading is "ID;P…"', /^ID;P/],
  ['a DIF file', /^TABLE\s*\r?\n0,1/],
  ['a document (RTF)', /^\{\\rtf/],
  ['an XML spreadsheet of Excel 2003', /^<\?xml[\s\S]*urn:schemas-microsoft-com:office:spreadsheet/i],
  ['a flat OpenDocument spreadsheet (.fods)', /^<\?xml[\s\S]*urn:oasis:names:tc:opendocument/i],
  [
    'a web page (HTML)',
    /^(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)?<(!doctype html|html|head|body|table|meta|style)\b/i,
  ],
  ['XML', /^<(\?xml|[a-z][\w:-]*[\s>])/i],
  ['JSON, line by line (NDJSON)', /^\{"[^\n]*\}\s*\{"/],
  ['JSON', /^(\{\s*"|\[\s*[[{"])/],
]

/** Returns why a file is no table, or undefined if its first bytes do not show another format. */
export function otherFormat(start: Buffer): string | undefined {
  const text = start
    .toString('latin1')
    .replaceAll('\0', '')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
  const [name] = FORMATS.find(([, beginning]) => beginning.test(text)) ?? []
  return name && texts.unreadable.otherFormat(name)
}
