import { expect, test } from 'vitest'
import { RIGHT, WRONG } from './cases.ts'
import { outcome } from './support.ts'

test.each(RIGHT)('every item of a right file is read: %s', async (_, file, items) => {
  expect(await outcome(file)).toEqual(items)
})

test.each(WRONG)(
  'a wrong file yields no item, but where it is wrong, how often and what to do: %s',
  async (_, file, messages) => {
    expect(await outcome(file)).toEqual(messages)
  },
)
