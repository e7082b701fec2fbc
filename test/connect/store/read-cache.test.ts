import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'redis'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createReadCache } from '../../../src/connect/store/read-cache.ts'
import { openRedis } from '../../../src/connect/store/redis.ts'
import type { Key } from '../../../src/connect/store/store.ts'
import { REDIS } from '../../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../../support/redis.ts'

describe.skipIf(!REDIS)('cached reads of Redis', () => {
  let redis: RedisServer
  let count = 0
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())

  const open = async (url = redis.url) => ready(openRedis({ urls: [url] }))
  const fresh = (): Key => ({ kind: 'cached', owner: `owner ${++count}`, id: '' })

  /** How many GETs the server has answered. */
  async function gets(): Promise<number> {
    const client = await createClient({ url: redis.url }).connect()
    const stats = await client.info('commandstats')
    client.destroy()
    return Number(/cmdstat_get:calls=(\d+)/.exec(stats)?.[1] ?? 0)
  }

  /** Opens a store whose reads are cached. */
  async function openCaching() {
    const store = await open()
    const entry = fresh()
    await store.set(entry, 'value')
    await expect
      .poll(async () => {
        await store.getCached(entry)
        const before = await gets()
        for (let read = 0; read < 20; read++) await store.getCached(entry)
        return (await gets()) - before
      })
      .toBeLessThan(20)
    return store
  }

  test('need no round trip while the value stays the same', async () => {
    const store = await openCaching()
    const entry = fresh()
    await store.set(entry, 'value')
    const before = await gets()
    for (let read = 0; read < 1_000; read++) expect(await store.getCached(entry)).toBe('value')
    expect((await gets()) - before).toBeLessThan(100)
    await store.close()
  })

  test.each<
    [string, (other: Awaited<ReturnType<typeof open>>, entry: Key) => Promise<unknown>, string | null]
  >([
    ['a write', (other, entry) => other.set(entry, 'theirs'), 'theirs'],
    ['a compare-and-set', (other, entry) => other.compareAndSet(entry, 'ours', 'theirs'), 'theirs'],
    ['a deletion', (other, entry) => other.delete(entry), null],
  ])(
    'see %s of another process as soon as the store has answered anything else',
    async (_what, write, seen) => {
      const [store, other] = [await openCaching(), await open()]
      for (let round = 0; round < 50; round++) {
        const entry = fresh()
        await store.set(entry, 'ours')
        expect(await store.getCached(entry)).toBe('ours')
        await write(other, entry)
        // Redis reports changes before the answers to later commands.
        await store.ping()
        expect(await store.getCached(entry)).toBe(seen)
      }
      await Promise.all([store.close(), other.close()])
    },
  )

  test('see that everything was deleted', async () => {
    const store = await openCaching()
    const entry = fresh()
    await store.set(entry, 'value')
    await store.getCached(entry)
    const client = await createClient({ url: redis.url }).connect()
    await client.flushAll()
    await store.ping()
    expect(await store.getCached(entry)).toBeNull()
    client.destroy()
    await store.close()
  })

  test('use no value for more than a second after Redis stopped answering', async () => {
    const store = await openCaching()
    const entry = fresh()
    await store.set(entry, 'value')
    await store.getCached(entry)
    redis.signal('SIGSTOP')
    await pause(1_100)
    await expect(store.getCached(entry)).rejects.toMatchObject({ code: 'store_unavailable' })
    redis.signal('SIGCONT')
    await expect.poll(() => store.getCached(entry).catch(() => 'unavailable')).toBe('value')
    await store.close()
  })

  test('are read from the store if its user may not ask for reports', async () => {
    const client = await createClient({ url: redis.url }).connect()
    await client.sendCommand('ACL SETUSER app on >secret ~* &* +@all -client|tracking'.split(' '))
    const store = await open(redis.url.replace('//', '//app:secret@'))
    const entry = fresh()
    await store.set(entry, 'one')
    expect(await store.getCached(entry)).toBe('one')
    const before = await gets()
    for (let read = 0; read < 20; read++) await store.getCached(entry)
    expect((await gets()) - before).toBe(20)
    client.destroy()
    await store.close()
  })

  test('are read from the store if a proxy passes no reports on', async () => {
    const proxy = await proxyWithout((report) => report > 0)
    const [store, other] = [await open(proxy.url), await open()]
    for (let round = 0; round < 20; round++) {
      const entry = fresh()
      await store.set(entry, 'ours')
      await store.getCached(entry)
      await other.set(entry, 'theirs')
      expect(await store.getCached(entry)).toBe('theirs')
    }
    await Promise.all([store.close(), other.close()])
    proxy.close()
  })

  test('see a write of this process before it is reported', async () => {
    // The first report shows that there are any.
    const proxy = await proxyWithout((report) => report > 1)
    const store = await open(proxy.url)
    const entry = fresh()
    for (let round = 0; round < 200; round++) {
      await store.set(entry, `${round}`)
      expect(await store.getCached(entry)).toBe(`${round}`)
    }
    expect(proxy.reports()).toBeGreaterThan(100)
    await store.close()
    proxy.close()
  })

  /** A proxy that drops reports by their number, beginning with 1. Reports are pushes: `>2`, `invalidate`, the keys. */
  async function proxyWithout(isDropped: (report: number) => boolean) {
    let reports = 0
    const proxy = createServer((socket) => {
      const server = connect(redis.port, '127.0.0.1')
      socket.pipe(server)
      server.on('data', (chunk) => {
        const text = chunk
          .toString('latin1')
          .replace(/>2\r\n\$10\r\ninvalidate\r\n\*1\r\n\$\d+\r\n[^\r]*\r\n/g, (report) =>
            isDropped(++reports) ? '' : report,
          )
        socket.write(Buffer.from(text, 'latin1'))
      })
      socket.on('error', () => {}).on('close', () => server.destroy())
      server.on('error', () => {}).on('close', () => socket.destroy())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const { port } = proxy.address() as { port: number }
    return { url: `redis://127.0.0.1:${port}`, reports: () => reports, close: () => proxy.close() }
  }
})

describe('a read cache', () => {
  afterEach(() => void vi.useRealTimers())

  test('keeps no value that changed while it was read, and later readers read it again', async () => {
    const cache = createReadCache(async () => {})
    const read = Promise.withResolvers<string>()
    const early = cache.load('key', () => read.promise)
    cache.forget('key')
    const late = cache.load('key', async () => 'new')
    read.resolve('old')
    expect([await early, await late]).toEqual(['old', 'new'])
    expect(cache.get('key')).toBe('new')
  })

  test('uses a value for longer than a second if the connection proves to be alive', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const prove = vi.fn(async () => {})
    const cache = createReadCache(prove)
    await cache.load('key', async () => 'value')
    for (let second = 0; second < 3; second += 0.5) {
      vi.advanceTimersByTime(500)
      expect(cache.get('key')).toBe('value')
      await pause(0)
    }
    expect(prove).toHaveBeenCalledTimes(6)
  })

  test('uses no value that is older than a second without a proof, and asks for one at a time', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const prove = vi.fn(() => new Promise(() => {}))
    const cache = createReadCache(prove)
    await cache.load('key', async () => 'value')
    vi.advanceTimersByTime(1_000)
    expect(cache.get('key')).toBe('value')
    vi.advanceTimersByTime(1)
    expect(cache.get('key')).toBeUndefined()
    expect(prove).toHaveBeenCalledTimes(1)
  })

  test('reads a value once for all who ask at the same time', async () => {
    const cache = createReadCache(async () => {})
    let reads = 0
    const load = () => cache.load('key', async () => `${++reads}`)
    expect(await Promise.all([load(), load(), load()])).toEqual(['1', '1', '1'])
  })

  test('keeps the latest 10,000 values', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const cache = createReadCache(async () => {})
    for (let index = 0; index <= 10_000; index++) await cache.load(`key ${index}`, async () => 'value')
    expect([cache.get('key 0'), cache.get('key 1')]).toEqual([undefined, 'value'])
  })
})
