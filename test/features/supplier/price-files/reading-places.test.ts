import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createReadingPlaces } from '../../../../src/features/supplier/price-files/reading-places.ts'

const SMALL = 999_999
const LARGE = 1_000_000

/** Files that wait for a place, by name. `started`: those that are read, in their order; `end` ends one. */
function startPlaces() {
  const inPlace = createReadingPlaces()
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    add(name: string, userId: string, bytes: number): void {
      const { promise, resolve } = Promise.withResolvers<void>()
      ends.set(name, resolve)
      void inPlace({ userId, bytes }, async () => {
        started.push(name)
        await promise
      })
    },
    async end(name: string): Promise<void> {
      ends.get(name)?.()
      await turn()
    },
  }
}

test('a small file is read at once beside the large files of two others, one after the other', async () => {
  const { add, end, started } = startPlaces()
  add('large of Ann', 'ann', LARGE)
  add('large of Bob', 'bob', LARGE)
  add('small of Eve', 'eve', SMALL)
  await turn()
  expect(started).toEqual(['large of Ann', 'small of Eve'])
  await end('small of Eve')
  expect(started).not.toContain('large of Bob')
  await end('large of Ann')
  expect(started).toContain('large of Bob')
})

test('a user’s second file waits for the first one, and lets others pass; else who came first is next', async () => {
  const { add, end, started } = startPlaces()
  add('first of Ann', 'ann', SMALL)
  add('second of Ann', 'ann', SMALL)
  add('of Bob', 'bob', SMALL)
  add('large of Eve', 'eve', LARGE)
  await turn()
  expect(started).toEqual(['first of Ann', 'of Bob'])
  await end('first of Ann')
  await end('of Bob')
  expect(started).toEqual(['first of Ann', 'of Bob', 'second of Ann', 'large of Eve'])
})

test('a place is free again when reading has failed', async () => {
  const inPlace = createReadingPlaces()
  const user = { userId: 'ann', bytes: LARGE }
  await expect(inPlace(user, () => Promise.reject(new Error('unreadable')))).rejects.toThrow('unreadable')
  expect(await inPlace(user, async () => 'read')).toBe('read')
})
