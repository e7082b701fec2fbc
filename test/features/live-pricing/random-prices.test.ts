import { expect, test } from 'vitest'
import { wrongPrices } from './random-prices.ts'

test('200 random price requests equal an independent computation in decimals, to the last digit', async () => {
  const { lines, wrong } = await wrongPrices(200, 1)
  expect(wrong).toEqual([])
  expect(lines).toBeGreaterThan(500)
})
