import { describe, expect, test } from 'vitest'
import { signOf } from '../../../src/features/price-files/layout.ts'
import { type Cell, workbook } from '../../support/xlsx.ts'
import { layoutOf, read, readWith } from './read-support.ts'

const LIST = 'Ace Supplies price list - July 2026\nCode,Name,Price\nA1,Nail,1.50\nB2,Board,20\n'

describe('a text of a file is the same without dates and digits', () => {
  test.each([
    ['Price list - July 2026', 'Price list - August 2027'],
    ['Valid from 1/7/2026', 'Valid from 15/10/2026'],
    ['Issued 1st of July', 'Issued 2nd of August'],
    ['Page 1 of 12', 'page 3 of 9'],
    ['ABN 51 824 753 556', 'ABN 12 345 678 901'],
    ['Price list for week 28', 'Price list for week 29'],
  ])('%s', (one, other) => {
    expect(signOf(one)).toBe(signOf(other))
  })

  test.each([
    ['Prices include 10 % GST', 'Prices include 15 % GST'],
    ['Price per 100', 'Price per 1000'],
    ['Retail price list', 'Trade price list'],
    ['Prices may change', 'Prices change'],
    ['Less margin 10 %', 'Less margin 35 %'],
    ['Decking 10% off', 'Decking 20% off'],
    ['Includes 10 percent', 'Includes 15 percent'],
    ['Per 100 decking screws', 'Per 1000 decking screws'],
    ['Per box of 100', 'Per box of 200'],
    ['Prices per 100 - July 2026', 'Prices per 1000 - August 2026'],
    ['Per 100 May 2026', 'Per 200 May 2026'],
    ['Price (per 100)', 'Price (per 200)'],
    ['Per 1,000', 'Per 1,500'],
    ['Per 1 000', 'Per 1'],
    ['Prices per box: 1', 'Prices per box: 100'],
    ['Price per m2', 'Price per m3'],
    ['GST %: 10', 'GST %: 15'],
    ['GST % · 10', 'GST % · 15'],
    ['Less 10 pct', 'Less 15 pct'],
    ['Less 40/10/5 %', 'Less 50/10/5 %'],
  ])('%s is not %s', (one, other) => {
    expect(signOf(one)).not.toBe(signOf(other))
  })
})

