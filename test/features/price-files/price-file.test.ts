import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkPriceFile } from '../../../src/features/price-files/price-file.ts'
import { read } from './read-support.ts'
import { priceRows } from './support.ts'

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

  test('is read the same regardless of chunk size', async () => {
    const content = '\ufeffcode;name;price\r\nA1;"Zoë – 2"" ""x""";1,5\r\nB2;"two\r\nlines 😀";2\r\n;x;3\r\n'
    const whole = await read(content)
    expect(whole.problems).toEqual(['5: the code is missing.'])
    for (let size = 1; size < 40; size++)
      expect(await read(content, size), `chunks of ${size}`).toEqual(whole)
  })

  test('with any cell text is read unchanged', async () => {
    // No digits: a line break and a price in one cell are treated as rows that an open quote has included.
    const cell = fc.stringMatching(/^[A-Za-z][A-Za-z_ ,;"'\n\r\t😀ë]{0,12}[a-z]$/u)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, fc.nat(99_999)), { minLength: 1, maxLength: 30 }),
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('\n', '\r\n'),
        fc.integer({ min: 1, max: 200 }),
        async (rows, delimiter, ending, size) => {
          const records = rows.map(([name, cents], row) => [`C${row}`, name, (cents / 100).toFixed(2)])
          const options = { delimiter, record_delimiter: ending, quoted_string: true }
          const { items, problems } = await read(
            stringify([['code', 'name', 'price'], ...records], options),
            size,
          )
          expect(problems).toEqual([])
          expect(items).toEqual(
            rows.map(([name, cents], row) => ({ code: `C${row}`, name: name.trim(), price: cents / 100 })),
          )
        },
      ),
      { numRuns: 200 },
    )
  })

  test('of 30,000 rows is read to its last row', async () => {
    const check = await checkPriceFile(priceRows(30_000), { onProblem: () => {} })
    expect(check).toMatchObject({ rows: 30_000, validRows: 30_000, invalidRows: 0 })
  })
})

describe('a bad row is reported with its line and a reason, and good rows are still sent', () => {
  const bad: [name: string, row: string, reason: RegExp][] = [
    ['without a code', ',Nail,1.00', /^3: the code is missing/],
    ['without a price', 'X,Nail,', /^3: the price is missing/],
    ['with a negative price', 'X,Nail,-1.00', /^3: the price is negative/],
    ['with a negative price in brackets', 'X,Nail,(1.00)', /^3: the price is negative/],
    ['with an unreadable price', 'X,Nail,POA', /^3: the price "POA" is invalid; write it as 1234\.50/],
    [
      'with a price in scientific notation',
      'X,Nail,1e5',
      /^3: the price "1e5" is invalid; write it as 1234\.50/,
    ],
    ['with an infinite price', 'X,Nail,Infinity', /^3: the price .*" is invalid; write it as 1234\.50/],
    [
      'with a price in another currency',
      'X,Nail,USD 5',
      /^3: the price "USD 5" is invalid; write it as 1234\.50/,
    ],
    [
      'with a character that reverses the text',
      'X,Na\u202eil,1.00',
      /^3: the name contains .* an invisible character/,
    ],
    ['with an escape sequence', 'X,\u001b[31mNail,1.00', /^3: the name contains .* an invisible character/],
    [
      'with a code that has an invisible character',
      'X\u200b1,Nail,1.00',
      /^3: the code contains .* an invisible character/,
    ],
    ['with an ambiguous price', 'X,Nail,"1,23,4"', /^3: the price .*" is invalid; write it as 1234\.50/],
    ['with a price above the limit', 'X,Nail,9999999999', /^3: the price exceeds one billion dollars/],
    ['with a repeated code', 'A1,Nail,1.00', /^3: the code "A1" already occurs on line 2, which is used/],
    [
      'with a field of 1 MB',
      `X,${'x'.repeat(1_000_000)},1.00`,
      /^3: the name has 1000000 characters; the maximum is 2000/,
    ],
    ['with a formula', 'X,"=HYPERLINK(""http://x"")",1.00', /^3: the name starts with "="/],
    ['with a command', 'X,@SUM(A1),1.00', /^3: the name starts with "@"/],
    ['with a code that is a formula', '+1+1,Nail,1.00', /^3: the code starts with "\+"/],
    ['with a full-width formula', 'X,＝1,1.00', /^3: the name starts with "＝"/],
    ['with too few cells', 'X,1.00', /^3: it has 2 cells instead of 3/],
    ['with too many cells', 'X,Nail,1.00,2.00', /^3: it has 4 cells instead of 3/],
    ['that repeats the headings', 'code,name,price', /^3: this row repeats the headings/],
    [
      'with a line break in its code',
      '"X\nY",Nail,1.00',
      /^3: the code contains a line break or an invisible character/,
    ],
  ]
  test.each(bad)('%s', async (_name, row, reason) => {
    const { items, problems } = await read(`code,name,price\nA1,Board,2.00\n${row}\nZ9,Last,3.00\n`)
    expect(problems).toEqual([expect.stringMatching(reason)])
    expect(items.map(({ code }) => code)).toEqual(['A1', 'Z9'])
  })

  test('with the right line number after multi-line cells', async () => {
    const { problems } = await read('code,name,price\nA1,"two\nlines",1\n\n,x,1\nB1,"a\r\nb\r\nc",1\n,y,2\n')
    expect(problems).toEqual(['5: the code is missing.', '9: the code is missing.'])
  })

  test.each([
    ['with text after it', 'A2,"12 inch nail,5\nA3,bolt,6\nA4,"screw",7'],
    ['closed rows later', 'A2,"nail,5\nA3,bolt,6\nA4,screw",7'],
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

  test.each([
    [',', '1,250', 1250],
    [',', '0,125', 0.125],
    [',', '12,50', 12.5],
    [',', '.50', 0.5],
    [',', '1.23456789', 1.23456789],
    [',', '$1,234,567.8', 1_234_567.8],
    [';', '1,250', 1.25],
    [';', '0,999', 0.999],
    [';', '1.234,50', 1234.5],
    [';', '1.234.567', 1_234_567],
    [';', '12.5', 12.5],
    [';', '2,500.00', 2500],
  ])('and in a file separated by %j the price %s is %d', async (delimiter, cell, price) => {
    const { items } = await read(`code${delimiter}price\nA1${delimiter}"${cell}"\n`)
    expect(items).toEqual([{ code: 'A1', price }])
  })

  test('and an ambiguous price is a problem', async () => {
    expect((await read('code;price\nA1;1.234\n')).problems).toEqual([
      '2: the price "1.234" could mean 1234 or 1,234; write it with two decimals.',
    ])
  })

  test('and blank rows and the delimiter line of a spreadsheet are ignored', async () => {
    const { items, problems } = await read('sep=;\r\ncode;name;price\r\nA1;x;1,5\r\n;;\r\n  \r\n')
    expect({ items, problems }).toEqual({ items: [{ code: 'A1', name: 'x', price: 1.5 }], problems: [] })
  })

  test('and extra empty cells are ignored', async () => {
    expect((await read('code,price\nA1,1,,\n')).items).toEqual([{ code: 'A1', price: 1 }])
  })
})
