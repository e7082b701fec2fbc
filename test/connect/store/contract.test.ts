import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { createClient } from 'redis'
import { expect, test, vi } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import {
  keyName,
  parseGroupName,
  parseKeyName,
  StoreUnavailableError,
} from '../../../src/connect/store/store.ts'
import { describeStoreContract, type Subject } from '../../../src/connect/stores.contract.ts'
import { tempDir } from '../../support/env.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { ready, startCluster, startRedis } from '../../support/redis.ts'

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

test('a name that is no key of this app is none, and a group is one of its own kind only', () => {
  expect(parseKeyName('session:abc')).toBeNull()
  expect(parseKeyName('connect:thing:{ann}')).toBeNull()
  expect(parseGroupName('thing', 'connect:thing:{a%20b}')).toBe('a b')
  expect(parseGroupName('thing', 'connect:other:{ann}')).toBeNull()
  expect(parseGroupName('thing', 'connect:thing:{ann}:id')).toBeNull()
})

test('a Redis is shared by machines, and its description names its servers, without the password', async () => {
  const store = openRedis({ urls: ['redis://app:secret@one:7000', 'redis://two:7001'] })
  expect(store.shared).toBe(true)
  expect(store.description).toBe('Redis at one:7000, two:7001')
  await store.close()
})

test.skipIf(!REDIS)(
  `a Redis that may lose values is reported, one that keeps them is not${withRedis}`,
  async () => {
    const server = await startRedis()
    const store = await ready(openRedis({ urls: [server.url] }))
    const admin = createClient({ url: server.url })
    await admin.connect()
    expect(await store.warnings()).toEqual([])
    await admin.configSet('maxmemory-policy', 'allkeys-lru')
    const evicts = expect.stringContaining('maxmemory-policy is allkeys-lru')
    expect(await store.warnings()).toEqual([evicts])
    await admin.configSet({ appendonly: 'no', save: '60 1' })
    expect(await store.warnings()).toEqual([evicts])
    await admin.configSet({ save: '' })
    expect(await store.warnings()).toEqual([evicts, expect.stringContaining('a restart loses')])
    await admin.sendCommand(['ACL', 'SETUSER', 'default', '-config'])
    expect(await store.warnings()).toEqual([expect.stringContaining('does not allow reading its settings')])
    admin.destroy()
    await store.close()
    await server.close()
  },
)

test.skipIf(!REDIS)(
  `a Redis that stops and starts again is reported once as lost and once as connected${withRedis}`,
  async () => {
    const server = await startRedis()
    const states: string[] = []
    const store = openRedis({ urls: [server.url], onState: (state) => void states.push(state) })
    await ready(store)
    await server.kill()
    await expect.poll(() => states, { timeout: 10_000 }).toEqual(['connected', 'lost'])
    await expect(store.ping()).rejects.toThrow(StoreUnavailableError)
    await server.start()
    await ready(store)
    expect(states).toEqual(['connected', 'lost', 'connected'])
    await store.close()
    await server.close()
  },
)

test.skipIf(!REDIS)(
  `a Redis that hangs fails operations, and is used again when it answers${withRedis}`,
  async () => {
    const server = await startRedis()
    const states: string[] = []
    const store = openRedis({ urls: [server.url], onState: (state) => void states.push(state) })
    await ready(store)
    const key = { kind: 'thing', owner: 'ann', id: '' }
    await store.set(key, 'value')
    server.signal('SIGSTOP')
    await expect(store.get(key)).rejects.toMatchObject({ reason: expect.stringContaining('did not answer') })
    // The first operation that is not answered says little about the connection.
    expect(states).toEqual(['connected'])
    const ask = () => store.get(key).catch(() => null)
    await vi.waitFor(async () => expect(await ask().then(() => states)).toContain('lost'), {
      timeout: 30_000,
      interval: 500,
    })
    server.signal('SIGCONT')
    await expect.poll(ask, { timeout: 10_000 }).toBe('value')
    await store.close()
    await server.close()
  },
)

test.skipIf(!REDIS)(`the error of a Redis does not contain what was to be written${withRedis}`, async () => {
  const server = await startRedis(
    '--rename-command',
    'EVAL',
    'NO-EVAL',
    '--rename-command',
    'EVALSHA',
    'NO-SHA',
  )
  const store = await ready(openRedis({ urls: [server.url] }))
  const written = store.set({ kind: 'thing', owner: 'ann', id: '' }, 'a secret')
  await expect(written).rejects.toMatchObject({
    reason: expect.stringMatching(/^ERR unknown command [^,]*$/),
  })
  await store.close()
  await server.close()
})

test.skipIf(!REDIS)(
  `a Redis that becomes a replica is reported as lost: another one is the master now${withRedis}`,
  async () => {
    const server = await startRedis()
    const states: string[] = []
    const store = openRedis({ urls: [server.url], onState: (state) => void states.push(state) })
    await ready(store)
    const admin = createClient({ url: server.url })
    await admin.connect()
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '9'])
    const key = { kind: 'thing', owner: 'ann', id: '' }
    await expect
      .poll(() => store.set(key, 'x').then(String, ({ reason }) => reason), { timeout: 10_000 })
      .toMatch(/^READONLY/)
    await vi.waitFor(
      async () => {
        await store.set(key, 'x').catch(() => {})
        expect(states).toContain('lost')
      },
      { timeout: 10_000 },
    )
    await admin.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    await vi.waitFor(() => store.set(key, 'x'), { timeout: 10_000 })
    admin.destroy()
    await store.close()
    await server.close()
  },
)

test.skipIf(!REDIS)(
  `several addresses of servers that are no cluster are reported with what to write${withRedis}`,
  async () => {
    const servers = await Promise.all([startRedis(), startRedis()])
    const reasons: (string | undefined)[] = []
    const onState = (_state: string, reason?: string) => void reasons.push(reason)
    const store = openRedis({ urls: servers.map(({ url }) => url), onState })
    await expect.poll(() => reasons[0], { timeout: 10_000 }).toContain('mean a Redis Cluster')
    await store.close()
    await Promise.all(servers.map((server) => server.close()))
  },
)

test.skipIf(!REDIS)(`one address of a Redis Cluster is enough${withRedis}`, async () => {
  const cluster = await startCluster()
  const store = await ready(openRedis({ urls: cluster.urls.slice(0, 1) }))
  for (const owner of ['ann', 'ben', 'cleo']) await store.set({ kind: 'thing', owner, id: '' }, owner)
  expect(await store.get({ kind: 'thing', owner: 'ben', id: '' })).toBe('ben')
  expect(await store.partitions()).toHaveLength(3)
  await store.close()
  await cluster.close()
})
