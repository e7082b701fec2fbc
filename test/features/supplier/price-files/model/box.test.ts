/** The box of page two: on factors of 2,000 simulated prices, and each rule at its edge. */
import { describe, expect, test } from 'vitest'
import * as box from '../../../../../src/features/supplier/price-files/box.ts'
import type { Found } from '../../../../../src/features/supplier/price-files/found.ts'
import { stopsUnattended } from '../../../../../src/features/supplier/price-files/unattended.ts'
import { type Answers, choose, foundIn, read, send } from './support.ts'

const ITEMS = 2_000
/** The same numbers in each run: between 0 and 1. */
function random(seed = 1) {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
const next = random()
const PRICES = Array.from({ length: ITEMS }, () => Math.round(100 * 10 ** (next() * 3)) / 100)

/** New/old of each price, when `change` gives the new price of the item at a place. */
const factorsOf = (change: (price: number, at: number) => number) =>
  PRICES.map((price, at) => Math.round(change(price, at) * 100) / 100 / price)
/** The kinds of boxes on these factors. */
const boxesOn = (factors: readonly number[]) =>
  [...box.halfOutside(factors), ...box.farOutside(factors), ...box.oneFactor(factors)].map(({ kind }) => kind)
const chance = random(7)
const spread = (from: number, to: number) => from + chance() * (to - from)
const SORTED = PRICES.toSorted((a, b) => a - b)

describe('an ordinary month has no box:', () => {
  test.each<[string, (price: number, at: number) => number]>([
    ['nothing changes', (price) => price],
    ['all prices rise by 8 %', (price) => price * 1.08],
    ['prices rise by 2 to 8 %', (price) => price * spread(1.02, 1.08)],
    ['brands rise by 3, 5 and 7.5 %', (price, at) => price * ([1.03, 1.05, 1.075][at % 3] ?? 1)],
    ['metals move by up to 20 %', (price, at) => (at % 8 === 0 ? price * spread(0.8, 1.2) : price * 1.02)],
    ['ten items are corrected', (price, at) => (at < 10 ? price * 3 : price * 1.03)],
  ])('%s', (_name, change) => {
    expect(boxesOn(factorsOf(change))).toEqual([])
  })

  test('but a rise of 10 % for all', () => {
    expect(boxesOn(factorsOf((price) => price * 1.1))).toEqual(['halfOutside', 'oneFactor'])
  })
})

describe('a wrong month has one:', () => {
  test.each<[string, (price: number, at: number) => number]>([
    ['GST is added', (price) => price * 1.1],
    ['GST is removed', (price) => price / 1.1],
    ['GST is added to an eighth', (price, at) => (at % 8 === 0 ? price * 1.1 : price)],
    ['ten times', (price) => price * 10],
    ['40 items at 100 times', (price, at) => (at < 40 ? price * 100 : price)],
    ['trade prices of 40 % less', (price) => price * 0.6],
    ['trade prices by category', (price, at) => price * ([0.55, 0.62, 0.7, 0.78, 0.85][at % 5] ?? 1)],
    ['packs of other sizes', (price, at) => (at % 4 === 0 ? price * ([10, 25, 50][at % 3] ?? 1) : price)],
    ['prices shifted by a row', (_price, at) => PRICES[at - 1] ?? 1],
    ['prices sorted', (_price, at) => SORTED[at] ?? 1],
    ['all prices are 0', () => 0],
  ])('%s', (_name, change) => {
    expect(boxesOn(factorsOf(change))).not.toEqual([])
  })
})

describe('each rule begins where it says:', () => {
  const times = (count: number, factor: number) => Array.from({ length: count }, () => factor)
  test.each<[string, unknown[], number]>([
    ['half outside', box.halfOutside([1, 1.09]), 1],
    ['half outside, less', box.halfOutside([1, 1, 1.09]), 0],
    ['half outside, at the edges', box.halfOutside([0.93, 1.085]), 0],
    ['half outside, 0 before', box.halfOutside([Number.POSITIVE_INFINITY]), 1],
    ['half outside, 0 now', box.halfOutside([0]), 1],
    ['half outside, of none', box.halfOutside([]), 0],
    ['far outside, two of 200', box.farOutside([...times(198, 1), 2.1, 0.4]), 1],
    ['far outside, two of 201', box.farOutside([...times(199, 1), 2.1, 0.4]), 0],
    ['far outside, one', box.farOutside([1, 1, 2.1]), 0],
    ['far outside, at the edges', box.farOutside([2, 0.5]), 0],
    ['one factor, ten of 100', box.oneFactor([...times(90, 1), ...times(10, 1.1)]), 1],
    ['one factor, nine', box.oneFactor(times(9, 1.1)), 0],
    ['one factor, ten of 101', box.oneFactor([...times(91, 1), ...times(10, 1.1)]), 0],
    ['one factor, to 0.2 %', box.oneFactor([...times(5, 1.1), ...times(5, 1.102)]), 1],
    ['one factor, to 0.3 %', box.oneFactor([...times(5, 1.1), ...times(5, 1.1034)]), 0],
    ['one factor, inside', box.oneFactor(times(20, 1.08)), 0],
    ['unknown codes, half', box.unknownCodes(4, 2), 1],
    ['unknown codes, less', box.unknownCodes(5, 2), 0],
    ['known codes not sent, a fifth', box.knownNotSent(10, 2), 1],
    ['known codes not sent, less', box.knownNotSent(11, 2), 0],
  ])('%s', (_name, reasons, length) => {
    expect(reasons).toHaveLength(length)
  })
})

const file = (rows: string[], headings = 'Code,Name,Price,Group') => [headings, ...rows].join('\n')
const items = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => `C${from + at},Nail,${from + at + 1}.00,${'ABCDE'[at % 5]}`)
const kindsOf = ({ box: reasons }: Found) => reasons.map(({ kind }) => kind)

