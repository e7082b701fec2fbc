/** Page one: where the table is, what is filled in, and what is missing. */
import { describe, expect, test } from 'vitest'
import type { Outline } from '../../../../src/features/price-files/found.ts'
import { workbook } from '../../../support/xlsx.ts'
import { type Answers, choose, draftOf, read, send } from './support.ts'

const LIST = 'Ace Supplies\nOctober\n\nCode,Name,Price,Level\nA1,Nail,1.50,R\nB2,Board,20,T\n'
const usesOf = ({ columns }: Outline) => columns.map(({ use }) => use).join(' ')
const kindsOf = (missing: { kind: string }[]) => missing.map(({ kind }) => kind).join(' ')

describe('the table is found', () => {
  test('with all rows above it, each as one text, its headings and six rows', async () => {
    const { outline, found, missing } = await read(`${LIST}${'C,x,1,R\n'.repeat(9)}`)
    expect(outline).toMatchObject({
      lastChoice: null,
      headingsRow: 4,
      above: [
        { row: 1, text: 'Ace Supplies' },
        { row: 2, text: 'October' },
      ],
      money: null,
      units: 1,
    })
    expect(outline.rows.map(({ row }) => row)).toEqual([5, 6, 7, 8, 9, 10])
    expect({ found, missing }).toEqual({ found: null, missing: [{ kind: 'notChosen' }] })
  })

  test.each([
    ['below more rows', `${'Terms\n'.repeat(300)}${LIST}`],
    [
      'in another order of columns',
      LIST.replace('Code,Name', 'Name,Code').replace('A1,Nail', 'Nail,A1').replace('B2,Board', 'Board,B2'),
    ],
    ['with a column more', LIST.replace('Code,', 'No,Code,').replace(/^(A1|B2)/gm, '1,$1')],
  ])('by the headings that were chosen: %s', async (_name, content) => {
    const received = send(await choose(LIST))
    const { items, missing, outline } = await read(content, { received })
    expect({ items, missing }).toMatchObject({
      items: [{ code: 'A1', name: 'Nail', price: 1.5 }, { code: 'B2' }],
      missing: [],
    })
    expect(outline.lastChoice).toEqual({ at: '2026-10-01T00:00:00.000Z', by: null })
  })

  test('by the number of a column whose heading is blank or stands there twice, if that is the same text', async () => {
    const content = 'Code,,Price,Price\nA,x,1,2\n'
    const draft = draftOf((await read(content)).outline, { uses: { 4: 'price', 2: 'name' } })
    const received = send(await read(content, { draft }))
    const codesIn = async (next: string) => {
      const { items, missing } = await read(next, { received })
      return items.map(({ code, name, price }) => `${code} ${name} ${price}`).join() || kindsOf(missing)
    }
    expect(await codesIn(content)).toBe('A x 2')
    // The price stands there once by now.
    expect(await codesIn('Code,,Price,Size\nA,x,1,S\n')).toBe('A x 1')
    expect(await codesIn('Code,,Size,Old,Price,Price\nA,x,S,1,2,3\n')).toBe('noColumn')
    expect(await codesIn('Code,Name,Price,Price\nA,x,1,2\n')).toBe('noColumn')
  })

  test('without headings, by the numbers of its columns', async () => {
    const content = 'A,Nail,1.50\nB,Board,2.50\n'
    const received = send(
      await choose(content, { headingsRow: 0, uses: { 1: 'code', 2: 'name', 3: 'price' } }),
    )
    expect((await read(`${content}C,Beam,3\n`, { received })).items).toHaveLength(3)
  })

  test('on the row that a person gives', async () => {
    const given = {
      ...draftOf((await read(LIST)).outline),
      headingsRow: 5,
      code: undefined,
      price: undefined,
    }
    const { outline } = await read(LIST, { draft: given, goOn: false })
    expect(outline).toMatchObject({
      headingsRow: 5,
      columns: [{ heading: 'A1' }, { heading: 'Nail' }, {}, {}],
    })
    const twice = `${LIST}Code,Name,Price,Level\nC3,Beam,5,R\n`
    const draft = { ...draftOf((await read(twice)).outline), headingsRow: 7 }
    expect((await read(twice, { draft })).items).toMatchObject([{ code: 'C3' }])
  })

  test('on the sheet of that name, or the only one; else a person chooses', async () => {
    const book = (...names: string[]) =>
      workbook(
        names.map((name, at) => ({
          name,
          rows: [
            ['Code', 'Price'],
            [name, at + 1],
          ],
        })),
      )
    const received = send(await choose(book('Info', 'Prices'), { sheet: 'Prices' }))
    const codesIn = async (...names: string[]) => {
      const { items, missing } = await read(book(...names), { received })
      return items.map(({ code }) => code).join() || kindsOf(missing)
    }
    expect(await codesIn('Prices', 'Info')).toBe('Prices')
    expect(await codesIn('October')).toBe('October')
    expect(await codesIn('October', 'Info')).toBe('noSheet')
    const hidden = workbook([
      { name: 'Notes', rows: [['Call us']] },
      {
        name: 'Old',
        hidden: true,
        rows: [
          ['Code', 'Price'],
          ['A', 1],
        ],
      },
      {
        name: 'New',
        rows: [
          ['Code', 'Price'],
          ['B', 1],
        ],
      },
    ])
    expect((await read(hidden)).outline.sheet).toBe('New')
  })

  test('with the choice for exactly these headings, else the last one', async () => {
    const other = LIST.replace('Level', 'Stock')
    const retail = send(await choose(LIST, { uses: { Level: { only: ['R'] } } }))
    const both = send(await choose(other), retail, '2026-11-01T00:00:00.000Z')
    expect((await read(LIST, { received: both })).items).toHaveLength(1)
    expect((await read(other, { received: both })).items).toHaveLength(2)
    expect((await read(LIST.replace('Level', 'Size'), { received: both })).found?.compared.with?.at).toMatch(
      /^2026-11/,
    )
  })
})

