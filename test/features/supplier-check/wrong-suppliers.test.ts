import { describe, expect, test } from 'vitest'
import { RULES } from '../../../src/features/supplier-check/rules.ts'
import { CASES, expectOneFinding } from './wrong-suppliers.ts'

/** It needs a clock of its own: see check.test.ts. */
const ELSEWHERE = ['token.expiry']

test('there is a wrong supplier for every rule', () => {
  const rules = new Set(CASES.map(({ id }) => id))
  expect([...rules, ...ELSEWHERE].sort()).toEqual(RULES.map(({ id }) => id).sort())
})

describe('a supplier that answers', () => {
  test.concurrent.each(CASES)('$name breaks $id only', expectOneFinding)
})
