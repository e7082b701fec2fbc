import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { basisOf } from '../../../src/features/supplier-check/report.ts'
import { RULES } from '../../../src/features/supplier-check/rules.ts'

test('docs/supplier-check.md lists exactly the rules of check-supplier, each with its basis', () => {
  const page = readFileSync(new URL('../../../docs/supplier-check.md', import.meta.url), 'utf8')
  const [, table = ''] = page.split('| Rule | Requirement | Basis |\n| --- | --- | --- |\n')
  const rows = (table.split('\n\n')[0] ?? '').split('\n')
  expect(rows).toEqual(RULES.map((rule) => `| \`${rule.id}\` | ${rule.title} | ${basisOf(rule)} |`))
})
