/** The next month of a file whose meaning has changed: a person sees a mark or a box, and the command line sends nothing. */
import { strFromU8, unzipSync } from 'fflate'
import { beforeAll, expect, test } from 'vitest'
import type { Found } from '../../../../../src/features/supplier/price-files/found.ts'
import type { Received } from '../../../../../src/features/supplier/price-files/received.ts'
import { stopsUnattended } from '../../../../../src/features/supplier/price-files/unattended.ts'
import { type Answers, bookOf, type Content, choose, foundIn, read, send } from './support.ts'

const HEADINGS =
  'Item Code,Description,UOM,RRP ex GST,Cost,Currency,Price Level,Status,Per,Pack,Updated,Remark'
const WORDS = ['Copper elbow', 'PVC pipe', 'Brass tee', 'Flexible hose']
const REMARKS = ['Stock line', 'Made to order', 'New', 'On request', 'While stocks last', 'Indent']
const rowOf = (at: number) =>
  [
    `PL-${1000 + at}`,
    `${WORDS[at % 4]} ${15 + (at % 9)} mm`,
    ['EA', 'M'][at % 2],
    (5 + at * 0.37).toFixed(2),
    (3 + at * 0.21).toFixed(2),
    'AUD',
    'Retail',
    ['Active', 'Active', 'New'][at % 3],
    '1',
    at % 3 === 0 ? '10' : '1',
    '1/09/2026',
    REMARKS[at % 6],
  ].join(',')
const ROWS = Array.from({ length: 60 }, (_, at) => rowOf(at))

/** The file of one month. */
const SEPTEMBER = [
  'Harrow & Pike Plumbing Supplies',
  'Recommended retail prices excluding GST',
  '"Prices are in Australian dollars, per 1 unit. Restocking fee 20 %."',
  ',,,ex GST,,,,,,,,',
  HEADINGS,
  'TAPS,,,,,,,,,,,',
  ...ROWS.slice(0, 30),
  'PIPES,,,,,,,,,,,',
  ...ROWS.slice(30),
  'PL-9000,Boiler,EA,POA,,AUD,Retail,Active,1,1,1/09/2026,Stock 14',
  ',Freight is free over $500,,,,,,,,,,',
].join('\n')
const ANSWERS: Answers = { uses: { 'RRP ex GST': 'price' } }

/** The file with each of these rows changed. */
const rows = (from: number, to: number, change: (row: string) => string): string =>
  SEPTEMBER.split('\n')
    .map((line) => (ROWS.indexOf(line) >= from && ROWS.indexOf(line) < to ? change(line) : line))
    .join('\n')
/** The file with this cell in some rows. */
const cells = (from: number, to: number, heading: string, cell: string) =>
  rows(from, to, (row) => row.split(',').with(HEADINGS.split(',').indexOf(heading), cell).join(','))
const all = (heading: string, cell: string) => cells(0, 60, heading, cell)
const text = (before: string, now: string) => SEPTEMBER.replace(before, now)
const swapped = (one: string, other: string) => {
  const [a = 0, b = 0] = [one, other].map((heading) => HEADINGS.split(',').indexOf(heading))
  const swap = (row: string[]) => row.map((cell, at) => row[at === a ? b : at === b ? a : at] ?? cell)
  const lines = SEPTEMBER.split('\n').map((line) => line.split(','))
  return lines.map((row) => (row.length < 12 ? row : swap(row)).join(',')).join('\n')
}

const BOOK = {
  sheet: 'Retail',
  other: 'Info',
  title: 'Price list',
  printed: 'Prices ex GST',
  comment: 'Price for one',
  box: 'Ex store',
}
/** A workbook with a printed header, a comment and a text box. */
function book(changes: Partial<typeof BOOK> = {}): Uint8Array {
  const { sheet, other, title, printed, comment, box } = { ...BOOK, ...changes }
  const sheets = { [sheet]: [title, HEADINGS, ...ROWS.slice(0, 12)].join('\n'), [other]: 'Call us' }
  const path = 'xl/worksheets/sheet1.xml'
  const plain = strFromU8(unzipSync(bookOf(sheets))[path] ?? new Uint8Array())
  const header = `<headerFooter><oddHeader>&amp;C${printed}</oddHeader></headerFooter></worksheet>`
  return bookOf(sheets, {
    [path]: plain.replace('</worksheet>', header),
    'xl/worksheets/_rels/sheet1.xml.rels':
      '<Relationships><Relationship Id="a" Target="../comments1.xml"/><Relationship Id="b" Target="../drawings/drawing1.xml"/></Relationships>',
    'xl/comments1.xml': `<comments><commentList><comment ref="D2"><text><t>${comment}</t></text></comment></commentList></comments>`,
    'xl/drawings/drawing1.xml': `<xdr><sp><txBody><p><r><t>${box}</t></r></p></txBody></sp></xdr>`,
  })
}

