import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backup as copy, DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { tempDir } from '../../support/env.ts'

const key = (id: string) => ({ kind: 'thing', owner: 'ann', id })

test('a full disk fails the write with a clear error, and earlier values stay readable', async () => {
  const { dir, remove } = tempDir()
  const file = join(dir, 'store.sqlite')
  const store = openSqlite({ file })
  await store.set(key('before'), 'kept')
  await store.close()
  // The file cannot grow any more: the nearest thing to a full disk.
  const full = openSqlite({ file, maxPages: 12 })
  const writes = Array.from({ length: 50 }, (_, i) => full.set(key(`new-${i}`), 'x'.repeat(4000)))
  const failed = (await Promise.allSettled(writes)).filter(({ status }) => status === 'rejected')
  expect(failed[0]).toMatchObject({
    reason: { code: 'store_unavailable', reason: expect.stringContaining('full') },
  })
  expect(await full.get(key('before'))).toBe('kept')
  await full.close()
  remove()
})

test('two processes on one file see each other’s writes at once', async () => {
  const { dir, remove } = tempDir()
  const [one, two] = [
    openSqlite({ file: join(dir, 'a', 'store.sqlite') }),
    openSqlite({ file: join(dir, 'a', 'store.sqlite') }),
  ]
  await one.set(key('x'), 'one')
  expect(await two.compareAndSet(key('x'), 'one', 'two')).toBe(true)
  expect(await one.compareAndSet(key('x'), 'one', 'three')).toBe(false)
  expect(await one.get(key('x'))).toBe('two')
  await Promise.all([one.close(), two.close()])
  remove()
})

test('the error names a file that cannot be opened', async () => {
  const { dir, remove } = tempDir()
  mkdirSync(join(dir, 'store.sqlite'))
  expect(() => openSqlite({ file: join(dir, 'store.sqlite') })).toThrow(/store\.sqlite cannot be opened/)
  remove()
})

test('the data folder is readable by its user only', async () => {
  const { dir, remove } = tempDir()
  const store = openSqlite({ file: join(dir, 'data', 'store.sqlite') })
  expect(statSync(join(dir, 'data')).mode & 0o777).toBe(0o700)
  await store.close()
  remove()
})

/** Holds another process's lock on the file, for `ms`. */
async function lockedFor(ms: number, file: string): Promise<void> {
  const other = new DatabaseSync(file)
  other.exec('BEGIN EXCLUSIVE')
  await pause(ms)
  other.exec('COMMIT')
  other.close()
}

describe('a file that another process has locked', () => {
  test('is waited for without blocking the event loop', async () => {
    const { dir, remove } = tempDir()
    const file = join(dir, 'store.sqlite')
    const store = openSqlite({ file })
    const unlocked = lockedFor(800, file)
    let ticks = 0
    const timer = setInterval(() => ticks++, 5)
    await store.set(key('x'), 'written')
    clearInterval(timer)
    await unlocked
    // A busy machine runs fewer of them; a wait that blocks runs none.
    expect(ticks).toBeGreaterThan(5)
    expect(await store.get(key('x'))).toBe('written')
    await store.close()
    remove()
  })

  test('fails the operation after two seconds, and nothing is written', async () => {
    const { dir, remove } = tempDir()
    const file = join(dir, 'store.sqlite')
    const store = openSqlite({ file })
    const other = new DatabaseSync(file)
    other.exec('BEGIN EXCLUSIVE')
    const started = performance.now()
    await expect(store.set(key('x'), 'lost')).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(performance.now() - started).toBeGreaterThan(1_900)
    other.exec('COMMIT')
    other.close()
    expect(await store.get(key('x'))).toBeNull()
    await store.close()
    remove()
  })
})

test('a full disk does not keep a later operation from waiting for a lock', async () => {
  const { dir, remove } = tempDir()
  const file = join(dir, 'store.sqlite')
  const store = openSqlite({ file, maxPages: 40 })
  await expect(store.set(key('x'), 'x'.repeat(1_000_000))).rejects.toMatchObject({ reason: /full/ })
  const unlocked = lockedFor(500, file)
  await store.set(key('y'), 'written')
  await unlocked
  expect(await store.get(key('y'))).toBe('written')
  await store.close()
  remove()
})

test('owners are listed in pages of 500, in order, and the last page says so', async () => {
  const store = openSqlite({ file: ':memory:' })
  const names = Array.from({ length: 700 }, (_, index) => `owner ${String(index).padStart(4, '0')}`)
  for (const owner of names) await store.set({ kind: 'walked', owner, id: 'one' }, 'value')
  const first = await store.owners('walked', null)
  expect(first.owners).toEqual(names.slice(0, 500))
  expect(await store.owners('walked', first.cursor)).toEqual({ owners: names.slice(500), cursor: null })
  expect(await store.owners('elsewhere', null)).toEqual({ owners: [], cursor: null })
  await store.close()
})

test('the files of SQLite are readable by their user only, even in a folder that others can open', async () => {
  const { dir, remove } = tempDir()
  chmodSync(dir, 0o755)
  writeFileSync(join(dir, 'store.sqlite'), '', { mode: 0o644 })
  const store = openSqlite({ file: join(dir, 'store.sqlite') })
  await store.set(key('x'), 'y')
  const files = readdirSync(dir)
  expect(files).toEqual(expect.arrayContaining(['store.sqlite', 'store.sqlite-wal', 'store.sqlite-shm']))
  for (const name of files) expect(statSync(join(dir, name)).mode & 0o077, name).toBe(0)
  await store.close()
  remove()
})

test('values that have expired leave the file within a minute, however many there are, and others stay', async () => {
  const { dir, remove } = tempDir()
  const file = join(dir, 'store.sqlite')
  let time = Date.now()
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const store = openSqlite({ file, now: () => time })
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
  await store.close()
  remove()
})

test('a store that is closed can be closed again, and says so to later operations', async () => {
  const store = openSqlite({ file: ':memory:' })
  expect(store.description).toBe('embedded SQLite, :memory:')
  await store.close()
  await store.close()
  await expect(store.get(key('x'))).rejects.toMatchObject({ code: 'store_unavailable' })
})

describe('a file that is gone', () => {
  /** A store in use, with a backup from before `new` was written, and what it says when its file is gone. */
  async function inUse() {
    const { dir, remove } = tempDir()
    onTestFinished(remove)
    const [file, backup] = [join(dir, 'store.sqlite'), join(dir, 'backup.sqlite')]
    const said: string[] = []
    const store = openSqlite({ file, onGone: (reason) => said.push(reason) })
    await store.set(key('old'), 'in both')
    const source = new DatabaseSync(file, { readOnly: true })
    await copy(source, backup)
    source.close()
    await store.set(key('new'), 'x'.repeat(20_000))
    return { file, backup, store, said }
  }
  /** What the next process finds. */
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
    // Another process may have written meanwhile.
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
