import { describe, expect, test, vi } from 'vitest'
import { DAYS, type Store } from '../../../../src/features/supplier/api/contract.ts'
import type { LivePricingOptions } from '../../../../src/features/supplier/live-pricing/api.ts'
import {
  type PriceProvider,
  PriceProviderError,
} from '../../../../src/features/supplier/live-pricing/price-provider.ts'
import { line, testSupplier } from './support.ts'

const NEAREST = '/stores/nearest?latitude=1&longitude=1&radius=1'
/** The API with a price provider that only has this. A provider in JavaScript may return values of any type. */
const withProvider = (provider: object, options: Partial<LivePricingOptions> = {}) =>
  testSupplier(
    { prices: async () => [], store: async () => null, nearest: async () => [], ...provider },
    options,
  )
const fail = (thrown: unknown) => () => Promise.reject(thrown)
const UNAVAILABLE = { unitPrice: null, discount: null, totalPrice: null, errorCode: 'price_unavailable' }

describe('a price provider', () => {
  test.each<[string, (lines: readonly unknown[]) => unknown]>([
    ['rejects', fail(new Error('ERP down: password=hunter2'))],
    ['throws null', fail(null)],
    ['throws an error without text', fail(Object.assign(new Error('x'), { message: { a: 1 }, stack: 7 }))],
    ['never answers', () => new Promise(() => {})],
    ['answers too few lines', async () => []],
    ['answers too many lines', async (lines) => [...lines, null].map(() => ({ unitPrice: '1' }))],
    ['answers nothing', async () => undefined],
    ['answers lines that are text', async (lines) => lines.map(() => '5')],
    ['answers errors that it made up', async (lines) => lines.map(() => ({ error: 'sold_out' }))],
    ['answers neither price nor error', async (lines) => lines.map(() => ({ error: undefined }))],
    ['answers holes', async (lines) => new Array(lines.length)],
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

  test('that fails has the type and the place of its error in the log, and only the message of a PriceProviderError', async () => {
    const error = Object.assign(new TypeError('password=hunter2'), { code: 'ECONNREFUSED' })
    for (const [thrown, logged] of [
      [error, /"reason":"TypeError ECONNREFUSED at .*price-provider\.test\.ts/],
      [new PriceProviderError('ERP-17: pool exhausted'), /"reason":"ERP-17: pool exhausted"/],
    ] as const) {
      const failing = await withProvider({ prices: fail(thrown) })
      await failing.prices([line('A')])
      expect(failing.logLines.join('')).toMatch(logged)
      expect(failing.logLines.join('')).not.toContain('hunter2')
    }
  })

  test('may return amounts as decimal text or as numbers, of which none is changed by doubles', async () => {
    const amounts = [12.5, 0.1, 3, 0, 1e-7, '12.50']
    const erp = await withProvider({
      prices: async () => [...amounts.map((unitPrice) => ({ unitPrice })), { unitPrice: 10, discount: 0.3 }],
    })
    const priced = await erp.prices([...amounts.map(() => line('A', 'S1', 2)), line('A')])
    const totals = priced.map(({ unitPrice, totalPrice }) => `${unitPrice} ${totalPrice}`)
    expect(totals).toEqual(['12.5 25', '0.1 0.2', '3 6', '0 0', '1e-7 2e-7', '12.5 25', '10 9.7'])
  })

  const AMOUNTS: unknown[] = [Number.NaN, Number.POSITIVE_INFINITY, '12.50 AUD', '1,250.00', ' 12.50 ', '']
  AMOUNTS.push({ amount: 12.5 }, [12.5], true, 12n, '0x10', -1, '1e400', '1e-400', 1e308, '9'.repeat(60_000))
  test.each(AMOUNTS.map((amount) => [String(amount).slice(0, 20), amount]))(
    'that returns %j is never guessed: the line is an error, and the log names the first',
    async (_what, amount) => {
      const prices = async () => [{ unitPrice: amount }, { unitPrice: 3 }, { unitPrice: 5, discount: amount }]
      const erp = await withProvider({ prices })
      const lines = ['ITEM-7', 'B', 'ITEM-9'].map((itemId) => line(itemId))
      expect(await erp.prices(lines)).toMatchObject([UNAVAILABLE, { totalPrice: 3 }, UNAVAILABLE])
      const logged = erp.logLines.map((text) => JSON.parse(text)).find(({ itemId }) => itemId)
      expect(logged).toMatchObject({ itemId: 'ITEM-7', count: 2 })
      expect(logged.reason).toMatch(/^unitPrice is /)
    },
  )

  test.each<[what: string, near: unknown]>([
    ['null', null],
    ['NaN as distance', [{ store: {}, distanceKm: Number.NaN }]],
    ['no store', [{ distanceKm: 1 }]],
    ['a store without a name', [{ store: { id: 'S1' }, distanceKm: 1 }]],
  ])('that finds %s has its failure reported as 503', async (_what, near) => {
    const answer = await (await withProvider({ nearest: async () => near })).call(NEAREST)
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'stores_unavailable' }])
  })

  test('that fails for stores causes a 503 with Retry-After', async () => {
    const broken = await withProvider({ store: fail(new Error('x')), nearest: fail(new Error('x')) })
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
      expect([await called, aborted]).toEqual([name, []])
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
    phone: '02 5550 1100',
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
  const near = async () => [{ store, distanceKm: 1.23456 }]
  const supplier = await withProvider({ store: async () => store, nearest: near })
  for (const path of ['/stores/S1', NEAREST]) {
    const text = await (await supplier.call(path)).text()
    expect(text).not.toContain(PRIVATE)
    expect(text).toContain('Christmas Day')
    expect(text.includes('"distance":1.235')).toBe(path === NEAREST)
  }
})
