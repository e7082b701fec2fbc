import { expect, test } from 'vitest'
import { wrongPrices } from './random-prices.ts'

test('10,000 random price requests equal an independent computation in decimals, to the last digit', async () => {
  const { lines, wrong } = await wrongPrices(10_000, Date.now())
  expect(wrong).toEqual([])
  expect(lines).toBeGreaterThan(20_000)
})
