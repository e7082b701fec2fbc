import { describe, expect, test } from 'vitest'
import { RULES } from '../../../src/features/supplier-check/rules.ts'
import { CASES, expectOneFinding } from './wrong-suppliers.ts'

/** It needs a clock of its own: see check.test.ts. */
const ELSEWHERE = ['token.expiry']

test('there is a wrong supplier for every rule', () => {
  const rules = new Set(CASES.map(({ id }) => id))
  expect([...rules, ...ELSEWHERE].sort()).toEqual(RULES.map(({ id }) => id).sort())
})

// Every fourth one here; wrong-suppliers.long.test.ts has them all.
describe('a supplier that answers', () => {
  const some = CASES.filter((_case, index) => index % 4 === 0)
  test.concurrent.each(some)('$name breaks $id only', expectOneFinding)
})
