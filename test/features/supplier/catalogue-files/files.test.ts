import { expect, test } from 'vitest'
import type { FileProblems, ProblemKind } from '../../../../src/features/supplier/catalogue-files/problems.ts'
import { texts } from '../../../../src/features/supplier/catalogue-files/texts.ts'
import { RIGHT, WRONG } from './cases.ts'
import { outcome, problemsOf } from './support.ts'

test.each(RIGHT)('every item of a right file is read: %s', async (_, file, items) => {
  expect(await outcome(file)).toEqual(items)
})

test.each(WRONG)(
  'a wrong file yields no item, but where it is wrong, how often and what to do: %s',
  async (_, file, mistakes) => {
    expect(await outcome(file)).toEqual(problemsOf(mistakes))
  },
)

test('at most 10 places of a kind are listed, so that dollar signs do not hide a doubled code, and all are counted', async () => {
  const lines = Array.from({ length: 11 }, (_, at) => `A${at},$${at}\n`).join('')
  const { kinds } = await outcome(`code,price\n${lines}a1,1\n`)
  expect(kinds).toMatchObject([
    { count: 11, places: Array.from({ length: 10 }, (_, at) => ({ line: at + 2, found: `$${at}` })) },
    { count: 1, places: [{ line: 13, found: texts.also('a1', texts.line(3)) }] },
  ])
})

test('at most 100 places in a file are listed, and all are counted', async () => {
  const names = Array.from({ length: 98 }, (_, at) => `x${at}`)
  const { kinds }: FileProblems = await outcome(`code,price,${names}\n${'=,$\n'.repeat(20)}`)
  const sum = (of: (kind: ProblemKind) => number) => kinds.reduce((all, kind) => all + of(kind), 0)
  expect(sum(({ places }) => places.length)).toBe(100)
  expect(sum(({ count }) => count)).toBe(98 + 40)
})
