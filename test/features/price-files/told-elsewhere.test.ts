/** What a file says of its prices outside of their column: asked, or a problem of the row, and never left out. */
import { describe, expect, test } from 'vitest'
import { workbook } from '../../support/xlsx.ts'
import { read } from './read-support.ts'

const outcome = async (content: string | Uint8Array) => {
  const { questions, problems, items } = await read(content)
  return {
    questions,
    problems: problems.map((problem) => Number.parseInt(problem, 10)),
    prices: items.map(({ price }) => price),
  }
}

describe('it is asked whether prices are those of one unit, if', () => {
  test.each([
    ['dollars and cents have columns of their own', 'Code,Price $,c\nA,12,50\nB,9,95\n'],
    ['a second row of headings has "per 100"', 'Code,Name,Price\n,,per 100\nA,Bend,40\n'],
    ['a section is "priced per hundred"', 'Code,Name,Price\nBOLTS - priced per hundred,,\nA,Bolt,95\n'],
    ['a section ends with "(per 100)"', 'Code,Name,Price\nBOLTS (per 100),,\nA,Bolt,95\n'],
    ['a section ends with "$/100"', 'Code,Name,Price\nBolts $/100,,\nA,Bolt,95\n'],
    [
      'a note adds to all prices',
      'Code,Name,Price\nA,Bolt,95\nA surcharge of 6.5% applies to all prices,,\n',
    ],
    ['a note subtracts from all prices', 'Code,Name,Price\nA,Bolt,95\nLess 25%,,\n'],
    ['a title subtracts from the list', 'List prices less 12.5%,,\nCode,Name,List\nA,Bolt,95\n'],
    ['a note raises prices', 'Prices rise by 4% on 1 July,,\nCode,Name,Price\nA,Bolt,95\n'],
    ['prices are in thousands', "All amounts in $'000,,\nCode,Name,Price\nA,Crane,95\n"],
    ['it is a draft', 'DRAFT,,\nCode,Name,Price\nA,Bolt,95\n'],
    ['a later list has replaced it', 'Price list 2025 (superseded),,\nCode,Name,Price\nA,Bolt,95\n'],
    [
      'a title says that prices are those of the trade',
      'Prices shown are trade,,\nCode,Name,Price\nA,Bolt,95\n',
    ],
    ['a title ends with "per 100"', 'All fasteners per 100,,\nCode,Name,Price\nA,Bolt,95\n'],
    ['a title is about 100 units', 'Prices are for 100 units,,\nCode,Name,Price\nA,Bolt,95\n'],
    ['the heading is of two rows', 'Code,Name,Price,\n,,Trade,Retail\nA,Bolt,7.00,9.00\n'],
    ['every price is 0', 'Code,Name,Price\nA,Bolt,0\nB,Nut,0.00\n'],
    ['a note multiplies prices', 'Multiply prices by 1.08,,\nCode,Name,Price\nA,Bolt,95\n'],
  ])('%s', async (_, content) => {
    expect(await outcome(content)).toEqual({ questions: ['columns'], problems: [], prices: [] })
  })

  test.each([
    ['"per 1 m"', 'Code,Name,Price\nDecking per 1 m,,\nA,Board,9\n'],
    ['a column C that has no cents', 'Code,Price,C\nA,9,100\n'],
    ['sizes', 'Code,Name,Price\nStuds 90 / 45,,\nA,Stud,9\n'],
    ['what a delivery costs', 'Code,Name,Price\nA,Stud,9\nDelivery per pallet,,\n'],
    ['a charge for cards', 'Code,Name,Price\nA,Stud,9\nCards: 1.5% surcharge. All prices in AUD,,\n'],
    ['a discount for early payment', 'Code,Name,Price\nA,Stud,9\nLess 2% for payment in 7 days,,\n'],
    ['tax that is added', 'Code,Name,Price\nA,Stud,9\nPlus 10% GST,,\n'],
    ['what a remark says', 'Code,Price,Notes\nA,9,with draft stopper\n'],
    ['a price on application', 'Code,Name,Price\nA,Stud,9\nB,Beam,POA\n'],
    ['prices net of tax', 'Prices are net of GST,,\nCode,Name,Price\nA,Stud,9\n'],
    ['the unit below the heading', 'Code,Name,Price\n,,each\nA,Stud,9\n'],
    ['a price before tax beside that with tax', 'Code,Price ex GST,Price inc GST\nA,9,9.90\n'],
    ['what prices include', 'Code,Name,Price\nA,Stud,9\nThe levy of 2% is included in prices,,\n'],
  ])('but not for %s', async (_, content) => {
    const { questions, prices } = await outcome(content)
    expect({ questions, prices }).toEqual({ questions: [], prices: [9] })
  })
})

