import { expect } from 'vitest'
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
/** All suppliers with one fault, and the rule that it breaks. */
export const CASES = Object.entries(WRONG).flatMap(([id, ways]) =>
  ways.map(([name, tamper, subject]) => ({ name, id, tamper, subject })),
)
export type Case = (typeof CASES)[number]

/** The check of this supplier must find its fault and nothing else, and say why. */
export async function expectOneFinding({ id, tamper, subject }: Case): Promise<void> {
  const findings = await findingsWith(tamper, subject)
  const broken = findings.filter(({ outcome }) => outcome === 'fail')
  expect(broken.map(({ rule, reason }) => [rule.id, reason])).toEqual([
    [id, expect.stringMatching(/^\S.*\.$/)],
  ])
  expect(broken[0]?.call?.request).toMatch(/^(GET|POST) \//)
  expect(JSON.stringify(findings)).not.toContain(CLIENT.secret)
}
