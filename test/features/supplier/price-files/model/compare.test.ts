/** What differs, the ten rows, and what is remembered. */
import { describe, expect, test } from 'vitest'
import type { Choice } from '../../../../../src/features/supplier/price-files/choice.ts'
import type { Found } from '../../../../../src/features/supplier/price-files/found.ts'
import {
  afterSending,
  FORGOTTEN_AFTER,
  MAX_CODES,
  MAX_FILES,
  type Received,
} from '../../../../../src/features/supplier/price-files/received.ts'
import { stopsUnattended } from '../../../../../src/features/supplier/price-files/unattended.ts'
import { choose, foundIn, read, send } from './support.ts'

const HEADINGS = 'Code,Name,Price,Status,Stock'
/** So many items, whose price is the number in their code. */
const items = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `C${from + at},Nail,${from + at},Active,${at % 4}`)
const file = (...rows: string[]) => [HEADINGS, ...rows].join('\n')
const comparedWith = async (received: Received, ...rows: string[]) =>
  foundIn(await read(file(...rows), { received })).compared

describe('what differs', () => {
  /** `same/higher/lower smallest-largest added/gone codes that are gone`. */
  const countsOf = ({ same, higher, lower, smallest, largest, added, gone, goneCodes }: Found['compared']) =>
    `${same}/${higher}/${lower} ${smallest}-${largest} ${added}/${gone} ${goneCodes}`

  test('are the items that changed, by how much, the new ones, and those that are no longer in the file', async () => {
    const received = send(await choose(file('A,x,0', 'B,x,2', 'C,x,4', 'D,x,5', 'E,x,6', 'F,x,7')))
    const compared = await comparedWith(received, 'a,x,0', 'B,x,3', 'C,x,1', 'G,x,9', 'F,x,POA')
    expect(countsOf(compared)).toBe('1/1/1 0.25-1.5 1/2 D,E')
    expect(compared.with).toEqual({
      fileName: 'prices.csv',
      at: '2026-10-01T00:00:00.000Z',
      isUnfinished: false,
    })
    expect(countsOf(await comparedWith(received, 'A,x,1'))).toMatch(/^0\/1\/0 Infinity-Infinity/)
  })

  test('of two files in turn are only their own: codes and prices are merged', async () => {
    const other = 'Code,Name,Price,Group\nX1,Tap,9,Taps\nC3,Nail,3,Nails\n'
    const first = send(await choose(file(...items(1, 9))))
    const both = send(await choose(other, {}, first), first)
    for (const content of [other, file(...items(1, 9))]) {
      const { compared, box } = foundIn(await read(content, { received: both }))
      expect(compared).toMatchObject({ higher: 0, lower: 0, added: 0, gone: 0, newTexts: [], newValues: [] })
      expect(box).toEqual([])
    }
  })

  test('are texts as a whole, however long, with the columns that they stand in', async () => {
    const long = `Terms ${'x'.repeat(3_000)}`
    const noted = (note: string, place: string) =>
      file(`"${long} ${note}",,,,`, `${place}inc GST,,`, ...items(1, 5))
    const received = send(await choose(noted('ex GST', ',,')))
    const textsOf = async (content: string) => {
      const { newTexts, goneTexts } = foundIn(await read(content, { received })).compared
      return [newTexts.map(({ where, text }) => `${where}: ${text}`), goneTexts.map(({ text }) => text)]
    }
    expect(await textsOf(noted('ex GST', ',,'))).toEqual([[], []])
    expect(await textsOf(noted('inc GST', ',,'))).toEqual([[`: ${long} inc GST`], [`${long.slice(0, 200)}…`]])
    expect(await textsOf(noted('ex GST', ','))).toEqual([['Name: inc GST'], ['inc GST']])
  })

  test('are, of rows with a code, those whose code the last file did not have', async () => {
    const received = send(await choose(file(...items(1, 9), 'P1,x,POA,,stock 7', 'Note,,,,', 'P2,x,POA')))
    const { newTexts, goneTexts } = await comparedWith(
      received,
      ...items(1, 9),
      'p1,x,POA,,stock 9',
      'P2,x,5',
      'P3,x,POA',
    )
    expect([newTexts, goneTexts]).toMatchObject([
      [{ code: 'P3', text: 'P3 · x · POA' }],
      [{ code: 'Note', text: 'Note' }],
    ])
  })

  test('are counted beyond 250,000 characters of texts, and values beyond 200', async () => {
    const notes = (count: number) =>
      Array.from({ length: count }, (_, at) => `,Note ${at} ${'x'.repeat(100)},,,`)
    const values = (count: number) => Array.from({ length: count }, (_, at) => `V${at},x,1,Active,${at}`)
    const received = send(await choose(file(...items(1, 9))))
    const { newTexts, uncomparedTexts } = await comparedWith(received, ...items(1, 9), ...notes(2_100))
    expect([uncomparedTexts > 0, newTexts.length + uncomparedTexts]).toEqual([true, 2_100])
    const content = file(...items(1, 9), ...notes(2_100))
    const again = await read(content, { received: send(await choose(content)) })
    expect([foundIn(again).compared.newTexts, stopsUnattended(again)]).toEqual([[], true])
    const { newValues } = await comparedWith(received, ...values(201))
    const many = { heading: 'Stock', values: [], dates: 0, amounts: 0, isMany: true, hadAtMostFive: true }
    expect(newValues).toEqual([many])
  })

  test('is remembered in some million characters, whatever a file has', async () => {
    const long = (at: number) => `${at} ${'x'.repeat(190)}`
    const rows = Array.from({ length: 150 }, (_, at) => `C${at},1,${Array(40).fill(long(at)).join()}`)
    const poa = Array.from({ length: 3_000 }, (_, at) => `P${at},POA,${long(at)}`)
    const notes = Array.from({ length: 3_000 }, (_, at) => `,Note,${long(at)}`)
    const headings = Array.from({ length: 40 }, (_, at) => `Column ${at}`).join()
    const received = send(await choose([`Code,Price,${headings}`, ...rows, ...poa, ...notes].join('\n')))
    expect(JSON.stringify(received.files[0]?.memory).length).toBeLessThan(1_000_000)
  })
})

