import { describe, expect, test, vi } from 'vitest'
import type { LivePricingOptions } from '../../../src/features/live-pricing/api.ts'
import type { PriceProvider } from '../../../src/features/live-pricing/price-provider.ts'
import { DAYS, type Store } from '../../../src/supplier-api/contract.ts'
import { line, testSupplier } from './support.ts'

const NEAREST = '/stores/nearest?latitude=1&longitude=1&radius=1'
/** The API with a price provider that only has this. What a provider of JavaScript answers has any type. */
const withProvider = (provider: object, options: Partial<LivePricingOptions> = {}) =>
  testSupplier(
    { prices: async () => [], store: async () => null, nearest: async () => [], ...provider },
    options,
  )
const ERP_DOWN = 'ERP down: password=hunter2'
const UNAVAILABLE = { unitPrice: null, discount: null, totalPrice: null, errorCode: 'price_unavailable' }
const lineOf = (itemId: string) => line(itemId)

describe('a price provider', () => {
  test.each<[string, (lines: readonly unknown[]) => unknown]>([
    [
      'throws',
      () => {
        throw new Error(ERP_DOWN)
      },
    ],
    ['rejects', () => Promise.reject(new Error(ERP_DOWN))],
    ['never answers', () => new Promise(() => {})],
    ['answers too few lines', async () => []],
    ['answers too many lines', async (lines) => [...lines, null].map(() => ({ unitPrice: '1' }))],
    ['answers nothing', async () => undefined],
    ['answers text', async () => 'x'],
    ['answers lines that are text', async (lines) => lines.map(() => '5')],
    ['answers errors that it made up', async (lines) => lines.map(() => ({ error: 'sold_out' }))],
    ['answers neither price nor error', async (lines) => lines.map(() => ({ error: undefined }))],
    ['answers holes', async (lines) => new Array(lines.length)],
    ['answers no unitPrice', async (lines) => lines.map(() => ({ unitPrice: null }))],
  ])('that %s causes item errors, not a failed call, and its message is not exposed', async (_, prices) => {
    const failing = await withProvider({ prices }, { timeoutMs: 50 })
    const lines = [line('A', 'S1', 1), line('B', 'S2', 0), line('C', 'S3', 3)]
    const answers = await failing.prices(lines)
    expect(answers).toMatchObject([
      { ...lines[0], ...UNAVAILABLE },
      { ...lines[1], errorCode: 'quantity_invalid' },
      { ...lines[2], ...UNAVAILABLE },
    ])
    expect(JSON.stringify(answers) + failing.logLines.join('')).not.toContain('hunter2')
  })

  test('that fails has its own message in the log, without what looks like a secret', async () => {
    const message =
      'ERP-17: pool exhausted; AccountKey=hunter2; AWS_SECRET_ACCESS_KEY=hunter2 secretKey: hunter2 Cookie: a=hunter2 "password":"a\\"hunter2" x://u:p/hunter2@y Bearer hunter2; access_key: hunter2 https://erp.example/p?sig=hunter2 password=hunter2 postgres://erp:hunter2@db/prices Authorization: Bearer hunter2'
    const failing = await withProvider({ prices: () => Promise.reject(new Error(message)) })
    await failing.prices([line('A')])
    const log = failing.logLines.join('')
    expect(log).toContain('ERP-17: pool exhausted')
    expect(log).toContain('postgres://[redacted]@db/prices')
    expect(log).not.toContain('hunter2')
  })

  test('may return amounts as decimal text or as numbers, of which none is changed by doubles', async () => {
    const amounts = [12.5, 0.1, 3, 0, 1e-7, '12.50']
    const erp = await withProvider({
      prices: async () => [...amounts.map((unitPrice) => ({ unitPrice })), { unitPrice: 10, discount: 0.3 }],
    })
    const priced = await erp.prices([...amounts.map(() => line('A', 'S1', 2)), line('A')])
    expect(priced.map(({ unitPrice, totalPrice }) => [unitPrice, totalPrice])).toEqual([
      [12.5, 25],
      [0.1, 0.2],
      [3, 6],
      [0, 0],
      [1e-7, 2e-7],
      [12.5, 25],
      [10, 9.7],
    ])
  })

  test.each<[string, unknown]>([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['text with a unit', '12.50 AUD'],
    ['text with a thousands separator', '1,250.00'],
    ['text with spaces', ' 12.50 '],
    ['empty text', ''],
    ['other text', 'free'],
    ['an object', { amount: 12.5 }],
    ['an array of one number', [12.5]],
    ['true', true],
    ['a bigint', 12n],
    ['a hexadecimal number', '0x10'],
    ['a negative number', -1],
    ['a number that is too large', '1e400'],
    ['a number that is too small', '1e-400'],
    ['a number beyond all prices', 1e308],
    ['60,000 digits', '9'.repeat(60_000)],
    ['60,000 digits and a letter', `${'1'.repeat(60_000)}x`],
  ])(
    'that returns %s is never guessed: the line is an error, and the log names it',
    async (_what, amount) => {
      const prices = async () => [{ unitPrice: amount }, { unitPrice: 3 }, { unitPrice: 5, discount: amount }]
      const erp = await withProvider({ prices })
      expect(await erp.prices(['ITEM-7', 'B', 'ITEM-9'].map(lineOf))).toMatchObject([
        UNAVAILABLE,
        { totalPrice: 3 },
        UNAVAILABLE,
      ])
      const logged = erp.logLines.map((text) => JSON.parse(text)).find(({ items }) => items)
      expect(logged).toMatchObject({
        level: 'error',
        count: 2,
        items: [
          { itemId: 'ITEM-7', reason: expect.stringMatching(/^unitPrice is /) },
          { itemId: 'ITEM-9', reason: expect.stringMatching(/^discount is /) },
        ],
      })
    },
  )

  test.each<[what: string, fail: () => unknown]>([
    ['null', () => null],
    [
      'an error with a message that is no text',
      () => Object.assign(new Error('x'), { message: { a: 1 }, stack: 7 }),
    ],
    [
      'an error whose members throw',
      () =>
        new Proxy(new Error('x'), {
          get: () => {
            throw new Error('hunter2')
          },
        }),
    ],
  ])('may throw %s, in a method or in a member of a result', async (_what, fail) => {
    const result = {
      get unitPrice(): string {
        throw fail()
      },
    }
    for (const prices of [() => Promise.reject(fail()), async () => [result, { unitPrice: 3 }]]) {
      const failing = await withProvider({ prices })
      expect((await failing.prices(['A', 'B'].map(lineOf)))[0]).toMatchObject({ itemId: 'A', ...UNAVAILABLE })
    }
  })

  test.each<[what: string, near: unknown]>([
    ['null', null],
    ['text', 'x'],
    ['NaN as distance', [{ store: {}, distanceKm: Number.NaN }]],
    ['no distance', [{ store: {} }]],
    ['null as distance', [{ store: {}, distanceKm: null }]],
    ['no store', [{ distanceKm: 1 }]],
    ['a bigint in a store', [{ store: { id: 1n }, distanceKm: 1 }]],
  ])('that finds %s has its failure reported as 503', async (_what, near) => {
    const answer = await (await withProvider({ nearest: async () => near })).call(NEAREST)
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'stores_unavailable' }])
  })

  test('that fails for stores causes a 503 with Retry-After', async () => {
    const fail = () => Promise.reject(new Error('x'))
    const broken = await withProvider({ store: fail, nearest: fail })
    for (const path of ['/stores/S1', NEAREST]) {
      const answer = await broken.call(path)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30'])
    }
  })

  /** A price provider that waits until its signal is aborted, and then fails. */
  function waiting() {
    const aborted: string[] = []
    const called = Promise.withResolvers<string>()
    const until = (name: string, signal: AbortSignal) => {
      called.resolve(name)
      return new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push(name)
          reject(new Error('aborted'))
        })
      })
    }
    const provider: PriceProvider = {
      store: (_, signal) => until('store', signal),
      nearest: (_place, _limit, signal) => until('nearest', signal),
      prices: (_lines, _member, signal) => until('prices', signal),
    }
    return { provider, aborted, called: called.promise }
  }
  const calls: [string, string, unknown?][] = [
    ['store', '/stores/S1'],
    ['nearest', NEAREST],
    ['prices', '/request-prices', { items: [line('A')] }],
  ]

  test.each(calls)(
    'has its signal aborted if the caller of %s disconnects, which is no error',
    async (name, path, body) => {
      const { provider, aborted, called } = waiting()
      const supplier = await withProvider(provider)
      const caller = new AbortController()
      const call = fetch(supplier.url + path, {
        headers: { authorization: `Bearer ${await supplier.token()}` },
        signal: caller.signal,
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      })
      expect(await called).toBe(name)
      expect(aborted).toEqual([])
      caller.abort()
      await expect(call).rejects.toThrow()
      await vi.waitFor(() => {
        expect(aborted).toEqual([name])
        expect(supplier.logLines.join('')).toContain('request aborted')
      })
      expect(supplier.logLines.join('')).not.toContain('the price provider failed')
    },
  )

  test.each(calls)(
    'has its signal aborted when %s takes longer than the time limit',
    async (name, path, body) => {
      const { provider, aborted } = waiting()
      const supplier = await withProvider(provider, { timeoutMs: 50 })
      const answer = await supplier.call(path, body)
      expect([answer.status, aborted]).toEqual([name === 'prices' ? 200 : 503, [name]])
      expect(supplier.logLines.join('')).toContain('the price provider failed')
    },
  )
})

