import { readFileSync } from 'node:fs'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { workbook } from '../../support/xlsx.ts'
import { read } from './read-support.ts'

describe('a price file', () => {
  const expected = [
    { code: 'A1', name: 'Nail; 2" long', price: 1.5 },
    { code: 'B2', name: 'Zoë’s board', price: 1234.5 },
  ]
  test.each([
    ['commas', 'code,name,price\nA1,"Nail; 2"" long",1.5\nB2,Zoë’s board,1234.50\n'],
    ['semicolons and decimal commas', 'code;name;price\nA1;"Nail; 2"" long";1,5\nB2;Zoë’s board;1.234,50\n'],
    ['tabs', 'code\tname\tprice\nA1\tNail; 2" long\t1.5\nB2\tZoë’s board\t1,234.50\n'],
    [
      'a byte order mark and CRLF',
      '\ufeffcode,name,price\r\nA1,"Nail; 2"" long",1.5\r\nB2,Zoë’s board,$1234.50\r\n',
    ],
    ['CR alone', 'code,name,price\rA1,"Nail; 2"" long",1.5\rB2,Zoë’s board,1234.5\r'],
    [
      'mixed line endings and empty lines',
      '\n\ncode,name,price\r\n\nA1,"Nail; 2"" long",1.5\n\r\nB2,Zoë’s board,1234.5',
    ],
    [
      'reordered and additional columns',
      'Price,x,Item code,Name\n1.5,?,A1,"Nail; 2"" long"\n1234.5,?,B2,Zoë’s board\n',
    ],
  ])('with %s is read', async (_name, content) => {
    const { items, problems } = await read(content)
    expect(items).toEqual(expected)
    expect(problems).toEqual([])
  })

  test('longer than a chunk is read the same: characters, rows and quoted cells may be split', async () => {
    const row = (at: number) => `C${at};"Zoë – ${at} "" 😀\r\nx";${at},50\r\n`
    const { items, problems } = await read(
      `\ufeffcode;name;price\r\n${Array.from({ length: 20_000 }, (_, at) => row(at)).join('')}`,
    )
    expect(problems).toEqual([])
    const wrong = items.filter(
      ({ code, name, price }, at) =>
        code !== `C${at}` || name !== `Zoë – ${at} " 😀\r\nx` || price !== at + 0.5,
    )
    expect({ length: items.length, wrong }).toEqual({ length: 20_000, wrong: [] })
  })

  test('with any cell text is read unchanged', async () => {
    // No digits: a line break and a price in one cell are treated as rows that an open quote has included.
    const cell = fc.stringMatching(/^[A-Za-z][A-Za-z_ ,;"'\n\r\t😀ë]{0,12}[a-z]$/u)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, fc.integer({ min: 1, max: 99_999 })), { minLength: 1, maxLength: 30 }),
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('\n', '\r\n'),
        async (rows, delimiter, ending) => {
          const records = rows.map(([name, cents], row) => [`C${row}`, name, (cents / 100).toFixed(2)])
          const options = { delimiter, record_delimiter: ending, quoted_string: true }
          const { items, problems } = await read(stringify([['code', 'name', 'price'], ...records], options))
          expect(problems).toEqual([])
          expect(items).toEqual(
            rows.map(([name, cents], row) => ({ code: `C${row}`, name: name.trim(), price: cents / 100 })),
          )
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('a bad row is reported with its line and a reason, and good rows are still sent', () => {
  const bad: { name: string; row: string; reason: string }[] = JSON.parse(
    readFileSync(new URL('bad-rows.json', import.meta.url), 'utf8'),
  )
  test.each([
    ...bad,
    {
      name: 'with a field of 1 MB',
      row: `X,${'x'.repeat(1_000_000)},1.00`,
      reason: 'the name has 1000000 characters; the maximum is 2000',
    },
  ])('$name', async ({ row, reason }) => {
    const { items, problems } = await read(`code,name,price\nA1,Board,2.00\n${row}\nZ9,Last,3.00\n`)
    expect(problems).toEqual([expect.stringContaining(`3: ${reason}`)])
    expect(items.map(({ code }) => code)).toEqual(['A1', 'Z9'])
  })

  test('with the right line number after multi-line cells', async () => {
    const { problems } = await read('code,name,price\nA1,"two\nlines",1\n\n,x,1\nB1,"a\r\nb\r\nc",1\n,y,2\n')
    expect(problems).toEqual(['5: the code is missing.', '9: the code is missing.'])
  })

  test('with nothing but a price; a text alone is what the file says', async () => {
    const { problems, outline } = await read('code,price\nA1,1\n,9.50\nFittings\nA2,\nA4,\n')
    expect({ problems, texts: outline.sheets[0]?.texts }).toEqual({
      problems: ['3: the code is missing.'],
      texts: ['9.50', 'Fittings', 'A2', 'A4'],
    })
  })

  test('of an export with rows of pictures, which are no texts: the file can be confirmed', async () => {
    const pictures = Array.from({ length: 2_000 }, (_, at) => `screw,,,https://a.example/${at}.jpg\n`).join(
      '',
    )
    const { items, invalidRows, problem, outline } = await read(
      `Handle,SKU,Variant Price,Image Src\nscrew,A1,5,https://a.example/0.jpg\n${pictures}`,
      { uses: { Handle: 'ignored', SKU: 'code', 'Variant Price': 'price' } },
    )
    expect({ codes: items.map(({ code }) => code), invalidRows, problem }).toEqual({
      codes: ['A1'],
      invalidRows: 2_000,
      problem: null,
    })
    expect(outline.sheets[0]?.texts).toEqual([])
  })

  test('of a list whose prices all have a currency says so once', async () => {
    const rows = Array.from({ length: 1_200 }, (_, at) => `A${at},AUD ${at + 1}.50\n`).join('')
    const { items, outline } = await read(`code,price\n${rows}`)
    expect({ items: items.length, texts: outline.sheets[0]?.texts }).toEqual({
      items: 1_200,
      texts: ['price: AUD 1.50'],
    })
  })

  test('of a file that says more than can be looked at', async () => {
    const words = Array.from({ length: 1_100 }, (_, row) => [`Brand ${row}`])
    const bytes = workbook([{ name: 'Prices', rows: [['Code', 'Price'], ['A1', 1], ...words] }])
    expect((await read(bytes)).problem).toContain('more text outside the tables than can be looked at')
  })

  test.each([
    ['with text after it', 'A2,"12 inch nail,5\nA3,bolt,6\nA4,"screw",7'],
    ['closed rows later', 'A2,"nail,5\nA3,bolt,6\nA4,screw",7'],
    ['with a currency', 'A2,"nail,A$5\nA3,bolt,A$6\nA4,"screw",A$7'],
  ])(
    'that includes other rows because of an open quote, %s, is reported, and no item gets the price of another',
    async (_name, rows) => {
      const { items, problems } = await read(`code,name,price\nA1,ok,1\n${rows}\nA5,last,8\n`)
      expect(problems).toEqual([
        expect.stringMatching(/^3: a quote is not closed: one cell contains 3 lines/),
      ])
      expect(items.map(({ code }) => code)).toEqual(['A1', 'A5'])
    },
  )

  test('and a code with several prices is not sent: neither price may be right', async () => {
    const { items, problems, validRows, invalidRows } = await read(
      'code,price\nA1,1\nB1,2\nA1,1.50\nC1,3\nA1,1\n',
    )
    expect(items.map(({ code }) => code)).toEqual(['B1', 'C1'])
    expect(problems).toEqual([
      '2: the code "A1" has another price or unit on line 4, so neither is sent.',
      '4: the code "A1" has another price or unit on line 2, so neither is sent.',
    ])
    expect({ validRows, invalidRows }).toEqual({ validRows: 2, invalidRows: 2 })
  })

  test('and with several sheets, each problem has its sheet, in the order of the file', async () => {
    const rows = (price: number) => [
      ['Code', 'Name', 'Price'],
      ['A1', 'Tap', price],
      ['', 'Sink', 5],
    ]
    const bytes = workbook([
      { name: 'Taps', rows: rows(1) },
      { name: 'Sinks', rows: rows(2) },
    ])
    const { problems, preview } = await read(bytes, { sheets: ['Taps', 'Sinks'] })
    expect({ problems, preview }).toEqual({
      problems: [
        '2: the code "A1" has another price or unit on line 2 in the sheet “Sinks”, so neither is sent.',
        '3: the code is missing.',
        '2: the code "A1" has another price or unit on line 2 in the sheet “Taps”, so neither is sent.',
        '3: the code is missing.',
      ],
      preview: [],
    })
  })

  test('and the same row twice is one item, with a remark', async () => {
    const { items, problems, remarks } = await read('code,price\nA1,1.50\nB1,2\nA1,1.5\n')
    expect(problems).toEqual([])
    expect(items).toHaveLength(2)
    expect(remarks).toEqual(['1 row repeats an item that is sent once.'])
  })

  test('and names that begin like a formula, and cells made to keep their zeros, are read as they are', async () => {
    const { items, problems } = await read('code,name,price\n="00123",=HYPERLINK("x"),1\n-A,-20 °C glue,2\n')
    expect({ items, problems }).toEqual({
      items: [
        { code: '00123', name: '=HYPERLINK("x")', price: 1 },
        { code: '-A', name: '-20 °C glue', price: 2 },
      ],
      problems: [],
    })
  })

  test('and typographic quotes around a code are no part of it', async () => {
    expect((await read('code,price\n“ A1 ”,1\nB’s,2\n')).items.map(({ code }) => code)).toEqual(['A1', 'B’s'])
  })

  test('and blank rows and the delimiter line of a spreadsheet are ignored', async () => {
    const { items, problems } = await read('sep=;\r\ncode;name;price\r\nA1;x;1,5\r\n;;\r\n  \r\n')
    expect({ items, problems }).toEqual({ items: [{ code: 'A1', name: 'x', price: 1.5 }], problems: [] })
  })

  test('and missing or extra empty cells at the end are ignored', async () => {
    expect((await read('code,price,name,unit\nA1,1,,,,\nB1,2\n')).items).toEqual([
      { code: 'A1', price: 1 },
      { code: 'B1', price: 2 },
    ])
  })
})
