import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cellsOf, readTable, rowsOf } from './support.ts'

const EXPECTED = [
  ['code', 'name', 'price'],
  ['A1', 'Nail; 2" long', '1.5'],
  ['B2', 'Zoë’s board', '1,234.50'],
]

test.each([
  ['commas', 'code,name,price\nA1,"Nail; 2"" long",1.5\nB2,Zoë’s board,"1,234.50"\n'],
  ['semicolons', 'code;name;price\nA1;"Nail; 2"" long";1.5\nB2;Zoë’s board;1,234.50\n'],
  ['tabs', 'code\tname\tprice\nA1\tNail; 2" long\t1.5\nB2\tZoë’s board\t1,234.50\n'],
  ['pipes', 'code|name|price\nA1|Nail; 2" long|1.5\nB2|Zoë’s board|1,234.50'],
  [
    'a byte order mark and CRLF',
    '\ufeffcode;name;price\r\nA1;"Nail; 2"" long";1.5\r\nB2;Zoë’s board;1,234.50\r\n',
  ],
  ['CR alone', 'code;name;price\rA1;"Nail; 2"" long";1.5\rB2;Zoë’s board;1,234.50\r'],
  [
    'mixed line ends and empty lines',
    '\n\ncode;name;price\r\n\nA1;"Nail; 2"" long";1.5\n\r\nB2;Zoë’s board;1,234.50',
  ],
  [
    'the delimiter line of a spreadsheet',
    'sep=;\r\ncode;name;price\r\nA1;"Nail; 2"" long";1.5\r\n;;\r\nB2;Zoë’s board;1,234.50',
  ],
])('text with %s is read', async (_name, content) => {
  expect(await cellsOf(content)).toEqual(EXPECTED)
})

test.each([
  ['utf-8', Buffer.from('code,name\nA1,Zoë’s\n')],
  [
    'windows-1252',
    Buffer.concat([Buffer.from('code,name\nA1,Zo'), Buffer.from([0xeb, 0x92]), Buffer.from('s\n')]),
  ],
  ['utf-16le', Buffer.from('\ufeffcode,name\nA1,Zoë’s\n', 'utf16le')],
  ['utf-16be', Buffer.from('\ufeffcode,name\nA1,Zoë’s\n', 'utf16le').swap16()],
])('text in %s is read', async (encoding, content) => {
  const { sheets, ...read } = await readTable(content)
  expect({ ...read, cells: sheets[0]?.rows[1]?.cells }).toEqual({ encoding, cells: ['A1', 'Zoë’s'] })
})

test('text that is longer than a chunk is read the same: characters, rows and quoted cells may be split', async () => {
  const row = (at: number) => `C${at};"Zoë – ${at} "" 😀\r\nx";${at},50\r\n`
  const rows = await rowsOf(
    `\ufeffcode;name;price\r\n${Array.from({ length: 20_000 }, (_, at) => row(at)).join('')}`,
  )
  const wrong = rows.filter(
    ({ line, cells }, at) =>
      at > 0 && (line !== at * 2 || cells.join('|') !== `C${at - 1}|Zoë – ${at - 1} " 😀\r\nx|${at - 1},50`),
  )
  expect({ length: rows.length, wrong }).toEqual({ length: 20_001, wrong: [] })
})

test('each row has the number of its first line, also behind cells of several lines and blank rows', async () => {
  const rows = await rowsOf('code,name\nA1,"two\nlines"\n\n,x\n , \nB1,"a\r\nb\r\nc"\r"D""1",y\n')
  expect(rows.map(({ line }) => line)).toEqual([1, 2, 5, 7, 10])
})

test('any text is split as csv-parse does it', async () => {
  const unit = fc.constantFrom('a', '1', '"', '"', ',', ',', ' ', '\n', '\r', '\r\n', 'ë')
  const record_delimiter = ['\r\n', '\n', '\r']
  const options = { relax_quotes: true, relax_column_count: true, ltrim: true, record_delimiter }
  const byLibrary = async (content: string) =>
    parse(content, options).filter((cells) => cells.some((cell) => cell.trim() !== ''))
  // Blanks before a cell are no part of it for csv-parse, and nobody sees them.
  const trimmed = (rows: Promise<string[][]>) =>
    rows.then(
      (all) => all.map((cells) => cells.map((cell) => cell.trimStart())),
      () => 'a quote that is not closed',
    )
  await fc.assert(
    fc.asyncProperty(fc.string({ unit, maxLength: 100 }), async (text) => {
      const content = `code,price\nA1,1\nA2,2\nA3,3\n${text}`
      expect(await trimmed(cellsOf(content))).toEqual(await trimmed(byLibrary(content)))
    }),
    { numRuns: 100 },
  )
})
