import { expect, test } from 'vitest'
import { CHECKS, RULES } from '../../../src/features/supplier-check/rules.ts'
import { createProbe } from '../../../src/features/supplier-check/supplier-probe.ts'
import { serve } from '../../support/ports.ts'
import { all, fakeClock, idsOf, of } from './findings.ts'
import { findingsWith, type Tamper } from './model-supplier.ts'
import { eachLookup, eachStore, isPrices, isSearch, isToken, onGood } from './tampers.ts'

test('each check belongs to a rule', () => {
  const rules = new Set(RULES.map(({ id }) => id))
  expect(Object.keys(CHECKS).filter((id) => !rules.has(id))).toEqual([])
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

test('a token that is accepted after its lifetime breaks token.expiry only', async () => {
  expect(
    of(await findingsWith(() => {}, { clock: fakeClock(), patienceMs: Number.POSITIVE_INFINITY }), 'fail'),
  ).toEqual([['token.expiry', 'A token is still accepted after the 900 s of its lifetime.']])
})

test('a token that dies early breaks token.lifetime only', async () => {
  const dying: Tamper = (asked, answer) => {
    if (asked.ageMs > 4000) answer.status = 401
  }
  expect(of(await findingsWith(dying, { clock: fakeClock(), patienceMs: 5000 }), 'fail')).toEqual([
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

test('a store that --store names and that does not exist is no fault of the supplier', async () => {
  const findings = await findingsWith(() => {}, { storeId: 'nowhere' })
  expect(of(findings, 'fail').filter(([id]) => String(id).startsWith('store.'))).toEqual([])
  expect(of(findings, 'unchecked')).toContainEqual([
    'store.one',
    expect.stringContaining('there is no store nowhere; name one that exists with --store ID'),
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
  const findings = await findingsWith(() => {}, { near })
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
