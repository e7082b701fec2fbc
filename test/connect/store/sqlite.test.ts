import { once } from 'node:events'
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backup as copy, DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openSqlite, type SqliteOptions } from '../../../src/connect/store/sqlite.ts'
import { tempDir } from '../../support/env.ts'

const key = (id: string) => ({ kind: 'thing', owner: 'ann', id })

/** A file for one test, in a folder of its own. */
function newFile() {
  const { dir, remove } = tempDir()
  onTestFinished(remove)
  return { dir, file: join(dir, 'store.sqlite') }
}
/** A store for one test, on a file of its own unless one is given. */
function opened(options: Partial<SqliteOptions> = {}) {
  const { file = newFile().file } = options
  const store = openSqlite({ ...options, file })
  onTestFinished(store.close)
  return { store, file }
}

test('a full disk fails the write with a clear error, and earlier values stay readable', async () => {
  const { store, file } = opened()
  await store.set(key('before'), 'kept')
  await store.close()
  // The file cannot grow any more: the nearest thing to a full disk.
  const { store: full } = opened({ file, maxPages: 12 })
  const writes = Array.from({ length: 50 }, (_, i) => full.set(key(`new-${i}`), 'x'.repeat(4000)))
  const failed = (await Promise.allSettled(writes)).filter(({ status }) => status === 'rejected')
  expect(failed[0]).toMatchObject({
    reason: { code: 'store_unavailable', reason: expect.stringContaining('full') },
  })
  expect(await full.get(key('before'))).toBe('kept')
})

test('two processes on one file see each other’s writes at once', async () => {
  const { store: one, file } = opened()
  const { store: two } = opened({ file })
  await one.set(key('x'), 'one')
  expect(await two.compareAndSet(key('x'), 'one', 'two')).toBe(true)
  expect(await one.compareAndSet(key('x'), 'one', 'three')).toBe(false)
  expect(await one.get(key('x'))).toBe('two')
})

test('the error names a file that cannot be opened', () => {
  const { file } = newFile()
  mkdirSync(file)
  expect(() => openSqlite({ file })).toThrow(/store\.sqlite cannot be opened/)
})

test('the error of a damaged file says what to do', () => {
  const { file } = newFile()
  writeFileSync(file, 'x'.repeat(50_000))
  expect(() => openSqlite({ file })).toThrow(/not a database\. Restore a backup, or move the file away/)
})

describe('a file that another process has locked', () => {
  /** Holds another process's lock on the file until the function that it returns is called. */
  function locked(file: string) {
    const other = new DatabaseSync(file)
    other.exec('BEGIN EXCLUSIVE')
    return () => {
      other.exec('COMMIT')
      other.close()
    }
  }

  test('is waited for without blocking the event loop', async () => {
    const { store, file } = opened()
    const unlock = locked(file)
    let ticks = 0
    // A wait that blocks runs none of them.
    const timer = setInterval(() => ++ticks === 6 && unlock(), 5)
    await store.set(key('x'), 'written')
    clearInterval(timer)
    expect(await store.get(key('x'))).toBe('written')
  })

  test('fails the operation after two seconds, and nothing is written', async () => {
    const { store, file } = opened()
    const unlock = locked(file)
    const started = performance.now()
    await expect(store.set(key('x'), 'lost')).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(performance.now() - started).toBeGreaterThan(1_900)
    unlock()
    expect(await store.get(key('x'))).toBeNull()
  })

  test('is waited for also after the disk was full', async () => {
    const { store, file } = opened({ maxPages: 40 })
    await expect(store.set(key('x'), 'x'.repeat(1_000_000))).rejects.toMatchObject({ reason: /full/ })
    setTimeout(locked(file), 50)
    await store.set(key('y'), 'written')
    expect(await store.get(key('y'))).toBe('written')
  })
})

test('the folder of the file is readable by its user only, and so are the files in a folder that others can open', async () => {
  const { dir, file } = newFile()
  opened({ file: join(dir, 'data', 'store.sqlite') })
  expect(statSync(join(dir, 'data')).mode & 0o777).toBe(0o700)
  chmodSync(dir, 0o755)
  writeFileSync(file, '', { mode: 0o644 })
  await opened({ file }).store.set(key('x'), 'y')
  for (const name of ['store.sqlite', 'store.sqlite-wal', 'store.sqlite-shm'])
    expect(statSync(join(dir, name)).mode & 0o077, name).toBe(0)
})

