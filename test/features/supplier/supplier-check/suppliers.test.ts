import { describe, expect, test } from 'vitest'
import { checkSupplier, exitCodeOf } from '../../../../src/features/supplier/supplier-check/check-supplier.ts'
import { RULES } from '../../../../src/features/supplier/supplier-check/rules.ts'
import { readSupplierFile } from '../../../../src/features/supplier/supplier-check/supplier-file.ts'
import { type Any, type Change, priced, SECRET, startModel } from './model.ts'

async function check(change?: Change, more?: object) {
  const findings = await Array.fromAsync(
    checkSupplier(await readSupplierFile(await startModel(change, more))),
  )
  const idsOf = (outcome: string) =>
    findings.filter((finding) => finding.outcome === outcome).map(({ id }) => id)
  return { findings, exitCode: exitCodeOf(findings), failed: idsOf('failed'), undecided: idsOf('undecided') }
}

/** Changes each answer to a line. */
const eachLine =
  (change: (line: Any) => Any): Change =>
  (right) => ({ price: (...line) => change(right.price(...line)) })

/** For each rule, a supplier that breaks only this rule. */
const WRONG: [rule: string, name: string, change: Change][] = [
  ['token.issued', 'the token endpoint fails', () => ({ token: () => ({ status: 500 }) })],
  [
    'token.three-fields',
    'a scope comes beside the token',
    ({ tokenBody }) => ({ tokenBody: { ...tokenBody, scope: 'prices' } }),
  ],
  [
    'token.expires-in',
    'expires_in is text',
    ({ tokenBody }) => ({ tokenBody: { ...tokenBody, expires_in: '900' } }),
  ],
  [
    'search.array',
    'a single store is not in an array',
    ({ nearest }) => ({
      nearest(query) {
        const { status, body } = nearest(query)
        return { status, body: body.length === 1 ? body[0] : body }
      },
    }),
  ],
  [
    'search.empty',
    'no store in range is 404',
    ({ nearest }) => ({
      nearest: (query) => (nearest(query).body.length === 0 ? { status: 404 } : nearest(query)),
    }),
  ],
  [
    'store.one',
    'a lookup returns another store',
    ({ lookUp }) => ({ lookUp: (id) => ({ ...lookUp(id), body: { id: 'south' } }) }),
  ],
  [
    'store.unknown',
    'an unknown id is a fault',
    ({ lookUp }) => ({ lookUp: (id) => (lookUp(id).status === 404 ? { status: 500 } : lookUp(id)) }),
  ],
  [
    'prices.array',
    'a single price is not in an array',
    ({ prices }) => ({
      prices: (request) =>
        request.items.length === 1 ? { status: 200, body: prices(request).body[0] } : prices(request),
    }),
  ],
  ['prices.array', 'a discount is text', eachLine((line) => ({ ...line, discount: '' }))],
  [
    'prices.true',
    'a price is a cent too high',
    eachLine((line) => (line.itemId === 'B-2' ? priced(line, line.unitPrice + 0.01, line.discount) : line)),
  ],
  [
    'prices.true',
    'the total includes tax',
    eachLine((line) => (line.itemId === 'B-2' ? { ...line, totalPrice: line.totalPrice * 1.1 } : line)),
  ],
  [
    'prices.true',
    'the discount is of one unit, whatever the quantity',
    eachLine((line) => (line.itemId === 'B-2' && line.quantity > 1 ? { ...line, discount: 2 } : line)),
  ],
  [
    'prices.member',
    'the member number is ignored',
    ({ price }) => ({ price: (line, _member, lines) => price(line, undefined, lines) }),
  ],
  [
    'prices.unknown-item',
    'an unknown item costs a dollar',
    eachLine((line) => (line.errorCode ? priced({ ...line, errorCode: undefined }, 1, 0) : line)),
  ],
  [
    'prices.others',
    'a request fails as a whole',
    ({ prices }) => ({
      prices: (request) => (request.items.length > 1 ? { status: 422 } : prices(request)),
    }),
  ],
  [
    'token.wrong-secret',
    'any secret is accepted',
    ({ token }) => ({
      token: (fields, body) =>
        token(fields.client_secret ? { ...fields, client_secret: SECRET } : fields, body),
    }),
  ],
  [
    'token.missing',
    'without grant_type there is a token',
    ({ token }) => ({
      token: (fields, body) => token({ grant_type: 'client_credentials', ...fields }, body),
    }),
  ],
]

