import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Key, openRedis } from '../../src/connect/stores.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../support/redis.ts'

let count = 0
const fresh = (): Key => ({ kind: 'note', owner: `owner ${++count}`, id: '' })

test.each([
  ['one Redis', ['redis://127.0.0.1:9']],
  ['a cluster', ['redis://127.0.0.1:9', 'redis://127.0.0.1:10']],
])('a store on %s that is unreachable can be closed at any time, more than once', async (_what, urls) => {
  for (const wait of [0, 5, 100, 400]) {
    const store = await openRedis({ urls })
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
  const store = await openRedis({ urls: [`redis://127.0.0.1:${(server.address() as AddressInfo).port}`] })
  await store.close()
  await pause(200)
  expect(connections).toBe(0)
  server.close()
})

describe.skipIf(!REDIS)(`the connection to Redis${withRedis}`, () => {
  let redis: RedisServer
  let admin: ReturnType<typeof createClient>
  beforeAll(async () => {
    redis = await startRedis('--enable-debug-command', 'yes')
    admin = createClient({ url: redis.url })
    admin.on('error', () => {})
    await admin.connect()
  })
  afterAll(() => redis.close())

  const openReady = async (url = redis.url, onState?: (state: string, reason?: string) => void) =>
    ready(await openRedis({ urls: [url], ...(onState && { onState }) }))

  /** How many connections of clients the server has accepted since its start. */
  async function connectionsReceived(): Promise<number> {
    return Number(/total_connections_received:(\d+)/.exec(await admin.info('stats'))?.[1])
  }

  test('to a master that became a replica is replaced, and every read is answered in the meantime', async () => {
    const states: string[] = []
    const store = await openReady(redis.url, (state, reason) => void states.push(`${state}: ${reason}`))
    const key = fresh()
    await store.set(key, 'kept')
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    const before = await connectionsReceived()
    const answers: unknown[] = []
    while ((await connectionsReceived()) === before) {
      const reads = Array.from({ length: 20 }, () => store.get(key).catch((error) => error))
      await expect(store.set(key, 'refused')).rejects.toMatchObject({
        reason: expect.stringMatching(/^READONLY/),
      })
      answers.push(...(await Promise.all(reads)))
    }
    expect(new Set(answers)).toEqual(new Set(['kept']))
    expect(states).toContainEqual(expect.stringMatching(/^lost: .* is a replica, not a master/))
    await admin.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    await expect.poll(() => store.set(key, 'written').catch(() => 'refused')).toBeUndefined()
    await store.close()
  })

  test('continues a walk over all owners after a restart of Redis, and misses no owner', async () => {
    const store = await openReady()
    const owners = Array.from({ length: 2_000 }, (_, i) => `o${i}`)
    // Takes turns, because on a busy machine all commands at once would exceed their time limit.
    for (let first = 0; first < owners.length; first += 100)
      await Promise.all(
        owners.slice(first, first + 100).map((owner) => store.set({ kind: 'walked', owner, id: '' }, 'x')),
      )
    const page = await store.groups('walked', null)
    expect(page.cursor).not.toBeNull()
    await redis.kill()
    await redis.start()
    await ready(store)
    const found = new Set<string>()
    for (let { cursor } = page; cursor !== null; ) {
      const next = await store.groups('walked', cursor)
      for (const { owner } of next.groups) found.add(owner)
      cursor = next.cursor
    }
    expect(found.size).toBe(2_000)
    await store.close()
  })

  test('gives a cached value for at most a second after it has expired, although Redis reports nothing and answers everything else', async () => {
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
})
