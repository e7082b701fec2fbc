/** Random tables, choices and next files: what is sent is what a straightforward program sends, and each row is in one place. */
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Draft } from '../../../../../src/features/supplier/price-files/choice.ts'
import type { Found } from '../../../../../src/features/supplier/price-files/found.ts'
import { stopsUnattended } from '../../../../../src/features/supplier/price-files/unattended.ts'
import { foundIn, read, send } from './support.ts'

const RUNS = process.env.LONG_TESTS ? 1_000 : 20

/** Few codes, so that some are twice, in capitals or not. */
const code = fc.constantFrom('A', 'a', 'B', 'C', 'D', 'E', 'F', 'G', 'H1', 'h1', 'TOTAL', '', '', '1-Feb')
const amount = fc.integer({ min: 0, max: 200_000 }).map((cents) => (cents / 100).toFixed(2))
const price = fc.oneof(
  { weight: 6, arbitrary: amount },
  fc.constantFrom('', 'POA', '-5', '#N/A', '$12.50', ' 7 '),
)
const row = fc.record({
  code,
  price,
  unit: fc.constantFrom('EA', 'M', ''),
  level: fc.constantFrom('R', 'T', ''),
  tax: fc.constantFrom('Inc', 'Ex'),
  per: fc.constantFrom('1', '10', '100 EA', 'each', 'x'),
  more: fc.constantFrom('', '', '', '', 'note'),
})
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never
const rows = fc.array(row, { maxLength: 40 })
const COLUMNS = ['code', 'unit', 'price', 'level', 'tax', 'per'] as const
const HEADINGS = ['Code', 'Unit', 'Price', 'Level', 'Tax', 'Per']

/** Which of the columns are used, and the order that they stand in. */
const shape = fc.record({
  order: fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }),
  money: fc.constantFrom(
    'AUD before GST' as const,
    'AUD including GST' as const,
    'NZD including GST' as const,
  ),
  only: fc.boolean(),
  taxed: fc.boolean(),
  count: fc.boolean(),
  unit: fc.boolean(),
  units: fc.constantFrom(1, 1, 10),
  titles: fc.array(fc.constantFrom('Price list', 'Terms', 'July'), { maxLength: 3 }),
})
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never

const csvOf = (list: Row[], { order, titles }: Shape): string =>
  stringify([
    ...titles.map((title) => [title]),
    order.map((at) => HEADINGS[at]),
    ...list.map((one) => [...order.map((at) => one[COLUMNS[at] ?? 'code']), one.more]),
  ])
const draftOf = ({ order, titles, money, only, taxed, count, unit, units }: Shape): Draft => {
  const column = (use: Draft['columns'][number]['use'], heading: string, values?: string[]) => {
    const number = order.indexOf(HEADINGS.indexOf(heading)) + 1
    return { heading, number, use, ...(values && { values }) }
  }
  return {
    sheet: '',
    headingsRow: titles.length + 1,
    columns: [
      column('code', 'Code'),
      column('price', 'Price'),
      ...(unit ? [column('unit', 'Unit')] : []),
      ...(count ? [column('count', 'Per')] : []),
      ...(only ? [column('only', 'Level', ['R', ''])] : []),
      ...(taxed && money !== 'AUD before GST' ? [column('taxed', 'Tax', ['Inc'])] : []),
    ],
    money,
    units,
    decimal: 'point',
  }
}

/** A straightforward program: the items as `code price unit`. */
function itemsOf(list: Row[], how: Shape): string[] {
  const tax = { 'AUD before GST': 0, 'AUD including GST': 10, 'NZD including GST': 15 }[how.money]
  const counts: Record<string, number> = { '1': 1, '10': 10, '100 EA': 100, each: 1 }
  const valid = list.flatMap((one) => {
    const number = Number(one.price.replace('$', ''))
    const divisor = how.count ? counts[one.per] : 1
    const isPrice = one.price !== '' && number >= 0
    if (!isPrice || one.code === '' || one.code === '1-Feb' || one.more || !divisor) return []
    if (how.only && one.level === 'T') return []
    const isTaxed = tax > 0 && (!how.taxed || one.tax === 'Inc')
    const before = isTaxed
      ? Math.round(Number(((number * 100) / (1 + tax / 100)).toPrecision(14))) / 100
      : number
    return [
      {
        code: one.code,
        price: Number((before / divisor / how.units).toPrecision(14)),
        unit: how.unit ? one.unit : '',
      },
    ]
  })
  return valid.flatMap((one, at) => {
    const same = valid.filter((other) => other.code.toLowerCase() === one.code.toLowerCase())
    const isFirst = valid.findIndex((other) => other.code.toLowerCase() === one.code.toLowerCase()) === at
    const isOne = same.every((other) => other.price === one.price && other.unit === one.unit)
    return isFirst && isOne ? [`${one.code} ${one.price} ${one.unit}`] : []
  })
}
const sentIn = ({ items }: Awaited<ReturnType<typeof read>>) =>
  items.map(({ code, price, unit = '' }) => `${code} ${Number(price.toPrecision(14))} ${unit}`)

