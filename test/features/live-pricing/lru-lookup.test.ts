import { expect, test } from 'vitest'
import { lruLookup } from '../../../src/features/live-pricing/csv-price-provider/lru-lookup.ts'

/** Looks keys up that begin with an `a`, and counts how often each is looked for. */
function counting() {
  const asked: string[] = []
  const values = lruLookup((keys) => {
    asked.push(...keys)
    return new Map(keys.filter((key) => key.startsWith('a')).map((key) => [key, key.toUpperCase()]))
  })
  return { values, times: (key: string) => asked.filter((one) => one === key).length }
}

test('what is asked for again is looked up twice, and never after that', () => {
  const { values, times } = counting()
  for (let time = 0; time < 5; time++) expect(values(['a1', 'b', 'a2'])).toEqual(['A1', undefined, 'A2'])
  expect([times('a1'), times('a2')]).toEqual([2, 2])
})

test('what is asked for several times at once is looked up once', () => {
  const { values, times } = counting()
  expect(values(['a', 'b', 'a', 'b', 'a'])).toEqual(['A', undefined, 'A', undefined, 'A'])
  expect([times('a'), times('b')]).toEqual([1, 1])
})

test('what there is not, and what is longer than any key of ours, is never kept', () => {
  const { values, times } = counting()
  const long = `a${'x'.repeat(1_000)}`
  for (let time = 0; time < 5; time++) expect(values([long, 'b'])).toEqual([long.toUpperCase(), undefined])
  expect([times(long), times('b')]).toEqual([5, 5])
})

test('what nobody asks for again is not kept, however much of it there is', () => {
  const { values, times } = counting()
  values(['a'])
  values(['a'])
  for (let at = 0; at < 200_000; at += 500) values(Array.from({ length: 500 }, (_, more) => `a${at + more}`))
  values(['a'])
  expect(times('a')).toBe(2)
})
