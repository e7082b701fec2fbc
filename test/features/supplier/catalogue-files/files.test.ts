import { expect, test } from 'vitest'
import { RIGHT, WRONG } from './cases.ts'
import { outcome, read } from './support.ts'

test.each(RIGHT)('every item of a right file is read: %s', async (_, file, items) => {
  expect(await outcome(file)).toEqual(items)
})

test.each(WRONG)(
  'a wrong file yields no item, but where it is wrong, how often and what to do: %s',
  async (_, file, messages) => {
    expect(await outcome(file)).toEqual(messages)
  },
)

test('at most 100 problems of a file are listed, and all are counted', async () => {
  const names = Array.from({ length: 98 }, (_, at) => `x${at}`)
  const result = await read(`code,price,${names}\n${'=,$\n'.repeat(20)}`)
  const { listed, kinds } = result.ok ? { listed: [], kinds: [] } : result.problems
  expect(listed).toHaveLength(100)
  expect(kinds.reduce((all, { count }) => all + count, 0)).toBe(98 + 40)
})
