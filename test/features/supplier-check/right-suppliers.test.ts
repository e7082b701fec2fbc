import { describe, expect, test } from 'vitest'
import { isBroken } from '../../../src/features/supplier-check/check-supplier.ts'
import { findingsWith } from './model-supplier.ts'
import { RIGHT_PRICES } from './right-prices.ts'
import { RIGHT_STORES } from './right-stores.ts'

/** Few rules can be checked where not even the names of a request are understood. */
const LITTLE = ['a token in another header']

describe('a right supplier with', () => {
  test.concurrent.each([...RIGHT_STORES, ...RIGHT_PRICES])(
    '%s is not blamed with --given-only',
    async (name, tamper, subject) => {
      const findings = await findingsWith(tamper, subject)
      const blamed = findings.filter((finding) => isBroken(finding, true))
      expect(blamed.map(({ rule, reason }) => [rule.id, reason])).toEqual([])
      const passed = findings.filter(({ rule, outcome }) => rule.given && outcome === 'pass').length
      expect(passed).toBeGreaterThan(LITTLE.includes(name) ? 8 : 14)
    },
  )
})
