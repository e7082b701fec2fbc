import { bestCents, exact, plain } from './decimals.ts'
import { type Files, type Supplier, startSupplier } from './support.ts'

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

interface Discount {
  item: string
  category: string
  group: string
  store: string
  kind: 'percent' | 'amount' | 'price'
  value: string
  minQuantity: string
  from: string
  until: string
}

/** A price list as tables, from which both the CSV files and the expected prices come. */
interface Tables {
  items: { code: string; category: string; price: string }[]
  prices: { item: string; store: string; price: string }[]
  discounts: Discount[]
}

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

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T
/** Dollars with up to four decimals; small ones are as frequent as large ones. */
const dollars = (random: Random) => (random(10 ** (1 + random(9))) / 10 ** random(5)).toFixed(random(5))

function randomTables(random: Random): Tables {
  const codes = Array.from({ length: 200 }, (_, index) => `IT-${index}`)
  const items = codes.map((code) => ({
    code,
    category: pick(random, CATEGORIES),
    price: random(12) === 0 ? pick(random, ['', 'POA']) : dollars(random),
  }))
  const prices = codes.flatMap((item) =>
    STORES.filter(() => random(5) === 0).map((store) => {
      const price = random(6) === 0 ? pick(random, ['POA', 'NONE']) : dollars(random)
      return { item, store, price }
    }),
  )
  const discounts = Array.from({ length: 150 }, (): Discount => {
    const ofItem = random(2) === 0
    const kind = pick(random, ['percent', 'percent', 'amount', 'price'] as const)
    return {
      item: ofItem ? pick(random, codes) : '',
      category: ofItem ? '' : pick(random, CATEGORIES),
      group: pick(random, ['', 'trade', 'vip']),
      store: pick(random, ['', '', ...STORES]),
      kind,
      value: kind === 'percent' ? (random(1_000_001) / 10_000).toFixed(random(5)) : dollars(random),
      minQuantity: pick(random, ['', '2', '10.5', '100']),
      ...pick(random, PERIODS),
    }
  })
  return { items, prices, discounts }
}

function filesOf({ items, prices, discounts }: Tables): Files {
  return {
    stores: ['id,name,latitude,longitude,time_zone', ...STORES.map((id) => `${id},Store ${id},1,2,UTC`)],
    items: ['code,category,price', ...items.map((item) => `${item.code},${item.category},${item.price}`)],
    prices: ['item,store,price', ...prices.map(({ item, store, price }) => `${item},${store},${price}`)],
    members: [
      'number,group',
      ...Object.entries(MEMBERS).flatMap(([number, groups]) => groups.map((group) => `${number},${group}`)),
    ],
    discounts: [
      'item,category,group,store,percent,amount,price,min_quantity,from,until',
      ...discounts.map(({ kind, value, ...rule }) => {
        const values = ['percent', 'amount', 'price'].map((name) => (name === kind ? value : ''))
        const { item, category, group, store, minQuantity, from, until } = rule
        return [item, category, group, store, ...values, minQuantity, from, until].join()
      }),
    ],
  }
}

interface Line {
  itemId: string
  storeId: string
  quantity: number
}

/** What a line costs, by looking at every row of the tables: an error code, or unit price, discount and total. */
function expectedPrice(
  { items, prices, discounts }: Tables,
  line: Line,
  member: string | undefined,
): string[] {
  const { itemId, storeId, quantity } = line
  const groups = member === undefined ? [] : MEMBERS[member]
  if (!groups) return ['member_unknown']
  const item = items.find(({ code }) => code === itemId)
  if (!item) return ['item_unknown']
  if (!STORES.includes(storeId)) return ['store_unknown']
  const ofStore = prices.find((row) => row.item === itemId && row.store === storeId)
  const unitPrice = ofStore?.price ?? item.price
  if (unitPrice === '' || unitPrice === 'NONE') return ['item_not_in_range']
  if (unitPrice === 'POA') return ['price_on_application']
  const applicable = discounts.filter(
    (rule) =>
      (rule.item ? rule.item === itemId : !rule.category || rule.category === item.category) &&
      (!rule.group || groups.includes(rule.group)) &&
      (!rule.store || rule.store === storeId) &&
      quantity >= Number(rule.minQuantity) &&
      (!rule.from || rule.from <= TODAY) &&
      (!rule.until || rule.until >= TODAY),
  )
  const cents = bestCents(unitPrice, quantity, applicable)
  const [unit, count] = [exact(unitPrice), exact(String(quantity))]
  const scale = unit.scale + count.scale + 2
  const total = unit.digits * count.digits * 100n - cents * 10n ** BigInt(scale - 2)
  return [plain(unitPrice), plain(`${cents}e-2`), plain(`${total}e-${scale}`)]
}

const randomQuantity = (random: Random) =>
  pick(random, [random(20) + 1, (random(10_000) + 1) / 100, (random(10_000_000) + 1) / 1000, 1e-7, 1e6])

/** An element of an answer, with its numbers as they are written. */
function actualPrice(element: string): string[] {
  const [, errorCode] = /"errorCode":"(\w+)"/.exec(element) ?? []
  if (errorCode) return [errorCode]
  return ['unitPrice', 'discount', 'totalPrice'].map((name) =>
    plain(new RegExp(`"${name}":([^,}]+)`).exec(element)?.[1] ?? ''),
  )
}

/** Sends random price requests. Resolves to the lines whose answer differs from the expected one. */
export async function wrongPrices(
  requests: number,
  seed: number,
): Promise<{ lines: number; wrong: unknown[] }> {
  const random = randomNumbers(seed)
  const tables = randomTables(random)
  const now = () => Date.parse(`${TODAY}T12:00:00Z`)
  const supplier = await startSupplier(filesOf(tables), { now, tokenSeconds: 1_000_000 })
  const wrong: unknown[] = []
  let [sent, lines] = [0, 0]
  const caller = async () => {
    while (sent++ < requests) {
      const member = pick(random, [undefined, 'M1', 'M2', 'M3', ...(random(20) === 0 ? ['M9'] : [])])
      const items = Array.from({ length: 1 + random(10) }, () => ({
        itemId: `IT-${random(205)}`,
        storeId: random(30) === 0 ? 'S9' : pick(random, STORES),
        quantity: randomQuantity(random),
      }))
      lines += items.length
      wrong.push(...(await differences(supplier, tables, items, member)))
    }
  }
  await Promise.all(Array.from({ length: 8 }, caller))
  await supplier.close()
  return { lines, wrong }
}

async function differences(supplier: Supplier, tables: Tables, items: Line[], member: string | undefined) {
  const answer = await supplier.call('/request-prices', { items, memberNumber: member })
  const elements = (await answer.text()).slice(1, -1).split(/(?<=\}),/)
  return items.flatMap((line, index) => {
    const [expected, actual] = [expectedPrice(tables, line, member), actualPrice(elements[index] ?? '')]
    return actual.join() === expected.join() ? [] : [{ member, line, expected, actual }]
  })
}
