import { expect, test } from 'vitest'
import { codeDamage } from '../../../../../src/features/supplier/tables/damaged-codes.ts'
import { readPrice } from '../../../../../src/features/supplier/tables/prices.ts'

const AUD = { decimal: 'point', currency: 'AUD' } as const

test.each<[string, Parameters<typeof readPrice>[1], number]>([
  ['1.5', AUD, 1.5],
  ['1,234.50', AUD, 1234.5],
  ['$1 234.50', AUD, 1234.5],
  ['A$12.50', AUD, 12.5],
  ['12.50 AUD', AUD, 12.5],
  ['NZ$ 12.50', { ...AUD, currency: 'NZD' }, 12.5],
  ['1.234,50', { ...AUD, decimal: 'comma' }, 1234.5],
  ['926.6400000000001', AUD, 926.64],
  ['1.125E+2', AUD, 112.5],
])('%s is a price', (cell, how, price) => {
  expect(readPrice(cell, how)).toBe(price)
})

test.each([
  ['', 'the price is missing'],
  ['-1.00', 'the price is negative'],
  ['(1.00)', 'the price is negative'],
  ['POA', 'the price "POA" is not an amount.'],
  ['about 5', 'the price "about 5" is not an amount in AUD'],
  ['Infinity', 'the price "Infinity" is not an amount.'],
  ['USD 5', 'the price "USD 5" is not an amount in AUD'],
  ['NZ$ 5', 'the price "NZ$ 5" is not an amount in AUD'],
  ['1.23E+03', 'the price "1.23E+03" was rounded by a spreadsheet'],
  ['#REF!', 'the price is an error of a spreadsheet formula'],
  ['1,23,4', 'the price "1,23,4" is invalid; write it as 1234.50'],
  ['9999999999', 'the price exceeds one billion dollars'],
  [`1${' '.repeat(1_000_000)}2`, 'is not an amount.'],
])('%.20j is no price, with the reason', (cell, reason) => {
  expect(readPrice(cell, AUD)).toContain(reason)
})

test.each<[string, number | undefined, RegExp]>([
  ['9.31E+12', undefined, /was shortened/],
  ['9312345678901230000', undefined, /was shortened/],
  ['9312345678901234', 9_312_345_678_901_234, /was shortened/],
  ['1-Feb', undefined, /converted/],
  ['46.5%', undefined, /converted/],
])('a spreadsheet has damaged the code %s', (code, shown, damage) => {
  expect(codeDamage(code, shown)).toMatch(damage)
})

test.each(['123456789012345', '1-FEB', '00123', 'A-1/2'])('the code %s is whole', (code) => {
  expect(codeDamage(code)).toBeUndefined()
})
