import { describe, expect, test } from 'vitest'
import { questionsOf } from '../../../src/features/price-files/questions.ts'
import { type Cell, workbook } from '../../support/xlsx.ts'
import { failure, read } from './read-support.ts'

const HEADINGS = ['Code', 'Name', 'Unit', 'Price']
const sheet = (...rows: Cell[][]) => [{ name: 'Prices', rows: [HEADINGS, ...rows] }]

describe('an XLSX workbook', () => {
  test.each(['shared', 'inline'] as const)('with %s texts is read like a CSV file', async (texts) => {
    const rows: Cell[][] = [
      ['A1', 'Zoë’s “board” & <nail>', 'each', 12.5],
      ['A2', null, null, 7],
      ['A3', 'Two\nlines', 'm', 926.6400000000001],
    ]
    for (const withoutReferences of [false, true]) {
      const cells = withoutReferences ? rows.filter((row) => !row.includes(null)) : rows
      const { items, problems, draft } = await read(workbook(sheet(...cells), { texts, withoutReferences }))
      expect({ problems, name: draft.sheets[0]?.name }).toEqual({ problems: [], name: 'Prices' })
      expect(items).toEqual(
        [
          { code: 'A1', name: 'Zoë’s “board” & <nail>', unit: 'each', price: 12.5 },
          { code: 'A2', price: 7 },
          { code: 'A3', name: 'Two\nlines', unit: 'm', price: 926.64 },
        ].filter(({ code }) => !(withoutReferences && code === 'A2')),
      )
    }
  })

  test('shows codes, dates and numbers as the spreadsheet does, and codes in full', async () => {
    const { items } = await read(
      workbook(
        sheet(
          [{ value: 123, format: '00000' }, { value: 46_000, format: 'd mmmm yyyy' }, null, 1],
          [9_312_345_678_901, { value: 0.15, format: '0%' }, null, 2],
          [{ value: 9_312_345_678_902, format: '0.00E+00' }, { boolean: true }, null, 3],
        ),
      ),
    )
    expect(items).toEqual([
      { code: '00123', name: '9 December 2025', price: 1 },
      { code: '9312345678901', name: '15%', price: 2 },
      { code: '9312345678902', name: 'TRUE', price: 3 },
    ])
  })

  test('has prices as they are shown, whose decimal sign is known', async () => {
    const formats: [number, string, number][] = [
      [1250, '#,##0', 1250],
      [1.25, '0.000', 1.25],
      [12.499_999, '"$"#,##0.00', 12.5],
      [1234.5, '_-"$"* #,##0.00_-;-"$"* #,##0.00_-;_-"$"* "-"??_-;_-@_-', 1234.5],
      [33.333_333, '[$$-C09]#,##0.00', 33.33],
      [5.67, '[>100]0;[>10]0.0;0.00', 5.67],
      [1234.5, '# ##0.00', 1234.5],
    ]
    const rows = formats.map(([value, format], row): Cell[] => [`C${row}`, 'x', null, { value, format }])
    const { items, problems } = await read(workbook(sheet(...rows)))
    expect({ prices: items.map(({ price }) => price), problems }).toEqual({
      prices: formats.map(([, , price]) => price),
      problems: [],
    })
  })

  test.each<[string, Cell]>([
    ['in another currency', { value: 12.5, format: '[$€-407]#,##0.00' }],
    ['that is a percentage', { value: 0.15, format: '0%' }],
    ['that is a date', { value: 46_000, format: 'dd/mm/yyyy' }],
    ['in thousands', { value: 12_345, format: '0.0,' }],
    ['in thousands above a limit', { value: 12_345, format: '[>1000]0.0,;0.00' }],
    ['in cents that are shown as dollars', { value: 1234, format: '0"."00' }],
    ['of which only a year is shown', { value: 46_000, format: 'yyyy' }],
    ['that is hidden', { value: 12, format: ';;;' }],
    ['whose format is unknown', { value: 12, format: 'Standard' }],
    ['that is a blank number', { xml: '<c r="D2"><v> </v></c>' }],
    ['that is negative', { value: -5, format: '0.00;(0.00)' }],
    ['that is an error', { error: '#REF!' }],
    ['that is a formula without a value', { xml: '<c r="D2"><f>C2*2</f><v></v></c>' }],
    ['that is too small to be shown', { value: 0.004, format: '0.00' }],
  ])('has a problem with a price %s', async (_name, cell) => {
    expect(await read(workbook(sheet(['A', 'x', 'm', cell], ['B', 'y', 'm', 1])))).toMatchObject({
      invalidRows: 1,
      items: [{ code: 'B' }],
    })
  })

  test('suggests its first visible list, and is read from all sheets that are confirmed', async () => {
    const sheets = ['Old', 'First', 'Second'].map((name) => ({
      name,
      hidden: name === 'Old',
      rows: [HEADINGS, [name, 'x', 'm', 1]],
    }))
    const codesOf = async (used?: string[]) =>
      (await read(workbook(sheets), used && { sheets: used })).items.map(({ code }) => code)
    expect(await codesOf()).toEqual(['First'])
    expect(await codesOf(['First', 'Second'])).toEqual(['First', 'Second'])
    const cover = { name: 'Cover', rows: [['Summit Supplies']] }
    expect((await read(workbook([cover, ...sheets]))).items).toMatchObject([{ code: 'First' }])
  })

  test('has no codes with more digits than a spreadsheet keeps', async () => {
    const { items, problems } = await read(workbook(sheet([9.312_345e18, 'x', 'm', 1])))
    expect({ items, problems }).toEqual({
      items: [],
      problems: [expect.stringMatching(/^2: the code .* was shortened/)],
    })
  })

  test('has its own line numbers, and may have titles and blank rows', async () => {
    const rows: Cell[][] = [
      ['Summit Supplies'],
      [],
      [null, 'Price list 2026'],
      [],
      HEADINGS,
      ['A', 'x', 'm', 1],
      [],
      [null, 'y', 'm', 2],
    ]
    const { items, problems, draft } = await read(workbook([{ name: 'P', rows }]))
    expect({ items, problems, row: draft.sheets[0]?.headingsRow }).toEqual({
      items: [{ code: 'A', name: 'x', unit: 'm', price: 1 }],
      problems: ['8: the code is missing.'],
      row: 5,
    })
  })

  test('says the hints for its cells, too', async () => {
    const hint = '<dataValidations><dataValidation prompt="All prices are per 100"/></dataValidations>'
    const rows = '<row r="1"><c r="A1"><v>1</v></c></row>'
    const part = `<worksheet><sheetData>${rows}</sheetData>${hint}</worksheet>`
    const { outline } = await read(workbook(sheet(), { parts: { 'xl/worksheets/sheet1.xml': part } }))
    expect(outline.sheets[0]?.texts).toContain('All prices are per 100')
  })

  test('offers a column of formulas without values as the price', async () => {
    const rows: Cell[][] = [
      ['Code', 'Cost price', 'Price'],
      ['A', 10, { xml: '<c r="C2"><f>B2*1.5</f></c>' }],
    ]
    const { draft, outline } = await read(workbook([{ name: 'P', rows }]))
    const [, price] = questionsOf(draft, outline.sheets)
    expect(price?.choices.map(([, label]) => label)).toEqual(['Cost price: 10', 'Price: #FORMULA!'])
  })

  test('can count its dates from 1904', async () => {
    const date: Cell = { value: 44_538, format: 'yyyy-mm-dd' }
    const { items } = await read(workbook(sheet(['A', date, 'm', 1]), { date1904: true }))
    expect(items[0]?.name).toBe('2025-12-09')
  })
})