describe('a row is a problem, if', () => {
  test.each([
    [
      'its amount is for 100 or 1000',
      'Code,Price,Price Per\nA,9,HUN\nB,9,/C\nC,9,thou\nD,9,EA\n',
      [2, 3, 4],
      [9],
    ],
    [
      'its price is for a box, and its unit is each',
      'Code,Price,Price Per,Unit\nA,9,BX,EA\nB,9,M,EA\nC,9,each,EA\nD,9,BX,BX\nE,9,PR,\n',
      [2, 3],
      [9, 9, 9],
    ],
    ['its price is for a quantity', 'Code,Price,Qty per price\nA,9,1000\nB,8,1\n', [2], [8]],
    ['its remark says that it is for 100', 'Code,Price,Notes\nA,9,price per 100\nB,8,blue\n', [2], [8]],
    ['its remark says that GST is included', 'Code,Price ex GST,Notes\nA,9,inc GST\nB,8,\n', [2], [8]],
    ['its item is deleted', 'Code,Price,Action\nA,9,D\nB,8,U\n', [2], [8]],
    ['its item is discontinued', 'Code,Price,Discontinued\nA,9,Y\nB,8,N\nC,7,\n', [2], [8, 7]],
    ['its item is not active', 'Code,Price,Active\nA,9,No\nB,8,Yes\nC,7,\n', [2], [8, 7]],
    ['its status is discontinued', 'Code,Price,Status\nA,9,DISCONTINUED\nB,8,Active\n', [2], [8]],
    [
      'its name says that its price is for 100',
      'Code,Name,Price\nA,Bolt (price per 100),9\nB,Bolts 100 pack,8\n',
      [2],
      [8],
    ],
    ['it is in the dollars of New Zealand and others in none', 'Code,Price\nA,9.00\nB,NZ$8\n', [3], [9]],
    [
      'its unit is several',
      'Code,Price,UOM\nA,9,per 100\nB,9,EA/100\nC,9,1000\nD,8,PK/100\nE,7,1\n',
      [2, 3, 4],
      [8, 7],
    ],
    ['its unit is a currency', 'Code,Price,Unit\nA,9,USD\nB,8,EA\n', [2], [8]],
    ['its currency is in a column of any name', 'Code,Price,List Currency\nA,9,USD\nB,8,AUD\n', [2], [8]],
    ['its price basis is several', 'Code,Price,Price UOM Qty\nA,9,100\nB,8,1\n', [2], [8]],
    ['its price level is not for customers', 'Code,Price,Price Level\nA,9,Trade\nB,8,RRP\n', [2], [8]],
    [
      'its name says that its price includes GST',
      'Code,Name,Price ex GST\nA,Table (inc GST),9\nB,Chair,8\n',
      [2],
      [8],
    ],
    [
      'its code is a total, a label or nothing',
      'Code,Price\nTimber total,9\nRecords:,5\nnan,7\nTRUE,6\nB,8\n',
      [2, 3, 4, 5],
      [8],
    ],
    ['its unit is a price', 'Code,Name,Price,Unit\nA,Sheet 2,400,36.00\nB,Bolt,9,ea\n', [2], [9]],
    ['a comma has moved its cents to the unit', 'Code,Price,Unit\nA,12,50\nB,9,95\n', [2, 3], []],
  ])('%s', async (_, content, problems, prices) => {
    expect(await outcome(content)).toEqual({ questions: [], problems, prices })
  })

  test.each(['shared', 'inline'] as const)(
    'its price has raised or struck digits, in %s texts',
    async (texts) => {
      const raised = (text: string) => ({ text, format: '<vertAlign val="superscript"/>' })
      const struck = (text: string) => ({ text, format: '<strike/>' })
      const rows = [
        ['Code', 'Name', 'Price'],
        ['A', { rich: ['Tile m', raised('2')] }, { rich: ['12', raised('50')] }],
        ['B', 'Tile', { rich: [struck('8'), '700'] }],
        ['C', { rich: ['Tile m', raised('2')] }, { rich: ['9', '.50'] }],
      ]
      const { problems, items } = await read(workbook([{ name: 'Prices', rows }], { texts }))
      expect(problems.map((problem) => Number.parseInt(problem, 10))).toEqual([2, 3])
      expect(items).toEqual([{ code: 'C', name: 'Tile m²', price: 9.5 }])
    },
  )
})

