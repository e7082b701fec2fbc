import { expect, test } from 'vitest'
import { wrongPrices } from './random-prices.ts'

test('400 random price requests equal an independent computation in decimals, to the last digit', async () => {
  const { lines, wrong } = await wrongPrices(400, 1)
  expect(wrong).toEqual([])
  expect(lines).toBeGreaterThan(1_000)
})
