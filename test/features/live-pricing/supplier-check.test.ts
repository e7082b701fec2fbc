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
  async function check(prices: object[], memberPrices: object[]): Promise<Finding[]> {
    const { SupplierClient } = await ofCheck('client.ts')
    const { checkSupplier } = await ofCheck('check-supplier.ts')
    const sleep = async (ms: number) => {
      now += ms
    }
    const caller = { clientId: CALLER.id, clientSecret: CALLER.secret }
    const client = new SupplierClient({ baseUrl: supplier.url, ...caller, clock: { now: () => now, sleep } })
    const notInRange = [{ itemId: 'MB-1002', storeId: 'darwin' }]
    // Its tokens live for less than this check waits.
    const known = { prices, memberPrices, notInRange, storeId: 'northcote', waitMs: Number.POSITIVE_INFINITY }
    return Array.fromAsync(checkSupplier({ client, known }))
  }

  /** The prices of the sample, which are documented there. */
  const price = (code: string, amount: number, memberNumber?: string) => ({
    code,
    price: amount,
    tolerance: 0.005,
    memberNumber,
  })

  test('is proven right by every rule', async () => {
    const findings = await check(
      [price('FT-1001', 5.14), price('DK-1001', 6.86)],
      [price('FT-1001', 4.73, 'CUST1002'), price('DK-1001', 6.31, 'CUST1002')],
    )
    expect(findings.filter(({ outcome }) => outcome !== 'proven')).toEqual([])
    const { RULES } = await ofCheck('check-supplier.ts')
    expect(findings).toHaveLength(Object.keys(RULES).length)
  })

  test('is not wrong without prices, and what they would show is unproven', async () => {
    const findings = await check([], [])
    expect(findings.filter(({ outcome }) => outcome === 'wrong')).toEqual([])
    const unproven = findings.filter(({ outcome }) => outcome === 'unproven').map(({ id }) => id)
    expect(unproven).toEqual(expect.arrayContaining(['price.right', 'price.before-tax', 'member.price']))
  })
})

interface Finding {
  id: string
  outcome: string
  reason?: string
}