describe('the next file', () => {
  test('of the same layout is read as it was confirmed, and nothing is asked', async () => {
    const layout = await layoutOf(LIST, { tax: 10 })
    const next = await readWith(LIST.replace('July', 'August').replace('1.50', '2.20'), [layout])
    expect(next.layout).toMatchObject({ confirmedAt: layout.confirmedAt })
    expect(next.items).toEqual([
      { code: 'A1', name: 'Nail', price: 2 },
      { code: 'B2', name: 'Board', price: 18.18 },
    ])
  })

  test('may have its headings on another row', async () => {
    const next = await readWith(`\n\n${LIST}`, [await layoutOf(LIST)])
    expect(next.items).toHaveLength(2)
  })

  test('follows the confirmation that fits, of several', async () => {
    const trade = LIST.replace('price list', 'Trade list')
    const layouts = [await layoutOf(trade, { tax: 10, audience: 'selected' }), await layoutOf(LIST)]
    const next = await readWith(LIST, layouts)
    expect(next.items[0]).toMatchObject({ price: 1.5 })
    expect((await readWith(trade, layouts)).draft).toMatchObject({ audience: 'selected' })
  })

  test.each([
    [
      'a new column',
      LIST.replace('Price\n', 'Price,Per\n').replace('1.50', '1.50,100'),
      ['new column “Per”'],
    ],
    [
      'a column less',
      LIST.replace('Name,', '').replace('Nail,', '').replace('Board,', ''),
      ['no column “Name” any more'],
    ],
    ['a second column of a name', LIST.replace('Price\n', 'Price,Price\n'), ['new column “Price”']],
    [
      'columns in another order',
      LIST.replace('Code,Name', 'Name,Code'),
      ['the columns are in another order'],
    ],
    [
      'another title',
      LIST.replace('price list', 'Trade list'),
      [
        'the file now says “Ace Supplies Trade list - July 2026”',
        'the file no longer says “ace supplies price list -”',
      ],
    ],
    ['a note below', `${LIST}GST has been added,,\n`, ['the file now says “GST has been added”']],
    ['a note in the price column', LIST.replace('1.50', 'per 100'), ['the file now says “Price: per 100”']],
    [
      'a note beside headings that are repeated',
      LIST.replace('B2', 'Code,Name,Price,per 100\nB2'),
      ['the file now says “per 100”', 'the file now says “Price: Price”'],
    ],
  ])('with %s asks again and says so', async (_name, content, differences) => {
    const found = await readWith(content, [await layoutOf(LIST)])
    expect(found).toMatchObject({ layout: null, differences, items: [] })
  })

  /** A workbook with these sheets; the item of each has its name as the code. */
  const sheetsOf = (...names: string[]) =>
    workbook(
      names.map((name) => ({
        name,
        rows: [
          ['Code', 'Price'],
          [name, 1],
        ],
      })),
    )

  test.each([
    ['July 2026', 'Info', 'August 2026', 'Info'],
    ['July 2026', 'June 2026', 'July 2026', 'June 2026'],
    ['Tier 1', 'Tier 2', 'Tier 1', 'Tier 2'],
  ])('of a workbook with %s and %s may have the sheets %s and %s', async (used, other, ...now) => {
    const layout = await layoutOf(sheetsOf(used, other))
    expect((await readWith(sheetsOf(...now), [layout])).items).toEqual([{ code: now[0], price: 1 }])
  })

  test.each([
    [
      ['July 2026', 'June 2026'],
      ['August 2026', 'July 2026'],
      ['new sheet “August 2026”', 'no sheet “June 2026” any more'],
    ],
    [['July 2026'], ['August 2026', 'July 2026'], ['new sheet “August 2026”']],
    [
      ['2026', '2025'],
      ['2027', '2026'],
      ['new sheet “2027”', 'no sheet “2025” any more'],
    ],
    [
      ['Tier 1', 'Tier 2'],
      ['Tier 2', 'Tier 3'],
      ['new sheet “Tier 3”', 'no sheet “Tier 1” any more'],
    ],
    [['Prices', 'Info'], ['Prices'], ['no sheet “Info” any more']],
  ])(
    'of a workbook with the sheets %j asks again with %j: it may be another sheet',
    async (before, now, differences) => {
      const found = await readWith(sheetsOf(...now), [await layoutOf(sheetsOf(...before))])
      expect(found).toMatchObject({ layout: null, items: [] })
      expect(found.differences).toEqual(expect.arrayContaining(differences))
    },
  )

  test('is compared with all cells of a sheet that is not used, but not with those of another list', async () => {
    const bookOf = (currency: string, other: Cell[][]) =>
      workbook([
        ...sheets('Prices', [
          ['Code', 'Price'],
          ['A', 1],
        ]),
        ...sheets('Info', [
          ['Supplier', 'Ace'],
          ['Currency', currency],
        ]),
        ...sheets('Old', [['Code', 'Price', 'Trade price'], ...other]),
      ])
    const sheets = (name: string, rows: Cell[][]) => [{ name, rows }]
    const layout = await layoutOf(bookOf('AUD', [['B', 2, 3]]), { sheets: ['Prices'] })
    expect((await readWith(bookOf('AUD', [['C', 4, 5]]), [layout])).items).toHaveLength(1)
    expect(await readWith(bookOf('NZD', []), [layout])).toMatchObject({
      items: [],
      differences: ['the file now says “Currency · NZD”', 'the file no longer says “currency · aud”'],
    })
  })

  test('is compared with all cells of a sheet of terms that is not used', async () => {
    const bookOf = (tax: string) =>
      workbook([
        {
          name: 'Prices',
          rows: [
            ['Code', 'Price'],
            ['A', 1],
          ],
        },
        {
          name: 'Terms',
          rows: [
            ['Item', 'Description'],
            ['1', `Prices ${tax} GST`],
          ],
        },
      ])
    const layout = await layoutOf(bookOf('exclude'))
    expect((await readWith(bookOf('exclude'), [layout])).items).toHaveLength(1)
    expect(await readWith(bookOf('include'), [layout])).toMatchObject({ layout: null, items: [] })
  })

  test('is compared with notes in ignored columns', async () => {
    const withNote = (note: string) => `Code,Price,X,Y\nA,1,,\n,,Note:,${note}\n`
    const layout = await layoutOf(withNote('Prices are before GST'))
    expect(await readWith(withNote('Prices include GST'), [layout])).toMatchObject({
      layout: null,
      items: [],
    })
  })

  test('is compared with the end of a long text, too', async () => {
    const withTerms = (end: string) => `${'All prices are recommended. '.repeat(200)}${end}\n${LIST}`
    const found = await readWith(withTerms('They include GST.'), [
      await layoutOf(withTerms('They exclude GST.')),
    ])
    expect(found).toMatchObject({ layout: null, items: [] })
  })

  test('keeps the earlier answers for what is the same', async () => {
    const layout = await layoutOf(LIST, { uses: { Name: 'description' }, tax: 15, currency: 'NZD' })
    const column = await readWith(LIST.replace('Price\n', 'Price,Per\n').replace('1.50', '1.50,1'), [layout])
    expect(column.draft).toMatchObject({ tax: 15, currency: 'NZD', audience: 'everyone' })
    expect(column.draft.sheets[0]?.columns.map(({ use }) => use)).toEqual([
      'code',
      'description',
      'price',
      'price is for this many',
    ])
    const title = await readWith(LIST.replace('price list', 'Trade list'), [layout])
    expect(title.draft.sheets[0]?.columns.map(({ use }) => use)).toEqual(['code', 'description', 'price'])
    expect(title.draft.tax ?? title.draft.currency ?? title.draft.audience).toBeUndefined()
  })
})

