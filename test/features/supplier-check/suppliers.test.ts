import { describe, expect, test } from 'vitest'
import { isBroken } from '../../../src/features/supplier-check/check-supplier.ts'
import { RULES } from '../../../src/features/supplier-check/rules.ts'
import { CLIENT, findingsWith } from './model-supplier.ts'
import { RIGHT_PRICES } from './right-prices.ts'
import { RIGHT_STORES } from './right-stores.ts'
import { casesOf } from './tampers.ts'
import { WRONG_LINES } from './wrong-lines.ts'
import { WRONG_PRICES } from './wrong-prices.ts'
import { WRONG_SEARCHES } from './wrong-searches.ts'
import { WRONG_STORES } from './wrong-stores.ts'
import { WRONG_ACCESS, WRONG_TOKENS } from './wrong-token.ts'

const RIGHT = { ...RIGHT_STORES, ...RIGHT_PRICES }
const WRONG = {
  ...WRONG_TOKENS,
  ...WRONG_ACCESS,
  ...WRONG_SEARCHES,
  ...WRONG_STORES,
  ...WRONG_PRICES,
  ...WRONG_LINES,
}
/** It needs a clock of its own: see check.test.ts. */
const ELSEWHERE = ['token.expiry']
/** Few rules can be checked where not even the names of a request are understood. */
const LITTLE = ['a token in another header']

test('there is a wrong supplier for every rule', () => {
  expect([...Object.keys(WRONG), ...ELSEWHERE].sort()).toEqual(RULES.map(({ id }) => id).sort())
})

const wrong = Object.entries(WRONG).flatMap(([id, cases]) => casesOf(cases).map((of) => ({ id, ...of })))
test.concurrent.each(wrong)('a supplier that answers $name breaks $id only', async ({ id, ...told }) => {
  const findings = await findingsWith(told.tamper, told)
  const broken = findings.filter(({ outcome }) => outcome === 'fail')
  expect(broken.map(({ rule, reason }) => [rule.id, reason])).toEqual([
    [id, expect.stringMatching(/^\S.*\.$/)],
  ])
  expect(broken[0]?.call?.request).toMatch(/^(GET|POST) \//)
  expect(JSON.stringify(findings)).not.toContain(CLIENT.secret)
})

describe('a right supplier with', () => {
  test.concurrent.each(casesOf(RIGHT))('$name is not blamed with --given-only', async ({ name, ...told }) => {
    const findings = await findingsWith(told.tamper, told)
    const blamed = findings.filter((finding) => isBroken(finding, true))
    expect(blamed.map(({ rule, reason }) => [rule.id, reason])).toEqual([])
    const passed = findings.filter(({ rule, outcome }) => rule.given && outcome === 'pass').length
    expect(passed).toBeGreaterThan(LITTLE.includes(name) ? 8 : 14)
  })
})
