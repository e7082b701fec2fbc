import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkSupplier } from '../../../src/features/live-pricing/check/check.ts'
import { createProbe } from '../../../src/features/live-pricing/check/probe.ts'
import type { Subject } from '../../../src/features/live-pricing/check/rule.ts'
import { RULES } from '../../../src/features/live-pricing/check/rules.ts'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import {
  openPriceLists,
  type PriceLists,
} from '../../../src/features/live-pricing/csv-price-provider/price-lists.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { tempDir } from '../../support/env.ts'
import { serve } from '../../support/ports.ts'
import { CALLER, SAMPLE, type Supplier, startSupplier } from './support.ts'
import { isPrices, isSearch, onGood, scaled, startWrongSupplier, type Tamper } from './wrong-suppliers.ts'
import { WRONG } from './wrong-ways.ts'

let supplier: Supplier
let lists: PriceLists
const { dir, remove } = tempDir()
beforeAll(async () => {
  await loadPriceList(SAMPLE, dir)
  lists = openPriceLists(dir, createLog('silent'))
})
afterAll(() => {
  lists.close()
  remove()
})
// A server for each test, as each guesses at secrets, which is slowed down.
beforeEach(async () => {
  supplier = await startSupplier(lists)
})
afterEach(() => supplier.close())

const wrongSupplier = (tamper: Tamper) => startWrongSupplier(supplier.url, tamper)

async function outcomes(baseUrl: string, items = ['FT-1001', 'DK-1001'], more: Partial<Subject> = {}) {
  const probe = createProbe({ baseUrl, clientId: CALLER.id, clientSecret: CALLER.secret })
  const findings = []
  for await (const finding of checkSupplier({ probe, items, ...more })) findings.push(finding)
  return findings
}

test('our own implementation passes every rule', async () => {
  const findings = await outcomes(supplier.url)
  expect(
    findings.filter(({ outcome }) => outcome !== 'pass').map(({ rule, reason }) => [rule.id, reason]),
  ).toEqual([])
  expect(findings).toHaveLength(RULES.length)
})

test('without items nothing fails, and rules that could not be checked are reported', async () => {
  const findings = await outcomes(supplier.url, [])
  expect(findings.filter(({ outcome }) => outcome === 'fail')).toEqual([])
  expect(findings.filter(({ outcome }) => outcome === 'unchecked').map(({ rule }) => rule.id)).toEqual([
    'prices.total',
    'prices.known',
  ])
})

test('totals are checked with and without a member number', async () => {
  const wrong = await wrongSupplier(
    onGood(isPrices, ({ body }, { json }) => {
      for (const item of json.memberNumber ? [] : body) if (item.totalPrice !== null) item.totalPrice += 1
    }),
  )
  const findings = await outcomes(wrong.url, ['FT-1001'], { memberNumber: 'CUST1001' })
  await wrong.close()
  expect(findings.find(({ rule }) => rule.id === 'prices.total')).toMatchObject({ outcome: 'fail' })
})

test('around a location with a single store, the search is widened until it finds several', async () => {
  const near = { latitude: -37.77, longitude: 145 }
  for (const [id, tamper] of [
    ['nearest.range', onGood(isSearch, ({ body }) => body.reverse())],
    ['nearest.radius', scaled(1.609)],
  ] as const) {
    const wrong = await wrongSupplier(tamper)
    const findings = await outcomes(wrong.url, [], { near })
    await wrong.close()
    expect(
      findings.find(({ rule }) => rule.id === id),
      id,
    ).toMatchObject({ outcome: 'fail' })
  }
  const alone = await wrongSupplier(onGood(isSearch, ({ body }) => body.splice(1)))
  const findings = await outcomes(alone.url, [], { near })
  await alone.close()
  for (const id of ['nearest.ids', 'nearest.range', 'nearest.radius'])
    expect(
      findings.find(({ rule }) => rule.id === id),
      id,
    ).toMatchObject({ outcome: 'unchecked' })
})

test('no secret is printed, however it is encoded, and an unforeseen response is a failure', async () => {
  const secret = "p@ss !w(o)rd~1'+/é"
  const { port, close } = await serve((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(
      '{"access_token":"abc\\/def\\u002Bghi","token_type":"Bearer","expires_in":9,"id":"\\ud800","x":[{"id":"\\ud800"}]}',
    )
  })
  const probe = createProbe({ baseUrl: `http://localhost:${port}`, clientId: 'a', clientSecret: secret })
  const findings = []
  for await (const finding of checkSupplier({ probe, items: ['A'], storeId: '\ud800' }))
    findings.push(finding)
  await close()
  expect(findings).toHaveLength(RULES.length)
  expect(findings.find(({ rule }) => rule.id === 'store.one')).toMatchObject({ outcome: 'fail' })
  const reported = findings
    .map(({ exchange, reason }) => [exchange?.request, exchange?.text, reason].join('\n'))
    .join('\n')
  for (const part of ['p@ss', 'p%40ss', 'rd~1', 'rd%7E1', 'def', 'ghi']) expect(reported).not.toContain(part)
})

test('there is a wrong supplier for every rule', () => {
  expect(Object.keys(WRONG)).toEqual(RULES.map(({ id }) => id))
})

describe('a supplier that answers', () => {
  const cases = Object.entries(WRONG).flatMap(([id, ways]) =>
    ways.map(([name, tamper]) => [name, id, tamper] as const),
  )
  test.each(cases)('%s breaks %s, and its call is reported without secrets', async (_, id, tamper) => {
    const wrong = await wrongSupplier(tamper)
    const findings = await outcomes(wrong.url)
    await wrong.close()
    const broken = findings.filter(({ outcome }) => outcome === 'fail')
    const found = broken.find(({ rule }) => rule.id === id)
    expect(found, `broken: ${broken.map(({ rule }) => rule.id).join(', ')}`).toBeDefined()
    expect(found?.reason).toMatch(/\w.*\.$|\w/)
    expect(found?.exchange?.request).toMatch(/^(GET|POST) \//)
    const reported = JSON.stringify(
      findings.map(({ exchange, reason }) => [exchange?.request, exchange?.text, reason]),
    )
    expect(reported).not.toContain(CALLER.secret)
    expect(reported).not.toMatch(/eyJ[\w-]+\.eyJ/)
  })
})