test('ten rows: new values, rises, falls, the dearest, the cheapest, new codes, then rare values', async () => {
  const received = send(await choose(file(...items(10, 60))))
  const now = items(10, 60)
    .with(5, 'C15,Nail,15,Deleted,0')
    .with(6, 'C16,Nail,16,Deleted,0')
    .with(7, 'C17,Nail,17,Old,1')
    .with(8, 'C18,Nail,36,Active,0')
    .with(9, 'C19,Nail,"$57.00",Active,1')
    .with(10, 'C20,Nail,5,Active,2')
    .with(11, 'C21,Nail,7,Active,3')
  const { examples, constants } = foundIn(await read(file(...now, 'N1,New,12,Active,0'), { received }))
  expect(examples.map(({ item }) => item.code).slice(0, 9)).toEqual([
    'C17',
    'C15',
    'C16',
    'C19',
    'C18',
    'C20',
    'C21',
    'C59',
    'C10',
  ])
  expect(examples[9]).toEqual({
    row: 52,
    item: { code: 'N1', name: 'New', price: 12 },
    oldPrice: null,
    others: [
      { heading: 'Status', value: 'Active', isNew: false },
      { heading: 'Stock', value: '0', isNew: false },
    ],
  })
  expect(examples[0]).toMatchObject({
    oldPrice: 17,
    others: [{ value: 'Old', isNew: true }, { isNew: false }],
  })
  expect(constants).toEqual([])
  const short = foundIn(await read(file(...items(10, 60).with(30, 'C40,Nail,40')), { received }))
  const blank = { value: '', isNew: true }
  expect(short.examples[0]).toMatchObject({ item: { code: 'C40' }, others: [blank, blank] })
  const same = foundIn(await read(file('A,x,"$1.00",Active,1', 'B,x,2,Active,2'), { received }))
  expect(same.constants).toEqual([{ heading: 'Status', value: 'Active' }])
  expect(same.examples[0]?.others).toEqual([{ heading: 'Stock', value: '2', isNew: false }])
})