describe('it is asked about GST, if', () => {
  test.each([
    ['a note says that some prices include it', 'Code,Price ex GST\nA,9\n* items include GST,\n'],
    ['a title says so', 'Items marked # include GST,\nCode,Price ex GST\nA,9\n'],
    ['a column has the amounts that are included', 'Code,Price,GST incl.\nA,110.00,10.00\nB,22,2.00\n'],
    ['a title says so in other words', 'GST has been included,\nCode,Price\nA,9\n'],
    ['a title says so in French', 'Prix TTC,\nCode,Price\nA,9\n'],
    ['the included amounts have a heading', 'Code,Price,GST Amount Included\nA,110.00,10.00\nB,22,2.00\n'],
    ['the amounts are an eleventh of the prices', 'Code,Price,GST\nA,110.00,10.00\nB,22.00,2.00\n'],
  ])('%s', async (_, content) => {
    expect(await outcome(content)).toEqual({ questions: ['gst'], problems: [], prices: [] })
  })

  test.each([
    ['a tenth of the prices', 'Code,Price,GST\nA,100.00,10.00\nB,20.00,2.00\n', [100, 20]],
    ['its rate', 'Code,Price,GST\nA,110,10\nB,110,10\n', [110, 110]],
    ['the same cents either way', 'Code,Price,GST\nA,0.10,0.01\n', [0.1]],
  ])('but not if it is %s', async (_, content, prices) => {
    expect(await outcome(content)).toEqual({ questions: [], problems: [], prices })
  })
})

test('an answer about another column does not answer what a note says about the prices', async () => {
  const content = 'Trade price list,,\nOur ref,Name,Price\nA,Bolt,9\n'
  const columns = { code: 0, name: 1, price: 2 }
  const answered = await read(content, { columns, isPriceConfirmed: false })
  expect(answered).toMatchObject({ questions: ['columns'], isPriceDoubtful: true, items: [] })
  const below = await read('Our ref,Name,Price\nBolts per 100,,\nA,Bolt,9\n', {
    columns,
    isPriceConfirmed: false,
  })
  expect(below).toMatchObject({ questions: ['columns'], isPriceDoubtful: true, items: [] })
  const confirmed = await read(content, { columns, isPriceConfirmed: true })
  expect(confirmed).toMatchObject({ questions: [], items: [{ code: 'A', price: 9 }] })
})

test('of a price with tax and one without, neither is chosen if they are not the same', async () => {
  const { questions } = await read('Code,RRP ex GST,Price inc GST\nA,9,12\n')
  expect(questions).toEqual(['columns'])
})

test('without another unit, what the price is for is the unit', async () => {
  const { items } = await read('Code,Price,Price Per\nA,9,BX\n')
  expect(items).toEqual([{ code: 'A', price: 9, unit: 'BX' }])
})

test('prices of nothing but nines are mentioned', async () => {
  const { remarks } = await read('Code,Price\nA,9999.99\nB,99999\nC,999\nD,9.99\n')
  expect(remarks).toEqual([expect.stringContaining('2 items have a price of nothing but nines')])
})

