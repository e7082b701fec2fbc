import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { type Key, keyName, parseKeyName, type Store } from '../../../src/connect/store/store.ts'
import { tempDir } from '../../support/app.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { ready, startCluster, startRedis } from '../../support/redis.ts'

interface Subject {
  store: Store
  close(): Promise<unknown>
}

async function sqlite(): Promise<Subject> {
  const { dir, remove } = tempDir()
  const store = openSqlite({ file: join(dir, 'store.sqlite') })
  return { store, close: () => store.close().then(remove) }
}

async function redis(): Promise<Subject> {
  const server = await startRedis()
  const store = openRedis({ urls: [server.url] })
  await ready(store)
  return { store, close: () => store.close().then(server.close) }
}

async function cluster(): Promise<Subject> {
  const servers = await startCluster()
  const store = openRedis({ urls: servers.urls })
  await ready(store)
  return { store, close: () => store.close().then(servers.close) }
}

const subjects = [
  { name: 'SQLite', open: sqlite, skip: false },
  { name: `Redis${withRedis}`, open: redis, skip: !REDIS },
  { name: `a Redis Cluster of three${withRedis}`, open: cluster, skip: !REDIS },
]

describe.each(subjects)('the store on $name', ({ open, skip }) => {
  if (skip) return test.skip('has no server to run on')
  let subject: Subject
  let store: Store
  let run = 0
  beforeAll(async () => {
    subject = await open()
    store = subject.store
  })
  afterAll(() => subject?.close())

  const key = (id = 'id', owner = `owner-${run}`): Key => ({ kind: 'thing', owner, id })
  const fresh = () => key(`id-${++run}`)

  test('gives back what was set, and null for what was not', async () => {
    const at = fresh()
    expect(await store.get(at)).toBeNull()
    await store.set(at, 'one')
    await store.set(at, 'two')
    expect(await store.get(at)).toBe('two')
  })

  test('delete removes, and says whether there was something', async () => {
    const at = fresh()
    await store.set(at, 'one')
    expect(await store.delete(at)).toBe(true)
    expect(await store.delete(at)).toBe(false)
    expect(await store.get(at)).toBeNull()
  })

  test('compare-and-set writes only over exactly what was expected', async () => {
    const at = fresh()
    expect(await store.compareAndSet(at, 'one', 'two')).toBe(false)
    expect(await store.compareAndSet(at, null, 'one')).toBe(true)
    expect(await store.compareAndSet(at, null, 'other')).toBe(false)
    expect(await store.compareAndSet(at, 'One', 'two')).toBe(false)
    expect(await store.compareAndSet(at, 'one', 'two')).toBe(true)
    expect(await store.get(at)).toBe('two')
    expect(await store.compareAndSet(at, 'one', null)).toBe(false)
    expect(await store.compareAndSet(at, 'two', null)).toBe(true)
    expect(await store.get(at)).toBeNull()
    expect(await store.compareAndSet(at, null, null)).toBe(true)
  })

  test('of many who compare and set at once, one wins', async () => {
    const at = fresh()
    const wins = await Promise.all(
      Array.from({ length: 50 }, (_, i) => store.compareAndSet(at, null, `w${i}`)),
    )
    expect(wins.filter(Boolean)).toHaveLength(1)
    expect(await store.get(at)).toBe(`w${wins.indexOf(true)}`)
  })

  test('a value with a life ends with it, and then counts as absent', async () => {
    const at = fresh()
    await store.set(at, 'short', 40)
    expect(await store.get(at)).toBe('short')
    await expect.poll(() => store.get(at)).toBeNull()
    expect(await store.compareAndSet(at, 'short', 'x')).toBe(false)
    expect(await store.delete(at)).toBe(false)
    expect(await store.compareAndSet(at, null, 'next', 40)).toBe(true)
    await expect.poll(() => store.get(at)).toBeNull()
  })

  test('a write without a life makes an expiring value last, and one with a life makes a lasting value expire', async () => {
    const [lasting, expiring] = [fresh(), fresh()]
    await store.set(lasting, 'a', 40)
    await store.set(lasting, 'b')
    await store.set(expiring, 'a')
    await store.compareAndSet(expiring, 'a', 'b', 40)
    await expect.poll(() => store.get(expiring)).toBeNull()
    expect(await store.get(lasting)).toBe('b')
  })

  test('lists the lasting values of one kind and owner', async () => {
    const owner = `lister-${++run}`
    for (const id of ['b', 'a', 'c', 'gone', 'swapped']) await store.set(key(id, owner), `value ${id}`)
    await store.set(key('temporary', owner), 'x', 60_000)
    await store.set({ ...key('a', owner), kind: 'other' }, 'x')
    await store.set(key('a', `${owner}2`), 'x')
    await store.delete(key('gone', owner))
    await store.compareAndSet(key('swapped', owner), 'value swapped', null)
    const listed = await store.list('thing', owner)
    expect(listed.sort((a, b) => a.value.localeCompare(b.value))).toEqual(
      ['a', 'b', 'c'].map((id) => ({ key: key(id, owner), value: `value ${id}` })),
    )
    expect(await store.list('thing', 'nobody')).toEqual([])
  })

  test('scans every lasting value of a kind, of all owners', async () => {
    const kind = `scan-${String.fromCharCode(97 + (run++ % 26))}`
    const keys = Array.from({ length: 1200 }, (_, i) => ({ kind, owner: `o${i % 40}`, id: `i${i}` }))
    await Promise.all(keys.map((at) => store.set(at, at.id)))
    await store.set({ kind, owner: 'o', id: 'short' }, 'x', 60_000)
    const found = new Set<string>()
    for await (const { key: at, value } of store.scan(kind)) {
      expect(value).toBe(at.id)
      found.add(keyName(at))
    }
    expect(found.size).toBe(1200)
  })

  test('keeps keys apart, whatever characters they hold, and values whole, whatever characters they hold', async () => {
    const odd = [
      'a:b',
      'a',
      'b',
      ':',
      '/',
      '{',
      '}',
      '{a}',
      '%',
      '%3A',
      ' ',
      '*',
      '?',
      '[',
      '\\',
      '\u0000',
      'é',
      'e\u0301',
      '😀',
      'x'.repeat(500),
    ]
    const pairs = odd.flatMap((owner) => odd.map((id) => ({ kind: 'odd', owner, id })))
    await Promise.all(pairs.map((at) => store.set(at, JSON.stringify(at))))
    for (const at of pairs) expect(await store.get(at)).toBe(JSON.stringify(at))
    expect((await store.list('odd', '{a}')).map(({ key: { id } }) => id).sort()).toEqual([...odd].sort())
  })

  test('answers a ping', async () => {
    await store.ping()
  })
})

test.each([
  ['one Redis', ['redis://127.0.0.1:9']],
  ['a cluster', ['redis://127.0.0.1:9', 'redis://127.0.0.1:10']],
])('a store on %s that is not there can be closed at any moment, more than once', async (_what, urls) => {
  for (const wait of [0, 5, 300, 700]) {
    const store = openRedis({ urls })
    await new Promise((resolve) => setTimeout(resolve, wait))
    await store.close()
    await store.close()
  }
})

test('a Redis store that is closed at once does not connect afterwards', async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await openRedis({ urls: [`redis://127.0.0.1:${(server.address() as AddressInfo).port}`] }).close()
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(connections).toBe(0)
  server.close()
})

test('two different keys never have the same name, and a name leads back to its key', () => {
  const text = fc.string({ unit: 'grapheme' })
  fc.assert(
    fc.property(text, text, text, text, (owner, id, owner2, id2) => {
      const [one, two] = [
        { kind: 'thing', owner, id },
        { kind: 'thing', owner: owner2, id: id2 },
      ]
      expect(parseKeyName(keyName(one))).toEqual(one)
      expect(keyName(one) === keyName(two)).toBe(owner === owner2 && id === id2)
    }),
  )
})
