import { describe, expect, test } from 'vitest'
import { RULES } from '../../../../src/features/supplier/supplier-check/check-supplier.ts'
import { check, idsOf, price } from './checked.ts'
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

test('without --store, the prices are those of the first store that has them all', async () => {
  const prices = [price('A-1', 11.75), price('B-2', 22.25)]
  const memberPrices = [price('A-1', 10.75, 'M-1'), price('B-2', 22.25, 'M-1')]
  const findings = await check(undefined, { storeId: undefined, prices, memberPrices })
  expect(findings.filter(({ outcome }) => outcome !== 'proven')).toEqual([])
  expect(findings.find(({ id }) => id === 'price.right')?.call?.request).toContain('"storeId":"penrith"')
})

test('a store of --store that does not exist is no fault of the supplier', async () => {
  const findings = await check(undefined, { storeId: 'nowhere-else', prices: [], memberPrices: [] })
  expect(idsOf(findings, 'wrong')).toEqual([])
  expect(findings.find(({ id }) => id === 'store.one')?.reason).toContain('name one that exists with --store')
})

test('a member whose prices are those of everybody does not prove that the number is looked at', async () => {
  const findings = await check(() => ({ discount: () => 0 }), { memberPrices: [price('A-1', 10, 'M-1')] })
  expect(idsOf(findings, 'wrong')).toEqual([])
  expect(idsOf(findings, 'unproven')).toEqual(['member.price', 'member.next-line', 'member.other-request'])
})

test('one price of a member does not prove that nothing is carried to the line behind it', async () => {
  const findings = await check(undefined, { memberPrices: [price('A-1', 9, 'M-1')] })
  expect(idsOf(findings, 'wrong')).toEqual([])
  expect(idsOf(findings, 'unproven')).toEqual(['member.next-line'])
})

test('with --token-json, tokens are requested as JSON at once', async () => {
  const forms: unknown[] = []
  const findings = await check(
    (right) => ({
      token(asked) {
        if (asked.isForm && asked.form.client_id) forms.push(asked.form)
        return right.token(asked)
      },
    }),
    {},
    { tokenJson: true },
  )
  expect(findings.filter(({ outcome }) => outcome !== 'proven')).toEqual([])
  expect(forms).toEqual([])
})
