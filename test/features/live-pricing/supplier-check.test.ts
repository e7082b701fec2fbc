import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import {
  openPriceList,
  type PriceList,
} from '../../../src/features/live-pricing/csv-price-provider/price-list.ts'
import { tempDir } from '../../support/env.ts'
import { CALLER, SAMPLE, type Supplier, startSupplier } from './support.ts'

/** The check is a feature of its own, which may have been removed: nothing of it is imported unless it is there. */
const CHECK = new URL('../../../src/features/supplier-check/', import.meta.url)
const hasCheck = existsSync(CHECK)
const ofCheck = (file: string) => import(new URL(file, CHECK).href)

describe.skipIf(!hasCheck)('our own implementation', () => {
  let supplier: Supplier
  let list: PriceList
  let now: number
  const { dir, remove } = tempDir()
  beforeAll(async () => {
    await loadPriceList(SAMPLE, dir)
    list = openPriceList(dir)
  })
  afterAll(() => {
    list.close()
    remove()
  })
  // A server for each test, as each guesses at secrets, which is slowed down.
  beforeEach(async () => {
    now = Date.now()
    supplier = await startSupplier(list, { now: () => now })
  })
  afterEach(() => supplier.close())

  /** Checks it; only the sleeping of the check turns the clock forward. */
  async function check(items: string[], notInRange: object[]): Promise<Finding[]> {
    const { createProbe } = await ofCheck('supplier-probe.ts')
    const { checkSupplier } = await ofCheck('check-supplier.ts')
    const sleep = async (ms: number) => {
      now += ms
    }
    const caller = { clientId: CALLER.id, clientSecret: CALLER.secret }
    const probe = createProbe({ baseUrl: supplier.url, ...caller, clock: { now: () => now, sleep } })
    const subject = {
      probe,
      items,
      memberNumber: 'CUST1002',
      notInRange,
      patienceMs: Number.POSITIVE_INFINITY,
    }
    return Array.fromAsync(checkSupplier(subject))
  }

  test('passes every rule', async () => {
    const findings = await check(['FT-1001', 'DK-1001'], [{ itemId: 'MB-1002', storeId: 'darwin' }])
    expect(findings.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    const { RULES } = await ofCheck('rules.ts')
    expect(findings).toHaveLength(RULES.length)
  })

  test('without items, breaks no rule, and what could not be checked does not pass', async () => {
    const findings = await check([], [])
    expect(findings.filter(({ outcome }) => outcome === 'fail')).toEqual([])
    const unchecked = findings.filter(({ outcome }) => outcome === 'unchecked')
    const reasons = new Map(unchecked.map(({ rule, reason }) => [rule.id, reason]))
    expect(reasons.get('prices.fields')).toContain('--item CODE')
    expect(reasons.get('prices.known')).toBe('it needs prices.fields, which was not checked')
    expect(reasons.get('prices.not-in-range')).toContain('--not-in-range ITEM@STORE')
    for (const id of ['prices.total', 'prices.many', 'access.real-items'])
      expect(reasons.has(id), id).toBe(true)
  })
})

interface Finding {
  rule: { id: string }
  outcome: string
  reason?: string
}