describe('page two of a file asks for a tick', () => {
  test('if nothing was received, unless this app created the catalogue', async () => {
    const content = file(items(3))
    expect(kindsOf(foundIn(await choose(content)))).toEqual(['nothingReceived'])
    const empty = { isUnfinished: false, files: [], prices: [] }
    expect(kindsOf(foundIn(await choose(content, {}, { ...empty, isOwn: false })))).toEqual([
      'nothingReceived',
    ])
    const reading = await choose(content, {}, { ...empty, isOwn: true })
    // The command line has nobody who has looked.
    expect(stopsUnattended(reading)).toBe(true)
    expect(reading.found).toMatchObject({
      box: [],
      compared: { with: null, added: 3, newTexts: [], newValues: [] },
    })
  })

  test.each<[string, Answers, string]>([
    ['the money', { money: 'AUD including GST' }, 'money'],
    ['the units', { units: 2 }, 'units'],
    ['the price column', { uses: { Cost: 'price', Price: 'ignored' } }, 'priceColumn'],
  ])('if %s is another than last time', async (_name, answers, kind) => {
    const content = file(
      items(20).map((row) => `${row},${Number(row.split(',')[2]) + 0.01}`),
      'Code,Name,Price,Group,Cost',
    )
    const price: Answers = { uses: { Price: 'price' } }
    const received = send(await choose(content, price))
    expect(kindsOf(foundIn(await choose(content, price, received)))).toEqual([])
    expect(kindsOf(foundIn(await choose(content, { ...price, ...answers }, received)))).toContain(kind)
  })

  test('if half of the codes are new, or a fifth of the known ones is not sent', async () => {
    const received = send(await choose(file(items(20))))
    const boxOf = async (rows: string[]) => foundIn(await read(file(rows), { received })).box
    expect(await boxOf([...items(20), ...items(19, 100)])).toEqual([])
    expect(await boxOf([...items(20), ...items(20, 100)])).toEqual([
      { kind: 'unknownCodes', items: 20, of: 40 },
    ])
    const without = (count: number) =>
      items(20).map((row, at) => (at < count ? row.replace(/\d+\.00/, 'POA') : row))
    expect(await boxOf(without(3))).toEqual([])
    expect(await boxOf(without(4))).toEqual([{ kind: 'knownNotSent', items: 4, of: 20 }])
    // Codes that are no longer in the file, or that a person has left out, ask nothing.
    expect(await boxOf(items(5))).toEqual([])
    const leftOut = items(10).map((row) => row.split(',')[0]?.toLowerCase() ?? '')
    expect(foundIn(await read(file(items(20)), { received, leftOut })).box).toEqual([])
  })

  test('if a column that had at most five values has another one, dates apart', async () => {
    const received = send(await choose(file(items(20))))
    const boxOf = async (value: string) =>
      foundIn(await read(file(items(20).with(3, `C3,Nail,4.00,${value}`)), { received })).box
    expect(await boxOf('F')).toEqual([{ kind: 'newValue', heading: 'Group', value: 'F', count: 1 }])
    for (const date of ['1/10/2026', '2026-10-01', '1 Oct 2026', 'Oct-26', '01.10.26'])
      expect(await boxOf(date)).toEqual([])
    const six = send(await choose(file([...items(20), 'C90,Nail,5.00,F'])))
    expect(foundIn(await read(file([...items(20), 'C90,Nail,5.00,G']), { received: six })).box).toEqual([])
    const many = items(201).map((row, at) => row.replace(/[A-E]$/, `V${at}`))
    expect(kindsOf(foundIn(await read(file(many), { received })))).toContain('manyValues')
  })
})
