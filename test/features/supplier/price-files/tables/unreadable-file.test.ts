import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { workbook } from '../xlsx.ts'
import { cellsOf, failure } from './support.ts'

test.each<[string, string | Uint8Array, RegExp]>([
  ['empty', '', /^The file is empty/],
  ['a damaged workbook', 'PK\u0003\u0004rest of it', /^Line 1: the workbook is damaged/],
  ['binary', 'code,price\nA1,1\nB1,\u0000\u0001\n', /^This is a binary file/],
  [
    'in UTF-8 with a damaged character',
    Buffer.concat([Buffer.from('code,price\nZoë,1\nCafé,2\nZo'), Buffer.from([0xc3])]),
    /^The text is damaged: it is not valid UTF-8/,
  ],
  [
    'with a quote that is not closed',
    'code,price\nA1,1\n"B1,2\nC1,3\n',
    /^Line 3: a quote opened here is never closed/,
  ],
  [
    // Without reading all of it into memory.
    'with a quote that is not closed in a large file',
    Buffer.concat([Buffer.from('code,price\n"A1,1\n'), Buffer.alloc(20_000_000, 'B1,2\n')]),
    /^Line 2: a row longer than 2 MB starts here/,
  ],
])('a file %s says so, with the line and what to do', async (_name, content, message) => {
  expect(await failure(content)).toMatch(message)
})

const fods = '<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0">'
test.each<[string, string | Uint8Array]>([
  ['a picture', Buffer.from('89504e470d0a1a0a', 'hex')],
  ['an old Excel workbook (.xls)', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
  [
    'an Excel workbook with a password',
    Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
  ],
  ['a flat OpenDocument spreadsheet (.fods)', `<?xml version="1.0"?>${fods}`],
  ['a SYLK file (.slk), or a CSV whose first heading is "ID;P…"', 'ID;PWXL;N;E\nP;PGeneral\n'],
  ['a DIF file', 'TABLE\r\n0,1\r\n"EXCEL"\r\n'],
  ['a document (RTF)', '{\\rtf1\\ansi'],
  ['JSON', '[{"code":"A","price":1}]'],
  ['JSON', '{\n  "items": []\n}'],
  ['XML', '<?xml version="1.0"?><items><item/></items>'],
  ['JSON, line by line (NDJSON)', '{"code":"A","price":1}\n{"code":"B","price":2}\n'],
  ['a web page (HTML)', '<html><table><tr><td>Code</td></tr></table></html>'],
  ['a PDF', '%PDF-1.7\n'],
  ['an Excel binary workbook (.xlsb)', zipSync({ 'xl/workbook.bin': new Uint8Array(1) })],
  ['a Numbers document of Apple (.numbers)', zipSync({ 'Index/Document.iwa': new Uint8Array(1) })],
  ['an OpenDocument spreadsheet (.ods)', zipSync({ 'content.xml': new Uint8Array(1) })],
  ['a zip file, but not an XLSX workbook', zipSync({ 'readme.txt': new Uint8Array(1) })],
])('%s is named for what it is, whatever the name of its file ends with', async (name, content) => {
  expect(await failure(content)).toBe(
    `This is ${name}, which cannot be read; save the list as XLSX or "CSV UTF-8" and try again.`,
  )
})

test('a CSV whose first cell only begins like another format is read', async () => {
  const rows = [
    ['ID', 'Name', 'Price'],
    ['{1}', '[2]', '3'],
  ]
  expect(await cellsOf(rows.map((row) => `${row.join(',')}\n`).join(''))).toEqual(rows)
})

const LINES = ['Summit', 'Code,Name,Price', 'A1,"Hook, large",1.50', 'A2,Nail,2.50', 'A3,Board,3.50']
const IN_COLUMN = /^Each row is a line of CSV in one cell; .* choose "Text to Columns"/
test.each<[string, string | Uint8Array]>([
  ['a CSV', LINES.map((line) => `"${line.replaceAll('"', '""')}"\n`).join('')],
  ['a workbook', workbook([{ name: 'P', rows: LINES.map((line) => [line]) }])],
])('%s whose only column has lines of CSV says so, and what to do', async (_name, content) => {
  expect(await failure(content)).toMatch(IN_COLUMN)
})

test('a list beside a sheet of sentences with commas is read', async () => {
  const sentences = ['Terms, in short', 'Prices, ex GST', 'Valid, until June'].map((text) => [text])
  const sheets = [
    { name: 'Terms', rows: sentences },
    { name: 'Prices', rows: [['A1', 'Hook, large', 1.5]] },
  ]
  expect(await failure(workbook(sheets))).toBe('none')
})

test('text whose columns have a fixed width says so, and what to do', async () => {
  const rows = [
    ['PRICE LIST, JULY', '', ''],
    ['CODE', 'DESCRIPTION', 'PRICE'],
    ['A1', 'Hook, large', '1.50'],
    ['A2', 'Nail', '1,250.00'],
    ['A3', 'Board, oak, 2 m', '22.50'],
  ]
  const line = ([code = '', name = '', price = '']: string[]) =>
    `${code.padEnd(8)}${name.padEnd(20)}${price.padStart(9)}\n`
  expect(await failure(rows.map(line).join(''))).toMatch(
    /^Blanks separate its columns \(fixed width\), .* open it/,
  )
})

test('CSV whose cells are filled up with blanks is read', async () => {
  const line = (code: string, price: string) => `${code.padEnd(8)},${price.padEnd(9)}, each\n`
  const content = line('Code', 'Price') + line('A1', '1.50') + line('A2', '2.50') + line('A3', '3.50')
  expect((await cellsOf(content)).map((cells) => cells.length)).toEqual([3, 3, 3, 3])
})
