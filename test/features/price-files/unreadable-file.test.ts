import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { failure, read } from './read-support.ts'

test.each<[string, string | Uint8Array, RegExp]>([
  ['empty', '', /^The file is empty/],
  ['of empty lines', '\n\n\n', /^The file has no rows/],
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
    /^Line 2: a row longer than 2 MB starts here, probably because of an unclosed quote/,
  ],
  [
    'with 501 columns, which pages would list',
    `${Array.from({ length: 501 }, (_, at) => `c${at}`).join(',')}\n`,
    /^Line 1: it has 501 columns; the maximum is 500/,
  ],
])('a file %s says so, with the line and what to do', async (_name, content, message) => {
  expect(await failure(content)).toMatch(message)
})

const fods = '<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0">'
test.each<[string, string | Uint8Array]>([
  ['a picture', Buffer.from('89504e470d0a1a0a', 'hex')],
  ['a picture', Buffer.from('ffd8ffe000104a46', 'hex')],
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
  const { items } = await read('ID,Name,Price\n{1},"[2]",3\n', { uses: { ID: 'code' } })
  expect(items).toEqual([{ code: '{1}', name: '[2]', price: 3 }])
})
