import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkSupplier, type Finding } from '../../../src/features/live-pricing/check/check.ts'
import { type Clock, createProbe } from '../../../src/features/live-pricing/check/probe.ts'
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
import { CLIENT, FULL, findingsOf, findingsWith, startModelSupplier, type Tamper } from './model-supplier.ts'
import { CALLER, SAMPLE, type Supplier, startSupplier } from './support.ts'
import { eachLookup, eachStore, isPrices, isSearch, isToken, onGood } from './tampers.ts'

/** A clock that only sleeping turns forward. */
function fakeClock(): Clock {
  let time = Date.now()
  return {
    now: () => time,
    sleep: async (ms) => {
      time += ms
    },
  }
}

async function all(subject: Subject): Promise<Finding[]> {
  const findings: Finding[] = []
  for await (const finding of checkSupplier(subject)) findings.push(finding)
  return findings
}

const of = (findings: Finding[], outcome: Finding['outcome']) =>
  findings.filter((finding) => finding.outcome === outcome).map(({ rule, reason }) => [rule.id, reason])
const idsOf = (findings: Finding[], outcome: Finding['outcome']) => of(findings, outcome).map(([id]) => id)

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

test('the rules that a rule needs come before it', () => {
  const before = new Set<string>()
  for (const { id, needs } of RULES) {
    expect(
      needs.filter((need) => !before.has(need)),
      id,
    ).toEqual([])
    before.add(id)
  }
  expect(before.size).toBe(RULES.length)
})

/** Checks the model with a clock that does not really wait. */
async function findingsInTime(tamper: Tamper, patienceMs: number): Promise<Finding[]> {
  const clock = fakeClock()
  const supplier = await startModelSupplier(tamper, clock.now)
  const probe = createProbe({
    baseUrl: supplier.url,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    clock,
  })
  const findings = await all({ ...FULL, probe, patienceMs })
  await supplier.close()
  return findings
}

test('a token that is accepted after its lifetime breaks token.expiry only', async () => {
  expect(of(await findingsInTime(() => {}, Number.POSITIVE_INFINITY), 'fail')).toEqual([
    ['token.expiry', 'A token is still accepted after the 900 s of its lifetime.'],
  ])
})

test('a token that dies early breaks token.lifetime only', async () => {
  const dying: Tamper = (asked, answer) => {
    if (asked.ageMs > 4000) answer.status = 401
  }
  expect(of(await findingsInTime(dying, 5000), 'fail')).toEqual([
    ['token.lifetime', 'A token that should live for 900 s was refused after 5.0 s.'],
  ])
})

test('a token that lives for longer than the check waits is not checked for its end', async () => {
  const findings = await findingsWith(() => {})
  expect(of(findings, 'fail')).toEqual([])
  expect(of(findings, 'unchecked')).toEqual([
    ['token.expiry', expect.stringContaining('a token lives for 900 s, longer than this check waits')],
  ])
})

test.each<[string, Tamper, string]>([
  [
    'without a token',
    (asked, answer) => {
      if (isToken(asked)) answer.status = 500
    },
    'token.answer',
  ],
  [
    'without stores in searches',
    onGood(isSearch, (answer) => {
      answer.body = {}
    }),
    'nearest.array',
  ],
  [
    'without prices',
    onGood(isPrices, (answer) => {
      answer.body = {}
    }),
    'prices.array',
  ],
])('a supplier %s breaks one rule, and those that need it are not checked', async (_name, tamper, id) => {
  const findings = await findingsWith(tamper)
  expect(idsOf(findings, 'fail')).toEqual([id])
  expect(
    findings.filter(({ reason }) => reason === `it needs ${id}, which is broken`).length,
  ).toBeGreaterThan(0)
})

test('without stores that were found, rules about stores say which option helps', async () => {
  const findings = await findingsWith(
    onGood(isSearch, (answer) => {
      answer.body = []
    }),
    { items: [] },
  )
  expect(of(findings, 'fail')).toEqual([])
  const reasons = new Map(of(findings, 'unchecked') as [string, string][])
  expect(reasons.get('nearest.ids')).toContain('--near LAT,LON')
  expect(reasons.get('store.one')).toContain('--store ID')
})

test('a store that --store names is looked up, though no search finds it', async () => {
  const tamper = onGood(isSearch, (answer) => {
    answer.body = []
  })
  const findings = await findingsWith(tamper, { storeId: 'hobart' })
  expect(of(findings, 'fail')).toEqual([])
  expect(idsOf(findings, 'pass')).toEqual(
    expect.arrayContaining(['store.one', 'store.hours', 'prices.total']),
  )
})

test('--near searches around a location', async () => {
  const near = { latitude: -42.9, longitude: 147.3 }
  const supplier = await startModelSupplier()
  const findings = await findingsOf(supplier.url, { near })
  await supplier.close()
  expect(of(findings, 'fail')).toEqual([])
  expect(findings.find(({ rule }) => rule.id === 'nearest.array')?.call?.request).toContain('latitude=-42.9')
})

test('what is wrong with a store is said in plain English', async () => {
  const cases: [Tamper, string][] = [
    [
      eachStore((store) => {
        delete store.name
      }),
      'store sydney: name must be a text.',
    ],
    [
      eachStore((store) => {
        store.latitude = '1'
      }),
      'store sydney: latitude must be a number.',
    ],
    [
      eachStore((store) => {
        store.address = null
      }),
      'store sydney: address must be an object.',
    ],
    [
      eachLookup((store) => {
        store.id = 'x'.repeat(101)
      }),
      'The lookup of store sydney returns another store',
    ],
    [
      eachStore((store) => {
        store.tradingHours.publicHolidays[0].date = '2026-02-30'
      }),
      'tradingHours.publicHolidays[0].date must be a date such as 2026-01-26.',
    ],
    [
      eachStore((store) => {
        store.tradingHours.dailyTradingHours[0].day = 'Mon'
      }),
      'tradingHours.dailyTradingHours[0].day must be Monday, Tuesday, Wednesday, Thursday, Friday, Saturday or Sunday.',
    ],
    [
      eachStore((store) => {
        store.latitude = 91
        store.name = 'x'
      }),
      'latitude must be at most 90.',
    ],
  ]
  for (const [tamper, words] of cases) {
    const findings = await findingsWith(tamper, { items: [] })
    const reasons = of(findings, 'fail').map(([, reason]) => reason)
    expect(reasons.join('\n')).toContain(words)
    expect(reasons.join('\n')).not.toMatch(/Invalid|expected|received/)
  }
})

test('an answer that cannot be processed is neither a pass nor a broken rule', async () => {
  const { port, close } = await serve((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(
      '{"access_token":"abcdefgh","token_type":"Bearer","expires_in":900,"id":"\\ud800","x":[{"id":"\\ud800"}]}',
    )
  })
  const probe = createProbe({ baseUrl: `http://localhost:${port}`, clientId: 'a', clientSecret: 'b-secret' })
  const findings = await all({ probe, items: ['A'], storeId: '\ud800', patienceMs: 0 })
  await close()
  expect(findings).toHaveLength(RULES.length)
})
