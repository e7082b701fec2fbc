import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { priceItemSchema } from '../../../src/features/live-pricing/contract.ts'
import { bestDiscount, moneyOf } from '../../../src/features/live-pricing/money.ts'
import type { PriceProvider } from '../../../src/features/live-pricing/price-provider.ts'
import { line, type Supplier, startSupplier } from './support.ts'

let supplier: Supplier
beforeAll(async () => {
  supplier = await startSupplier()
})
afterAll(() => supplier.close())

/** A decimal as a whole number over a power of ten, by BigInt alone. */
function exact(text: string): { digits: bigint; scale: number } {
  const [, mantissa = '', exponent = '0'] = /^([-\d.]+)(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const [whole = '', fraction = ''] = mantissa.split('.')
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/** unitPrice * quantity - discount as the text of a decimal. */
function totalOf(unitPrice: string, quantity: string, discount: string): string {
  const [unit, count, off] = [exact(unitPrice), exact(quantity), exact(discount)]
  const scale = Math.max(unit.scale + count.scale, off.scale)
  const raise = (digits: bigint, from: number) => digits * 10n ** BigInt(scale - from)
  const total = raise(unit.digits * count.digits, unit.scale + count.scale) - raise(off.digits, off.scale)
  const text = String(total < 0n ? -total : total).padStart(scale + 1, '0')
  const point = text.length - scale
  return `${total < 0n ? '-' : ''}${text.slice(0, point)}${scale > 0 ? `.${text.slice(point)}` : ''}`
}
/** A number as a reader of decimals sees it, without zeros that mean nothing. */
function plain(text: string): string {
  let { digits, scale } = exact(text)
  for (; scale > 0 && digits % 10n === 0n; scale--) digits /= 10n
  return `${digits}e-${scale}`
}

const cents = fc.integer({ min: 0, max: 10_000_000 }).map((value) => (value / 100).toFixed(2))
const fine = fc.integer({ min: 0, max: 2_000_000_000 }).map((value) => (value / 10_000).toFixed(4))
const quantities = fc.oneof(
  fc.integer({ min: 1, max: 100_000 }).map((value) => value / 10),
  fc.integer({ min: 1, max: 1_000_000 }),
  fc.double({ min: 1e-6, max: 1_000_000, noNaN: true }),
)

describe('money', () => {
  test('a total is unitPrice * quantity - discount, to the last digit, for any quantity', () => {
    fc.assert(
      fc.property(
        fc.oneof(cents, fine),
        quantities,
        fc.integer({ min: 0, max: 100 }),
        (unitPrice, quantity, percent) => {
          const discount =
            bestDiscount(unitPrice, quantity, [{ kind: 'percent', value: String(percent) }]) ?? '0'
          const json = JSON.stringify(moneyOf(unitPrice, quantity, discount))
          const [, total = ''] = /"totalPrice":([^}]+)\}/.exec(json) ?? []
          const right = totalOf(unitPrice, String(quantity), discount)
          expect(Number(total)).toBe(Number(right))
          // The digits themselves, and not those of the nearest double.
          expect(plain(total)).toBe(plain(right))
        },
      ),
      { numRuns: 5000 },
    )
  })

  test.each([
    ['0.1', 3, '0', 0.3],
    ['1.1', 2.4, '0', 2.64],
    ['4.35', 100, '0', 435],
    ['1.005', 1000, '0', 1005],
    ['12.345', 0.1, '0.12', 1.1145],
  ])('%s dollars times %d less %s is %d', (unitPrice, quantity, discount, total) => {
    expect(moneyOf(unitPrice, quantity, discount).totalPrice).toBe(total)
  })

  test('a total of more digits than a double keeps is told with all of them', () => {
    expect(JSON.stringify(moneyOf('85143.7771', 913.5443))).toContain('"totalPrice":77782612.25017553}')
    expect(JSON.stringify(moneyOf('8042274.0004', 9.2024))).toContain('"totalPrice":74008222.26128096}')
  })

  test('a discount is rounded half up to whole cents, is the best of those that apply, and leaves no price below 0', () => {
    const percent = (value: string) => ({ kind: 'percent', value }) as const
    expect(bestDiscount('0.10', 1, [percent('5')])).toBe('0.01')
    expect(bestDiscount('0.10', 1, [percent('4.9')])).toBeUndefined()
    expect(
      bestDiscount('10', 3, [
        percent('5'),
        { kind: 'amount', value: '0.6' },
        { kind: 'price', value: '9.45' },
      ]),
    ).toBe('1.8')
    expect(bestDiscount('0.128', 1, [percent('100')])).toBe('0.12')
    expect(bestDiscount('5', 1, [{ kind: 'price', value: '7' }])).toBeUndefined()
  })

  test('a price provider that answers no decimal, a negative price, or more discount than price is found out', () => {
    for (const [unitPrice, discount] of [
      ['x', '0'],
      ['NaN', '0'],
      ['-1', '0'],
      ['1', '-0.5'],
      ['1', '3'],
      ['', '0'],
    ] as const)
      expect(() => moneyOf(unitPrice, 2, discount), unitPrice).toThrow()
  })
})

