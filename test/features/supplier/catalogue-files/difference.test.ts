import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Change,
  compare,
  type Difference,
  type Question,
} from '../../../../src/features/supplier/catalogue-files/difference.ts'
import { type Item, keyOf } from '../../../../src/features/supplier/catalogue-files/items.ts'

const received = (items: readonly Item[]) => new Map(items.map((item) => [keyOf(item.code), item]))
const compared = (before: readonly Item[] | null, items: Item[]) => compare(items, before && received(before))

/** Items A0, A1, … with these prices. */
const priced = (...prices: number[]): Item[] => prices.map((price, at) => ({ code: `A${at}`, price }))
const many = (count: number, price = 1) => priced(...Array<number>(count).fill(price))

test.each<[string, Item, Item, Partial<Difference['counts']>]>([
  [
    'the same price and texts',
    { code: 'A', price: 1, name: 'x' },
    { code: 'a', price: 1, name: 'x' },
    { same: 1 },
  ],
  ['a higher price', { code: 'A', price: 1 }, { code: 'A', price: 1.0001 }, { higher: 1 }],
  [
    'a lower price',
    { code: 'A', price: 1, name: 'x' },
    { code: 'A', price: 0.9999, name: 'y' },
    { lower: 1 },
  ],
  ['another name', { code: 'A', price: 1, name: 'x' }, { code: 'A', price: 1, name: 'y' }, { otherTexts: 1 }],
  ['no unit any more', { code: 'A', price: 1, unit: 'each' }, { code: 'A', price: 1 }, { otherTexts: 1 }],
  ['a category', { code: 'A', price: 1 }, { code: 'A', price: 1, category: 'x' }, { otherTexts: 1 }],
  [
    'another description',
    { code: 'A', price: 1, description: 'x' },
    { code: 'A', price: 1, description: 'X' },
    { otherTexts: 1 },
  ],
  ['another code', { code: 'A', price: 1 }, { code: 'B', price: 1 }, { added: 1, gone: 1 }],
])('an item is compared with the one that was received: %s', async (_, before, after, counts) => {
  const none = { added: 0, higher: 0, lower: 0, otherTexts: 0, same: 0, gone: 0 }
  expect(await compared([before], [after])).toMatchObject({ isFirst: false, counts: { ...none, ...counts } })
})

/** The question about changed prices, with their number and the first of them. */
const changed = (kind: 'zero' | 'halved' | 'doubled', count: number, first: Change): Question => ({
  kind,
  count,
  first,
})
const nine = many(9)
const one = (code: string): Item => ({ code, price: 1 })

test.each<[string, Item[], Item[], ...Question[]]>([
  [
    'a price that became 0',
    priced(1, 5),
    priced(1, 0),
    changed('zero', 1, { code: 'A1', before: 5, after: 0, percent: -100 }),
  ],
  [
    'halved prices',
    priced(2, 4.3),
    priced(1, 2.15),
    changed('halved', 2, { code: 'A0', before: 2, after: 1, percent: -50 }),
  ],
  [
    'a doubled price',
    priced(4.85),
    priced(9.7),
    changed('doubled', 1, { code: 'A0', before: 4.85, after: 9.7, percent: 100 }),
  ],
  [
    'a price that was 0',
    priced(0),
    priced(1),
    changed('doubled', 1, { code: 'A0', before: 0, after: 1, percent: null }),
  ],
  ['nearly halved and doubled', priced(2, 2, 0), priced(1.01, 3.99, 0)],
  [
    'a code without its zeros',
    [...nine, one('00x7')],
    [...nine, one('X7')],
    { kind: 'leadingZeros', count: 1, code: 'X7', missing: '00x7' },
  ],
  [
    'only zeros',
    [...nine, one('000')],
    [...nine, one('0')],
    { kind: 'leadingZeros', count: 1, code: '0', missing: '000' },
  ],
  ['both codes were there', [...nine, one('07'), one('7')], [...nine, one('7')]],
  ['more than a tenth gone', many(19), many(17), { kind: 'gone', count: 2, of: 19 }],
  ['a tenth gone', many(20), many(18)],
])('a person is asked about what is seldom meant: %s', async (_, before, after, ...asks) => {
  expect((await compared(before, after)).asks).toEqual(asks)
})

test('a first file is all new, needs no tick, and shows the first twenty items, a line "Total" among them', async () => {
  const items = [...many(3), { code: 'Total', price: 3 }, ...priced(...Array<number>(30).fill(0)).slice(3)]
  const { isFirst, counts, added, changes, gone, asks } = await compared(null, items)
  expect({ isFirst, added, changes, gone, asks }).toEqual({
    isFirst: true,
    added: items.slice(0, 20),
    changes: [],
    gone: [],
    asks: [],
  })
  expect(counts).toMatchObject({ added: 31, gone: 0 })
})

test('the largest changes come first, by their ratio, up or down, with a tenth of a percent at least', async () => {
  const { changes } = await compared(priced(100, 100, 100, 100, 100), priced(100.01, 50, 99.99, 190, 115.56))
  expect(changes.map(({ code, percent }) => [code, percent])).toEqual([
    ['A1', -50],
    ['A3', 90],
    ['A4', 15.6],
    ['A2', -0.1],
    ['A0', 0.1],
  ])
})

const item = fc.record(
  {
    code: fc.constantFrom('A', 'a', '0A', 'B', '00B', '7', '07', 'x y'),
    price: fc.constantFrom(0, 1, 2, 2.5, 4),
    name: fc.constantFrom('n', 'm'),
  },
  { requiredKeys: ['code', 'price'] },
)
const items = fc.uniqueArray(item, { selector: ({ code }) => keyOf(code) })

test('every item of the file, and every one that was received, is counted once, and what is shown is what differs', async () => {
  await fc.assert(
    fc.asyncProperty(items, items, async (before, after) => {
      const known = received(before)
      const { counts, added, gone, changes } = await compared(before, after)
      const { added: fresh, gone: missing, ...both } = counts
      expect(Object.values(both).reduce((sum, count) => sum + count, fresh)).toBe(after.length)
      expect(before.length - missing).toBe(after.length - fresh)
      expect(added).toEqual(after.filter(({ code }) => !known.has(keyOf(code))))
      expect(gone).toEqual(before.filter(({ code }) => !received(after).has(keyOf(code))))
      expect(changes).toHaveLength(counts.higher + counts.lower)
      for (const { code, before, after } of changes) {
        expect(known.get(keyOf(code))?.price).toBe(before)
        expect(before).not.toBe(after)
      }
    }),
  )
})

test('the code stands for exactly these items and what was received before', async () => {
  await fc.assert(
    fc.asyncProperty(items, items, items, async (before, after, other) => {
      const { code } = await compared(before, after)
      expect(code).toMatch(/^[0-9a-f]{16}$/)
      expect((await compared(before, after)).code).toBe(code)
      if (JSON.stringify(after) !== JSON.stringify(other))
        expect((await compared(before, other)).code).not.toBe(code)
      expect((await compared(null, after)).code).not.toBe(code)
      const isSame = JSON.stringify([...received(before)]) === JSON.stringify([...received(other)])
      if (!isSame) expect((await compared(other, after)).code).not.toBe(code)
    }),
  )
})
