import { describe, expect, test } from 'vitest'
import { bestDiscount, computeTotals } from '../../../../src/features/supplier/live-pricing/money.ts'

// `random-prices.test.ts` compares prices with an independent computation.
describe('money', () => {
  test.each([
    ['724506372.7338', 1.1142, 8072450.005, '8072450.01'],
    ['623166100.9629', 0.7062, 4400799.005, '4400799.01'],
  ])('of %s dollars, %d %% is less than %d dollars, though not in doubles', (unit, percent, amount, best) => {
    expect((Number(unit) * percent) / 100).toBeGreaterThan(amount)
    expect(bestDiscount(unit, 1, { percent, amount })).toBe(best)
  })

  test('a total with more digits than a double is returned with all its digits', () => {
    expect(JSON.stringify(computeTotals('85143.7771', 913.5443))).toContain('"totalPrice":77782612.25017553}')
    expect(JSON.stringify(computeTotals('8042274.0004', 9.2024))).toContain('"totalPrice":74008222.26128096}')
    expect(computeTotals('1.1', 2.4).totalPrice).toBe(2.64)
  })

  test('the best applicable discount is used, rounded half up to cents, and never makes a price negative', () => {
    expect(bestDiscount('0.10', 1, { percent: 5 })).toBe('0.01')
    expect(bestDiscount('0.10', 1, { percent: 4.9 })).toBeUndefined()
    expect(bestDiscount('10', 3, { percent: 5, amount: 0.6, price: 9.45 })).toBe('1.8')
    expect(bestDiscount('0.128', 1, { percent: 100 })).toBe('0.12')
    expect(bestDiscount('5', 1, { price: 7 })).toBeUndefined()
  })

  test('a discount above the price, or below zero, is rejected', () => {
    for (const discount of ['-0.5', '3']) expect(() => computeTotals('1', 2, discount), discount).toThrow()
  })
})
