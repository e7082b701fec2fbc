import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { openServers } from '../../../src/connect/store/redis-servers.ts'
import { keyName } from '../../../src/connect/store/store.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { connectionsReceived, type RedisServer, ready, startRedis } from '../../support/redis.ts'
import { tapProxy } from '../../support/tap-proxy.ts'

const KEY = { kind: 'note', owner: 'ann', id: '1' }

/** A store whose changes of state are noted, as `lost: reason` or `connected`. */
function open(url: string) {
  const states: string[] = []
  const onState = (state: string, reason?: string) =>
    void states.push(reason === undefined ? state : `${state}: ${reason}`)
  const store = openRedis({ urls: [url], onState })
  return { store, states, becomes: (state: unknown) => expect.poll(() => states.at(-1)).toEqual(state) }
}

describe.skipIf(!REDIS)(`the connection to Redis${withRedis}`, () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.close())

  test('is opened in the background: until then, operations fail and say so', async () => {
    const { store, states, becomes } = open(server.url)
    await expect(store.get(KEY)).rejects.toMatchObject({ status: 503, reason: 'Redis is not connected yet' })
    await becomes('connected')
    expect(states).toEqual(['connected'])
    expect(store.description).toBe(`Redis at 127.0.0.1:${server.port}`)
    await store.close()
  })

  test('is opened again when Redis is back; each change is reported once, with its reason', async () => {
    const { store, states, becomes } = open(server.url)
    await ready(store)
    await store.set(KEY, 'kept')
    await server.kill()
    await becomes(expect.stringMatching(/^lost: ./))
    await expect(store.get(KEY)).rejects.toMatchObject({ status: 503 })
    await server.start()
    await becomes('connected')
    expect(await store.get(KEY)).toBe('kept')
    expect(states.map((state) => state.split(':')[0])).toEqual(['connected', 'lost', 'connected'])
    await store.close()
  })

  test('that does not answer a command fails the next ones at once, for half a second', async () => {
    const { store, becomes } = open(server.url)
    await ready(store)
    server.signal('SIGSTOP')
    await expect(store.get(KEY)).rejects.toMatchObject({ reason: expect.stringContaining('did not answer') })
    const next = store.get(KEY).catch(() => 'failed at once')
    expect(await Promise.race([next, setImmediate('waits')])).toBe('failed at once')
    server.signal('SIGCONT')
    await expect.poll(() => store.get(KEY).catch(() => 'failed')).not.toBe('failed')
    await becomes('connected')
    await store.close()
  })

  test('lists no value that somebody else has deleted', async () => {
    const { store } = open(server.url)
    await ready(store)
    const [kept, gone] = [KEY, { ...KEY, id: '2' }]
    for (const key of [kept, gone]) await store.set(key, 'x')
    const admin = await createClient({ url: server.url }).connect()
    await admin.del(keyName(gone))
    admin.destroy()
    expect((await store.list('note', 'ann')).map(({ key }) => key)).toEqual([kept])
    await store.close()
  })

  test('that was lost fails a command at once: it does not wait for the next connection', async () => {
    const { store, becomes } = open(server.url)
    await ready(store)
    await server.kill()
    await becomes(expect.stringMatching(/^lost: ./))
    const { reason } = await store.get(KEY).catch((error) => error)
    expect(reason).not.toMatch(/did not answer|has no reason/)
    await server.start()
    await becomes('connected')
    await store.close()
  })

  test('stays when a command is wrong, however long it has been open', async () => {
    const { store, states } = open(server.url)
    await ready(store)
    await pause(1_100)
    const admin = await createClient({ url: server.url }).connect()
    const list = { ...KEY, id: 'list' }
    await admin.lPush(keyName(list), 'of values')
    await expect(store.get(list)).rejects.toMatchObject({ reason: expect.stringContaining('WRONGTYPE') })
    admin.destroy()
    await store.get(KEY)
    expect(states).toEqual(['connected'])
    await store.close()
  })

  test('of a server that is not among those of the store: a page of its owners says so', async () => {
    const { store } = open(server.url)
    await ready(store)
    await expect(store.owners('note', 'elsewhere', null)).rejects.toMatchObject({
      reason: 'elsewhere is no longer a master of the Redis Cluster',
    })
    await store.close()
  })

  test('is not opened again once the store is closed', async () => {
    const { store, states } = open(server.url)
    await ready(store)
    await store.close()
    await server.kill()
    await server.start()
    await expect(store.get(KEY)).rejects.toMatchObject({ status: 503 })
    expect(states).toEqual(['connected'])
  })

  test('that is closed before it was opened is never used', async () => {
    const { store, states } = open(server.url)
    await store.close()
    const later = open(server.url)
    await ready(later.store)
    await later.store.close()
    expect(states).toEqual([])
  })

  test('a command that is not answered fails within two seconds, and the connection stays', async () => {
    const { store, states } = open(server.url)
    await ready(store)
    // Later than half of the silence after which it would be opened anew: silence counts from the last answer.
    await pause(2_000)
    await store.get(KEY)
    const admin = await createClient({ url: server.url }).connect()
    await admin.sendCommand(['CLIENT', 'PAUSE', '2500', 'ALL'])
    const [first, second] = await Promise.allSettled([store.get(KEY), store.set(KEY, 'late')])
    for (const result of [first, second])
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { status: 503, reason: 'Redis did not answer within 1500 ms' },
      })
    await expect.poll(() => store.get(KEY).catch(() => null)).toBe('late')
    expect(states).toEqual(['connected'])
    admin.destroy()
    await store.close()
  })

  test('is opened anew if nothing was answered for four seconds, while commands were sent', async () => {
    const { store, becomes } = open(server.url)
    await ready(store)
    server.signal('SIGSTOP')
    const asking = setInterval(() => store.get(KEY).catch(() => {}), 100)
    await becomes('lost: nothing was answered for 4000 ms')
    server.signal('SIGCONT')
    await becomes('connected')
    clearInterval(asking)
    await store.close()
  })

  test('that is refused for its password says why, without the password', async () => {
    const admin = await createClient({ url: server.url }).connect()
    await admin.configSet('requirepass', 'right-password')
    const { store, states, becomes } = open(server.url.replace('//', '//:wrong-password@'))
    await becomes(expect.stringMatching(/^lost: WRONGPASS/))
    expect(states.join()).not.toContain('wrong-password')
    await expect(store.get(KEY)).rejects.toMatchObject({ reason: expect.stringMatching(/^WRONGPASS/) })
    expect(states).toHaveLength(1)
    await admin.configSet('requirepass', '')
    admin.destroy()
    await store.close()
  })

  test('that is refused is not tried a second time in another way', async () => {
    const admin = await createClient({ url: server.url }).connect()
    await admin.configSet('requirepass', 'right-password')
    const before = await connectionsReceived(admin)
    await expect(openServers([server.url.replace('//', '//:wrong-password@')])).rejects.toThrow('WRONGPASS')
    expect(await connectionsReceived(admin)).toBe(before + 1)
    await admin.configSet('requirepass', '')
    admin.destroy()
  })

  test('is replaced by one connection, however many commands a replica refuses at once', async () => {
    const { store, states, becomes } = open(server.url)
    await ready(store)
    const admin = await createClient({ url: server.url }).connect()
    await pause(1_100)
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    const before = await connectionsReceived(admin)
    const refused = Array.from({ length: 20 }, () => store.set(KEY, 'refused').catch(() => 'refused'))
    expect(new Set(await Promise.all(refused))).toEqual(new Set(['refused']))
    await becomes('connected')
    expect(states).toHaveLength(3)
    expect(await connectionsReceived(admin)).toBe(before + 1)
    await admin.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    admin.destroy()
    await store.close()
  })

  test('to an address where nobody listens is tried until somebody does', async () => {
    await server.kill()
    const { store, states, becomes } = open(server.url)
    await becomes(expect.stringMatching(/^lost: ./))
    await server.start()
    await becomes('connected')
    expect(states.map((state) => state.split(':')[0])).toEqual(['lost', 'connected'])
    await store.close()
  })

  test('reports settings under which Redis may lose connections, or that it may not read them', async () => {
    const { store } = open(server.url)
    await ready(store)
    const admin = await createClient({ url: server.url }).connect()
    expect(await store.warnings()).toEqual([])
    await admin.configSet({ 'maxmemory-policy': 'allkeys-lru', appendonly: 'no', save: '' })
    expect(await store.warnings()).toEqual([
      expect.stringContaining('maxmemory-policy is allkeys-lru'),
      expect.stringContaining('does not persist data'),
    ])
    await admin.configSet({ 'maxmemory-policy': 'noeviction', save: '60 1' })
    expect(await store.warnings()).toEqual([])
    await admin.sendCommand('ACL SETUSER app on >app resetchannels ~connect:* +@all -config'.split(' '))
    const restricted = open(server.url.replace('//', '//app:app@')).store
    await ready(restricted)
    expect(await restricted.warnings()).toEqual([
      expect.stringContaining('does not allow reading its settings'),
    ])
    await admin.configSet({ appendonly: 'yes' })
    admin.destroy()
    await Promise.all([store.close(), restricted.close()])
  })

  test('says that it cannot check a setting that Redis does not report', async () => {
    const proxy = await tapProxy(server.port)
    proxy.rewrite('maxmemory-policy', 'no-such-setting!')
    const { store } = open(`redis://127.0.0.1:${proxy.port}`)
    await ready(store)
    expect(await store.warnings()).toEqual([expect.stringContaining('does not allow reading its settings')])
    await store.close()
    proxy.close()
  })

  test('that was replaced is closed with the store', async () => {
    const { store, states } = open(server.url)
    await ready(store)
    const admin = await createClient({ url: server.url }).connect()
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    const replaced = async () => {
      await store.set(KEY, 'refused').catch(() => {})
      return states.length === 3
    }
    await expect.poll(replaced).toBe(true)
    await store.close()
    const clients = async () => String(await admin.sendCommand(['CLIENT', 'LIST', 'TYPE', 'normal']))
    // By itself, it would be closed after 1.7 s.
    await expect.poll(async () => (await clients()).trim().split('\n').length, { timeout: 1_500 }).toBe(1)
    await admin.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    admin.destroy()
  })

  test('keeps sessions as connect-redis asks for them', async () => {
    const { store } = open(server.url)
    await ready(store)
    const { sessions } = store
    await sessions.set('connect:session:1', 'text', { expiration: { type: 'EX', value: 100 } })
    expect(await sessions.get('connect:session:1')).toBe('text')
    const admin = await createClient({ url: server.url }).connect()
    await sessions.expire('connect:session:1', 1_000)
    expect(await admin.ttl('connect:session:1')).toBeGreaterThan(100)
    await sessions.del(['connect:session:1'])
    expect(await sessions.get('connect:session:1')).toBeNull()
    admin.destroy()
    await store.close()
  })

  test('walks over owners and their entries, and starts over after a restart of Redis', async () => {
    const { store, becomes } = open(server.url)
    await ready(store)
    const owners = Array.from({ length: 3 }, (_, index) => `owner ${index}`)
    for (const owner of owners) await store.set({ kind: 'walked', owner, id: 'one' }, `of ${owner}`)
    const [partition = ''] = await store.partitions()
    const found: string[] = []
    let cursor: string | null = null
    do {
      const page: { owners: string[]; cursor: string | null } = await store.owners(
        'walked',
        partition,
        cursor,
      )
      found.push(...page.owners)
      cursor = page.cursor
    } while (cursor !== null)
    expect(found.sort()).toEqual(owners)
    expect(await store.ofOwner('owner 1')).toEqual([
      { key: { kind: 'walked', owner: 'owner 1', id: 'one' }, value: 'of owner 1' },
    ])
    await server.kill()
    await server.start()
    await becomes('connected')
    await vi.waitFor(() => store.ping())
    await expect(store.owners('walked', partition, null)).rejects.toMatchObject({
      reason: expect.stringContaining('was restarted'),
    })
    await store.close()
  })
})
