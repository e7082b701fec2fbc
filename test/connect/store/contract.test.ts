import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { keyName, parseKeyName, StoreUnavailableError } from '../../../src/connect/store/store.ts'
import { tempDir } from '../../support/env.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { ready, startCluster, startRedis } from '../../support/redis.ts'
import { describeStoreContract, type Subject } from './contract.ts'

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

for (const { name, open, skip } of subjects) describeStoreContract(name, open, { skip })

test.skipIf(!REDIS)(`a cursor of a Redis that was restarted since is refused${withRedis}`, async () => {
  const server = await startRedis()
  const store = await ready(openRedis({ urls: [server.url] }))
  await Promise.all(
    Array.from({ length: 2_000 }, (_, i) => store.set({ kind: 'x', owner: `o${i}`, id: '' }, 'x')),
  )
  const [partition = ''] = await store.partitions()
  const { cursor } = await store.owners('x', partition, null)
  expect(cursor).not.toBeNull()
  await server.kill()
  await server.start()
  await ready(store)
  await expect(store.owners('x', partition, cursor)).rejects.toThrow(StoreUnavailableError)
  const [again = ''] = await store.partitions()
  expect((await store.owners('x', again, null)).owners.length).toBeGreaterThan(0)
  await store.close()
  await server.close()
})

test.each([
  ['one Redis', ['redis://127.0.0.1:9']],
  ['a cluster', ['redis://127.0.0.1:9', 'redis://127.0.0.1:10']],
])('a store on %s that is unreachable can be closed at any time, more than once', async (_what, urls) => {
  for (const wait of [0, 5, 100, 400]) {
    const store = openRedis({ urls })
    await pause(wait)
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
  await pause(200)
  expect(connections).toBe(0)
  server.close()
})

test('different keys have different names, and a name can be parsed back to its key', () => {
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
