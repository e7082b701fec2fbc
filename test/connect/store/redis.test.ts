import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { type Key, keyName } from '../../../src/connect/store/store.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { connectionsReceived, type RedisServer, ready, startRedis } from '../../support/redis.ts'

let count = 0
const fresh = (): Key => ({ kind: 'note', owner: `owner ${++count}`, id: '' })

/** A store whose changes of state are noted, as `lost: reason` or `connected`. */
function open(...urls: string[]) {
  const states: string[] = []
  const onState = (state: string, reason?: string) =>
    void states.push(reason === undefined ? state : `${state}: ${reason}`)
  const store = openRedis({ urls, onState })
  return { store, states, becomes: (state: unknown) => expect.poll(() => states.at(-1)).toEqual(state) }
}

const LOST = expect.stringMatching(/^lost: ./)

test('a Redis is shared by machines, and its description names its servers, without the password', async () => {
  const { store } = open('redis://app:secret@one:7000', 'redis://two')
  expect(store).toMatchObject({ shared: true, description: 'Redis at one:7000, two' })
  await store.close()
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

// What a Redis Cluster and Sentinels do when a master fails: test/real/redis-modes.long.test.ts.
describe.skipIf(!REDIS)(`the connection to Redis${withRedis}`, () => {
  let server: RedisServer
  let admin: ReturnType<typeof createClient>
  const connectAdmin = async () => {
    admin = createClient({ url: server.url })
    admin.on('error', () => {})
    await admin.connect()
  }
  beforeAll(async () => {
    server = await startRedis()
    await connectAdmin()
  })
  afterAll(() => server.close())

  test('is opened in the background: until then, operations fail and say so', async () => {
    const { store, states, becomes } = open(server.url)
    await expect(store.get(fresh())).rejects.toMatchObject({
      status: 503,
      reason: 'Redis is not connected yet',
    })
    await becomes('connected')
    expect(states).toEqual(['connected'])
    await store.close()
    await expect(store.get(fresh())).rejects.toMatchObject({ status: 503 })
  })

  test('is tried until somebody listens, and is opened again after Redis was killed: each change is reported once', async () => {
    await server.kill()
    const { store, states, becomes } = open(server.url)
    await becomes(LOST)
    await server.start()
    await becomes('connected')
    const key = fresh()
    await store.set(key, 'kept')
    await server.kill()
    await becomes(LOST)
    const failing = store.get(key).catch(({ status }) => status)
    expect(await Promise.race([failing, pause(1_000, 'waits')]), 'fails at once').toBe(503)
    await server.start()
    await becomes('connected')
    expect(await store.get(key)).toBe('kept')
    expect(states.map((state) => state.split(':')[0])).toEqual(['lost', 'connected', 'lost', 'connected'])
    await store.close()
    await connectAdmin()
  })

  test('ends the commands of a frozen Redis within two seconds, fails later ones at once, and is back when it goes on', async () => {
    const { store, becomes } = open(server.url)
    await ready(store)
    const key = fresh()
    await store.set(key, 'kept')
    server.signal('SIGSTOP')
    const startedAt = performance.now()
    const operations = [store.get(key), store.set(key, 'lost'), store.list('note', key.owner), store.ping()]
    for (const result of await Promise.allSettled(operations))
      expect(result).toMatchObject({ status: 'rejected', reason: { status: 503 } })
    // A busy machine may add some.
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    await becomes(LOST)
    const next = store.get(key).catch(() => 'failed at once')
    expect(await Promise.race([next, pause(1_000, 'waits')])).toBe('failed at once')
    server.signal('SIGCONT')
    await becomes('connected')
    await store.set(key, 'written again')
    expect(await store.get(key)).toBe('written again')
    await store.close()
  })

  test('that is refused for its password says why, without the password', async () => {
    await admin.configSet('requirepass', 'right-password')
    const { store, states, becomes } = open(server.url.replace('//', '//:wrong-password@'))
    await becomes(expect.stringMatching(/^lost: WRONGPASS/))
    expect(states.join()).not.toContain('wrong-password')
    await expect(store.get(fresh())).rejects.toMatchObject({ reason: expect.stringMatching(/^WRONGPASS/) })
    await admin.configSet('requirepass', '')
    await store.close()
  })

  test('to a master that became a replica is replaced, and every read is answered meanwhile', async () => {
    const { store, states } = open(server.url)
    await ready(store)
    const key = fresh()
    await store.set(key, 'kept')
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    const before = await connectionsReceived(admin)
    const answers: unknown[] = []
    while ((await connectionsReceived(admin)) === before) {
      const reads = Array.from({ length: 20 }, () => store.get(key).catch((error) => error))
      await expect(store.set(key, 'refused')).rejects.toMatchObject({
        reason: expect.stringMatching(/^READONLY/),
      })
      answers.push(...(await Promise.all(reads)))
    }
    expect(new Set(answers)).toEqual(new Set(['kept']))
    expect(states).toContainEqual(expect.stringMatching(/^lost: READONLY/))
    await admin.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    await expect.poll(() => store.set(key, 'written').catch(() => 'refused')).toBeUndefined()
    await store.close()
  })

  test('of several addresses that are no cluster is reported with what to write', async () => {
    const { store, becomes } = open(server.url, server.url)
    await becomes(expect.stringContaining('mean a Redis Cluster'))
    await store.close()
  })

  test('has errors without what was to be written', async () => {
    await admin.sendCommand(['ACL', 'SETUSER', 'app', 'on', '>app', '~*', '+@all', '-eval', '-evalsha'])
    const { store } = open(server.url.replace('//', '//app:app@'))
    await ready(store)
    const error = await store.set(fresh(), 'a secret').catch((thrown) => thrown)
    expect(error.reason).toMatch(/^NOPERM/)
    expect(error.reason).not.toContain('a secret')
    await store.close()
  })

  test('lists no value that somebody else has deleted', async () => {
    const { store } = open(server.url)
    await ready(store)
    const [kept, gone] = [fresh(), { ...fresh(), owner: `owner ${count - 1}`, id: 'gone' }]
    for (const key of [kept, gone]) await store.set(key, 'x')
    expect(await store.list('note', kept.owner)).toHaveLength(2)
    await admin.del(keyName(gone))
    expect((await store.list('note', kept.owner)).map(({ key }) => key)).toEqual([kept])
    await store.close()
  })

  test('goes on with a walk over all owners after a restart of Redis, and misses none', async () => {
    const { store, becomes } = open(server.url)
    await ready(store)
    const owners = Array.from({ length: 2_000 }, (_, i) => `o${i}`)
    await Promise.all(owners.map((owner) => store.set({ kind: 'walked', owner, id: '' }, 'x')))
    const page = await store.owners('walked', null)
    expect(page.cursor).not.toBeNull()
    await server.kill()
    await becomes(LOST)
    await server.start()
    await becomes('connected')
    const found = new Set<string>()
    for (let { cursor } = page; cursor !== null; ) {
      const next = await store.owners('walked', cursor)
      for (const owner of next.owners) found.add(owner)
      cursor = next.cursor
    }
    expect(found.size).toBe(2_000)
    await connectAdmin()
    await store.close()
  })

  test('reports settings under which Redis may lose connections, or that it may not read them', async () => {
    const { store } = open(server.url)
    await ready(store)
    expect(await store.warnings()).toEqual([])
    await admin.configSet({ 'maxmemory-policy': 'allkeys-lru', appendonly: 'no', save: '' })
    expect(await store.warnings()).toEqual([
      expect.stringContaining('maxmemory-policy is allkeys-lru'),
      expect.stringContaining('a restart loses'),
    ])
    await admin.configSet({ 'maxmemory-policy': 'noeviction', save: '60 1' })
    expect(await store.warnings()).toEqual([])
    await admin.configSet({ appendonly: 'yes' })
    await admin.sendCommand(
      'ACL SETUSER restricted on >app resetchannels ~connect:* +@all -config'.split(' '),
    )
    const restricted = open(server.url.replace('//', '//restricted:app@')).store
    await ready(restricted)
    expect(await restricted.warnings()).toEqual([
      expect.stringContaining('does not allow reading its settings'),
    ])
    await Promise.all([store.close(), restricted.close()])
  })
})

describe.skipIf(!REDIS)(`cached reads of Redis${withRedis}`, () => {
  let redis: RedisServer
  let admin: ReturnType<typeof createClient>
  beforeAll(async () => {
    redis = await startRedis('--enable-debug-command', 'yes')
    admin = createClient({ url: redis.url })
    admin.on('error', () => {})
    await admin.connect()
  })
  afterAll(() => redis.close())

  const openReady = async (url = redis.url) => ready(openRedis({ urls: [url] }))

  /** How many GETs the server has answered. */
  const gets = async () => Number(/cmdstat_get:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0)

  test('need no round trip while the value stays the same', async () => {
    const store = await openReady()
    const key = fresh()
    await store.set(key, 'value')
    const before = await gets()
    for (let read = 0; read < 1_000; read++) expect(await store.getCached(key)).toBe('value')
    expect((await gets()) - before).toBeLessThan(100)
    await store.close()
  })

  test('are not what other reads get', async () => {
    const store = await openReady()
    const key = fresh()
    await store.set(key, 'value')
    await store.getCached(key)
    const before = await gets()
    for (let read = 0; read < 20; read++) await store.get(key)
    expect((await gets()) - before).toBe(20)
    await store.close()
  })

  test('see a write and a deletion of another process as soon as the store has answered anything else', async () => {
    const [store, other] = [await openReady(), await openReady()]
    for (let round = 0; round < 20; round++) {
      const key = fresh()
      await store.set(key, 'ours')
      expect(await store.getCached(key)).toBe('ours')
      await other.compareAndSet(key, 'ours', 'theirs')
      // Redis reports changes before the answers to later commands.
      await store.ping()
      expect(await store.getCached(key)).toBe('theirs')
      await other.delete(key)
      await store.ping()
      expect(await store.getCached(key)).toBeNull()
    }
    await Promise.all([store.close(), other.close()])
  })

  test('get a value for at most a second after it has expired, although Redis reports nothing and answers everything else', async () => {
    await admin.sendCommand(['DEBUG', 'SET-ACTIVE-EXPIRE', '0'])
    const store = await openReady()
    const key = fresh()
    await store.set(key, 'a session', 1_000)
    const endsAt = performance.now() + 1_000
    let servedAt = 0
    for (; performance.now() < endsAt + 3_000; await pause(20)) {
      const sentAt = performance.now()
      if ((await store.getCached(key)) !== null) servedAt = sentAt
      await store.get(fresh())
    }
    expect(servedAt).toBeLessThan(endsAt + 1_500)
    await admin.sendCommand(['DEBUG', 'SET-ACTIVE-EXPIRE', '1'])
    await store.close()
  })

  test('use no value for more than a second after Redis stopped answering', async () => {
    const store = await openReady()
    const key = fresh()
    await store.set(key, 'value')
    await store.getCached(key)
    redis.signal('SIGSTOP')
    await pause(1_100)
    await expect(store.getCached(key)).rejects.toMatchObject({ code: 'store_unavailable' })
    redis.signal('SIGCONT')
    await expect.poll(() => store.getCached(key).catch(() => 'unavailable')).toBe('value')
    await store.close()
  })

  test('are read from the store if its user may not ask for reports', async () => {
    await admin.sendCommand('ACL SETUSER app on >secret ~* &* +@all -client|tracking'.split(' '))
    const store = await openReady(redis.url.replace('//', '//app:secret@'))
    const key = fresh()
    await store.set(key, 'one')
    const before = await gets()
    for (let read = 0; read < 20; read++) expect(await store.getCached(key)).toBe('one')
    expect((await gets()) - before).toBe(20)
    await store.close()
  })

  test('see a write of this process at once, and one of another within a second, if a proxy passes no reports on', async () => {
    const proxy = await proxyWithoutReports(redis.port)
    const [store, other] = [await openReady(proxy.url), await openReady()]
    const key = fresh()
    for (let round = 0; round < 50; round++) {
      await store.set(key, `${round}`)
      expect(await store.getCached(key)).toBe(`${round}`)
    }
    await other.set(key, 'theirs')
    await pause(1_100)
    expect(await store.getCached(key)).toBe('theirs')
    await Promise.all([store.close(), other.close()])
    proxy.close()
  })
})

/** Reports are pushes: `>2`, `invalidate`, the keys. */
async function proxyWithoutReports(port: number) {
  const proxy = createServer((socket) => {
    const server = connect(port, '127.0.0.1')
    socket.pipe(server)
    server.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      const report = />2\r\n\$10\r\ninvalidate\r\n\*1\r\n\$\d+\r\n[^\r]*\r\n/g
      socket.write(Buffer.from(text.replace(report, ''), 'latin1'))
    })
    socket.on('error', () => {}).on('close', () => server.destroy())
    server.on('error', () => {}).on('close', () => socket.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port: own } = proxy.address() as AddressInfo
  return { url: `redis://127.0.0.1:${own}`, close: () => proxy.close() }
}
