import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { checkSupplier, type Finding } from '../../../src/features/supplier-check/check-supplier.ts'
import type { Clock } from '../../../src/features/supplier-check/exchange.ts'
import { basisOf } from '../../../src/features/supplier-check/report.ts'
import { CHECKS, RULES } from '../../../src/features/supplier-check/rules.ts'
import { createProbe } from '../../../src/features/supplier-check/supplier-probe.ts'
import { serve } from '../../support/ports.ts'
import { findingsWith, type Tamper } from './model-supplier.ts'
import { body, eachLookup, eachStore, isPrices, isSearch, isToken, refusing } from './tampers.ts'

const ROOT = new URL('../../../', import.meta.url)

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
/** The rules with this outcome, each with the reason. */
const of = (findings: Finding[], outcome: Finding['outcome']) =>
  findings
    .filter((finding) => finding.outcome === outcome)
    .map(({ rule, reason }): [string, string | undefined] => [rule.id, reason])
const RIGHT: Tamper = () => {}
const nothingFound = body(isSearch, () => [])

test('each check belongs to a rule, and the rules that a rule needs come before it', () => {
  const before = new Set<string>()
  for (const { id, needs } of RULES) {
    expect(needs.filter((need) => !before.has(need)).map((need) => `${id} needs ${need}`)).toEqual([])
    before.add(id)
  }
  expect(before.size).toBe(RULES.length)
  expect(Object.keys(CHECKS).filter((id) => !before.has(id))).toEqual([])
})

test('docs/supplier-check.md lists exactly the rules of check-supplier, each with its basis', () => {
  const page = readFileSync(new URL('docs/supplier-check.md', ROOT), 'utf8')
  const [, table = ''] = page.split('| Rule | Requirement | Basis |\n| --- | --- | --- |\n')
  const rows = (table.split('\n\n')[0] ?? '').split('\n')
  expect(rows).toEqual(RULES.map((rule) => `| \`${rule.id}\` | ${rule.title} | ${basisOf(rule)} |`))
})

test('the checker knows the contract, and nothing of our implementation', () => {
  const folder = fileURLToPath(new URL('src/features/supplier-check', ROOT))
  const files = globSync('**/*.ts', { cwd: folder, exclude: (file) => /^cli-/.test(String(file)) })
  expect(files).not.toEqual([])
  const imported = files.flatMap((file) =>
    [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(/from '(\.\.\/[^']+)'/g)].map(([, path]) => path),
  )
  for (const path of imported) expect(['../../web/kit.ts', '../../supplier-api/contract.ts']).toContain(path)
})

test('a token that is accepted after its lifetime breaks token.expiry only', async () => {
  const findings = await findingsWith(RIGHT, { clock: fakeClock(), patienceMs: Number.POSITIVE_INFINITY })
  expect(of(findings, 'fail')).toEqual([
    ['token.expiry', 'A token is still accepted after the 900 s of its lifetime.'],
  ])
})

test('a token that dies early breaks token.lifetime only', async () => {
  const dying = refusing(({ ageMs }) => ageMs > 4000, 401)
  expect(of(await findingsWith(dying, { clock: fakeClock(), patienceMs: 5000 }), 'fail')).toEqual([
    ['token.lifetime', 'A token that should live for 900 s was refused after 5.0 s.'],
  ])
})

test('a token that lives for longer than the check waits is not checked for its end', async () => {
  const findings = await findingsWith(RIGHT)
  expect(of(findings, 'fail')).toEqual([])
  expect(of(findings, 'unchecked')).toEqual([
    ['token.expiry', expect.stringContaining('a token lives for 900 s, longer than this check waits')],
  ])
})

