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

test('a value is looked up once, however often it is requested', () => {
  const { values, times } = counting()
  for (let time = 0; time < 5; time++) expect(values(['a1', 'b', 'a2'])).toEqual(['A1', undefined, 'A2'])
  expect([times('a1'), times('a2')]).toEqual([1, 1])
})

test('concurrent requests for a key look it up once', () => {
  const { values, times } = counting()
  expect(values(['a', 'b', 'a', 'b', 'a'])).toEqual(['A', undefined, 'A', undefined, 'A'])
  expect([times('a'), times('b')]).toEqual([1, 1])
})

test('a key that is not found, or that is longer than 250 characters, is never cached', () => {
  const { values, times } = counting()
  const long = `a${'x'.repeat(1_000)}`
  for (let time = 0; time < 5; time++) expect(values([long, 'b'])).toEqual([long.toUpperCase(), undefined])
  expect([times(long), times('b')]).toEqual([5, 5])
})

test('a regularly requested value stays cached while 200,000 others pass; an unused one is evicted', () => {
  const { values, times } = counting()
  values(['a-often', 'a-once'])
  for (let at = 0; at < 200_000; at += 500) {
    values(Array.from({ length: 500 }, (_, more) => `a${at + more}`))
    if (at % 10_000 === 0) values(['a-often'])
  }
  values(['a-often', 'a-once'])
  expect([times('a-often'), times('a-once')]).toEqual([1, 2])
})