test('values that have expired leave the file within a minute, however many there are, and others stay', async () => {
  let time = Date.now()
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const { store, file } = opened({ now: () => time })
  await store.set(key('permanent'), 'kept')
  await store.set(key('later'), 'kept', 120_000)
  await Promise.all(Array.from({ length: 2_500 }, (_, i) => store.set(key(`short ${i}`), 'gone', 50_000)))
  const reader = new DatabaseSync(file)
  const count = () => reader.prepare('SELECT count(*) AS rows FROM entries').get()?.rows
  time += 60_000
  for (let tick = 0; tick < 6; tick++) await vi.advanceTimersByTimeAsync(10_000)
  vi.useRealTimers()
  expect(count()).toBe(2)
  reader.close()
})

test('a store that is closed can be closed again, and says so to later operations', async () => {
  const { store } = opened({ file: ':memory:' })
  expect(store.description).toBe('embedded SQLite, :memory:')
  await store.close()
  await store.close()
  await expect(store.get(key('x'))).rejects.toMatchObject({ code: 'store_unavailable' })
})

describe('a file that is gone', () => {
  /** A store in use, a backup from before `new` was written, and the store's error when its file is gone. */
  async function inUse() {
    const said: string[] = []
    const { store, file } = opened({ onGone: (reason) => said.push(reason) })
    const backup = `${file}.backup`
    await store.set(key('old'), 'in both')
    const source = new DatabaseSync(file, { readOnly: true })
    await copy(source, backup)
    source.close()
    await store.set(key('new'), 'x'.repeat(20_000))
    return { file, backup, store, said }
  }
  /** The entries that the next process finds. */
  async function inNextProcess(file: string) {
    const next = openSqlite({ file })
    const found = [await next.get(key('old')), (await next.get(key('new')))?.length]
    await next.close()
    return found
  }

  test.each<[string, (files: { file: string; backup: string }) => void, unknown[]]>([
    ['deleted', ({ file }) => rmSync(file), [null, undefined]],
    ['replaced by a backup', ({ file, backup }) => renameSync(backup, file), ['in both', undefined]],
  ])(
    '%s: no read or write succeeds any more, the reason is told once, and the next process has what stands there',
    async (_what, harm, after) => {
      const { store, said, ...files } = await inUse()
      harm(files)
      const results = await Promise.allSettled([
        store.set(key('x'), 'lost'),
        store.compareAndSet(key('x'), null, 'lost'),
        store.delete(key('old')),
        store.get(key('old')),
        store.list('thing', 'ann'),
        store.ping(),
      ])
      const failure = {
        code: 'store_unavailable',
        reason: expect.stringContaining('was deleted or replaced'),
      }
      for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: failure })
      expect(said).toEqual([expect.stringContaining(files.file)])
      await store.close()
      expect(await inNextProcess(files.file)).toEqual(after)
    },
  )

  test('replaced while nothing is read or written: the log of the former one is not replayed over it', async () => {
    const { store, file, backup } = await inUse()
    renameSync(backup, file)
    await store.close()
    expect(await inNextProcess(file)).toEqual(['in both', undefined])
  })

  test('moved away has everything that was acknowledged, wherever it is', async () => {
    const { store, file } = await inUse()
    renameSync(file, `${file}.away`)
    await expect(store.get(key('old'))).rejects.toMatchObject({ code: 'store_unavailable' })
    renameSync(`${file}.away`, file)
    // Another process may have written since then.
    await expect(store.get(key('old'))).rejects.toMatchObject({ code: 'store_unavailable' })
    await store.close()
    expect(await inNextProcess(file)).toEqual(['in both', 20_000])
  })

  test.each<[string, (file: string, backup: string) => void]>([
    ['moved away', () => {}],
    ['replaced by a backup', (file, backup) => renameSync(backup, file)],
  ])(
    '%s while another thread writes: the former file has all that was acknowledged, and nothing is afterwards',
    async (_what, next) => {
      for (let round = 0; round < 2; round++) {
        const { store, file, backup } = await inUse()
        await store.close()
        const writer = new Worker(new URL('sqlite-writer.ts', import.meta.url), { workerData: file })
        await once(writer, 'message')
        renameSync(file, `${file}.away`)
        next(file, backup)
        const [{ acknowledged, later }] = await once(writer, 'message')
        expect(later).toEqual(['rejected', 'rejected'])
        expect(acknowledged).toBeGreaterThanOrEqual(30)
        const former = openSqlite({ file: `${file}.away` })
        expect(await former.get(key(String(acknowledged - 1)))).toHaveLength(1_000)
        expect((await former.list('thing', 'ann')).length).toBeGreaterThanOrEqual(acknowledged + 2)
        await former.close()
      }
    },
  )
})