test('a right supplier passes every rule', async () => {
  const { findings, exitCode } = await check()
  expect(findings.map(({ id, outcome }) => [id, outcome])).toEqual(
    Object.keys(RULES).map((id) => [id, 'passed']),
  )
  expect(exitCode).toBe(0)
})

test.each(WRONG)('%s fails if %s', async (rule, _name, change) => {
  const { failed, exitCode } = await check(change)
  expect(failed).toEqual([rule])
  expect(exitCode).toBe(1)
})

test('each rule has a supplier that breaks it', () => {
  expect(Object.keys(RULES).filter((id) => !WRONG.some(([wrong]) => wrong === id))).toEqual([])
})

/** Answers with other names than those that the check assumes. */
const otherNames: Change = ({ token, tokenBody, prices, ...right }) => ({
  tokenBody: { accessToken: tokenBody.access_token, kind: 'Bearer', expires_in: 900 },
  nearest(query) {
    query.set('radius', query.get('km') ?? 'no distance')
    return right.nearest(query)
  },
  lookUp(id) {
    const { status, body } = right.lookUp(id)
    return { status, body: body && { store: { number: body.id } } }
  },
  prices({ lines, account }) {
    const items = lines?.map(({ sku, ...line }: Any) => ({ ...line, itemId: sku }))
    const { status, body } = prices({ items, memberNumber: account })
    const renamed = body?.map(({ errorCode, errorMessage, ...line }: Any) => ({
      ...line,
      errors: errorCode ? [{ code: errorCode, text: errorMessage }] : [],
    }))
    return { status, body: renamed }
  },
})

describe('a right supplier', () => {
  test.each<[string, Change, object?]>([
    ['without members', () => ({}), { memberPrices: {} }],
    [
      'with a promotion that joins items',
      ({ price }) => ({
        price(line, member, lines) {
          const isJoined = lines.filter(({ itemId }) => /^[AB]-/.test(itemId)).length > 1
          return isJoined ? priced(line, 1, 0) : price(line, member, lines)
        },
      }),
    ],
    [
      'with errors in the answers to lines that are in the opposite order',
      ({ prices }) => ({ prices: (request) => ({ status: 200, body: prices(request).body.toReversed() }) }),
    ],
    [
      'with prices of four decimals, and totals in whole cents',
      eachLine((line) => {
        if (line.unitPrice === null) return line
        const totalPrice = Number((line.totalPrice + 0.0041 * line.quantity).toFixed(2))
        return { ...line, unitPrice: line.unitPrice + 0.0041, totalPrice }
      }),
    ],
    [
      'that takes token requests in JSON only',
      ({ token }) => ({
        token: (_fields, body) => (body.startsWith('{') ? token(JSON.parse(body), body) : { status: 415 }),
      }),
      { tokenRequest: 'json' },
    ],
    [
      'with numbers as ids of stores',
      ({ prices, ...right }) => ({
        lookUp: (id) => (id === '7' ? { status: 200, body: { id: 7 } } : right.lookUp(id)),
        prices: (request) => (request.items[0].storeId === 7 ? prices(request) : { status: 400 }),
      }),
      { store: 7 },
    ],
    [
      'whose names of fields are in the file',
      otherNames,
      {
        names: {
          access_token: 'accessToken',
          radius: 'km',
          id: 'store.number',
          memberNumber: 'account',
          items: 'lines',
          itemId: 'sku',
          errorCode: 'errors.0.code',
          errorMessage: 'errors.0.text',
        },
      },
    ],
  ])('%s fails no rule, and the exit code is 0', async (_name, change, more) => {
    const { failed, undecided, exitCode } = await check(change, more)
    expect([...failed, ...undecided]).toEqual([])
    expect(exitCode).toBe(0)
  })

  test('whose names of fields are not in the file is undecided, and the exit code is 2', async () => {
    const { failed, undecided, exitCode } = await check(otherNames)
    expect(failed).toEqual([])
    expect(undecided).toContain('search.array')
    expect(exitCode).toBe(2)
  })

  test('that refuses the token or limits calls is undecided', async () => {
    for (const status of [401, 403, 429]) {
      const { failed, exitCode } = await check(() => ({ nearest: () => ({ status }) }))
      expect([status, failed, exitCode]).toEqual([status, [], 2])
    }
  })
})