describe('a row', () => {
  const perHundred = 'Code,Price,Basis\nA,37.28,100\nB,3,1\nC,4,\nD,5,2 x 3\nE,6,m2\nF,7,EA\nG,80,PK10\n'
  test('whose price is for several is rejected, or divided exactly if the person chose that', async () => {
    const uses = { Basis: 'price is for this many' } as const
    const { items, problems } = await read(perHundred, { uses })
    expect({ items, problems }).toEqual({
      items: [
        { code: 'B', price: 3 },
        { code: 'F', price: 7 },
      ],
      problems: [
        '2: the price is for 100, not for one. To send the price of one, choose that prices are divided by “Basis”.',
        '4: how many the price is for is not a number ("").',
        '5: how many the price is for is not a number ("2 x 3").',
        '6: how many the price is for is not a number ("m2").',
        '8: the price is for 10, not for one. To send the price of one, choose that prices are divided by “Basis”.',
      ],
    })
    const divided = await read(perHundred, {
      uses: { Basis: { use: 'price is for this many', divide: true } },
    })
    expect(divided.items).toEqual([
      { code: 'A', price: 0.3728 },
      { code: 'B', price: 3 },
      { code: 'F', price: 7 },
      { code: 'G', price: 8 },
    ])
  })

  test('whose price for several includes tax is sent without the tax of that price, and then divided exactly', async () => {
    const uses = { Per: { use: 'price is for this many', divide: true } } as const
    const { items } = await read('Code,Price,Per\nA,3.50,1000\nB,37.28,100\n', { uses, tax: 10 })
    expect(items).toEqual([
      { code: 'A', price: 0.00318 },
      { code: 'B', price: 0.3389 },
    ])
  })

  test('has a comma in how many its price is for, if the person says so', async () => {
    const uses = { Per: { use: 'price is for this many', divide: true } } as const
    const file = 'Code;Price;Per\nA;"2,50";1.000\nB;"5,00";per 2,5 m\n'
    expect((await read(file, { uses, decimal: 'comma' })).items.map(({ price }) => price)).toEqual([
      0.0025, 2,
    ])
    // The number of a spreadsheet's cell is known, however it is shown.
    const rows: Cell[][] = [
      ['Code', 'Price', 'Per'],
      ['A', '100,00', { value: 1000, format: '#,##0' }],
      ['B', '100,00', { value: 1000, format: '0E+0' }],
    ]
    const { items } = await read(workbook([{ name: 'Prices', rows }]), { uses, decimal: 'comma' })
    expect(items).toEqual([
      { code: 'A', price: 0.1 },
      { code: 'B', price: 0.1 },
    ])
  })

  test('has its tax removed only where its column says that it is included', async () => {
    const uses = { Inc: { use: 'tax included', yes: ['Yes'] } } as const
    const file = 'Code,Price,Inc\nA,220,Yes\nB,110,No\n'
    expect((await read(file, { uses, tax: 10 })).items).toEqual([
      { code: 'A', price: 200 },
      { code: 'B', price: 110 },
    ])
    const next = await readWith(`${file}C,5,Maybe\n`, [await layoutOf(file, { uses, tax: 10 })])
    expect(next.problems).toEqual([
      '4: the column "Inc" says "Maybe", which nobody has confirmed the meaning of.',
    ])
    expect((await read(file, { uses, tax: 0 })).items).toEqual([])
  })

  test('of a sheet without the column that says which prices include tax is not sent beside one that has it', async () => {
    const bytes = workbook([
      {
        name: 'Doors',
        rows: [
          ['Code', 'Price', 'GST incl'],
          ['A', 110, 'Y'],
          ['B', 50, 'N'],
        ],
      },
      {
        name: 'Locks',
        rows: [
          ['Code', 'Price'],
          ['C', 50],
        ],
      },
    ])
    const uses = { 'GST incl': { use: 'tax included', yes: ['Y'] } } as const
    const { items, problem } = await read(bytes, { sheets: ['Doors', 'Locks'], uses, tax: 10 })
    expect({ items, problem }).toEqual({
      items: [],
      problem: expect.stringContaining('“Locks” has no column'),
    })
  })

  test('that is not for sale is left out and counted', async () => {
    const uses = { Group: { use: 'not for sale if', yes: ['TRADE'] } } as const
    const { items, remarks, problems } = await read('Code,Price,Group\nA,1,RETAIL\nB,2,TRADE\n', { uses })
    expect({ items, remarks, problems }).toEqual({
      items: [{ code: 'A', price: 1 }],
      remarks: ['1 row is left out as not for sale.'],
      problems: [],
    })
  })

  test.each([
    [10, 1.005, 0.91],
    [10, 110, 100],
    [15, 2.3, 2],
    [10, 1.0945, 1],
  ])('with %s %% tax in %s is %s before tax: to the cent, half up', async (tax, price, before) => {
    expect((await read(`Code,Price\nA,${price}\n`, { tax })).items).toEqual([{ code: 'A', price: before }])
  })

  test.each([
    ['NZD', 'NZ$5.00', 5],
    ['AUD', 'A$5.00', 5],
    ['AUD', '5.00 AUD', 5],
    ['AUD', 'NZ$5.00', 'is not an amount in'],
    ['NZD', 'A$5.00', 'is not an amount in'],
    ['AUD', '€5.00', 'is not an amount in'],
    ['AUD', '5.00 per 100', 'is not an amount in'],
  ] as const)('in %s with the price %s', async (currency, price, expected) => {
    const { items, problems } = await read(`Code,Price\nA,${price}\nB,1\n`, {
      currency,
      uses: { Price: 'price' },
    })
    if (typeof expected === 'number') expect(items[0]?.price).toBe(expected)
    else expect(problems.join()).toContain(expected)
  })

  test('has a comma as its decimal sign if the person says so', async () => {
    const file = 'Code;Price\nA;"1.250,50"\nB;1,250\n'
    expect((await read(file, { decimal: 'comma' })).items.map(({ price }) => price)).toEqual([1250.5, 1.25])
    expect((await read(file, { decimal: 'point' })).items).toEqual([{ code: 'B', price: 1250 }])
  })
})
