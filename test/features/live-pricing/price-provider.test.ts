import { describe, expect, test, vi } from 'vitest'
import type { PriceProvider } from '../../../src/features/live-pricing/price-provider.ts'
import { DAYS, type Store } from '../../../src/supplier-api/contract.ts'
import { line, startSupplier } from './support.ts'

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
    'that %s causes item errors, not a failed call, and its message is not exposed',
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

  test('has its own message in the log, without what looks like a secret', async () => {
    const message =
      'ERP-17: pool exhausted; AccountKey=hunter2; AWS_SECRET_ACCESS_KEY=hunter2 secretKey: hunter2 Cookie: a=hunter2 "password":"a\\"hunter2" x://u:p/hunter2@y Bearer hunter2; access_key: hunter2 https://erp.example/p?sig=hunter2 password=hunter2 postgres://erp:hunter2@db/prices Authorization: Bearer hunter2'
    const failing = await startSupplier(provider(() => Promise.reject(new Error(message))))
    await failing.prices([line('A')])
    const log = failing.logLines.join('')
    expect(log).toContain('ERP-17: pool exhausted')
    expect(log).toContain('postgres://[redacted]@db/prices')
    expect(log).not.toContain('hunter2')
    await failing.close()
  })

  test.each<[what: string, amount: unknown, total: number]>([
    ['a number', 12.5, 25],
    ['a number that doubles do not hold exactly', 0.1, 0.2],
    ['a whole number', 3, 6],
    ['zero', 0, 0],
    ['a very small number', 1e-7, 2e-7],
    ['decimal text', '12.50', 25],
  ])('may return %s as unitPrice', async (_what, amount, total) => {
    const erp = await startSupplier(
      provider(async (lines) => lines.map(() => ({ unitPrice: amount as number }))),
    )
    expect(await erp.prices([line('A', 'S1', 2)])).toMatchObject([
      { unitPrice: Number(amount), totalPrice: total },
    ])
    await erp.close()
  })

  test('may return a number as discount', async () => {
    const erp = await startSupplier(provider(async () => [{ unitPrice: 10, discount: 0.3 }]))
    expect(await erp.prices([line('A')])).toMatchObject([{ unitPrice: 10, discount: 0.3, totalPrice: 9.7 }])
    await erp.close()
  })

  const NO_AMOUNTS: [string, unknown][] = [
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['text with a unit', '12.50 AUD'],
    ['text with a thousands separator', '1,250.00'],
    ['text with spaces', ' 12.50 '],
    ['empty text', ''],
    ['an object', { amount: 12.5 }],
    ['an array of one number', [12.5]],
    ['true', true],
    ['a bigint', 12n],
    ['a hexadecimal number', '0x10'],
    ['a negative number', -1],
  ]
  test.each(NO_AMOUNTS)(
    'that returns %s is never guessed: the line is an error, and the log names it',
    async (_what, amount) => {
      const bad = { unitPrice: amount as number }
      const badDiscount = { unitPrice: 5, discount: amount as number }
      const erp = await startSupplier(provider(async () => [bad, { unitPrice: 3 }, badDiscount]))
      expect(await erp.prices([line('ITEM-7'), line('B'), line('ITEM-9')])).toMatchObject([
        { unitPrice: null, totalPrice: null, errorCode: 'price_unavailable' },
        { totalPrice: 3 },
        { unitPrice: null, totalPrice: null, errorCode: 'price_unavailable' },
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
      await erp.close()
    },
  )

  test('that throws leaves each line its own item, store and quantity', async () => {
    const failing = await startSupplier(provider(() => Promise.reject(new Error('down'))))
    const lines = [line('A', 'S1', 1), line('B', 'S2', 2), line('C', 'S3', 3)]
    expect(await failing.prices(lines)).toMatchObject(lines)
    await failing.close()
  })

  const thrown: [what: string, fail: () => unknown][] = [
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
  ]
  test.each(thrown)('may throw %s, in a method or in a member of a result', async (_what, fail) => {
    const result = {
      get unitPrice(): string {
        throw fail()
      },
    }
    const results = [() => Promise.reject(fail()), async () => [result, { unitPrice: 3 }]]
    for (const prices of results) {
      const failing = await startSupplier(provider(prices))
      const [first] = await failing.prices([line('A'), line('B')])
      expect(first).toMatchObject({ itemId: 'A', errorCode: 'price_unavailable' })
      await failing.close()
    }
  })

  test.each(['1e400', '1e-400', 1e308, '9'.repeat(60_000), `${'1'.repeat(60_000)}x`])(
    'that returns the amount %.10s… has an error of that line',
    async (amount) => {
      const erp = await startSupplier(
        provider(async () => [{ unitPrice: amount }, { unitPrice: 5, discount: amount }]),
      )
      for (const answer of await erp.prices([line('A', 'S1', 100_000), line('B')]))
        expect(answer).toMatchObject({ totalPrice: null, errorCode: 'price_unavailable' })
      await erp.close()
    },
  )

  test.each<[what: string, near: unknown]>([
    ['null', null],
    ['text', 'x'],
    ['NaN as distance', [{ store: {}, distanceKm: Number.NaN }]],
    ['no distance', [{ store: {} }]],
    ['null as distance', [{ store: {}, distanceKm: null }]],
    ['no store', [{ distanceKm: 1 }]],
    ['a bigint in a store', [{ store: { id: 1n }, distanceKm: 1 }]],
  ])('that finds %s has its failure reported as 503', async (_what, near) => {
    const erp = await startSupplier({ ...provider(async () => []), nearest: async () => near as never })
    const answer = await erp.call('/stores/nearest?latitude=1&longitude=1&radius=1')
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ code: 'stores_unavailable' })
    await erp.close()
  })

  test('without unitPrice is an error of its line', async () => {
    const erp = await startSupplier(provider(async () => [{} as never, { unitPrice: null as never }]))
    expect(await erp.prices([line('A'), line('B')])).toMatchObject([
      { errorCode: 'price_unavailable' },
      { errorCode: 'price_unavailable' },
    ])
    await erp.close()
  })

  test('for stores causes a 503 with Retry-After', async () => {
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

describe('the signal of a price provider', () => {
  /** A price provider that waits until its signal is aborted, and then fails. */
  function waiting() {
    const aborted: string[] = []
    let called: (name: string) => void = () => {}
    const until = (name: string, signal: AbortSignal) => {
      called(name)
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
    const nextCall = () =>
      new Promise<string>((resolve) => {
        called = resolve
      })
    return { provider, aborted, nextCall }
  }
  const calls: [string, string, unknown?][] = [
    ['store', '/stores/S1'],
    ['nearest', '/stores/nearest?latitude=1&longitude=1&radius=1'],
    ['prices', '/request-prices', { items: [line('A')] }],
  ]

  test.each(calls)(
    'is aborted if the caller of %s disconnects, which is no error',
    async (name, path, body) => {
      const { provider, aborted, nextCall } = waiting()
      const supplier = await startSupplier(provider)
      const called = nextCall()
      const caller = new AbortController()
      const authorization = `Bearer ${await supplier.token()}`
      const call = fetch(supplier.url + path, {
        headers: { authorization },
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
      await supplier.close()
    },
  )

  test.each(calls)('is aborted when %s takes longer than the time limit', async (name, path, body) => {
    const { provider, aborted } = waiting()
    const supplier = await startSupplier(provider, { timeoutMs: 50 })
    const answer = await supplier.call(path, body)
    expect([answer.status, aborted]).toEqual([name === 'prices' ? 200 : 503, [name]])
    expect(supplier.logLines.join('')).toContain('the price provider failed')
    await supplier.close()
  })
})

test('private fields of a store are never sent, whatever they are called and however deep they are', async () => {
  const PRIVATE = 'private-margin-0.31'
  const opening = { opens: '07:00', closes: '17:00', name: PRIVATE, day: PRIVATE }
  const days = DAYS.map((day) => ({ day, openingHours: [opening], id: PRIVATE, date: PRIVATE }))
  const store = {
    id: 'S1',
    name: 'North',
    address: {
      street: '1 St',
      suburb: 'S',
      state: 'NSW',
      postcode: '2000',
      country: 'AU',
      phone: PRIVATE,
      id: PRIVATE,
    },
    // A field that should be text.
    phone: { number: PRIVATE } as never,
    latitude: -33,
    longitude: 151,
    distance: PRIVATE,
    tradingHours: {
      timeZone: 'Australia/Sydney',
      dailyTradingHours: days,
      publicHolidays: [{ date: '2026-12-25', name: 'Christmas Day', openingHours: [], closes: PRIVATE }],
      phone: PRIVATE,
    },
    margin: PRIVATE,
  } as unknown as Store
  const supplier = await startSupplier({
    prices: async () => [],
    store: async () => store,
    nearest: async () => [{ store, distanceKm: 1.23456 }],
  })
  for (const path of ['/stores/S1', '/stores/nearest?latitude=-33&longitude=151&radius=9']) {
    const text = await (await supplier.call(path)).text()
    expect(text).not.toContain(PRIVATE)
    expect(text).toContain('Christmas Day')
    expect(text.includes('"distance":1.235')).toBe(path.includes('nearest'))
  }
  await supplier.close()
})
