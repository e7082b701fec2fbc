import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { update } from '../../../src/connect/store/update.ts'

const KEY = { kind: 'note', owner: 'ann', id: '1' }
let store: ReturnType<typeof openSqlite>
beforeEach(() => {
  store = openSqlite({ file: ':memory:' })
})
afterEach(() => store.close())

describe('an update', () => {
  test('writes, changes and deletes a value, and resolves to what is stored', async () => {
    expect(await update(store, KEY, (value) => `${value}`)).toBe('null')
    expect(await update(store, KEY, (value) => `${value}!`)).toBe('null!')
    expect(await store.get(KEY)).toBe('null!')
    expect(await update(store, KEY, () => null)).toBeNull()
    expect(await store.get(KEY)).toBeNull()
  })

  test('of a value that stays the same writes nothing', async () => {
    await store.set(KEY, 'same')
    const written = vi.spyOn(store, 'compareAndSet')
    expect(await update(store, KEY, (value) => value)).toBe('same')
    expect(written).not.toHaveBeenCalled()
  })

  test('begins again if another process has changed the value in the meantime', async () => {
    await store.set(KEY, '1')
    const seen: (string | null)[] = []
    const result = await update(store, KEY, (value) => {
      seen.push(value)
      if (seen.length === 1) void store.set(KEY, '10')
      return String(Number(value) + 1)
    })
    expect([seen, result, await store.get(KEY)]).toEqual([['1', '10'], '11', '11'])
  })
})