test.each([
  ['a token', refusing(isToken, 500), 'token.answer'],
  ['stores in searches', body(isSearch, () => ({})), 'nearest.array'],
  ['prices', body(isPrices, () => ({})), 'prices.array'],
])('a supplier without %s breaks one rule, and those that need it are not checked', async (_, tamper, id) => {
  const findings = await findingsWith(tamper)
  expect(of(findings, 'fail').map(([broken]) => broken)).toEqual([id])
  const reasons = of(findings, 'unchecked').map(([, reason]) => reason)
  expect(reasons).toContain(`it needs ${id}, which is broken`)
})

test('a store that --store names and that does not exist is no fault of the supplier', async () => {
  const findings = await findingsWith(RIGHT, { storeId: 'nowhere' })
  expect(of(findings, 'fail').filter(([id]) => id.startsWith('store.'))).toEqual([])
  expect(of(findings, 'unchecked')).toContainEqual([
    'store.one',
    expect.stringContaining('there is no store nowhere; name one that exists with --store ID'),
  ])
})

test('without stores that were found, rules about stores say which option helps', async () => {
  const findings = await findingsWith(nothingFound, { items: [] })
  expect(of(findings, 'fail')).toEqual([])
  const reasons = new Map(of(findings, 'unchecked'))
  expect(reasons.get('nearest.ids')).toContain('--near LAT,LON')
  expect(reasons.get('store.one')).toContain('--store ID')
})

test('a store that --store names is looked up, though no search finds it', async () => {
  const findings = await findingsWith(nothingFound, { storeId: 'hobart' })
  expect(of(findings, 'fail')).toEqual([])
  const passed = of(findings, 'pass').map(([id]) => id)
  expect(passed).toEqual(expect.arrayContaining(['store.one', 'store.hours', 'prices.total']))
})

test('--near searches around a location', async () => {
  const findings = await findingsWith(RIGHT, { near: { latitude: -42.9, longitude: 147.3 } })
  expect(of(findings, 'fail')).toEqual([])
  expect(findings.find(({ rule }) => rule.id === 'nearest.array')?.call?.request).toContain('latitude=-42.9')
})

test.each<[Tamper, string]>([
  [eachStore(() => ({ name: undefined })), 'store sydney: name must be a text.'],
  [eachStore(() => ({ latitude: '1' })), 'store sydney: latitude must be a number.'],
  [eachStore(() => ({ latitude: 91, name: 'x' })), 'latitude must be at most 90.'],
  [eachStore(() => ({ address: null })), 'store sydney: address must be an object.'],
  [eachLookup(() => ({ id: 'x'.repeat(101) })), 'The lookup of store sydney returns another store'],
  [
    eachStore(({ tradingHours }) => {
      tradingHours.publicHolidays[0].date = '2026-02-30'
    }),
    'tradingHours.publicHolidays[0].date must be a date such as 2026-01-26.',
  ],
  [
    eachStore(({ tradingHours }) => {
      tradingHours.dailyTradingHours[0].day = 'Mon'
    }),
    'tradingHours.dailyTradingHours[0].day must be Monday, Tuesday, Wednesday, Thursday, Friday, Saturday or Sunday.',
  ],
])('what is wrong with a store is said in plain English (%#)', async (tamper, words) => {
  const findings = await findingsWith(tamper, { items: [] })
  const reasons = of(findings, 'fail').map(([, reason]) => reason)
  expect(reasons.join('\n')).toContain(words)
  expect(reasons.join('\n')).not.toMatch(/Invalid|expected|received/)
})

test('an answer that cannot be processed is neither a pass nor a broken rule', async () => {
  const { port, close } = await serve((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(
      '{"access_token":"abcdefgh","token_type":"Bearer","expires_in":900,"id":"\\ud800","x":[{"id":"\\ud800"}]}',
    )
  })
  const probe = createProbe({ baseUrl: `http://localhost:${port}`, clientId: 'a', clientSecret: 'b-secret' })
  const subject = { probe, items: ['A'], notInRange: [], storeId: '\ud800', patienceMs: 0 }
  expect(await Array.fromAsync(checkSupplier(subject))).toHaveLength(RULES.length)
  await close()
})
