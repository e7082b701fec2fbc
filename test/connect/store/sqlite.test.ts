import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { tempDir } from '../../support/app.ts'

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

/** Another process's lock on the file, held for so long, in ms. */
async function lockedFor(ms: number, file: string): Promise<void> {
  const other = new DatabaseSync(file)
  other.exec('BEGIN EXCLUSIVE')
  await new Promise((resolve) => setTimeout(resolve, ms))
  other.exec('COMMIT')
  other.close()
}

describe('a file that another process has locked', () => {
  test('is waited for without holding up anything else', async () => {
    const { dir, remove } = tempDir()
    const file = join(dir, 'store.sqlite')
    const store = openSqlite({ file })
    const unlocked = lockedFor(800, file)
    let longest = 0
    let last = performance.now()
    const ticks = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 5)
    await store.set(at('x'), 'written')
    clearInterval(ticks)
    await unlocked
    expect(longest).toBeLessThan(100)
    expect(await store.get(at('x'))).toBe('written')
    await store.close()
    remove()
  })

  test('is given up on after two seconds, and nothing is written', async () => {
    const { dir, remove } = tempDir()
    const file = join(dir, 'store.sqlite')
    const store = openSqlite({ file })
    const unlocked = lockedFor(3_000, file)
    const started = performance.now()
    await expect(store.set(at('x'), 'lost')).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(performance.now() - started).toBeGreaterThan(1_900)
    await unlocked
    expect(await store.get(at('x'))).toBeNull()
    await store.close()
    remove()
  })
})

test('the file and what SQLite puts beside it are readable by their user only, also in a folder that others can open', async () => {
  const { dir, remove } = tempDir()
  chmodSync(dir, 0o755)
  const store = openSqlite({ file: join(dir, 'store.sqlite') })
  await store.set(at('x'), 'y')
  const files = readdirSync(dir)
  expect(files).toEqual(expect.arrayContaining(['store.sqlite', 'store.sqlite-wal', 'store.sqlite-shm']))
  for (const name of files) expect(statSync(join(dir, name)).mode & 0o077, name).toBe(0)
  await store.close()
  remove()
})