/** What is said of the change, as the kinds of boxes, and `value` or `text`. */
function marksOf({ box, compared }: Found): string[] {
  const { newValues, newTexts, uncomparedTexts } = compared
  return [
    ...new Set(box.map(({ kind }) => kind)),
    ...(newValues.some(({ values, dates }) => values.length + dates > 0) ? ['value'] : []),
    ...(newTexts.length + uncomparedTexts > 0 ? ['text'] : []),
  ]
}

let csv: Received
let xlsx: Received
beforeAll(async () => {
  csv = send(await choose(SEPTEMBER, ANSWERS))
  xlsx = send(await choose(book(), ANSWERS))
})

/** Each change, with what it is marked by; `page one` if something is to be chosen anew. */
const CHANGED: [name: string, content: () => Content, marks: string][] = [
  ['all prices in New Zealand dollars', () => all('Currency', 'NZD'), 'newValue value'],
  ['four prices in euros', () => cells(20, 24, 'Currency', 'EUR'), 'newValue value'],
  ['trade prices', () => all('Price Level', 'Trade'), 'newValue value'],
  ['some trade prices', () => cells(5, 12, 'Price Level', 'Trade'), 'newValue value'],
  ['a unit of hundred', () => cells(5, 9, 'UOM', '100'), 'newValue value'],
  ['one unit HUNDRED', () => cells(33, 34, 'UOM', 'HUNDRED'), 'newValue value'],
  ['a unit C', () => cells(40, 42, 'UOM', 'C'), 'newValue value'],
  ['deleted items', () => cells(10, 50, 'Status', 'Deleted'), 'newValue value'],
  ['a blank status', () => cells(10, 12, 'Status', ''), 'newValue value'],
  ['prices per 100', () => cells(3, 6, 'Per', '100'), 'farOutside newValue value'],
  ['packs of other sizes', () => cells(3, 6, 'Pack', '50'), 'newValue value'],
  ['a remark about a box, among many', () => cells(7, 8, 'Remark', 'Price is for a box of 50'), 'value'],
  ['costs that are all the same', () => all('Cost', '0.00'), 'value'],
  ['a cost that is no amount', () => cells(7, 8, 'Cost', '3.00 per 10'), 'value'],
  ['digits in a note', () => text('per 1 unit', 'per 10 units'), 'text'],
  ['a percentage in a note', () => text('fee 20 %', 'fee 25 %'), 'text'],
  ['another currency in a note', () => text('Australian dollars', 'New Zealand dollars'), 'text'],
  ['tax in a title', () => text('excluding GST', 'including GST'), 'text'],
  ['retail in a title', () => text('Recommended retail prices', 'Trade prices'), 'text'],
  ['a word more in a title', () => text('Recommended retail', 'Not recommended retail'), 'text'],
  ['another title', () => text('Recommended retail prices excluding GST', 'Prices'), 'text'],
  ['a text in another column', () => text(',,,ex GST,,', ',,,,ex GST,'), 'text'],
  ['tax above the column of the price', () => text(',,,ex GST', ',,,inc GST'), 'text'],
  ['a note below the table', () => `${SEPTEMBER}\n,Prices include GST,,,,,,,,,,`, 'text'],
  ['a note in the column of the codes', () => `${SEPTEMBER}\nAll prices are per 100,,,,,,,,,,,`, 'text'],
  ['another note below', () => text('free over $500', 'added to each price'), 'text'],
  ['a section that says GST', () => text('PIPES', 'PIPES (inc GST)'), 'text'],
  ['a price that is on application', () => rows(9, 10, (row) => row.replace(',8.33,', ',POA,')), 'text'],
  ['a row without a code', () => rows(9, 10, (row) => row.replace('PL-1009', '')), 'text'],
  ['a new column', () => rows(0, 60, (row) => `${row},NZ`).replace(HEADINGS, `${HEADINGS},Market`), 'text'],
  ['another heading of another column', () => text('Cost,', 'Trade,'), 'text'],
  ['another heading of the price', () => text('RRP ex GST', 'RRP inc GST'), 'page one'],
  ['no column of the codes', () => text('Item Code', 'Barcode'), 'page one'],
  ['the decimal sign', () => rows(0, 60, (row) => row.replace(/,(\d+)\.(\d\d),/, ',"$1.$20",')), 'page one'],
  ['one price in thousands', () => rows(59, 60, (row) => row.replace('26.83', '"26,830"')), 'page one'],
  ['another name of the sheet', () => book({ sheet: 'Trade' }), 'page one'],
  ['another name of another sheet', () => book({ other: 'Prices inc GST' }), 'text'],
  ['a printed header', () => book({ printed: 'Prices inc GST' }), 'text'],
  ['a comment', () => book({ comment: 'Price for 100' }), 'text'],
  ['a text box', () => book({ box: 'All prices plus GST' }), 'text'],
  ['a title of a workbook', () => book({ title: 'Trade price list' }), 'text'],
]

