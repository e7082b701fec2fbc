import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { keyName } from '../../../src/connect/store/redis-keys.ts'
import type { Key } from '../../../src/connect/store/store.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { createClient, type RedisServer, ready, startRedis } from '../../support/redis.ts'

let count = 0
const fresh = (): Key => ({ kind: 'note', owner: `owner ${++count}`, id: '' })

/** A store whose changes of state are recorded as `lost: reason` or `connected`. */
function open(...urls: string[]) {
  const states: string[] = []
  const onState = (state: string, reason?: string) =>
    void states.push(reason === undefined ? state : `${state}: ${reason}`)
  const store = openRedis({ urls, onState })
  return { store, states, becomes: (state: unknown) => expect.poll(() => states.at(-1)).toEqual(state) }
}

const LOST = expect.stringMatching(/^lost: ./)

test('the description of a Redis names its servers, without the password', async () => {
  const { store } = open('redis://app:secret@one:7000', 'redis://two')
  expect(store.description).toBe('Redis at one:7000, two')
  await store.close()
})

// The long tests cover everything that takes seconds, and the failover of a Redis Cluster and of Sentinels.
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
    const { store, becomes } = open(server.url)
    await expect(store.get(fresh())).rejects.toMatchObject({
      status: 503,
      reason: 'Redis is not connected yet',
    })
    await becomes('connected')
    await store.close()
    await expect(store.get(fresh())).rejects.toMatchObject({ status: 503 })
  })

  test('is tried until a server listens, and is opened again after Redis was killed: each change is reported once', async () => {
    await server.kill()
    const { store, states, becomes } = open(server.url)
    await becomes(LOST)
    await server.start()
    await becomes('connected')
    const key = fresh()
    await store.set(key, 'kept')
    await server.kill()
    await becomes(LOST)
    // At once: after a wait, the reason would be that Redis did not answer.
    const reason = states.at(-1)?.replace('lost: ', '')
    await expect(store.get(key)).rejects.toMatchObject({ status: 503, reason })
    await server.start()
    await becomes('connected')
    expect(await store.get(key)).toBe('kept')
    expect(states.map((state) => state.split(':')[0])).toEqual(['lost', 'connected', 'lost', 'connected'])
    await store.close()
    await connectAdmin()
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

  test('has errors without what was to be written', async () => {
    await admin.sendCommand(['ACL', 'SETUSER', 'app', 'on', '>app', '~*', '+@all', '-eval', '-evalsha'])
    const { store } = open(server.url.replace('//', '//app:app@'))
    await ready(store)
    const error = await store.set(fresh(), 'a secret').catch((thrown) => thrown)
    expect(error.reason).toMatch(/^NOPERM/)
    expect(error.reason).not.toContain('a secret')
    await store.close()
  })

  test('deletes, also what is compared, when its memory is full', async () => {
    const { store } = open(server.url)
    await ready(store)
    const [one, other] = [fresh(), fresh()]
    for (const key of [one, other]) await store.set(key, 'x')
    await admin.configSet('maxmemory', '1')
    await expect(store.set(one, 'y')).rejects.toMatchObject({ reason: expect.stringMatching(/^OOM/) })
    expect([await store.compareAndSet(one, 'x', null), await store.delete(other)]).toEqual([true, true])
    await admin.configSet('maxmemory', '0')
    await store.close()
  })

  test('lists no value that another client has deleted', async () => {
    const { store } = open(server.url)
    await ready(store)
    const [kept, gone] = [fresh(), { ...fresh(), owner: `owner ${count - 1}`, id: 'gone' }]
    for (const key of [kept, gone]) await store.set(key, 'x')
    expect(await store.list('note', kept.owner)).toHaveLength(2)
    await admin.del(keyName(gone))
    expect((await store.list('note', kept.owner)).map(({ key }) => key)).toEqual([kept])
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
})

describe.skipIf(!REDIS)(`a Redis that answers and refuses writes${withRedis}`, () => {
  test.each<[what: string, why: Record<string, string>, cure: Record<string, string>, reason: RegExp]>([
    ['is full', { maxmemory: '1' }, { maxmemory: '0' }, /refuses writes: OOM/],
    [
      'lacks replicas',
      { 'min-replicas-to-write': '1' },
      { 'min-replicas-to-write': '0' },
      /refuses writes: NOREPLICAS/,
    ],
  ])(
    'as it %s is not ready, says so once with the reason, and is ready when it takes writes',
    async (_what, why, cure, reason) => {
      const server = await startRedis()
      const admin = await createClient({ url: server.url }).connect()
      const told: unknown[] = []
      const store = openRedis({ urls: [server.url], onRefusal: (refusal) => void told.push(refusal) })
      onTestFinished(async () => {
        admin.destroy()
        await Promise.all([store.close(), server.close()])
      })
      await ready(store)
      await admin.configSet({ 'maxmemory-policy': 'noeviction', ...why })
      for (let time = 0; time < 3; time++)
        await expect(store.ping()).rejects.toMatchObject({
          status: 503,
          reason: expect.stringMatching(reason),
        })
      await admin.configSet(cure)
      await ready(store)
      expect(told).toEqual([expect.stringMatching(reason), null])
    },
  )
})
