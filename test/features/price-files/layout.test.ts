import { describe, expect, test } from 'vitest'
import { guessColumns } from '../../../src/features/price-files/columns.ts'
import { read } from './read-support.ts'

describe('the price column', () => {
  test.each([
    'Price',
    'Sale Price',
    'List Price (AUD)',
    'RRP',
    'RRP (ex GST)',
    'Unit Price ex GST',
    'Sell',
    'Retail',
    'Price ($)',
    'Price/ea',
    'priceExGst',
    'Recommended Retail Price',
    'R.R.P.',
    'RRP 2026',
  ])('is "%s" beside a cost and an amount', (heading) => {
    const { columns, mappingErrors } = guessColumns(['Code', 'Cost', heading, 'Amount', 'Line total', 'Rate'])
    expect({ columns, mappingErrors }).toEqual({ columns: { code: 0, price: 2 }, mappingErrors: [] })
  })

  test.each(
    [
      [
        'Cost',
        'Amount',
        'Rate',
        'Total',
        'Trade price',
        'Net price',
        'Cost price',
        'Price code',
        'Old price',
      ],
      ['Price per 100', 'Box price', 'Our list price', 'Price (USD)', 'Price €', 'Purchases unit price'],
    ].flat(),
  )('is never "%s" without a choice', (heading) => {
    const { columns, mappingErrors } = guessColumns(['Code', heading])
    expect(columns).toEqual({ code: 0 })
    expect(mappingErrors).toEqual([expect.stringContaining('price')])
  })

  test.each([
    [['RRP ex GST', 'RRP inc GST']],
    [['Price', 'Price 10+']],
    [['Price AUD', 'Price NZD']],
    [['List price', 'Sell price']],
    [['RRP', 'RRP from 1 July 2026']],
    [['Price', 'Price effective 1/7/26']],
  ])('is asked for if there are several: %j', (headings) => {
    const { columns, mappingErrors } = guessColumns(['Code', ...headings])
    expect(columns).toEqual({ code: 0 })
    expect(mappingErrors).toEqual([expect.stringMatching(/columns 2 and 3.*choose which one is the price/)])
  })

  test('has a number in it', () => {
    const rows = [['A', 'RRP-2026', '12.50']]
    expect(guessColumns(['Code', 'Price basis', 'Price'], rows).columns).toEqual({ code: 0, price: 2 })
  })
})

test.each([
  ['MPN', 'code'],
  ['Cat No', 'code'],
  ['Barcode', 'code'],
  ['Item No.', 'code'],
  ['Part Number', 'code'],
  ['Stock Code', 'code'],
  ['Model', 'code'],
  ['Product Title', 'name'],
  ['Long Description', 'description'],
  ['U.O.M.', 'unit'],
  ['Sell Unit', 'unit'],
  ['Product Group', 'category'],
])('the heading "%s" names the %s', (heading, field) => {
  expect(guessColumns([heading, 'Price']).columns).toEqual({ [field]: 0, price: 1 })
})

describe('the headings', () => {
  test('are found below titles, which are remarked on', async () => {
    const file = 'Summit Supplies,,\n,,Valid from 1 July 2026\n\nItem Code,Description,RRP\nA1,Nail,1.50\n'
    expect(await read(file)).toMatchObject({
      headingsLine: 4,
      items: [{ code: 'A1', price: 1.5 }],
      remarks: ['The headings are on line 4; the 2 rows above them are not sent.'],
    })
  })

  test('can be chosen', async () => {
    const file = 'code,price\nSupplier code,RRP\nA1,1.50\n'
    expect((await read(file)).problems).toEqual(['2: the price "RRP" is invalid; write it as 1234.50.'])
    expect(await read(file, { headingsLine: 2 })).toMatchObject({
      headings: ['Supplier code', 'RRP'],
      problems: [],
    })
  })

  test('are asked for if the first row looks like an item, which is never lost silently', async () => {
    const file = 'A1,Nail,1.50\nA2,Board,2.50\n'
    const asked = await read(file)
    expect(asked).toMatchObject({
      headingsLine: 0,
      items: [],
      sample: [
        ['A1', 'Nail', '1.50'],
        ['A2', 'Board', '2.50'],
      ],
    })
    expect(asked.questions).toEqual(['headings', 'columns'])
    const { items } = await read(file, { headingsLine: 0, columns: { code: 0, name: 1, price: 2 } })
    expect(items).toEqual([
      { code: 'A1', name: 'Nail', price: 1.5 },
      { code: 'A2', name: 'Board', price: 2.5 },
    ])
  })

  test('in another language are headings all the same, and their columns are asked for', async () => {
    expect(await read('Artikel;Preis\nA1;1,50\n')).toMatchObject({ headingsLine: 1, questions: ['columns'] })
  })

  test('that are chosen on a blank row are rejected', async () => {
    await expect(read('code,price\n\nA,1\n', { headingsLine: 2 })).rejects.toThrow(/^Line 2: it is blank/)
  })
})

describe('text', () => {
  const text = 'code;name;price\nA1;Café 90×45;1.50\n'
  const items = [{ code: 'A1', name: 'Café 90×45', price: 1.5 }]
  test.each<[string, Uint8Array, string[]]>([
    ['UTF-8', Buffer.from(text), []],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`), []],
    ['Windows-1252', Buffer.from(text, 'latin1'), [expect.stringContaining('read as Windows-1252')]],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le'), ['The file is in UTF-16.']],
    ['UTF-16 without a byte order mark', Buffer.from(text, 'utf16le'), ['The file is in UTF-16.']],
    ['big-endian UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), ['The file is in UTF-16.']],
  ])('in %s is read, and what was assumed is said', async (_name, bytes, remarks) => {
    expect(await read(bytes)).toMatchObject({ items, problems: [], remarks })
  })

  test.each([',', ';', '\t', '|'])('separated by %j is read', async (delimiter) => {
    const { items: found, problems } = await read(text.replaceAll(';', delimiter))
    expect({ found, problems }).toEqual({ found: items, problems: [] })
  })
})

test('a file with two columns and decimal commas is separated by semicolons, not by the commas', async () => {
  const { items } = await read('Acme Pty Ltd, price list\nCode;Price\nA;12,50\nB;3,20\n')
  expect(items).toEqual([
    { code: 'A', price: 12.5 },
    { code: 'B', price: 3.2 },
  ])
})

test.each([
  [
    'a price that is a text',
    'Code,Name,Price\nA,Bolt,see list\n',
    'The column "Price" has no amounts of dollars: its first cell is "see list".',
  ],
  ['one column', 'Code Name Price\nA Bolt 12.50\n', 'All texts of this file are in one column'],
])('says why no column is the price: %s', async (_what, content, question) => {
  const { mappingErrors } = await read(content)
  expect(mappingErrors).toContainEqual(expect.stringContaining(question))
})
