/** Page one: where the table is, what is filled in, and what is missing. */
import { describe, expect, test } from 'vitest'
import type { Draft } from '../../../../../src/features/supplier/price-files/choice.ts'
import type { Outline } from '../../../../../src/features/supplier/price-files/found.ts'
import { type Answers, bookOf, choose, draftOf, itemsIn, read, send } from './support.ts'

const LIST = 'Ace Supplies\nOctober\n\nCode,Name,Price,Level\nA1,Nail,1.50,R\nB2,Board,20,T\n'
const usesOf = ({ columns }: Outline) => columns.map(({ use }) => use).join(' ')

describe('the table is found', () => {
  test('with all rows above it, each as one text, its headings and six rows', async () => {
    const { outline, found, missing } = await read(`${LIST}${'C,x,1,R\n'.repeat(9)}`)
    expect(outline).toMatchObject({ lastChoice: null, headingsRow: 4, money: null, units: 1 })
    expect(outline.above.map(({ row, text }) => `${row} ${text}`)).toEqual(['1 Ace Supplies', '2 October'])
    expect(outline.rows.map(({ row }) => row)).toEqual([5, 6, 7, 8, 9, 10])
    expect({ found, missing }).toEqual({ found: null, missing: [] })
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
    const reading = await read(content, { received })
    expect(itemsIn(reading)).toBe('A1=1.5 B2=20')
    expect(reading.outline.lastChoice).toEqual({ at: '2026-10-01T00:00:00.000Z', by: null })
  })

  test('by the number of a column whose heading is blank or stands there twice, if that is the same text', async () => {
    const content = 'Code,,Price,Price\nA,x,1,2\n'
    const draft = draftOf((await read(content)).outline, { uses: { 4: 'price', 2: 'name' } })
    const received = send(await read(content, { draft }))
    const itemsOf = async (next: string) => itemsIn(await read(next, { received }))
    expect(await itemsOf(content)).toBe('A=2')
    // The price stands there once by now.
    expect(await itemsOf('Code,,Price,Size\nA,x,1,S\n')).toBe('A=1')
    expect(await itemsOf('Code,,Size,Old,Price,Price\nA,x,S,1,2,3\n')).toBe('noColumn')
    expect(await itemsOf('Code,Name,Price,Price\nA,x,1,2\n')).toBe('noColumn')
  })

  test('without headings, by the numbers of its columns', async () => {
    const answers: Answers = { headingsRow: 0, uses: { 1: 'code', 3: 'price' } }
    const received = send(await choose('A,Nail,1.50\nB,Board,2.50\n', answers))
    expect(itemsIn(await read('A,Nail,1.75\nC,Beam,3\n', { received }))).toBe('A=1.75 C=3')
  })

  test('on the row that a person gives', async () => {
    const given = { ...draftOf((await read(LIST)).outline), headingsRow: 5, columns: [] }
    const { outline } = await read(LIST, { draft: given, goOn: false })
    expect(outline.columns.map(({ heading }) => heading)).toEqual(['A1', 'Nail', '1.50', 'R'])
    const twice = `${LIST}Code,Name,Price,Level\nC3,Beam,5,R\n`
    const draft = { ...draftOf((await read(twice)).outline), headingsRow: 7 }
    expect(itemsIn(await read(twice, { draft }))).toBe('C3=5')
  })

  test('on the sheet of that name, or the only one; else a person chooses', async () => {
    const [info, list] = ['Code,Price\nI,1', 'Code,Price\nA,2']
    const received = send(await choose(bookOf({ Info: info, Prices: list }), { sheet: 'Prices' }))
    const itemsOf = async (sheets: Record<string, string>) =>
      itemsIn(await read(bookOf(sheets), { received }))
    expect(await itemsOf({ Prices: list, Info: info })).toBe('A=2')
    expect(await itemsOf({ October: list })).toBe('A=2')
    expect(await itemsOf({ October: list, Info: info })).toBe('noSheet')
    expect((await read(bookOf({ Notes: 'Call us', '.Old': list, New: list }))).outline.sheet).toBe('New')
  })

  test('with the choice for exactly these headings, else the last one', async () => {
    const other = LIST.replace('Level', 'Stock')
    const retail = send(await choose(LIST, { uses: { Level: ['only', 'R'] } }))
    const both = send(await choose(other), retail, '2026-11-01T00:00:00.000Z')
    expect(itemsIn(await read(LIST, { received: both }))).toBe('A1=1.5')
    expect(itemsIn(await read(other, { received: both }))).toBe('A1=1.5 B2=20')
    const { found } = await read(LIST.replace('Level', 'Size'), { received: both })
    expect(found?.compared.with?.at).toMatch(/^2026-11/)
  })
})

