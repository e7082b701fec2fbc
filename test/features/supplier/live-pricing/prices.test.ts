import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ITEM_ERRORS, priceItemSchema } from '../../../../src/features/supplier/api/contract.ts'
import { codeIn, read, rows } from '../../../support/documents.ts'
import { line, type Supplier, startSupplier, testSupplier } from './support.ts'

let supplier: Supplier
beforeAll(async () => {
  supplier = await startSupplier()
})
afterAll(() => supplier.close())

test('docs/supplier/live-pricing.md explains exactly the codes of an item', () => {
  const documented = rows(read('docs/supplier/live-pricing.md'), '`errorCode`').flatMap(([code]) =>
    codeIn(code),
  )
  expect(documented.sort()).toEqual(Object.keys(ITEM_ERRORS).sort())
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
    // Members without a group and requests without a member get public prices.
    const open = { discount: 200, totalPrice: 1050 }
    for (const member of ['CUST2', undefined, ''])
      expect((await supplier.prices([line('A', 'S1', 100)], member))[0]).toMatchObject(open)
  })

  test.each<[string, unknown, errorCode: string, errorMessage?: string]>([
    ['an unknown item', line('Z'), 'item_unknown'],
    ['an unknown store', line('A', 'S9'), 'store_unknown'],
    ['an item that the store does not sell', line('B', 'S2'), 'item_not_in_range'],
    ['an item that only another store sells', line('D', 'S2'), 'item_not_in_range'],
    ['a price on application', line('C'), 'price_on_application'],
    ['quantity 0', line('A', 'S1', 0), 'quantity_invalid'],
    ['a negative quantity', line('A', 'S1', -1), 'quantity_invalid'],
    ['a quantity in quotes', line('A', 'S1', '2'), 'quantity_invalid'],
    ['a quantity that is too large', line('A', 'S1', 1_000_001), 'quantity_too_large'],
    ['a numeric itemId', { ...line('A'), itemId: 7 }, 'line_invalid', 'itemId must be text.'],
    ['a numeric storeId', { ...line('A'), storeId: 7 }, 'line_invalid', 'storeId must be text.'],
    ['no itemId', { storeId: 'S1', quantity: 1 }, 'line_invalid', 'itemId is missing.'],
    ['no storeId', { itemId: 'A', quantity: 1 }, 'line_invalid', 'storeId is missing.'],
    ['null in place of an object', null, 'line_invalid', 'itemId is missing.'],
  ])('%s is an error of that item, and the other items are priced', async (_, bad, errorCode, message) => {
    const { itemId, storeId, quantity } = Object(bad)
    const [before, answer, after] = await supplier.prices([line('A'), bad, line('A')])
    expect(answer).toEqual({
      itemId: typeof itemId === 'string' ? itemId : null,
      storeId: typeof storeId === 'string' ? storeId : null,
      quantity: typeof quantity === 'number' ? quantity : null,
      unitPrice: null,
      discount: null,
      totalPrice: null,
      errorCode,
      errorMessage: message ?? expect.stringMatching(/\.$/),
    })
    expect([before?.totalPrice, after?.totalPrice]).toEqual([12.5, 12.5])
  })

  test('a quantity out of range never reaches the price provider, and is repeated if it is a number of JavaScript', async () => {
    const quantities: [sent: string, errorCode: string, echo: number | null][] = [
      ['1e400', 'quantity_too_large', null],
      ['9007199254740992', 'quantity_too_large', 9007199254740992],
      ['1e-400', 'quantity_invalid', 0],
      ['-0', 'quantity_invalid', 0],
    ]
    const seen: unknown[] = []
    const own = await testSupplier({
      store: async () => null,
      nearest: async () => [],
      prices: async (lines) => {
        seen.push(...lines.map((each) => each.quantity))
        return lines.map(() => ({ unitPrice: '1' }))
      },
    })
    const lines = [...quantities.map(([sent]) => sent), '2'].map(
      (quantity) => `{"itemId":"A","storeId":"S1","quantity":${quantity}}`,
    )
    const answer = await own.call('/request-prices', `{"items":[${lines}]}`)
    expect(await answer.json()).toMatchObject([
      ...quantities.map(([, errorCode, quantity]) => ({ quantity, errorCode, totalPrice: null })),
      { totalPrice: 2 },
    ])
    expect(seen).toEqual([2])
  })

  test('an unknown member number is an error of each item, never the public price', async () => {
    const answers = await supplier.prices([line('A'), line('B')], 'CUST9')
    const unknown = { errorCode: 'member_unknown', unitPrice: null }
    expect(answers).toMatchObject([unknown, unknown])
  })

  test('no items return an empty list, and 1,000 items return 1,000', async () => {
    expect(await supplier.prices([])).toEqual([])
    expect(await supplier.prices(Array(1000).fill(line('A')))).toHaveLength(1000)
  })

  test.each<[string, unknown, string[]]>([
    ['no body', '', ['body']],
    ['invalid JSON', '{"items":', ['body']],
    ['an array', [], ['body']],
    ['null', 'null', ['body']],
    ['no items', {}, ['items']],
    ['items that are not a list', { items: {} }, ['items']],
    ['a member number that is a number', { items: [], memberNumber: 7 }, ['memberNumber']],
  ])('a body with %s returns 400 and lists every problem with its path', async (_, body, paths) => {
    const answer = await supplier.call('/request-prices', body)
    const problem = (await answer.json()) as { code: string; errors: { path: string }[] }
    expect([answer.status, problem.code]).toEqual([400, 'invalid_input'])
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(problem.errors.map(({ path }) => path)).toEqual(paths)
  })

  test('more than 1,000 items or 1 MB returns 413', async () => {
    for (const items of [Array(1001).fill(line('A')), [line('A'.repeat(1_000_000))]])
      expect((await supplier.call('/request-prices', { items })).status).toBe(413)
  })

  test('a byte order mark is ignored, an unknown encoding returns 415, and another method 405', async () => {
    const marked = await supplier.call('/request-prices', `\uFEFF${JSON.stringify({ items: [line('A')] })}`)
    expect(await marked.json()).toMatchObject([{ totalPrice: 12.5 }])
    const encoded = await supplier.call('/request-prices', '{}', { 'content-encoding': 'zebra' })
    expect([encoded.status, await encoded.json()]).toEqual([415, expect.objectContaining({ status: 415 })])
    const got = await supplier.call('/request-prices')
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('no body causes a 5xx, and every 200 response matches the contract', async () => {
    // fast-check's own unit of all characters builds a table of them, which takes seconds.
    const unit = fc.nat(0x10ffff).map((point) => String.fromCodePoint(point))
    const known = ['A', 'B', 'C', 'D', 'S1', 'S2', '__proto__', 'toString']
    const id = fc.oneof(fc.constantFrom(...known), fc.string({ unit }))
    const quantity = fc.oneof(fc.double(), fc.integer(), fc.jsonValue())
    const item = fc.oneof(fc.record({ itemId: id, storeId: id, quantity }), fc.jsonValue())
    const memberNumber = fc.oneof(fc.constantFrom('CUST1', 'CUST2', null), fc.jsonValue())
    const fields = { memberNumber, items: fc.oneof(fc.array(item), fc.jsonValue()) }
    const request = fc.record(fields, { requiredKeys: [] }).map((value) => JSON.stringify(value))
    const body = fc.oneof({ weight: 4, arbitrary: request }, fc.json(), fc.string({ unit }))
    const json = 'application/json'
    const type = fc.constantFrom(json, 'text/plain', `${json}; charset=utf-16`, 'multipart/form-data', '')
    await fc.assert(
      fc.asyncProperty(body, type, async (text, contentType) => {
        const answer = await supplier.call('/request-prices', text, { 'content-type': contentType })
        expect([200, 400, 413]).toContain(answer.status)
        const value = await answer.json()
        if (answer.status === 200) priceItemSchema.array().length(JSON.parse(text).items.length).parse(value)
      }),
      { numRuns: 80 },
    )
  })
})

test('requests above the limit return 429 with Retry-After, for that client only', async () => {
  const limited = await testSupplier(undefined, { rateLimit: { limit: 5, windowMs: 60_000 } })
  const statuses = []
  for (let call = 0; call < 7; call++) statuses.push((await limited.call('/stores/S1')).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
  const refused = await limited.call('/request-prices', { items: [] })
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
})
