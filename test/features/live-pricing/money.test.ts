import { Big } from 'big.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bestDiscount, computeTotals } from '../../../src/features/live-pricing/money.ts'
import { bestCents } from './decimals.ts'

const quantities = fc.oneof(
  fc.integer({ min: 1, max: 100_000 }).map((value) => value / 10),
  fc.integer({ min: 1, max: 1_000_000 }),
  fc.double({ min: 1e-6, max: 1_000_000, noNaN: true }),
)

/** Decimal text of a whole number of ten-thousandths. */
const inDollars = (value: number) =>
  `${Math.floor(value / 10_000)}.${String(value % 10_000).padStart(4, '0')}`

/** A unit price with reductions that are worth the same or almost the same. */
const reductionsOfPrice = fc
  .record({
    unit: fc.oneof(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 9_999_999_999_999 })),
    percent: fc.integer({ min: 0, max: 1_000_000 }),
    step: fc.integer({ min: -2, max: 2 }),
  })
  .map(({ unit, percent, step }) => {
    const off = Math.min(unit, Math.max(0, Math.round((unit / 1_000_000) * percent) + step))
    const values = { percent: inDollars(percent), amount: inDollars(off), price: inDollars(unit - off) }
    return { unitPrice: inDollars(unit), values }
  })

describe('money', () => {
  test('the best discount is the same as in decimals, to the cent, even if others are almost as good', () => {
    fc.assert(
      fc.property(reductionsOfPrice, quantities, ({ unitPrice, values }, quantity) => {
        const { percent, amount, price } = values
        const reductions = { percent: Number(percent), amount: Number(amount), price: Number(price) }
        const cents = new Big(bestDiscount(unitPrice, quantity, reductions) ?? '0').times(100).toFixed()
        const expected = Object.entries(values).map(([kind, value]) => ({ kind, value }))
        expect(cents).toBe(String(bestCents(unitPrice, quantity, expected)))
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    ['724506372.7338', 1.1142, 8072450.005, '8072450.01'],
    ['623166100.9629', 0.7062, 4400799.005, '4400799.01'],
  ])('of %s dollars, %d %% is less than %d dollars, though not in doubles', (unit, percent, amount, best) => {
    expect((Number(unit) * percent) / 100).toBeGreaterThan(amount)
    expect(bestDiscount(unit, 1, { percent, amount })).toBe(best)
  })

  test.each([
    ['0.1', 3, '0', 0.3],
    ['1.1', 2.4, '0', 2.64],
    ['4.35', 100, '0', 435],
    ['1.005', 1000, '0', 1005],
    ['12.345', 0.1, '0.12', 1.1145],
  ])('%s dollars times %d less %s is %d', (unitPrice, quantity, discount, total) => {
    expect(computeTotals(unitPrice, quantity, discount).totalPrice).toBe(total)
  })

  test('a total with more digits than a double is returned with all its digits', () => {
    expect(JSON.stringify(computeTotals('85143.7771', 913.5443))).toContain('"totalPrice":77782612.25017553}')
    expect(JSON.stringify(computeTotals('8042274.0004', 9.2024))).toContain('"totalPrice":74008222.26128096}')
  })

  test('the best applicable discount is used, rounded half up to cents, and never makes a price negative', () => {
    expect(bestDiscount('0.10', 1, { percent: 5 })).toBe('0.01')
    expect(bestDiscount('0.10', 1, { percent: 4.9 })).toBeUndefined()
    expect(bestDiscount('10', 3, { percent: 5, amount: 0.6, price: 9.45 })).toBe('1.8')
    expect(bestDiscount('0.128', 1, { percent: 100 })).toBe('0.12')
    expect(bestDiscount('5', 1, { price: 7 })).toBeUndefined()
    expect(bestDiscount('5', 1, {})).toBeUndefined()
  })

  test('rejects an invalid decimal, a negative price and a discount above the price from a price provider', () => {
    for (const unitPrice of ['x', 'NaN', '-1', ''])
      expect(() => computeTotals(unitPrice, 2, '0'), unitPrice).toThrow()
    for (const discount of ['-0.5', '3']) expect(() => computeTotals('1', 2, discount), discount).toThrow()
  })
})