describe('after sending', () => {
  const memory = { headings: ['Code', 'Price'], texts: [], values: [] }
  const choice: Choice = {
    ...{ sheet: '', headingsRow: 1, columns: [], money: 'AUD before GST', units: 1, decimal: null },
  }
  let files = 0
  const sent = (codes: string[], isComplete = true, headings = memory.headings) => ({
    fileName: 'prices.csv',
    at: new Date(Date.UTC(2026, 9, 1, 0, 0, ++files)).toISOString(),
    by: null,
    choice,
    memory: { ...memory, headings },
    items: codes.map((code) => ({ code, price: 1 })),
    isComplete,
  })
  const codesOf = ({ prices }: Received) => prices.map(({ code, file: number }) => `${code} ${number}`).join()

  test('prices are merged, whatever the capitals of their codes, with the number of their file', () => {
    const first = afterSending(null, sent(['A', 'b']))
    const second = afterSending(first, sent(['B', 'C']))
    expect([codesOf(first), codesOf(second)]).toEqual(['A 1,b 1', 'A 1,B 2,C 2'])
    expect(second).toMatchObject({ isUnfinished: false, isOwn: false, files: [{ number: 2 }] })
  })

  test('the same file again changes nothing, so that a merge may be repeated', () => {
    const first = afterSending(null, sent(['A']))
    const again = sent(['B'])
    const merged = Array.from({ length: 2 * FORGOTTEN_AFTER }).reduce<Received>(
      (before) => afterSending(before, again),
      first,
    )
    expect(codesOf(merged)).toBe('A 1,B 2')
  })

  test('the last file of each set of headings is remembered, at most five', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'a', 'f']
    const received = names.reduce<Received | null>(
      (before, name) => afterSending(before, sent(['A'], true, [name])),
      null,
    )
    expect(received?.files.map(({ memory: { headings } }) => String(headings)).join('')).toBe('faedc')
    expect(received?.files).toHaveLength(MAX_FILES)
  })

  test('an import that did not complete has sent what the platform accepted; of nothing, nothing is known', () => {
    const first = afterSending({ isUnfinished: false, files: [], prices: [], isOwn: true }, sent(['A']))
    const some = afterSending(first, sent(['B'], false))
    expect(some).toMatchObject({ isUnfinished: true, isOwn: true, files: [{ number: 2 }] })
    const none = afterSending(first, sent([], false, ['Other']))
    expect(none).toEqual({ ...first, isUnfinished: true })
    expect(afterSending(some, sent(['B']))).toMatchObject({ isUnfinished: false })
  })

  test('a code that was in none of the last 24 files is forgotten, and those beyond 200,000', () => {
    let received = afterSending(null, sent(['A', 'B']))
    for (let file = 2; file < FORGOTTEN_AFTER + 1; file++) received = afterSending(received, sent(['B']))
    expect(codesOf(received)).toBe(`A 1,B ${FORGOTTEN_AFTER}`)
    expect(codesOf(afterSending(received, sent(['C'])))).toBe(`B ${FORGOTTEN_AFTER},C ${FORGOTTEN_AFTER + 1}`)
    const others = Array.from({ length: MAX_CODES - 1 }, (_, at) => `C${at}`)
    const many = afterSending(afterSending(null, sent(['B', 'A'])), sent(['B', ...others]))
    expect([many.prices.length, codesOf(many).slice(0, 11)]).toEqual([MAX_CODES, 'B 2,C0 2,C1'])
  })
})
