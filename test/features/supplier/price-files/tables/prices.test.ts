import { expect, test } from 'vitest'
import { isDamaged } from '../../../../../src/features/supplier/tables/damaged-codes.ts'
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

test.each(['-1.00', '(1.00)', '-$5', '5-'])('%s is a negative price', (cell) => {
  expect(readPrice(cell, AUD)).toBe('negative')
})

test.each([
  '',
  'POA',
  'about 5',
  'Infinity',
  'USD 5',
  'NZ$ 5',
  '1.23E+03',
  '#REF!',
  '1,23,4',
  '10%',
  '9999999999',
  `1${' '.repeat(1_000_000)}2`,
])('%.20j is no price', (cell) => {
  expect(readPrice(cell, AUD)).toBe('unreadable')
})

test.each([
  ['9.31E+12', undefined],
  ['9312345678901230000', undefined],
  ['9312345678901234', 9_312_345_678_901_234],
  ['1-Feb', undefined],
  ['46.5%', undefined],
])('a spreadsheet has damaged the code %s', (code, shown) => {
  expect(isDamaged(code, shown)).toBe(true)
})

test.each(['123456789012345', '1-FEB', '00123', 'A-1/2'])('the code %s is whole', (code) => {
  expect(isDamaged(code)).toBe(false)
})
