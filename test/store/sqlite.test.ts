import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../src/store/sqlite.ts'
import { tempDir } from '../support/app.ts'

const at = (id: string) => ({ kind: 'thing', owner: 'ann', id })

test('a full disk fails the write with a clear error and leaves what was there readable', async () => {
  const { dir, remove } = tempDir()
  const file = join(dir, 'store.sqlite')
  const store = openSqlite({ file })
  await store.set(at('before'), 'kept')
  await store.close()
  // The file cannot grow any more: the nearest thing to a full disk.
  const full = openSqlite({ file, maxPages: 12 })
  const writes = Array.from({ length: 50 }, (_, i) => full.set(at(`new-${i}`), 'x'.repeat(4000)))
  const failed = (await Promise.allSettled(writes)).filter(({ status }) => status === 'rejected')
  expect(failed[0]).toMatchObject({
    reason: { code: 'store_unavailable', reason: expect.stringContaining('full') },
  })
  expect(await full.get(at('before'))).toBe('kept')
  await full.close()
  remove()
})

test('two processes on one file see each other’s writes at once', async () => {
  const { dir, remove } = tempDir()
  const [one, two] = [
    openSqlite({ file: join(dir, 'a', 'store.sqlite') }),
    openSqlite({ file: join(dir, 'a', 'store.sqlite') }),
  ]
  await one.set(at('x'), 'one')
  expect(await two.compareAndSet(at('x'), 'one', 'two')).toBe(true)
  expect(await one.compareAndSet(at('x'), 'one', 'three')).toBe(false)
  expect(await one.get(at('x'))).toBe('two')
  await Promise.all([one.close(), two.close()])
  remove()
})

test('a file that is no database, or cannot be opened, is named in the error', async () => {
  const { dir, remove } = tempDir()
  mkdirSync(join(dir, 'store.sqlite'))
  expect(() => openSqlite({ file: join(dir, 'store.sqlite') })).toThrow(/store\.sqlite cannot be opened/)
  remove()
})

test('the data folder is readable by its user only', async () => {
  const { dir, remove } = tempDir()
  const store = openSqlite({ file: join(dir, 'data', 'store.sqlite') })
  expect(statSync(join(dir, 'data')).mode & 0o077).toBe(0)
  await store.close()
  remove()
})