describe('page one', () => {
  test('is filled in from the last choice; money only under the same heading of the price', async () => {
    const answers: Answers = {
      money: 'NZD before GST',
      units: 2,
      uses: { Level: { only: ['R'] }, Name: 'description' },
    }
    const received = send(await choose(LIST, answers))
    const same = await read(LIST, { received })
    expect(usesOf(same.outline)).toBe('code description price only')
    expect(same.outline).toMatchObject({
      money: 'NZD before GST',
      units: 2,
      columns: [{}, {}, {}, { ticked: ['R'] }],
    })
    const other = await read(LIST.replace('Price', 'Price inc GST'), { received })
    expect(usesOf(other.outline)).toBe('code description price only')
    expect(other.outline).toMatchObject({ money: null, units: 2 })
    expect(other.missing).toEqual([{ kind: 'noColumn', use: 'price', heading: 'Price' }])
  })

  test.each<[string, Answers, string]>([
    ['no code', { uses: { Code: 'ignored' } }, 'unanswered'],
    ['no price and no money', { money: undefined, uses: { Price: 'ignored' } }, 'unanswered unanswered'],
    ['nothing ticked', { uses: { Level: { only: [] } } }, 'nothingTicked'],
    ['some rows with GST, before GST', { uses: { Level: { taxed: ['R'] } } }, 'taxedBeforeGst'],
    ['too many values', { uses: { Name: { only: ['x'] } } }, 'manyValues'],
  ])('says what is missing: %s', async (_name, answers, kinds) => {
    const content = LIST + Array.from({ length: 201 }, (_, at) => `C${at},Item ${at},1,R\n`).join('')
    const draft = draftOf((await read(content)).outline, answers)
    const { found, missing, items } = await read(content, { draft })
    expect({ found, items, kinds: kindsOf(missing) }).toEqual({ found: null, items: [], kinds })
  })

  test('says what is missing: a column that is used twice, or is not there', async () => {
    const draft = draftOf((await read(LIST)).outline)
    const twice = { ...draft, only: [{ heading: 'Name', number: 2, values: ['Nail'] }] }
    expect((await read(LIST, { draft: twice })).missing).toEqual([{ kind: 'usedTwice', use: 'only' }])
    const gone = { ...draft, unit: { heading: 'UOM', number: 9 } }
    expect((await read(LIST, { draft: gone })).missing).toEqual([
      { kind: 'noColumn', use: 'unit', heading: 'UOM' },
    ])
  })

  test.each([
    ['"1,250"', 'asked'],
    ['"12,50"', 'asked'],
    ['1.250', 'asked'],
    ['"1.250,00"', 'asked'],
    ['12.50', 'not asked'],
    ['0.125', 'not asked'],
    ['"1,250.00"', 'not asked'],
    ['POA', 'not asked'],
  ])('asks for the decimal sign only if a price reads differently under the two: %s', async (cell, asked) => {
    const { missing, outline } = await choose(`Code,Price\nA,1\nB,${cell}\n`)
    const expected = asked === 'asked' ? [{ kind: 'decimal', cell: cell.replaceAll('"', '') }] : []
    expect(missing).toEqual(expected)
    expect(outline.ambiguousPrice).toBe(expected[0]?.cell ?? null)
    expect((await choose(`Code,Price\nA,1\nB,${cell}\n`, { decimal: 'comma' })).missing).toEqual([])
  })

  test('shows up to 200 values of a column with their counts, the most frequent first, and none beyond', async () => {
    const rows = (count: number) => Array.from({ length: count }, (_, at) => `C${at},1,V${at},x\n`).join('')
    const valuesOf = async (count: number) =>
      (await read(`Code,Price,Value,Same\n${rows(count)}SECTION,,,\n`)).outline.columns.map(
        ({ values }) => values?.length,
      )
    expect(await valuesOf(200)).toEqual([200, 1, 200, 1])
    expect(await valuesOf(201)).toEqual([undefined, 1, undefined, 1])
    const { outline } = await read('Code,Price,Level\nA,1, R\nB,1,T\nC,1,R \nD,1,\n')
    expect(outline.columns[2]?.values).toEqual([
      { value: 'R', count: 2 },
      { value: 'T', count: 1 },
      { value: '', count: 1 },
    ])
  })
})
