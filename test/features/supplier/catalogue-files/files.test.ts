import { expect, test } from 'vitest'
import { texts } from '../../../../src/features/supplier/catalogue-files/texts.ts'
import { RIGHT, WRONG } from './cases.ts'
import { type Mistake, outcome, problemsOf, read } from './support.ts'

test.each(RIGHT)('every item of a right file is read: %s', async (_, file, items) => {
  expect(await outcome(file)).toEqual(items)
})

test.each(WRONG)(
  'a wrong file yields no item, but where it is wrong, how often and what to do: %s',
  async (_, file, mistakes) => {
    expect(await outcome(file)).toEqual(problemsOf(mistakes))
  },
)

test('at most 10 problems of a kind are listed, so that dollar signs do not hide a doubled code, and all are counted', async () => {
  const dollars = Array.from({ length: 11 }, (_, at): Mistake => [at + 2, 'price', 'currency', `$${at}`])
  const lines = dollars.map((_, at) => `A${at},$${at}\n`).join('')
  const doubled: Mistake = [13, 'code', 'doubledCode', texts.also('a1', texts.line(3))]
  const { listed, kinds } = problemsOf([...dollars, doubled])
  expect(await outcome(`code,price\n${lines}a1,1\n`)).toEqual({ listed: listed.toSpliced(10, 1), kinds })
})

test('at most 100 problems of a file are listed, and all are counted', async () => {
  const names = Array.from({ length: 98 }, (_, at) => `x${at}`)
  const result = await read(`code,price,${names}\n${'=,$\n'.repeat(20)}`)
  const { listed, kinds } = result.ok ? { listed: [], kinds: [] } : result.problems
  expect(listed).toHaveLength(100)
  expect(kinds.reduce((all, { count }) => all + count, 0)).toBe(98 + 40)
})