describe('a hostile workbook', () => {
  const bomb = (path: string) =>
    workbook(sheet(['A', 'x', 'm', 1]), { parts: { [path]: Buffer.alloc(51_000_000, ' ') } })
  test.each<[string, () => Uint8Array, RegExp]>([
    ['that unpacks to a large sheet', () => bomb('xl/worksheets/sheet1.xml'), /unpacks to far more data/],
    ['that unpacks to large texts', () => bomb('xl/sharedStrings.xml'), /unpacks to far more data/],
    [
      'with entities that multiply',
      () =>
        workbook(sheet(['A', 'x', 'm', 1]), {
          parts: {
            'xl/sharedStrings.xml': '<!DOCTYPE x [<!ENTITY a "aaaa">]><sst><si><t>&a;</t></si></sst>',
          },
        }),
      /workbook is damaged/,
    ],
    ['that is cut off', () => workbook(sheet(['A', 'x', 'm', 1])).subarray(0, 400), /workbook is damaged/],
    [
      'with broken XML',
      () => workbook([], { parts: { 'xl/workbook.xml': '<workbook><sheets>' } }),
      /workbook is damaged|has no sheet/,
    ],
    [
      'with a cell far to the right',
      () => workbook([{ name: 'P', rows: [[...Array(600).fill(null), 'x']] }]),
      /more than 500 columns/,
    ],
    [
      'with a cell that is too long',
      () => workbook(sheet(['A', 'x'.repeat(40_000), 'm', 1]), { texts: 'inline' }),
      /longer than a spreadsheet allows/,
    ],
    [
      'whose rows go backwards',
      () =>
        workbook([{ name: 'P', rows: [] }], {
          parts: {
            'xl/worksheets/sheet1.xml':
              '<worksheet><sheetData><row r="5"/><row r="4"/></sheetData></worksheet>',
          },
        }),
      /no valid number/,
    ],
  ])('%s is refused', async (_name, create, message) => {
    expect(await failure(create())).toMatch(message)
  })

  test('with a text that a cell refers to and that does not exist is refused', async () => {
    const parts = { 'xl/sharedStrings.xml': '<sst></sst>' }
    expect(await failure(workbook(sheet(['A', 'x', 'm', 1]), { parts }))).toMatch(
      /a text that the workbook does not have/,
    )
  })

  test('with a part that its checksum does not fit is refused', async () => {
    const bytes = Buffer.from(workbook(sheet(['A', 'x', 'm', 1])))
    // The checksum in the central directory, at offset 16 of each entry (APPNOTE 4.3.12).
    for (let at = bytes.indexOf('PK\u0001\u0002'); at >= 0; at = bytes.indexOf('PK\u0001\u0002', at + 4))
      if (
        bytes
          .subarray(at + 46)
          .toString('latin1')
          .startsWith('xl/worksheets/sheet1.xml')
      )
        bytes.writeUInt32LE(1, at + 16)
    expect(await failure(bytes)).toMatch(/workbook is damaged/)
  })
})
