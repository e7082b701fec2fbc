import { describe, expect, test } from 'vitest'
import { RULES } from '../../../src/features/live-pricing/check/rules.ts'
import { CLIENT, findingsWith } from './model-supplier.ts'
import { WRONG_LINES } from './wrong-lines.ts'
import { WRONG_PRICES } from './wrong-prices.ts'
import { WRONG_SEARCHES } from './wrong-searches.ts'
import { WRONG_STORES } from './wrong-stores.ts'
import { WRONG_ACCESS, WRONG_TOKENS } from './wrong-token.ts'

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

test('there is a wrong supplier for every rule', () => {
  expect([...Object.keys(WRONG), ...ELSEWHERE].sort()).toEqual(RULES.map(({ id }) => id).sort())
})

describe('a supplier that answers', () => {
  const cases = Object.entries(WRONG).flatMap(([id, ways]) =>
    ways.map(([name, tamper, subject]) => ({ name, id, tamper, subject })),
  )
  test.concurrent.each(cases)('$name breaks $id only', async ({ id, tamper, subject }) => {
    const findings = await findingsWith(tamper, subject)
    const broken = findings.filter(({ outcome }) => outcome === 'fail')
    expect(broken.map(({ rule, reason }) => [rule.id, reason])).toEqual([
      [id, expect.stringMatching(/^\S.*\.$/)],
    ])
    expect(broken[0]?.call?.request).toMatch(/^(GET|POST) \//)
    expect(JSON.stringify(findings)).not.toContain(CLIENT.secret)
  })
})
