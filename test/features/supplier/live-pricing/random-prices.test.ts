import { expect, test } from 'vitest'
import type { PriceLine } from '../../../../src/features/supplier/live-pricing/price-provider.ts'
import { type Files, testSupplier } from './support.ts'

/** A decimal as a whole number over a power of ten, by BigInt alone. */
function exact(text: string): { digits: bigint; scale: number } {
  const [, mantissa = '', exponent = '0'] = /^([-\d.]+)(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const [whole = '', fraction = ''] = mantissa.split('.')
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/** A decimal number without insignificant zeros. */
function plain(text: string): string {
  let { digits, scale } = exact(text)
  for (; scale > 0 && digits % 10n === 0n; scale--) digits /= 10n
  return `${digits}e-${scale}`
}

/** The best discount in cents, by BigInt alone. Amounts are whole numbers over 10 to the power of 40. */
function bestCents(
  unitPrice: string,
  quantity: number,
  reductions: readonly { kind: string; value: string }[],
): bigint {
  const of = (text: string) => {
    const { digits, scale } = exact(text)
    return digits * 10n ** BigInt(40 - scale)
  }
  const one = 10n ** 40n
  const [unit, count] = [of(unitPrice), of(String(quantity))]
  const gross = (unit * count) / one
  const cent = one / 100n
  let best = 0n
  for (const { kind, value } of reductions) {
    const percent = (gross * of(value)) / one / 100n
    const perUnit = kind === 'price' ? unit - of(value) : of(value)
    const discount = kind === 'percent' ? percent : (perUnit * count) / one
    if (discount > best) best = discount
  }
  const rounded = (best + cent / 2n) / cent
  return rounded * cent > gross ? gross / cent : rounded
}

/** Numbers below a limit that look random but are the same in each run (mulberry32). */
function randomNumbers(seed: number) {
  let state = seed
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}
type Random = ReturnType<typeof randomNumbers>

/** A price list as tables, from which both the CSV files and the expected prices come. */
type Tables = Record<'items' | 'prices' | 'discounts', Record<string, string>[]>

const STORES = ['S0', 'S1', 'S2', 'S3']
const CATEGORIES = ['', 'Timber', 'Fixings', 'Paint']
const MEMBERS: Record<string, string[]> = { M1: ['trade'], M2: ['trade', 'vip'], M3: [''] }
const TODAY = '2026-07-15'
const PERIODS = [
  { from: '', until: '' },
  { from: TODAY, until: '' },
  { from: '', until: TODAY },
  { from: '', until: '2026-07-14' },
  { from: '2026-07-16', until: '2026-07-20' },
]
const KINDS = ['percent', 'amount', 'price']

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T
/** Dollars with up to four decimals; small ones are as frequent as large ones. */
const dollars = (random: Random) => (random(10 ** (1 + random(9))) / 10 ** random(5)).toFixed(random(5))

function randomTables(random: Random): Tables {
  const codes = Array.from({ length: 200 }, (_, index) => `IT-${index}`)
  const prices = codes.flatMap((item) =>
    STORES.filter(() => random(5) === 0).map((store) => {
      const price = random(6) === 0 ? pick(random, ['POA', 'NONE']) : dollars(random)
      return { item, store, price }
    }),
  )
  const items = codes.map((code) => {
    // An item must have a price somewhere.
    const isPriced = prices.some(({ item, price }) => item === code && price !== 'NONE')
    const none = isPriced ? pick(random, ['', 'POA']) : 'POA'
    return { code, category: pick(random, CATEGORIES), price: random(12) === 0 ? none : dollars(random) }
  })
  const discounts = Array.from({ length: 150 }, () => {
    const ofItem = random(2) === 0
    const kind = pick(random, ['percent', ...KINDS])
    const value = kind === 'percent' ? (random(1_000_001) / 10_000).toFixed(random(5)) : dollars(random)
    return {
      item: ofItem ? pick(random, codes) : '',
      category: ofItem ? '' : pick(random, CATEGORIES),
      group: pick(random, ['', 'trade', 'vip']),
      store: pick(random, ['', '', ...STORES]),
      ...Object.fromEntries(KINDS.map((name) => [name, name === kind ? value : ''])),
      min_quantity: pick(random, ['', '2', '10.5', '100']),
      ...pick(random, PERIODS),
    }
  })
  return { items, prices, discounts }
}

const csv = (rows: Record<string, string>[]) => [
  Object.keys(rows[0] ?? {}).join(),
  ...rows.map((row) => Object.values(row).join()),
]

const filesOf = ({ items, prices, discounts }: Tables): Files => ({
  stores: ['id,name,latitude,longitude,time_zone', ...STORES.map((id) => `${id},Store ${id},1,2,UTC`)],
  items: csv(items),
  prices: csv(prices),
  members: csv(Object.entries(MEMBERS).flatMap(([number, of]) => of.map((group) => ({ number, group })))),
  discounts: csv(discounts),
})

/** The price of a line, found by reading every row of the tables: an error code, or unit price, discount and total. */
function expectedPrice({ items, prices, discounts }: Tables, line: PriceLine, member?: string): string[] {
  const { itemId, storeId, quantity } = line
  const groups = member === undefined ? [] : MEMBERS[member]
  if (!groups) return ['member_unknown']
  const item = items.find(({ code }) => code === itemId)
  if (!item) return ['item_unknown']
  if (!STORES.includes(storeId)) return ['store_unknown']
  const ofStore = prices.find((row) => row.item === itemId && row.store === storeId)
  const unitPrice = ofStore?.price ?? item.price ?? ''
  if (unitPrice === '' || unitPrice === 'NONE') return ['item_not_in_range']
  if (unitPrice === 'POA') return ['price_on_application']
  const applicable = discounts.filter(
    ({ item: code, category, group, store, min_quantity, from, until }) =>
      (code ? code === itemId : !category || category === item.category) &&
      (!group || groups.includes(group)) &&
      (!store || store === storeId) &&
      quantity >= Number(min_quantity) &&
      (!from || from <= TODAY) &&
      (!until || until >= TODAY),
  )
  const reductions = applicable.flatMap((row) =>
    KINDS.flatMap((kind) => (row[kind] ? { kind, value: row[kind] } : [])),
  )
  const cents = bestCents(unitPrice, quantity, reductions)
  const [unit, count] = [exact(unitPrice), exact(String(quantity))]
  const scale = unit.scale + count.scale + 2
  const total = unit.digits * count.digits * 100n - cents * 10n ** BigInt(scale - 2)
  return [plain(unitPrice), plain(`${cents}e-2`), plain(`${total}e-${scale}`)]
}

/** A part of an answer. Its numbers are kept as text. */
function actualPrice(element: string): string[] {
  const [, errorCode] = /"errorCode":"(\w+)"/.exec(element) ?? []
  if (errorCode) return [errorCode]
  return ['unitPrice', 'discount', 'totalPrice'].map((name) =>
    plain(new RegExp(`"${name}":([^,}]+)`).exec(element)?.[1] ?? ''),
  )
}

test('200 random price requests equal an independent computation in decimals, to the last digit', async () => {
  const random = randomNumbers(1)
  const tables = randomTables(random)
  const now = () => Date.parse(`${TODAY}T12:00:00Z`)
  const supplier = await testSupplier(filesOf(tables), { now, tokenSeconds: 1_000_000 })
  const quantity = () =>
    pick(random, [random(20) + 1, (random(10_000) + 1) / 100, (random(10_000_000) + 1) / 1000, 1e-7, 1e6])
  for (let sent = 0; sent < 200; sent++) {
    const member = pick(random, [undefined, 'M1', 'M2', 'M3', ...(random(20) === 0 ? ['M9'] : [])])
    const items = Array.from({ length: 1 + random(10) }, () => ({
      itemId: `IT-${random(205)}`,
      storeId: random(30) === 0 ? 'S9' : pick(random, STORES),
      quantity: quantity(),
    }))
    const answer = await supplier.call('/request-prices', { items, memberNumber: member })
    const actual = (await answer.text())
      .slice(1, -1)
      .split(/(?<=\}),/)
      .map(actualPrice)
    expect(actual, JSON.stringify({ items, member })).toEqual(
      items.map((line) => expectedPrice(tables, line, member)),
    )
  }
})
