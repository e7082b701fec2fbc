import { expect, test } from 'vitest'
import { importing, lint } from '../../support/lint.ts'

test.each([
  ['src/features/supplier-check/x.ts', '../live-pricing/router.ts', ['noRestrictedImports']],
  ['src/features/supplier-check/x.ts', '../../supplier-api/contract.ts', []],
] as const)('the import rules: of %s importing %s the linter says %j', (path, target, rules) => {
  const [complaints] = lint([importing([path, target], 0)])
  expect(complaints?.map(({ rule }) => rule)).toEqual(rules)
})
