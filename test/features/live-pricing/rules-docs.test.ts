import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { basisOf } from '../../../src/features/live-pricing/check/report.ts'
import { RULES } from '../../../src/features/live-pricing/check/rules.ts'

test('docs/live-pricing.md lists exactly the rules of check-supplier, each with its basis', () => {
  const page = readFileSync(new URL('../../../docs/live-pricing.md', import.meta.url), 'utf8')
  const [, table = ''] = page.split('| Rule | Requirement | Basis |\n| --- | --- | --- |\n')
  const rows = (table.split('\n\n')[0] ?? '').split('\n')
  expect(rows).toEqual(RULES.map((rule) => `| \`${rule.id}\` | ${rule.title} | ${basisOf(rule)} |`))
})
