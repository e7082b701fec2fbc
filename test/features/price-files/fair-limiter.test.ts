import { expect, test } from 'vitest'
import { createFairLimiter } from '../../../src/features/price-files/fair-limiter.ts'

const never = new AbortController().signal

/** Tasks that end on demand, and the order in which they start. */
function setup(limits: { max: number; maxPerUser: number }) {
  const turn = createFairLimiter(limits)
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const begin = (name: string, signal = never) =>
    turn(
      name[0] ?? '',
      () => {
        started.push(name)
        return new Promise<void>((resolve) => ends.set(name, resolve))
      },
      signal,
    )
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { begin, end, started }
}

test('one user cannot use every slot, however many tasks are waiting', async () => {
  const { begin, started } = setup({ max: 2, maxPerUser: 1 })
  for (const name of ['a1', 'a2', 'a3', 'b1']) void begin(name)
  await new Promise((resolve) => setImmediate(resolve))
  expect(started).toEqual(['a1', 'b1'])
})

test('the next task is the oldest of the waiting user with the fewest running tasks', async () => {
  const { begin, end, started } = setup({ max: 2, maxPerUser: 2 })
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) void begin(name)
  await new Promise((resolve) => setImmediate(resolve))
  expect(started).toEqual(['a1', 'a2'])
  await end('a1')
  await end('a2')
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('users take turns: a later user does not wait for all files of earlier users', async () => {
  const { begin, end, started } = setup({ max: 2, maxPerUser: 1 })
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1']) void begin(name)
  await new Promise((resolve) => setImmediate(resolve))
  await end('a1')
  expect(started).toEqual(['a1', 'b1', 'c1'])
  await end('b1')
  expect(started.at(-1)).toBe('a2')
})

test('a task that is cancelled while it waits frees its place in the queue', async () => {
  const { begin, end, started } = setup({ max: 1, maxPerUser: 1 })
  const stop = new AbortController()
  void begin('a1')
  const waiting = begin('a2', stop.signal)
  void begin('b1')
  stop.abort(new Error('given up'))
  await expect(waiting).rejects.toThrow('given up')
  await end('a1')
  expect(started).toEqual(['a1', 'b1'])
})
