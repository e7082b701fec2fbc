import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import {
  openPriceLists,
  type PriceLists,
} from '../../../src/features/live-pricing/csv-price-provider/price-lists.ts'
import type { Clock } from '../../../src/features/supplier-check/exchange.ts'
import type { Subject } from '../../../src/features/supplier-check/rule.ts'
import { RULES } from '../../../src/features/supplier-check/rules.ts'
import { createProbe } from '../../../src/features/supplier-check/supplier-probe.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { openDemo } from '../../support/demo.ts'
import { tempDir } from '../../support/env.ts'
import { command } from '../../support/process.ts'
import { all, fakeClock, of } from '../supplier-check/findings.ts'
import { CALLER, SAMPLE, type Supplier, startSupplier } from './support.ts'

describe('our own implementation', () => {
  let supplier: Supplier
  let lists: PriceLists
  let clock: Clock
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
    clock = fakeClock()
    supplier = await startSupplier(lists, { now: clock.now })
  })
  afterEach(() => supplier.close())

  const subject = (tokenJson = false): Subject => ({
    probe: createProbe({
      baseUrl: supplier.url,
      clientId: CALLER.id,
      clientSecret: CALLER.secret,
      tokenJson,
      clock,
    }),
    items: ['FT-1001', 'DK-1001'],
    memberNumber: 'CUST1002',
    notInRange: [{ itemId: 'MB-1002', storeId: 'darwin' }],
    patienceMs: Number.POSITIVE_INFINITY,
  })

  test.each([false, true])('passes every rule (token requests as JSON: %s)', async (tokenJson) => {
    const findings = await all(subject(tokenJson))
    expect(of(findings, 'fail')).toEqual([])
    expect(of(findings, 'unchecked')).toEqual([])
    expect(findings).toHaveLength(RULES.length)
  })

  test('without items, breaks no rule, and what could not be checked does not pass', async () => {
    const findings = await all({ ...subject(), items: [], notInRange: [] })
    expect(of(findings, 'fail')).toEqual([])
    const unchecked = new Map(of(findings, 'unchecked') as [string, string][])
    expect(unchecked.get('prices.fields')).toContain('--item CODE')
    expect(unchecked.get('prices.known')).toBe('it needs prices.fields, which was not checked')
    expect(unchecked.get('prices.not-in-range')).toContain('--not-in-range ITEM@STORE')
    for (const id of ['prices.total', 'prices.many', 'access.real-items'])
      expect(unchecked.has(id), id).toBe(true)
  })
})

test('the live pricing of the demo passes the check, by the command in the docs', async () => {
  const demo = await openDemo()
  await demo.start()
  const docs = readFileSync(new URL('../../../docs/supplier-check.md', import.meta.url), 'utf8')
  const [, words = ''] = /npm run check-supplier -- (http:\/\/localhost:3000\S+ [^`]+)/.exec(docs) ?? []
  const args = words.replaceAll('\\\n', ' ').trim().replace('http://localhost:3000', demo.app).split(/\s+/)
  const check = await command('src/features/supplier-check/cli-check-supplier.ts', {}, { args })
  expect(check.code, check.output).toBe(0)
  // Its tokens live for longer than the check waits.
  expect(check.output).toMatch(/^ -- {3}token\.expiry /m)
  expect(check.output).toContain(' 0 failed, 1 could not be checked.')
  await demo.close()
})
