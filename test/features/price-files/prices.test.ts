import { describe, expect, test } from 'vitest'
import { read } from './read-support.ts'

/** A file with these prices. */
const fileOf = (...prices: string[]) =>
  `code;price\n${prices.map((price, row) => `C${row};"${price}"`).join('\n')}\n`

describe('a price', () => {
  test.each([
    ['12.5', 12.5],
    ['0,125', 0.125],
    ['12,50', 12.5],
    ['.50', 0.5],
    ['1.23456789', 1.23456789],
    ['$1,234,567.8', 1_234_567.8],
    ['1.234,50', 1234.5],
    ['1.234.567', 1_234_567],
    ['2,500.00', 2500],
    ['926.6400000000001', 926.64],
    ['0.30000000000000004', 0.3],
    ['A$12.50', 12.5],
    ['AUD 12.50', 12.5],
    ['12.50 AUD', 12.5],
    ['NZ$ 12.50', 12.5],
    ['$ 7.00', 7],
    ['1 234.50', 1234.5],
    ['1\u00a0234,50', 1234.5],
    ["1'234.50", 1234.5],
    ['1.1E+2', 110],
  ])('of %s is %d', async (cell, price) => {
    expect(await read(fileOf(cell))).toMatchObject({ items: [{ code: 'C0', price }], problems: [] })
  })

  test('in the dollars of another country than an earlier one is a problem', async () => {
    const { items, problems } = await read(fileOf('NZ$5', '6', 'AUD 7', '8 NZD'))
    expect({ prices: items.map(({ price }) => price), problems }).toEqual({
      prices: [5, 6, 8],
      problems: ['4: the price "AUD 7" is in another currency than an earlier one (NZD).'],
    })
  })

  test.each([
    'USD 12.50',
    '€12.50',
    '12.50 EUR',
    'US$5',
    '1,23,4',
    '12.50/m',
    '1.2.3',
    '15%',
    '1.10E+02',
    '1E+03',
  ])('of %s is a problem', async (cell) => {
    expect(await read(fileOf('1.50', cell))).toMatchObject({ invalidRows: 1, items: [{ price: 1.5 }] })
  })
})

describe('the decimal sign of prices is decided by the whole column:', () => {
  test.each<[string, string[], number[]]>([
    ['a point elsewhere makes the comma separate thousands', ['12,500.00', '1,250'], [12_500, 1250]],
    ['also if it comes later', ['1,250', '12.50'], [1250, 12.5]],
    ['a comma elsewhere makes the point separate thousands', ['1.250', '12,50'], [1250, 12.5]],
    ['and is then a decimal sign', ['1,250', '12,50'], [1.25, 12.5]],
    ['both are read as they are if none is ambiguous', ['12,50', '13.50'], [12.5, 13.5]],
  ])('%s', async (_name, cells, prices) => {
    const { items, problems } = await read(fileOf(...cells))
    expect({ prices: items.map(({ price }) => price), problems }).toEqual({ prices, problems: [] })
  })

  test.each<[string, string[]]>([
    ['no other price tells it', ['1,250', '900']],
    ['the others have both', ['1,250', '12,50', '13.50']],
  ])('it is asked if %s, and the answer is used', async (_name, cells) => {
    const asked = await read(fileOf(...cells))
    expect(asked).toMatchObject({ questions: ['decimal'], items: [], validRows: 0, preview: [] })
    expect(asked.mappingErrors).toEqual([expect.stringContaining('"1,250" could be read in two ways')])
    const byPoint = await read(fileOf(...cells), { decimal: 'point' })
    const byComma = await read(fileOf(...cells), { decimal: 'comma' })
    expect([byPoint.items[0]?.price, byComma.items[0]?.price]).toEqual([1250, 1.25])
  })

  test('a price that contradicts the answer is a problem', async () => {
    const { problems } = await read(fileOf('1,250', '12,50'), { decimal: 'point' })
    expect(problems).toEqual(['3: the price "12,50" is invalid; write it as 1234.50.'])
  })
})

describe('prices that include GST', () => {
  const file = 'Code,RRP inc GST\nA,11.00\nB,9.99\n'

  test('are asked about before anything is sent', async () => {
    const { questions, mappingErrors, items } = await read(file)
    expect({ questions, items }).toEqual({ questions: ['gst'], items: [] })
    expect(mappingErrors).toEqual([expect.stringContaining('"RRP inc GST" says that prices include GST')])
  })

  test('are sent without it, rounded to cents, half up', async () => {
    expect((await read(file, { gst: 10 })).items.map(({ price }) => price)).toEqual([10, 9.08])
  })

  test('are sent as they are if the user says so', async () => {
    expect((await read(file, { gst: 0 })).items.map(({ price }) => price)).toEqual([11, 9.99])
  })

  test('are asked about if a title says so', async () => {
    const titled = 'Price list,\nAll prices include GST,\nCode,Price\nA,1.50\n'
    expect((await read(titled)).questions).toEqual(['gst'])
    expect((await read(titled.replace('Code,Price', 'Code,Price ex GST'))).questions).toEqual([])
  })

  test.each([
    'RRP inc. G.S.T.',
    'Price with GST',
    'Price (GST)',
    'Price GST 10% incl.',
    'Price (incl 15% GST)',
    'Price after tax',
  ])('are asked about if the heading is "%s"', async (heading) => {
    expect(await read(`Code,${heading}\nA,1.50\n`, { columns: { code: 0, price: 1 } })).toMatchObject({
      questions: ['gst'],
    })
  })

  test.each([
    ['Prices include 15% GST', 'Price'],
    ['GST is included', 'Price'],
    ['All prices incl. GST', 'Price ex store'],
  ])('are asked about if a title says "%s" above "%s"', async (title, heading) => {
    expect(
      (await read(`${title},\nCode,${heading}\nA,1.50\n`, { columns: { code: 0, price: 1 } })).questions,
    ).toEqual(['gst'])
  })

  test.each(['GST is not included', 'Prices do not include GST', 'Tax invoice', 'Prices exclude GST'])(
    'are not suspected below the title "%s"',
    async (title) => {
      expect(await read(`${title},\nCode,Price\nA,1.50\n`)).toMatchObject({ questions: [], validRows: 1 })
    },
  )

  test.each([
    'Price ex GST',
    'Price excl. GST',
    'Price + GST',
    'Price (plus GST)',
    'Price before tax',
    'Price',
  ])('are not suspected behind "%s"', async (heading) => {
    expect(await read(`Code,${heading}\nA,1.50\n`)).toMatchObject({ questions: [], gst: 0, validRows: 1 })
  })
})