describe('page one', () => {
  test('is filled in from the last choice; money only under the same heading of the price', async () => {
    const answers: Answers = {
      money: 'NZD before GST',
      units: 2,
      uses: { Level: ['only', 'R'], Name: 'unit' },
    }
    const received = send(await choose(LIST, answers))
    const { outline: same } = await read(LIST, { received })
    expect(usesOf(same)).toBe('code unit price only')
    expect([same.money, same.units, same.columns[3]?.ticked]).toEqual(['NZD before GST', 2, ['R']])
    const { outline: other, missing } = await read(LIST.replace('Price', 'Price inc GST'), { received })
    expect(usesOf(other)).toBe('code unit price only')
    expect([other.money, other.units]).toEqual([null, 2])
    expect(missing).toMatchObject([{ kind: 'noColumn', use: 'price', heading: 'Price' }])
  })

  test.each<[string, Answers, string]>([
    ['no code', { uses: { Code: 'ignored' } }, 'unanswered'],
    ['no price and no money', { money: null, uses: { Price: 'ignored' } }, 'unanswered unanswered'],
    ['nothing ticked', { uses: { Level: ['only'] } }, 'nothingTicked'],
    ['some rows with GST, before GST', { uses: { Level: ['taxed', 'R'] } }, 'taxedBeforeGst'],
    ['too many values', { uses: { Name: ['only', 'x'] } }, 'manyValues'],
  ])('says what is missing: %s', async (_name, answers, kinds) => {
    const content = LIST + Array.from({ length: 201 }, (_, at) => `C${at},Item ${at},1,R\n`).join('')
    const draft = draftOf((await read(content)).outline, answers)
    const reading = await read(content, { draft })
    expect(reading.items).toEqual([])
    expect(itemsIn(reading)).toBe(kinds)
  })

  test('says what is missing: a column that is not there, also if it was one of two with its heading', async () => {
    const used = async (content: string, column: Draft['columns'][number]) => {
      const draft = draftOf((await read(content)).outline)
      return { ...draft, columns: [...draft.columns, column] }
    }
    const gone = await used(LIST, { heading: 'UOM', number: 9, use: 'unit' })
    expect(itemsIn(await read(LIST, { draft: gone }))).toBe('noColumn')
    const two = LIST.replace('Level', 'Price')
    const draft = await used(two, { heading: 'Price', number: 4, use: 'unit' })
    expect(itemsIn(await read(two, { draft }))).toBe('A1=1.5 B2=20')
    expect(itemsIn(await read(LIST, { draft }))).toBe('noColumn')
  })

  test('asks for the decimal sign only if a price reads differently under the two', async () => {
    const [ambiguous, clear] = [
      ['1,250', '12,50', '1.250', '1.250,00'],
      ['12.50', '0.125', '1,250.00', 'POA'],
    ]
    for (const cell of [...ambiguous, ...clear]) {
      const content = `Code,Price\nA,1\nB,"${cell}"\n`
      const { missing, outline } = await choose(content)
      expect(missing).toMatchObject(ambiguous.includes(cell) ? [{ kind: 'decimal', cell }] : [])
      expect(outline.ambiguousPrice).toBe(ambiguous.includes(cell) ? cell : null)
      expect((await choose(content, { decimal: 'comma' })).missing).toEqual([])
    }
  })

  test('shows up to 200 values of a column with their counts, the most frequent first, and none beyond', async () => {
    const rows = (count: number) => Array.from({ length: count }, (_, at) => `C${at},1,V${at},x\n`).join('')
    const valuesIn = async (content: string) =>
      (await read(content)).outline.columns.map(({ values }) => values)
    const lengthsOf = async (count: number) =>
      (await valuesIn(`Code,Price,Value,Same\n${rows(count)}SECTION,,,\n`)).map((values) => values?.length)
    expect(await lengthsOf(200)).toEqual([200, 1, 200, 1])
    expect(await lengthsOf(201)).toEqual([undefined, 1, undefined, 1])
    expect((await valuesIn(`Code,Price,Value\n${rows(200)}A,1\n`))[2]).toBeNull()
    const [, , level = []] = await valuesIn('Code,Price,Level\nA,1, R\nB,1,T\nC,1,R \nD,1,\n')
    expect(level?.map(({ value, count }) => `${value} ${count}`)).toEqual(['R 2', 'T 1', ' 1'])
  })
})
