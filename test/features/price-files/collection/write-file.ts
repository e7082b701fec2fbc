// Writes the file of a case to disk: CSV text, a workbook, or bytes that only look like a price file.

import { writeFileSync } from 'node:fs'
import { strToU8, zipSync } from 'fflate'

/** A number format is an Excel format code, or the number of a built-in one, such as 14 for a date. */
export type Format = string | number

export type RichCell = {
  value: string | number | boolean
  format?: Format
  /** The formula that has computed the value. */
  formula?: string
  /** How the text is stored. Shared strings are the default; `runs` is rich text in words of two styles. */
  as?: 'inline' | 'runs' | 'error'
}

export type Cell = string | number | null | RichCell

export type Sheet = {
  name: string
  rows: Cell[][]
  /** The column of the first cell of each row, counted from 0. */
  left?: number
  /** The number of the first row, counted from 1. */
  top?: number
  /** The header and the footer of printed pages, such as `&CTrade prices`. */
  header?: string
  footer?: string
  merges?: string[]
  hidden?: boolean
  hiddenColumns?: number[]
}

export type CsvFile = {
  /** Lines, or the text as it is. */
  csv: string[] | string
  encoding?: 'utf8' | 'utf8-bom' | 'utf16le' | 'utf16be' | 'windows-1252'
  newline?: string
  fileName?: string
}
export type XlsxFile = { sheets: Sheet[]; fileName?: string }
export type BytesFile = { bytes: Uint8Array; fileName: string }

export type AnyFile = CsvFile | XlsxFile | BytesFile

export const fileNameOf = (file: AnyFile) => file.fileName ?? ('csv' in file ? 'prices.csv' : 'prices.xlsx')

export const bytesOf = (file: AnyFile): Uint8Array => {
  if ('bytes' in file) return file.bytes
  if ('sheets' in file) return workbook(file.sheets)
  const newline = file.newline ?? '\r\n'
  const text = typeof file.csv === 'string' ? file.csv : file.csv.map((line) => line + newline).join('')
  return encode(text, file.encoding ?? 'utf8')
}

export const writeCaseFile = (path: string, file: AnyFile) => writeFileSync(path, bytesOf(file))

// Text

const encode = (text: string, encoding: NonNullable<CsvFile['encoding']>): Uint8Array => {
  if (encoding === 'utf8') return Buffer.from(text)
  if (encoding === 'utf8-bom') return Buffer.from(`\ufeff${text}`)
  if (encoding === 'utf16le') return Buffer.from(`\ufeff${text}`, 'utf16le')
  if (encoding === 'utf16be') return Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
  return Uint8Array.from(text, (char) => {
    const code = char.codePointAt(0) ?? 0
    const byte = code < 0x80 || (code >= 0xa0 && code <= 0xff) ? code : WINDOWS_1252.get(char)
    if (byte === undefined) throw new Error(`Windows-1252 has no ${char}`)
    return byte
  })
}

const WINDOWS_1252 = new Map<string, number>([
  ['€', 0x80],
  ['‘', 0x91],
  ['’', 0x92],
  ['“', 0x93],
  ['”', 0x94],
  ['•', 0x95],
  ['–', 0x96],
  ['—', 0x97],
  ['™', 0x99],
])

// Workbooks

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export const columnName = (index: number): string =>
  (index >= 26 ? columnName(Math.floor(index / 26) - 1) : '') + String.fromCharCode(65 + (index % 26))

const zip = (parts: Record<string, string | Uint8Array>) =>
  zipSync(
    Object.fromEntries(
      Object.entries(parts).map(([name, part]) => [
        name,
        // OpenDocument has its type in the first part, which is not compressed.
        [typeof part === 'string' ? strToU8(part) : part, { level: name === 'mimetype' ? 0 : 6 }],
      ]),
    ),
  )