test('private fields of a store are never sent, whatever they are called and however deep they are', async () => {
  const PRIVATE = 'private-margin-0.31'
  const opening = { opens: '07:00', closes: '17:00', name: PRIVATE, day: PRIVATE }
  const address = { street: '1 St', suburb: 'S', state: 'NSW', postcode: '2000', country: 'AU' }
  const store: Record<keyof Store | 'distance' | 'margin', unknown> = {
    id: 'S1',
    name: 'North',
    address: { ...address, phone: PRIVATE, id: PRIVATE },
    // A field that should be text.
    phone: { number: PRIVATE },
    latitude: -33,
    longitude: 151,
    distance: PRIVATE,
    tradingHours: {
      timeZone: 'Australia/Sydney',
      dailyTradingHours: DAYS.map((day) => ({ day, openingHours: [opening], id: PRIVATE, date: PRIVATE })),
      publicHolidays: [{ date: '2026-12-25', name: 'Christmas Day', openingHours: [], closes: PRIVATE }],
      phone: PRIVATE,
    },
    margin: PRIVATE,
  }
  const supplier = await withProvider({
    store: async () => store,
    nearest: async () => [{ store, distanceKm: 1.23456 }],
  })
  for (const path of ['/stores/S1', NEAREST]) {
    const text = await (await supplier.call(path)).text()
    expect(text).not.toContain(PRIVATE)
    expect(text).toContain('Christmas Day')
    expect(text.includes('"distance":1.235')).toBe(path === NEAREST)
  }
})
