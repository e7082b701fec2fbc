import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { createLastUse, type LastUse } from '../../../src/connect/vault/last-use.ts'
import { REF } from '../../support/vault.ts'

const DAY = 24 * 3_600_000
const OTHER = { ...REF, bxcontext: 'other' }
let time: number
let store: ReturnType<typeof openSqlite>
let lastUse: LastUse
beforeEach(() => {
  time = Date.now()
  store = openSqlite({ file: ':memory:', now: () => time })
  lastUse = createLastUse(store, 'platform', () => time)
})
afterEach(() => store.close())

/** Whether noting a use writes to the store. */
function writes(ref = REF): boolean {
  const set = vi.spyOn(store, 'set')
  lastUse.note(ref)
  const isWritten = set.mock.calls.length > 0
  set.mockRestore()
  return isWritten
}

test('the last use of a connection is stored at most once a minute, for each connection', async () => {
  expect(await lastUse.read(REF)).toBeNull()
  const first = time
  expect([writes(), writes(OTHER), writes()]).toEqual([true, true, false])
  time += 59_999
  expect(writes()).toBe(false)
  expect(await lastUse.read(REF)).toBe(first)
  time += 1
  expect(writes()).toBe(true)
  expect(await lastUse.read(REF)).toBe(time)
})

test('the last use is stored for 400 days', async () => {
  writes()
  time += 400 * DAY - 1
  expect(await lastUse.read(REF)).not.toBeNull()
  time += 1
  expect(await lastUse.read(REF)).toBeNull()
})

test('what is cleared is written at the next use', async () => {
  writes()
  await lastUse.clear(REF)
  expect(await lastUse.read(REF)).toBeNull()
  expect(writes()).toBe(true)
})

test('at most 10,000 connections are remembered: then all are written once more', () => {
  for (let index = 0; index < 9_999; index++) writes({ ...REF, bxcontext: `c${index}` })
  expect([writes(OTHER), writes(OTHER)]).toEqual([true, false])
  expect(writes()).toBe(true)
  expect(writes(OTHER)).toBe(true)
})