const workbook = (sheets: Sheet[]): Uint8Array => {
  const strings: string[] = []
  const formats: Format[] = []
  const stringId = (xml: string) => {
    const found = strings.indexOf(xml)
    return found >= 0 ? found : strings.push(xml) - 1
  }
  const styleId = (format: Format) => {
    const found = formats.indexOf(format)
    return (found >= 0 ? found : formats.push(format) - 1) + 1
  }
  const text = (value: string) => `<t xml:space="preserve">${escapeXml(value)}</t>`
  const cellXml = (cell: Cell, ref: string): string => {
    if (cell === null) return ''
    const { value, format, formula, as }: RichCell = typeof cell === 'object' ? cell : { value: cell }
    const style = format === undefined ? '' : ` s="${styleId(format)}"`
    const f = formula === undefined ? '' : `<f>${escapeXml(formula)}</f>`
    if (as === 'error') return `<c r="${ref}"${style} t="e">${f}<v>${escapeXml(String(value))}</v></c>`
    if (typeof value === 'boolean') return `<c r="${ref}"${style} t="b">${f}<v>${value ? 1 : 0}</v></c>`
    if (typeof value === 'number') return `<c r="${ref}"${style}>${f}<v>${value}</v></c>`
    if (formula !== undefined) return `<c r="${ref}"${style} t="str">${f}<v>${escapeXml(value)}</v></c>`
    if (as === 'inline') return `<c r="${ref}"${style} t="inlineStr"><is>${text(value)}</is></c>`
    if (as === 'runs') {
      const middle = Math.ceil(value.length / 2)
      const runs = `<r>${text(value.slice(0, middle))}</r><r><rPr><b/></rPr>${text(value.slice(middle))}</r>`
      return `<c r="${ref}"${style} t="s"><v>${stringId(runs)}</v></c>`
    }
    return `<c r="${ref}"${style} t="s"><v>${stringId(text(value))}</v></c>`
  }

  const parts: Record<string, string> = {}
  sheets.forEach((sheet, index) => {
    const left = sheet.left ?? 0
    const top = sheet.top ?? 1
    const rows = sheet.rows.map((row, r) => {
      const cells = row.map((cell, c) => cellXml(cell, `${columnName(left + c)}${top + r}`)).join('')
      return cells === '' ? '' : `<row r="${top + r}">${cells}</row>`
    })
    const hidden = (sheet.hiddenColumns ?? []).map(
      (c) => `<col min="${c + 1}" max="${c + 1}" width="9" hidden="1"/>`,
    )
    const cols = hidden.length > 0 ? `<cols>${hidden.join('')}</cols>` : ''
    const merges = (sheet.merges ?? []).map((ref) => `<mergeCell ref="${ref}"/>`)
    const merged =
      merges.length > 0 ? `<mergeCells count="${merges.length}">${merges.join('')}</mergeCells>` : ''
    const header = sheet.header === undefined ? '' : `<oddHeader>${escapeXml(sheet.header)}</oddHeader>`
    const footer = sheet.footer === undefined ? '' : `<oddFooter>${escapeXml(sheet.footer)}</oddFooter>`
    const printed = header + footer === '' ? '' : `<headerFooter>${header}${footer}</headerFooter>`
    parts[`xl/worksheets/sheet${index + 1}.xml`] =
      `${XML}<worksheet xmlns="${MAIN}">${cols}<sheetData>${rows.join('')}</sheetData>${merged}` +
      `<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>${printed}</worksheet>`
  })

  const custom = formats.filter((format) => typeof format === 'string')
  const numberFormats = custom.map(
    (code, i) => `<numFmt numFmtId="${164 + i}" formatCode="${escapeXml(code)}"/>`,
  )
  const styleXml = (format: Format) => {
    const id = typeof format === 'number' ? format : 164 + custom.indexOf(format)
    return `<xf numFmtId="${id}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`
  }
  const sheetList = sheets.map(
    ({ name, hidden }, i) =>
      `<sheet name="${escapeXml(name)}" sheetId="${i + 1}"${hidden ? ' state="hidden"' : ''} r:id="rId${i + 1}"/>`,
  )
  const relations = [
    ...sheets.map((_, i) => ['worksheet', `worksheets/sheet${i + 1}.xml`]),
    ['styles', 'styles.xml'],
    ['sharedStrings', 'sharedStrings.xml'],
  ].map(
    ([type, target], i) => `<Relationship Id="rId${i + 1}" Type="${RELATIONS}/${type}" Target="${target}"/>`,
  )
  const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
  const overrides = [
    ['/xl/workbook.xml', 'sheet.main'],
    ['/xl/styles.xml', 'styles'],
    ['/xl/sharedStrings.xml', 'sharedStrings'],
    ...sheets.map((_, i) => [`/xl/worksheets/sheet${i + 1}.xml`, 'worksheet']),
  ].map(([part, type]) => `<Override PartName="${part}" ContentType="${CONTENT}.${type}+xml"/>`)
  return zip({
    '[Content_Types].xml':
      `${XML}<Types xmlns="${PACKAGE}/content-types">` +
      '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
      `<Default Extension="xml" ContentType="application/xml"/>${overrides.join('')}</Types>`,
    '_rels/.rels':
      `${XML}<Relationships xmlns="${PACKAGE}/relationships">` +
      `<Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>${sheetList.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${XML}<Relationships xmlns="${PACKAGE}/relationships">${relations.join('')}</Relationships>`,
    'xl/styles.xml':
      `${XML}<styleSheet xmlns="${MAIN}">` +
      (custom.length > 0 ? `<numFmts count="${custom.length}">${numberFormats.join('')}</numFmts>` : '') +
      '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>' +
      '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
      '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
      '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
      `<cellXfs count="${formats.length + 1}"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
      `${formats.map(styleXml).join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml':
      `${XML}<sst xmlns="${MAIN}" count="${strings.length}" uniqueCount="${strings.length}">` +
      `${strings.map((xml) => `<si>${xml}</si>`).join('')}</sst>`,
    ...parts,
  })
}

// Files of other kinds

type TextRows = string[][]

/** What many web portals save with the name `.xls`: a page with a table. */
export const html = (rows: TextRows): Uint8Array =>
  Buffer.from(
    '<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"></head>\r\n' +
      `<body><table border="1">\r\n${rows
        .map((row) => `<tr>${row.map((cell) => `<td>${escapeXml(cell)}</td>`).join('')}</tr>\r\n`)
        .join('')}</table></body></html>\r\n`,
  )

/** XML Spreadsheet 2003, as report servers save it with the name `.xls`. */
export const xmlSpreadsheet = (rows: TextRows): Uint8Array =>
  Buffer.from(
    '<?xml version="1.0"?>\r\n<?mso-application progid="Excel.Sheet"?>\r\n' +
      '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">\r\n' +
      `<Worksheet ss:Name="Prices"><Table>\r\n${rows
        .map(
          (row) =>
            `<Row>${row.map((cell) => `<Cell><Data ss:Type="String">${escapeXml(cell)}</Data></Cell>`).join('')}</Row>\r\n`,
        )
        .join('')}</Table></Worksheet></Workbook>\r\n`,
  )

/** An OpenDocument spreadsheet, as LibreOffice saves it. */
export const ods = (rows: TextRows): Uint8Array =>
  zip({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml':
      '<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" ' +
      'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2">' +
      `<office:body><office:spreadsheet><table:table table:name="Sheet1">${rows
        .map(
          (row) =>
            `<table:table-row>${row.map((cell) => `<table:table-cell office:value-type="string"><text:p>${escapeXml(cell)}</text:p></table:table-cell>`).join('')}</table:table-row>`,
        )
        .join('')}</table:table></office:spreadsheet></office:body></office:document-content>`,
    'META-INF/manifest.xml':
      '<?xml version="1.0" encoding="UTF-8"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">' +
      '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>',
  })

/** An Excel binary workbook: the parts of an XLSX, with the sheets in binary. */
export const xlsb = (): Uint8Array =>
  zip({
    '[Content_Types].xml':
      `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/>` +
      '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>',
    '_rels/.rels': `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.bin"/></Relationships>`,
    'xl/workbook.bin': Uint8Array.of(0x83, 0x01, 0x00, 0x80, 0x01, 0x32, 0, 0, 0, 0),
    'xl/_rels/workbook.bin.rels': `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.bin"/></Relationships>`,
    'xl/worksheets/sheet1.bin': Uint8Array.of(0x81, 0x01, 0x00, 0x82, 0x01, 0x00),
  })

/** A spreadsheet of Apple Numbers. */
export const numbers = (): Uint8Array =>
  zip({
    'Index/Document.iwa': Uint8Array.of(0, 12, 0, 0, 20, 4, 8, 1, 18, 8),
    'Index/CalculationEngine.iwa': Uint8Array.of(0, 12, 0, 0, 20, 4, 8, 1, 18, 8),
    'Index/Tables/DataList.iwa': Uint8Array.of(0, 12, 0, 0, 20, 4, 8, 1, 18, 8),
    'Metadata/Properties.plist': Buffer.from('bplist00'),
    'Metadata/DocumentIdentifier': '7C2D2C9E-9B0F-4F1B-9F33-1A2B3C4D5E6F',
    'preview.jpg': Uint8Array.of(0xff, 0xd8, 0xff, 0xe0),
  })

/** An archive with files in it. */
export const archive = (files: Record<string, string>): Uint8Array => zip(files)

export const pdf = (): Uint8Array =>
  Buffer.from(
    '%PDF-1.7\n%âãÏÓ\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\n' +
      'xref\n0 3\n0000000000 65535 f \n0000000016 00000 n \n0000000063 00000 n \ntrailer\n<</Size 3/Root 1 0 R>>\nstartxref\n113\n%%EOF\n',
    'latin1',
  )

/** A workbook of Excel 97 to 2003: a compound file with the stream Workbook. */
export const legacyXls = (): Uint8Array =>
  compound([
    [
      'Workbook',
      Uint8Array.of(0x09, 0x08, 0x10, 0, 0, 6, 5, 0, 0xd3, 0x10, 0xcc, 7, 0x41, 0, 0, 0, 6, 0, 0, 0),
    ],
  ])

/** An XLSX with a password: a compound file that holds the encrypted package. */
export const encryptedXlsx = (): Uint8Array =>
  compound([
    [
      'EncryptionInfo',
      Buffer.from('\u0004\u0000\u0004\u0000@\u0000\u0000\u0000<?xml version="1.0"?><encryption/>', 'latin1'),
    ],
    ['EncryptedPackage', Uint8Array.from({ length: 512 }, (_, i) => (i * 151 + 7) % 256)],
  ])

/** Compound files have sectors of 512 bytes: here the table of sectors, the directory, then 8 sectors for each stream. */
const compound = (streams: [name: string, data: Uint8Array][]): Uint8Array => {
  const SECTOR = 512
  const PER_STREAM = 8
  const END = 0xfffffffe
  const FREE = 0xffffffff
  const file = Buffer.alloc(SECTOR * (3 + streams.length * PER_STREAM))
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file)
  file.writeUInt16LE(0x3e, 24)
  file.writeUInt16LE(3, 26)
  file.writeUInt16LE(0xfffe, 28)
  file.writeUInt16LE(9, 30)
  file.writeUInt16LE(6, 32)
  file.writeUInt32LE(1, 44)
  file.writeUInt32LE(1, 48)
  file.writeUInt32LE(4096, 56)
  file.writeUInt32LE(END, 60)
  file.writeUInt32LE(END, 68)
  for (let i = 0; i < 109; i++) file.writeUInt32LE(i === 0 ? 0 : FREE, 76 + i * 4)

  const table = SECTOR
  for (let i = 0; i < SECTOR / 4; i++) file.writeUInt32LE(FREE, table + i * 4)
  file.writeUInt32LE(0xfffffffd, table)
  file.writeUInt32LE(END, table + 4)

  const entry = (
    index: number,
    name: string,
    type: number,
    start: number,
    size: number,
    child: number,
    right: number,
  ) => {
    const at = SECTOR * 2 + index * 128
    file.write(name, at, 'utf16le')
    file.writeUInt16LE((name.length + 1) * 2, at + 64)
    file.writeUInt8(type, at + 66)
    file.writeUInt8(1, at + 67)
    file.writeUInt32LE(FREE, at + 68)
    file.writeUInt32LE(right, at + 72)
    file.writeUInt32LE(child, at + 76)
    file.writeUInt32LE(start, at + 116)
    file.writeUInt32LE(size, at + 120)
  }
  entry(0, 'Root Entry', 5, END, 0, 1, FREE)
  streams.forEach(([name, data], i) => {
    const first = 2 + i * PER_STREAM
    for (let s = 0; s < PER_STREAM; s++) {
      file.writeUInt32LE(s === PER_STREAM - 1 ? END : first + s + 1, table + (first + s) * 4)
    }
    entry(i + 1, name, 2, first, SECTOR * PER_STREAM, FREE, i + 1 < streams.length ? i + 2 : FREE)
    Buffer.from(data).copy(file, SECTOR * (1 + first))
  })
  return file
}
