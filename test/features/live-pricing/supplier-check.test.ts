import { existsSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import {
  openPriceList,
  type PriceList,
} from '../../../src/features/live-pricing/csv-price-provider/price-list.ts'
import { openDemo } from '../../support/demo.ts'
import { tempDir } from '../../support/env.ts'
import { command } from '../../support/process.ts'
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
  async function check(items: string[], notInRange: object[], tokenJson = false): Promise<Finding[]> {
    const { createProbe } = await ofCheck('supplier-probe.ts')
    const { checkSupplier } = await ofCheck('check-supplier.ts')
    const sleep = async (ms: number) => {
      now += ms
    }
    const caller = { clientId: CALLER.id, clientSecret: CALLER.secret }
    const probe = createProbe({
      baseUrl: supplier.url,
      ...caller,
      tokenJson,
      clock: { now: () => now, sleep },
    })
    const subject = {
      probe,
      items,
      memberNumber: 'CUST1002',
      notInRange,
      patienceMs: Number.POSITIVE_INFINITY,
    }
    return Array.fromAsync(checkSupplier(subject))
  }

  test.each([false, true])('passes every rule (token requests as JSON: %s)', async (tokenJson) => {
    const notInRange = [{ itemId: 'MB-1002', storeId: 'darwin' }]
    const findings = await check(['FT-1001', 'DK-1001'], notInRange, tokenJson)
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

test.skipIf(!hasCheck)(
  'the live pricing of the demo passes the check, by the command in the docs',
  async () => {
    const demo = await openDemo()
    await demo.start()
    const docs = readFileSync(new URL('../../../docs/supplier-check.md', import.meta.url), 'utf8')
    const [, words = ''] =
      /npm run feature -- supplier-check run (http:\/\/localhost:3000\S+ [^`]+)/.exec(docs) ?? []
    const args = words.replaceAll('\\\n', ' ').trim().replace('http://localhost:3000', demo.app).split(/\s+/)
    const check = await command('src/features/supplier-check/cli-run.ts', {}, { args })
    expect(check.code, check.output).toBe(0)
    // Its tokens live for longer than the check waits.
    expect(check.output).toMatch(/^ -- {3}token\.expiry /m)
    expect(check.output).toContain(' 0 failed, 1 could not be checked.')
    await demo.close()
  },
)