test.each(CHANGED)('%s', async (_name, content, marks) => {
  const bytes = content()
  const reading = await read(bytes, { received: typeof bytes === 'string' ? csv : xlsx })
  expect(stopsUnattended(reading)).toBe(true)
  expect(reading.found ? marksOf(reading.found).join(' ') : 'page one').toBe(marks)
})

/** Each harmless month, with the marks that it has all the same. */
const HARMLESS: [name: string, content: () => Content, marks: string][] = [
  ['the same file', () => SEPTEMBER, ''],
  ['the same workbook', () => book(), ''],
  ['prices that rise by 4 %', () => rise(1.04), ''],
  ['prices that rise by 2 to 8 %', () => rise(1.02, 1.08), ''],
  ['prices that fall by 3 %', () => rise(0.97), ''],
  ['ten items more', () => `${SEPTEMBER}\n${ROWS.slice(0, 10).join('\n').replaceAll('PL-1', 'PL-2')}`, ''],
  ['ten items less', () => SEPTEMBER.replace(ROWS.slice(50).join('\n'), ''), ''],
  ['another order of the rows', () => rows(0, 60, (row) => ROWS[59 - ROWS.indexOf(row)] ?? ''), ''],
  ['another order of the columns', () => swapped('RRP ex GST', 'Status'), ''],
  ['two price columns in another order', () => swapped('RRP ex GST', 'Cost'), ''],
  ['a blank row above the headings', () => text(HEADINGS, `\n\n${HEADINGS}`), ''],
  ['other stock of an item without a price', () => text('Stock 14', 'Stock 9'), ''],
  ['other dates', () => all('Updated', '1/10/2026'), 'value'],
  ['an item without a price less', () => text(/PL-9000.*\n/.exec(SEPTEMBER)?.[0] ?? '', ''), ''],
  [
    'a price for an item without one',
    () => text(',POA,,AUD,', ',30.00,3.00,AUD,').replace('Stock 14', 'Indent'),
    '',
  ],
  ['a section less', () => text('PIPES,,,,,,,,,,,\n', ''), ''],
  ['a note less', () => text('\n,Freight is free over $500,,,,,,,,,,', ''), ''],
  ['other words of a name', () => text('Copper elbow 15 mm', 'Elbow of copper 15 mm'), ''],
  ['blanks around cells', () => rows(0, 60, (row) => row.replace(',AUD,', ', AUD ,')), ''],
  ['a title that names the month', () => text('Harrow & Pike Plumbing Supplies', 'October 2026'), 'text'],
  ['a new section', () => text('PIPES', 'WINTER SALE,,,,,,,,,,,\nPIPES'), 'text'],
]
/** Prices that rise by these factors in turn, in both of their columns. */
const rise = (...factors: number[]) =>
  rows(0, 60, (row) => {
    const factor = factors[ROWS.indexOf(row) % factors.length] ?? 1
    const risen = (cell: string, at: number) =>
      at === 3 || at === 4 ? (Number(cell) * factor).toFixed(2) : cell
    return row.split(',').map(risen).join(',')
  })

test.each(HARMLESS)('a harmless month asks nothing: %s', async (_name, content, marks) => {
  const bytes = content()
  const reading = await read(bytes, { received: typeof bytes === 'string' ? csv : xlsx })
  const found = foundIn(reading)
  expect(found.box).toEqual([])
  expect(marksOf(found).join(' ')).toBe(marks)
  expect(stopsUnattended(reading)).toBe(marks !== '')
})

test('the new amounts of a price column that is not sent are one line, and mark no row', async () => {
  const { compared, examples } = foundIn(await read(rise(1.04), { received: csv }))
  expect(compared.newValues).toMatchObject([{ heading: 'Cost', values: [], amounts: 58 }])
  expect(examples.some(({ others }) => others.some(({ isNew }) => isNew))).toBe(false)
})
