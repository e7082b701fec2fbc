import { describe, expect, test } from 'vitest'
import { failure, read } from './read-support.ts'

describe('a file that cannot be read', () => {
  test.each([
    ['empty', '', /^The file is empty/],
    ['of empty lines', '\n\n\n', /^The file has no rows/],
    [
      'a damaged workbook',
      Buffer.from('PK\u0003\u0004rest of it', 'latin1'),
      /^Line 1: the workbook is damaged/,
    ],
    ['a PNG picture', Buffer.from('89504e470d0a1a0a', 'hex'), /^This is a picture, not a price list/],
    ['a JPEG picture', Buffer.from('ffd8ffe000104a46', 'hex'), /^This is a picture, not a price list/],
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /^This is an old Excel workbook/],
    ['binary', Buffer.from('code,price\nA1,1\nB1,\u0000\u0001\n', 'latin1'), /^This is a binary file/],
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
  ])('%s says so, with the line and what to do', async (_name, content, message) => {
    expect(await failure(content)).toMatch(message)
  })

  test('because of an unclosed quote is reported without reading all of a large file into memory', async () => {
    const content = Buffer.concat([Buffer.from('code,price\n"A1,1\n'), Buffer.alloc(20_000_000, 'B1,2\n')])
    expect(await failure(content)).toMatch(
      /^Line 2: a row longer than 2 MB starts here, probably because of an unclosed quote/,
    )
  })

  const fods = '<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0">'
  test.each([
    ['FODS', `<?xml version="1.0"?>${fods}`, /flat OpenDocument/],
    ['SYLK', 'ID;PWXL;N;E\nP;PGeneral\n', /SYLK/],
    ['DIF', 'TABLE\r\n0,1\r\n"EXCEL"\r\n', /DIF/],
    ['RTF', '{\\rtf1\\ansi', /RTF/],
    ['JSON', '[{"code":"A","price":1}]', /this is JSON, not/i],
    ['JSON in lines', '{\n  "items": []\n}', /this is JSON, not/i],
    ['XML', '<?xml version="1.0"?><items><item/></items>', /this is XML, not/i],
    ['NDJSON', '{"code":"A","price":1}\n{"code":"B","price":2}\n', /NDJSON/],
    ['HTML as .xls', '<html><table><tr><td>Code</td></tr></table></html>', /a web page/],
    ['PDF as .xlsx', '%PDF-1.7\n', /a PDF/],
  ])('of the format %s is named for what it is', async (_name, content, message) => {
    expect(await failure(content)).toMatch(message)
  })
})

test('a CSV whose first cell only begins like another format is read', async () => {
  const { items } = await read('ID,Name,Price\n{1},"[2]",3\n', { uses: { ID: 'code' } })
  expect(items).toEqual([{ code: '{1}', name: '[2]', price: 3 }])
})

test.each([
  [
    '501 columns',
    `${Array.from({ length: 501 }, (_, at) => `c${at}`).join(',')}\n`,
    /^Line 1: it has 501 columns; the maximum is 500/,
  ],
])('a file with %s is rejected, because pages list them', async (_name, content, message) => {
  expect(await failure(content)).toMatch(message)
})
