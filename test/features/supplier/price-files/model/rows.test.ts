/** What a row comes to: an item, or one of the reasons. */
import { describe, expect, test } from 'vitest'
import type { Rejected } from '../../../../../src/features/supplier/price-files/found.ts'
import { type Cell, workbook } from '../xlsx.ts'
import { type Answers, type Content, choose, foundIn, read, send } from './support.ts'

/** The items as `CODE=PRICE`, and the rows that are not sent as `row: reason detail`. */
async function sentOf(content: Content, answers: Answers = {}) {
  const reading = await choose(content, answers)
  const { rejected, items } = foundIn(reading)
  expect(items).toBe(reading.items.length)
  return {
    sent: reading.items.map(({ code, price }) => `${code}=${price}`).join(' '),
    not: rejected.flatMap(({ rows }) =>
      rows.map(({ row, reason, detail }) => `${row}: ${reason} ${detail}`.trim()),
    ),
  }
}
/** A workbook whose second style strikes out, and whose third is a date. */
const sheet = (...rows: Cell[][]) =>
  workbook([{ name: 'Prices', rows: [['Code', 'Name', 'Price'], ...rows, ['Z9', 'Last', 3]] }], {
    parts: {
      'xl/styles.xml':
        '<styleSheet><fonts><font/><font><strike/></font></fonts><cellXfs><xf/><xf fontId="1"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    },
  })

describe('a row is not sent, for this reason:', () => {
  test.each([
    [',Nail,1.00', 'noCode'],
    ['X,Nail,', 'noPrice'],
    ['X,Nail,POA', 'unreadablePrice POA'],
    ['X,Nail,-1.00', 'negativePrice -1.00'],
    ['9.31E+12,Nail,1', 'damagedCode 9.31E+12'],
    ['#REF!,Nail,1', 'errorCell #REF!'],
    ['X,#N/A,1', 'errorCell #N/A'],
    ['X,Nail,#N/A', 'errorCell #N/A'],
    ['X,Nail,1,more', 'moreCells more'],
    ['X\u200b,Nail,1', 'invisible X\u200b'],
    ['X,Na\u202eil,1', 'invisible Na\u202eil'],
    ['"X\nY",Nail,1', 'invisible X\nY'],
  ])('%j', async (row, reason) => {
    const { sent, not } = await sentOf(`Code,Name,Price\nA1,Board,2.00\n${row}\nZ9,Last,3.00\n`)
    expect({ sent, not }).toEqual({ sent: 'A1=2 Z9=3', not: [`3: ${reason}`] })
  })

  test.each<[string, Cell[], string]>([
    ['struck out', ['X', { xml: '<c r="B2" s="1"><v>5</v></c>' }, 1], 'struckOut 5'],
    ['a date for a price', ['X', 'Nail', { xml: '<c r="C2" s="2"><v>46000</v></c>' }], 'unreadablePrice'],
    ['an error', ['X', 'Nail', { error: '#DIV/0!' }], 'errorCell #DIV/0!'],
    ['a formula without a value', ['X', 'Nail', { xml: '<c r="C2"><f>B2*2</f></c>' }], 'noValue #FORMULA!'],
    ['a code of sixteen digits', [9_312_345_678_901_234, 'Nail', 1], 'damagedCode'],
  ])('in a workbook: %s', async (_name, cells, reason) => {
    const { sent, not } = await sentOf(sheet(cells))
    expect(sent).toBe('Z9=3')
    expect(not).toEqual([expect.stringMatching(`^2: ${reason}`)])
  })

  test.each([
    ['with text after it', 'A2,"12 inch nail,5\nA3,bolt,6\nA4,"screw",7'],
    ['closed rows later', 'A2,"nail,5\nA3,bolt,6\nA4,screw",7'],
    ['with a currency', 'A2,"nail,A$5\nA3,bolt,A$6\nA4,"screw",A$7'],
  ])('an open quote that includes other rows, %s', async (_name, rows) => {
    const { sent, not } = await sentOf(`Code,Name,Price\nA1,ok,1\n${rows}\nA5,last,8\n`)
    expect(sent).toBe('A1=1 A5=8')
    expect(not).toEqual([expect.stringMatching(/^3: openQuote/)])
  })

  test('a value that is not ticked, and a count that cannot divide', async () => {
    const content = `Code,Price,Level,Per\n${['A,6,R,3', 'B,6,T,3', 'C,6,,3', 'D,6,R,EA', 'E,6,R,', 'F,6,R,0', 'G,6,R,2 x 3', 'H,6,R,per 12 (m2)', 'I,6,R,1,000'].join('\n').replace('1,000', '"1,000"')}`
    expect(await sentOf(content, { uses: { Price: 'price', Level: ['only', 'R'], Per: 'count' } })).toEqual({
      sent: 'A=2 D=6 H=0.5 I=0.006',
      not: ['6: count', '7: count 0', '8: count 2 x 3', '3: notTicked', '4: notTicked'],
    })
  })

  test('a code twice with another price or unit, whatever its capitals; once if they are the same', async () => {
    const rows = [
      'A1,1,EA',
      'B1,2,EA',
      'a1,1.50,EA',
      'C1,3,EA',
      'A1,1,EA',
      'D1,4,EA',
      'd1,4.00,EA',
      'E1,5,EA',
      'E1,5,M',
    ]
    const { sent, not } = await sentOf(`Code,Price,Unit\n${rows.join('\n')}`)
    expect(sent).toBe('B1=2 C1=3 D1=4')
    expect(not).toEqual([2, 4, 6, 9, 10].map((row) => expect.stringMatching(`^${row}: otherPrice \\d+$`)))
  })
})

describe('a price is sent', () => {
  test.each<[string, string, Answers, string]>([
    ['before GST', '11.00', {}, '11'],
    ['less 10 % GST', '11.00', { money: 'AUD including GST' }, '10'],
    ['less 15 % GST', 'NZ$23.00', { money: 'NZD including GST' }, '20'],
    ['less GST, to the cent half up', '1.10555', { money: 'AUD including GST', decimal: 'point' }, '1.01'],
    [
      'less GST, then divided by the units',
      '11.00',
      { money: 'AUD including GST', units: 3 },
      '3.33333333333333',
    ],
    ['with dollars and thousands', '"$1,250.00"', {}, '1250'],
    ['with a decimal comma', '"1.250,50"', { decimal: 'comma' }, '1250.5'],
    ['of nothing', '0', {}, '0'],
  ])('%s', async (_name, cell, answers, price) => {
    expect(await sentOf(`Code,Price\nA,${cell}\n`, answers)).toEqual({ sent: `A=${price}`, not: [] })
  })

  test('less GST only where a column has a ticked value', async () => {
    const answers: Answers = { money: 'AUD including GST', uses: { Tax: ['taxed', 'Inc', ''] } }
    const { sent } = await sentOf('Code,Price,Tax\nA,11,Inc\nB,11,Ex\nC,11,\n', answers)
    expect(sent).toBe('A=10 B=11 C=10')
  })

  test('with texts as they are; the spellings of a spreadsheet are no part of a code', async () => {
    const { items } = await choose(
      'Code,Name,Price\n="00123",=HYPERLINK("x"),1\n\'0045,-20 °C  glue,2\n“A1”,Zoë’s,3\nB¹,x,4\n'.replace(
        '=HYPERLINK("x")',
        '"=HYPERLINK(""x"")"',
      ),
    )
    expect(items.map(({ code, name }) => `${code} ${name}`)).toEqual([
      '00123 =HYPERLINK("x")',
      '0045 -20 °C  glue',
      '“A1” Zoë’s',
      'B¹ x',
    ])
  })

  test('of a field of any length', async () => {
    const long = 'x'.repeat(50_000)
    const { items } = await choose(`Code,Name,Price\n${'C'.repeat(300)},${long},1\n`)
    expect(items).toEqual([{ code: 'C'.repeat(300), name: long, price: 1 }])
  })
})

test('rows that are not sent are counted, fifty of each reason are listed, those that are new first', async () => {
  const poa = Array.from({ length: 60 }, (_, at) => `P${at},x,POA,R`)
  const file = (...rows: string[]) =>
    ['Code,Name,Price,Level', ...poa, 'A,x,1,R', 'C,x,1,T', ...rows].join('\n')
  const received = send(await choose(file('B,x,1,R', 'D,x,1,R'), { uses: { Level: ['only', 'R'] } }))
  const { rejected } = foundIn(await read(file('B,x,POA,R', 'NEW,x,POA,R', 'D,x,1,T'), { received }))
  expect(rejected).toMatchObject([
    { reason: 'unreadablePrice', count: 62 },
    { reason: 'notTicked', count: 2 },
  ])
  const newIn = (rows: Rejected[] = []) => rows.map(({ code, isNew }) => (isNew ? code : '-')).join(' ')
  expect(rejected[0]?.rows).toHaveLength(50)
  expect(newIn(rejected[0]?.rows.slice(0, 3))).toBe('B NEW -')
  expect(newIn(rejected[1]?.rows)).toBe('D -')
})