test('spaces before quotes are no part of the cells', async () => {
  const { items } = await read('"Code", "Name", "Price"\n"A", "Hook, large", "12.50"\n')
  expect(items).toEqual([{ code: 'A', name: 'Hook, large', price: 12.5 }])
})

test('an apostrophe that keeps the zeros of a code is no part of it', async () => {
  const { items } = await read("Code,Name,Price\n'00454,'Original,1.50\n")
  expect(items).toEqual([{ code: '00454', name: "'Original", price: 1.5 }])
})

test('cells of a workbook without a heading need no quotes', async () => {
  const rows = [
    ['Code', 'Price'],
    ['A', 1, 2],
  ]
  const { problems } = await read(workbook([{ name: 'Prices', rows }]))
  expect(problems).toEqual(['2: it has 3 cells under 2 headings: the headings may be in another row.'])
})

describe('comments and text boxes of a workbook are read:', () => {
  const rows = [
    ['Code', 'Price'],
    ['A', 9],
  ]
  const relation = (target: string) =>
    `<Relationships><Relationship Id="r1" Type="any" Target="../${target}"/></Relationships>`
  const withPart = (path: string, xml: string) =>
    workbook([{ name: 'Prices', rows }], {
      parts: { 'xl/worksheets/_rels/sheet1.xml.rels': relation(path), [`xl/${path}`]: xml },
    })
  const comment = (text: string) =>
    withPart(
      'comments1.xml',
      `<comments><commentList><comment ref="B1"><text><r><t>${text}</t></r></text></comment></commentList></comments>`,
    )
  const textBox = (text: string) =>
    withPart(
      'drawings/drawing1.xml',
      `<wsDr xmlns:a="a"><sp><txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></txBody></sp></wsDr>`,
    )

  test.each([
    ['a comment about GST', comment('Prices include GST'), ['gst']],
    ['a comment about the unit', comment('Prices are per 100'), ['columns']],
    ['a text box about GST', textBox('All prices incl. GST'), ['gst']],
    ['a comment of its author', comment('Ann: checked'), []],
  ])('%s', async (_, content, questions) => {
    expect((await outcome(content)).questions).toEqual(questions)
  })
})

test('a price that is struck out is a problem; a name that is struck out is not', async () => {
  const styles =
    '<styleSheet><fonts><font/><font><strike/></font><font><strike val="0"/></font></fonts>' +
    '<cellXfs><xf fontId="0"/><xf fontId="1"/><xf fontId="2"/></cellXfs></styleSheet>'
  const cell = (place: string, style: number, value: number) => ({
    xml: `<c r="${place}" s="${style}"><v>${value}</v></c>`,
  })
  const rows = [
    ['Code', 'Size', 'Price'],
    ['A', cell('B2', 0, 7), cell('C2', 1, 9)],
    ['B', cell('B3', 1, 7), cell('C3', 2, 8)],
  ]
  const content = workbook([{ name: 'Prices', rows }], { parts: { 'xl/styles.xml': styles } })
  expect(await outcome(content)).toEqual({ questions: [], problems: [2], prices: [8] })
})

test('it is asked which column has the prices, if the one that is named so is hidden', async () => {
  const text = (place: string, value: string) => `<c r="${place}" t="inlineStr"><is><t>${value}</t></is></c>`
  const sheet = (columns: string) =>
    `<worksheet><cols>${columns}</cols><sheetData><row r="1">${text('A1', 'Code')}${text('B1', 'Price')}${text('C1', 'New')}</row>` +
    `<row r="2">${text('A2', 'A')}<c r="B2"><v>9</v></c><c r="C2"><v>10</v></c></row></sheetData></worksheet>`
  const asked = async (columns: string) =>
    (
      await outcome(
        workbook([{ name: 'Prices', rows: [] }], { parts: { 'xl/worksheets/sheet1.xml': sheet(columns) } }),
      )
    ).questions
  expect(await asked('<col min="2" max="2" hidden="1"/>')).toEqual(['columns'])
  expect(await asked('<col min="3" max="9" hidden="1"/><col min="1" max="2" width="9"/>')).toEqual([])
})
