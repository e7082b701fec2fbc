import { describe, expect, test } from 'vitest'
import { RULES } from '../../../src/features/supplier-check/check-supplier.ts'
import { check, idsOf } from './checked.ts'
import { RIGHT } from './right.ts'
import { WRONG } from './wrong.ts'

test('a supplier that is right in everything is proven by every rule', async () => {
  const findings = await check()
  expect(findings.filter(({ outcome }) => outcome !== 'proven')).toEqual([])
  expect(findings).toHaveLength(Object.keys(RULES).length)
})

describe('a supplier that is wrong', () => {
  test.each(WRONG)('by %s: %s', async (id, _name, change, { known, also = [] } = {}) => {
    expect(idsOf(await check(change, known), 'wrong').sort()).toEqual([id, ...also].sort())
  })

  test('is there for each rule', () => {
    expect(Object.keys(RULES).filter((id) => !WRONG.some(([wrong]) => wrong === id))).toEqual([])
  })
})

describe('a supplier that is right is not wrong', () => {
  test.each(RIGHT)('%s', async (_name, change, { known, unproven = [] } = {}) => {
    const findings = await check(change, known)
    expect(findings.filter(({ outcome }) => outcome === 'wrong')).toEqual([])
    expect(idsOf(findings, 'unproven')).toEqual(unproven)
  })
})