const assert = <T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => Promise<void>) =>
  fc.assert(fc.asyncProperty(arbitrary, check), { numRuns: RUNS })
/** Two files, the first of which was sent. */
const months = fc.tuple(rows, rows, shape)

test('the items of a file are those of a straightforward program, and each row is in one place', () =>
  assert(fc.tuple(rows, shape), async ([list, how]) => {
    const reading = await read(csvOf(list, how), { draft: draftOf(how) })
    const { rejected, items, rows: all } = foundIn(reading)
    expect(sentIn(reading)).toEqual(itemsOf(list, how))
    expect(items).toBe(reading.items.length)
    const places = rejected.flatMap((one) => one.rows.map(({ row }) => row))
    expect(new Set(places).size).toBe(places.length)
    const blank = list.filter((one) => one.more !== '' || COLUMNS.some((use) => one[use].trim() !== ''))
    expect(all).toBe(blank.length)
    // The rest are rows of an item that is sent once.
    expect(places.length + items).toBeLessThanOrEqual(all)
  }))

test('the next file is compared item by item; the order of its rows does not count', () =>
  assert(fc.tuple(months, fc.nat()), async ([[before, now, how], seed]) => {
    const received = send(await read(csvOf(before, how), { draft: draftOf(how) }))
    const reading = await read(csvOf(now, how), { received })
    const { compared, items, box } = foundIn(reading)
    const old = new Map(received.prices.map(({ code, price }) => [code.toLowerCase(), price]))
    const pairs = reading.items.map(({ code, price }) => [old.get(code.toLowerCase()), price])
    const count = (isIt: (before: number, now: number) => boolean) =>
      pairs.filter(([one, other]) => one !== undefined && other !== undefined && isIt(one, other)).length
    expect(compared).toMatchObject({
      same: count((one, other) => one === other),
      higher: count((one, other) => other > one),
      lower: count((one, other) => other < one),
      added: pairs.filter(([one]) => one === undefined).length,
    })
    expect(compared.same + compared.higher + compared.lower + compared.added).toBe(items)
    const sorted = now
      .map((one, at) => ({ one, rank: (at * 7919 + seed) % 101 }))
      .sort((a, b) => a.rank - b.rank)
    const other = foundIn(
      await read(
        csvOf(
          sorted.map(({ one }) => one),
          how,
        ),
        { received },
      ),
    )
    const counts = ({ compared: { newTexts, goneTexts, newValues, ...rest }, rejected }: Found) => ({
      ...rest,
      newTexts: newTexts.length,
      goneTexts: goneTexts.length,
      rejected: rejected.map(({ reason, count: all }) => `${reason} ${all}`),
      newValues: newValues.map(({ values, ...column }) => ({
        ...column,
        values: values.map(({ value }) => value).sort(),
      })),
    })
    expect(counts(other)).toEqual(counts(foundIn(reading)))
    expect(other.box).toHaveLength(box.length)
  }))

test('the same file again differs in nothing, and needs nobody', () =>
  assert(fc.tuple(rows, shape), async ([list, how]) => {
    const content = csvOf(list, how)
    const reading = await read(content, { draft: draftOf(how) })
    const again = await read(content, { received: send(reading) })
    const { compared, box, choice } = foundIn(again)
    expect(again.items).toEqual(reading.items)
    expect(choice).toEqual(foundIn(reading).choice)
    expect(compared).toMatchObject({
      newTexts: [],
      goneTexts: [],
      newValues: [],
      higher: 0,
      lower: 0,
      added: 0,
      gone: 0,
    })
    expect(box).toEqual([])
    expect(stopsUnattended(again)).toBe(false)
  }))

test('ten rows are items that are sent, none twice, as many as there are; rows that are left out are gone', () =>
  assert(fc.tuple(months, fc.nat(9)), async ([[before, now, how], at]) => {
    const received = send(await read(csvOf(before, how), { draft: draftOf(how) }))
    const reading = await read(csvOf(now, how), { received })
    const shown = foundIn(reading).examples.map(({ item }) => item)
    expect(shown).toHaveLength(Math.min(10, reading.items.length))
    expect(new Set(shown.map(({ code }) => code)).size).toBe(shown.length)
    for (const item of shown) expect(reading.items).toContainEqual(item)
    const dearest = Math.max(...reading.items.map(({ price }) => price))
    if (shown.length > 0) expect(Math.max(...shown.map(({ price }) => price))).toBe(dearest)
    const leftOut = shown.slice(at).map(({ code }) => code)
    const rest = await read(csvOf(now, how), { received, leftOut })
    expect(rest.items).toEqual(reading.items.filter(({ code }) => !leftOut.includes(code)))
  }))
