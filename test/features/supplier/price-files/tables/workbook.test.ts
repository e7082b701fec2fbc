import { describe, expect, test } from 'vitest'
import { readPrice } from '../../../../../src/features/supplier/tables/prices.ts'
import type { Row } from '../../../../../src/features/supplier/tables/sheet.ts'
import { type Cell, workbook } from '../xlsx.ts'
import { cellsOf, failure, readTable, rowsOf } from './support.ts'

const HEADINGS = ['Code', 'Name', 'Unit', 'Price']
const sheet = (...rows: Cell[][]) => [{ name: 'Prices', rows: [HEADINGS, ...rows] }]
const priceOf = ({ cells, numbers }: Row) =>
  readPrice(cells[3] ?? '', { decimal: 'point', currency: 'AUD' }, numbers?.[3])
/** A workbook with one sheet of this XML. */
const sheetOf = (xml: string, parts: Record<string, string> = {}) =>
  workbook(sheet(), { parts: { 'xl/worksheets/sheet1.xml': `<worksheet>${xml}</worksheet>`, ...parts } })
const ROW = '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>'

describe('an XLSX workbook', () => {
  test.each(['shared', 'inline'] as const)('with %s texts has the cells of its sheets', async (texts) => {
    const rows: Cell[][] = [
      ['A1', 'Zoë’s “board” & <nail>', 'each', 12.5],
      ['A3', 'Two\nlines', 'm', 926.6400000000001],
    ]
    const expected = [
      HEADINGS,
      ['A1', 'Zoë’s “board” & <nail>', 'each', '12.5'],
      ['A3', 'Two\nlines', 'm', '926.64'],
    ]
    for (const withoutReferences of [false, true])
      expect(await cellsOf(workbook(sheet(...rows), { texts, withoutReferences }))).toEqual(expected)
    expect(await cellsOf(workbook(sheet(['A2', null, null, 7]), { texts }))).toContainEqual([
      'A2',
      '',
      '',
      '7',
    ])
  })

  test('shows codes, dates and numbers as the spreadsheet does, and codes in full', async () => {
    const cells = await cellsOf(
      workbook(
        sheet(
          [
            { value: 123, format: '00000' },
            { value: 46_000, format: 'd mmmm yyyy' },
          ],
          [9_312_345_678_901, { value: 0.15, format: '0%' }],
          [{ value: 9_312_345_678_902, format: '0.00E+00' }, { boolean: true }, { error: '#REF!' }],
        ),
      ),
    )
    expect(cells.slice(1)).toEqual([
      ['00123', '9 December 2025'],
      ['9312345678901', '15%'],
      ['9312345678902', 'TRUE', '#REF!'],
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
    const [, ...read] = await rowsOf(workbook(sheet(...rows)))
    expect(read.map(priceOf)).toEqual(formats.map(([, , price]) => price))
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
    ['that is a blank number', { xml: '<c r="D2"><v> </v></c>' }],
    ['that is negative', { value: -5, format: '0.00;(0.00)' }],
    ['that is an error', { error: '#REF!' }],
    ['that is a formula without a value', { xml: '<c r="D2"><f>C2*2</f><v></v></c>' }],
    ['that is too small to be shown', { value: 0.004, format: '0.00' }],
  ])('has a problem with a price %s', async (_name, cell) => {
    const [, first, second] = await rowsOf(workbook(sheet(['A', 'x', 'm', cell], ['B', 'y', 'm', 1])))
    expect([first, second].map((row) => row && typeof priceOf(row))).toEqual(['string', 'number'])
  })

  test('has the numbers of its rows, without blank ones', async () => {
    const rows = await rowsOf(workbook([{ name: 'P', rows: [['Summit'], [], [null, ' '], ['A', 'x']] }]))
    expect(rows.map(({ line, cells }) => [line, ...cells])).toEqual([
      [1, 'Summit'],
      [4, 'A', 'x'],
    ])
  })

  test('says which sheets and rows are hidden, and which cells are struck out', async () => {
    const rows =
      '<row r="1"><c r="A1" s="1"><v>5</v></c><c r="B1"><v>6</v></c></row><row r="2" hidden="1"><c r="A2"><v>1</v></c></row>'
    const styles =
      '<styleSheet><fonts><font/><font><strike/></font></fonts><cellXfs><xf/><xf fontId="1"/></cellXfs></styleSheet>'
    const { sheets } = await readTable(sheetOf(`<sheetData>${rows}</sheetData>`, { 'xl/styles.xml': styles }))
    const [found] = sheets
    expect(found?.rows.map(({ struck }) => struck)).toEqual([[0], undefined])
    expect(found?.hiddenRows).toBe(1)
    const several = ['Old', 'New'].map((name) => ({ name, hidden: name === 'Old', rows: [HEADINGS] }))
    const all = (await readTable(workbook(several))).sheets
    expect(all.map(({ name, isHidden }) => [name, isHidden])).toEqual([
      ['Old', true],
      ['New', false],
    ])
  })

  test('separates what is struck out within a cell', async () => {
    const rich: Cell = { rich: [{ text: '12.00', format: '<strike/>' }, '9.50'] }
    expect(await cellsOf(workbook(sheet(['A', 'x', 'm', rich])))).toContainEqual([
      'A',
      'x',
      'm',
      '12.00 / 9.50',
    ])
  })

  test('says its comments and text boxes, and what is printed on each page', async () => {
    const target = (id: number, path: string) => `<Relationship Id="r${id}" Target="../${path}"/>`
    const end = '<headerFooter><oddHeader>&amp;CTrade &amp;P</oddHeader></headerFooter>'
    const links =
      target(1, 'comments1.xml') +
      target(2, 'drawings/drawing1.xml') +
      target(3, 'threadedComments/threadedComment1.xml')
    const bytes = sheetOf(ROW + end, {
      'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships>${links}</Relationships>`,
      'xl/comments1.xml':
        '<comments><comment><text><r><t>ex </t></r><r><t>GST</t></r></text></comment></comments>',
      'xl/drawings/drawing1.xml': '<a:wsDr><a:p><a:r><a:t>From July</a:t></a:r></a:p></a:wsDr>',
      'xl/threadedComments/threadedComment1.xml':
        '<x><threadedComment><text>AUD</text></threadedComment></x>',
    })
    const notes = (await readTable(bytes)).sheets[0]?.notes.map((note) => note.trim())
    expect(notes).toEqual(['ex GST', 'From July', 'AUD', 'Trade'])
  })
})

const part = (path: string, xml: string) => workbook(sheet(['A', 'x']), { parts: { [path]: xml } })
const DOCTYPE = '<!DOCTYPE x [<!ENTITY a "aaaa">]><sst><si><t>&a;</t></si></sst>'
const far = [...Array(600).fill(null), 'x']

test.each<[string, Uint8Array, RegExp]>([
  ['with entities that multiply', part('xl/sharedStrings.xml', DOCTYPE), /workbook is damaged/],
  [
    'without a text that a cell refers to',
    part('xl/sharedStrings.xml', '<sst></sst>'),
    /workbook is damaged/,
  ],
  ['with broken XML', part('xl/workbook.xml', '<workbook><sheets>'), /workbook is damaged/],
  ['that is cut off', workbook(sheet(['A'])).subarray(0, 400), /workbook is damaged/],
  ['whose rows go backwards', sheetOf('<row r="5"/><row r="4"/>'), /workbook is damaged/],
  ['with a cell far to the right', workbook([{ name: 'P', rows: [far] }]), /more than 500 columns/],
  ['with a cell that is too long', workbook(sheet(['x'.repeat(40_000)])), /longer than a spreadsheet allows/],
])('a workbook %s is refused', async (_name, content, message) => {
  expect(await failure(content)).toMatch(message)
})