describe('POST /request-prices', () => {
  test('prices each item for the member, in the order of the request, duplicates and all', async () => {
    const items = [
      line('B', 'S1', 100),
      line('A', 'S2', 2),
      line('A', 'S1', 2.4),
      line('A', 'S2', 2),
      line('A', 'S1', 200),
      line('D'),
    ]
    expect(await supplier.prices(items, 'CUST1')).toEqual([
      { ...items[0], unitPrice: 0.0835, discount: 0, totalPrice: 8.35 },
      { ...items[1], unitPrice: 13.75, discount: 2.75, totalPrice: 24.75 },
      { ...items[2], unitPrice: 12.5, discount: 3, totalPrice: 27 },
      { ...items[3], unitPrice: 13.75, discount: 2.75, totalPrice: 24.75 },
      { ...items[4], unitPrice: 12.5, discount: 400, totalPrice: 2100 },
      { ...items[5], unitPrice: 40, discount: 0, totalPrice: 40 },
    ])
    // Not in a group, or nobody: what anybody gets.
    for (const member of ['CUST2', undefined, ''])
      expect((await supplier.prices([line('A', 'S1', 100)], member))[0]).toMatchObject({
        discount: 200,
        totalPrice: 1050,
      })
  })

  test('what is asked again and again is answered alike, and another question in between by its own answer', async () => {
    const fresh = await startSupplier()
    const items = ['A', 'Z', 'B', 'C', 'D'].flatMap((item) =>
      ['S1', 'S2', 'S9'].flatMap((store) => [line(item, store, 1), line(item, store, 150)]),
    )
    const ask = async () => [
      await fresh.prices(items, 'CUST1'),
      await fresh.prices(items.toReversed(), 'CUST2'),
      await fresh.prices(items.slice(3)),
    ]
    const first = await ask()
    for (let time = 0; time < 3; time++) expect(await ask()).toEqual(first)
    await fresh.close()
  })

  test.each([
    ['an unknown item', line('Z'), 'item_unknown'],
    ['an unknown store', line('A', 'S9'), 'store_unknown'],
    ['an item that the store does not carry', line('B', 'S2'), 'item_not_in_range'],
    ['an item that only another store carries', line('D', 'S2'), 'item_not_in_range'],
    ['a price on application', line('C'), 'price_on_application'],
    ['quantity 0', line('A', 'S1', 0), 'quantity_invalid'],
    ['a negative quantity', line('A', 'S1', -1), 'quantity_invalid'],
    ['a quantity in quotes', line('A', 'S1', '2'), 'quantity_invalid'],
    ['quantity null', line('A', 'S1', null), 'quantity_invalid'],
    ['a quantity that is an object', line('A', 'S1', {}), 'quantity_invalid'],
    ['a quantity that is too large', line('A', 'S1', 1_000_001), 'quantity_too_large'],
  ])('%s is an error of that item, and the others have their prices', async (_, bad, errorCode) => {
    const [before, answer, after] = await supplier.prices([line('A'), bad, line('A')])
    expect(answer).toEqual({
      ...{
        itemId: bad.itemId,
        storeId: bad.storeId,
        quantity: typeof bad.quantity === 'number' ? bad.quantity : null,
      },
      ...{
        unitPrice: null,
        discount: null,
        totalPrice: null,
        errorCode,
        errorMessage: expect.stringMatching(/\.$/),
      },
    })
    expect([before?.totalPrice, after?.totalPrice]).toEqual([12.5, 12.5])
  })

  test('a quantity beyond all numbers is too large', async () => {
    const answer = await supplier.call(
      '/request-prices',
      '{"items":[{"itemId":"A","storeId":"S1","quantity":1e999}]}',
    )
    expect(await answer.json()).toMatchObject([{ quantity: null, errorCode: 'quantity_too_large' }])
  })

  test('an unknown member number is an error of each item, not the price that anybody gets', async () => {
    const answers = await supplier.prices([line('A'), line('B')], 'CUST9')
    expect(answers.map(({ errorCode, unitPrice }) => [errorCode, unitPrice])).toEqual([
      ['member_unknown', null],
      ['member_unknown', null],
    ])
  })

  test('an empty list is answered by one, and 1,000 items by 1,000', async () => {
    expect(await supplier.prices([])).toEqual([])
    expect(await supplier.prices(Array(1000).fill(line('A')))).toHaveLength(1000)
  })

  test.each<[string, unknown, string[]]>([
    ['no body', '', ['body']],
    ['no JSON', '{"items":', ['body']],
    ['an array', [], ['body']],
    ['null', 'null', ['body']],
    ['no items', {}, ['items']],
    ['items that are no list', { items: {} }, ['items']],
    ['a member number that is a number', { items: [], memberNumber: 7 }, ['memberNumber']],
    [
      'items of other forms',
      { items: [line('A'), 3, { itemId: 1, storeId: 'S1', quantity: 1 }, { itemId: 'A' }] },
      ['items[1]', 'items[2].itemId', 'items[3].storeId', 'items[3].quantity'],
    ],
  ])(
    'a body with %s fails as a whole: 400, and every problem is named by its place',
    async (_, body, paths) => {
      const answer = await supplier.call('/request-prices', body)
      const problem = (await answer.json()) as { code: string; errors: { path: string }[] }
      expect([answer.status, answer.headers.get('content-type'), problem.code]).toEqual([
        400,
        'application/problem+json; charset=utf-8',
        'invalid_input',
      ])
      expect(problem.errors.map(({ path }) => path)).toEqual(paths)
    },
  )

  test('more than 1,000 items or 1 MB is 413', async () => {
    expect((await supplier.call('/request-prices', { items: Array(1001).fill(line('A')) })).status).toBe(413)
    expect((await supplier.call('/request-prices', { items: [line('A'.repeat(1_000_000))] })).status).toBe(
      413,
    )
  })

  test('each of a thousand bad items is named by its place', async () => {
    const answer = await supplier.call('/request-prices', { items: Array(1000).fill(null) })
    const problem = (await answer.json()) as { detail: string; errors: { path: string }[] }
    expect(problem.errors.map(({ path }) => path)).toEqual(
      Array.from({ length: 1000 }, (_, at) => `items[${at}]`),
    )
    expect(problem.detail).toBe(
      'items[0]: must be of the type object, not null. All 1000 problems are in errors.',
    )
  })

  test('a byte order mark is passed over, and an encoding that nobody here knows is 415', async () => {
    const marked = await supplier.call('/request-prices', `\uFEFF${JSON.stringify({ items: [line('A')] })}`)
    expect(await marked.json()).toMatchObject([{ totalPrice: 12.5 }])
    const encoded = await supplier.call('/request-prices', '{}', { 'content-encoding': 'zebra' })
    expect([encoded.status, await encoded.json()]).toEqual([415, expect.objectContaining({ status: 415 })])
  })

  test('another method is 405 and says which it takes', async () => {
    const answer = await supplier.call('/request-prices')
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('no body whatsoever is answered 5xx, and a good answer is of the promised form', async () => {
    const id = fc.oneof(
      fc.constantFrom('A', 'B', 'C', 'D', 'S1', 'S2', '__proto__', 'toString'),
      fc.string({ unit: 'binary' }),
    )
    const item = fc.oneof(
      fc.record({ itemId: id, storeId: id, quantity: fc.oneof(fc.double(), fc.integer(), fc.jsonValue()) }),
      fc.jsonValue(),
    )
    const request = fc.record(
      {
        memberNumber: fc.oneof(fc.constantFrom('CUST1', 'CUST2', null), fc.jsonValue()),
        items: fc.oneof(fc.array(item), fc.jsonValue()),
      },
      { requiredKeys: [] },
    )
    const body = fc.oneof(
      { weight: 4, arbitrary: request.map((value) => JSON.stringify(value)) },
      { weight: 1, arbitrary: fc.json() },
      { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    )
    const type = fc.constantFrom(
      'application/json',
      'text/plain',
      'application/json; charset=utf-16',
      'multipart/form-data',
      '',
    )
    await fc.assert(
      fc.asyncProperty(body, type, async (text, contentType) => {
        const answer = await supplier.call('/request-prices', text, { 'content-type': contentType })
        expect([200, 400, 413]).toContain(answer.status)
        const value = await answer.json()
        if (answer.status === 200) priceItemSchema.array().length(JSON.parse(text).items.length).parse(value)
      }),
      { numRuns: 400 },
    )
  })
})

describe('a price provider that fails', () => {
  const provider = (prices: PriceProvider['prices']): PriceProvider => ({
    prices,
    store: async () => null,
    nearest: async () => [],
  })
  const faults: [string, PriceProvider['prices']][] = [
    [
      'throws',
      () => {
        throw new Error('ERP down: password=hunter2')
      },
    ],
    ['rejects', async () => Promise.reject(new Error('ERP down: password=hunter2'))],
    ['never answers', () => new Promise(() => {})],
    ['answers too few lines', async () => []],
    ['answers too many lines', async () => [{ unitPrice: '1' }, { unitPrice: '2' }]],
    ['answers nonsense', async (lines) => lines.map(() => ({ unitPrice: 'free' }))],
    ['answers nothing', async () => undefined as never],
    ['answers text', async () => 'x' as never],
    ['answers lines that are text', async (lines) => lines.map(() => '5') as never],
    ['answers errors that it made up', async (lines) => lines.map(() => ({ error: 'sold_out' })) as never],
    ['answers neither price nor error', async (lines) => lines.map(() => ({ error: undefined })) as never],
    ['answers holes', async (lines) => new Array(lines.length)],
  ]
  test.each(faults)(
    'that %s makes its items errors, not the call, and its words stay inside',
    async (_, prices) => {
      const failing = await startSupplier(provider(prices), { timeoutMs: 50 })
      const answers = await failing.prices([line('A'), line('B', 'S1', 0)])
      expect(answers).toMatchObject([
        { unitPrice: null, discount: null, totalPrice: null, errorCode: 'price_unavailable' },
        { errorCode: 'quantity_invalid' },
      ])
      expect(JSON.stringify(answers) + failing.logLines.join('')).not.toContain('hunter2')
      await failing.close()
    },
  )

  test('of one item leaves the others their prices', async () => {
    const mixed = await startSupplier(provider(async () => [{ unitPrice: '-3' }, { unitPrice: '3' }]))
    expect(await mixed.prices([line('A'), line('B')])).toMatchObject([
      { errorCode: 'price_unavailable' },
      { totalPrice: 3 },
    ])
    await mixed.close()
  })

  test('for stores answers 503 with Retry-After', async () => {
    const broken = await startSupplier({
      prices: async () => [],
      store: async () => Promise.reject(new Error('x')),
      nearest: async () => Promise.reject(new Error('x')),
    })
    for (const path of ['/stores/S1', '/stores/nearest?latitude=1&longitude=1&radius=1']) {
      const answer = await broken.call(path)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30'])
    }
    await broken.close()
  })
})

test('more requests than the limit are 429 with Retry-After, for that client alone', async () => {
  const limited = await startSupplier(undefined, { rateLimit: { limit: 5, windowMs: 60_000 } })
  const statuses = []
  for (let call = 0; call < 7; call++) statuses.push((await limited.call('/stores/S1')).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
  const refused = await limited.call('/request-prices', { items: [] })
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
  await limited.close()
})
