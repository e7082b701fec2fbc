import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRateLimiter } from '../../../src/connect/platform/rate-limiter.ts'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import type { KeyValueStore } from '../../../src/connect/store/store.ts'
import { tempDir } from '../../support/env.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../../support/redis.ts'

const LIMIT = 40
const WINDOW_MS = 600

/** Sends short requests until `total` were counted, and adds to `counted` when each was. */
async function use(store: KeyValueStore, total: number, counted: number[]): Promise<void> {
  const limiter = createRateLimiter(store, { limit: LIMIT, windowMs: WINDOW_MS })
  const caller = async () => {
    while (counted.length < total) {
      const done = await limiter.acquire('credential')
      // The platform counts the request when it arrives.
      await pause(Math.random() * 4)
      counted.push(performance.now())
      await pause(Math.random() * 4)
      done()
    }
  }
  await Promise.all([caller(), caller(), caller(), caller()])
}

/** The largest number of requests in any window. */
function busiestWindow(counted: number[]): number {
  const times = counted.toSorted((a, b) => a - b)
  return Math.max(
    ...times.map(
      (time, first) => times.filter((other, index) => index >= first && other < time + WINDOW_MS).length,
    ),
  )
}

test('a permit for a request that was not sent is free again at once', async () => {
  const limiter = createRateLimiter(openSqlite({ file: ':memory:' }), { limit: 1, windowMs: 60_000 })
  const startedAt = performance.now()
  for (let time = 0; time < 5; time++) (await limiter.acquire('credential'))(null)
  expect(performance.now() - startedAt).toBeLessThan(30_000)
})

const stores: [string, boolean, () => Promise<{ open(): Promise<KeyValueStore>; close(): Promise<void> }>][] =
  [
    [
      'SQLite',
      true,
      async () => {
        const { dir, remove } = tempDir()
        return { open: async () => openSqlite({ file: `${dir}/s` }), close: async () => remove() }
      },
    ],
    [
      `Redis${withRedis}`,
      Boolean(REDIS),
      async () => {
        const redis: RedisServer = await startRedis()
        return { open: () => ready(openRedis({ urls: [redis.url] })), close: () => redis.close() }
      },
    ],
  ]

describe.each(stores)('a rate limiter in %s', (_name, available, start) => {
  let place: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    if (available) place = await start()
  })
  afterAll(() => place?.close())

  test.skipIf(!available)(
    'uses the full limit and never exceeds it in any window, among several processes',
    async () => {
      const open = await Promise.all([place.open(), place.open(), place.open()])
      const counted: number[] = []
      await Promise.all(open.map((store) => use(store, LIMIT * 3.5, counted)))
      expect(busiestWindow(counted)).toBeLessThanOrEqual(LIMIT)
      await Promise.all(open.map((store) => store.close()))
    },
  )
})

test('the permits of a killed process become free again', async () => {
  let now = 0
  const store = openSqlite({ file: ':memory:', now: () => now })
  const killed = createRateLimiter(store, { limit: 1, windowMs: 100 })
  await killed.acquire('credential')
  let taken = false
  const waiting = createRateLimiter(store, { limit: 1, windowMs: 100 })
    .acquire('credential')
    .then(() => {
      taken = true
    })
  now = 30_000
  await pause(100)
  expect(taken).toBe(false)
  now = 61_000
  await waiting
  await store.close()
})

test('a single permit is free again as soon as its window is over', async () => {
  const store = openSqlite({ file: ':memory:' })
  const limiter = createRateLimiter(store, { limit: 1, windowMs: 100 })
  const started = performance.now()
  for (let time = 0; time < 4; time++) {
    const done = await limiter.acquire('credential')
    setTimeout(done, 20)
  }
  expect(performance.now() - started).toBeLessThan(1_500)
  await store.close()
})

test('the last quarter of the limit is spread over the window, instead of a silence until it is over', async () => {
  const windowMs = 1_000
  const store = openSqlite({ file: ':memory:' })
  const limiter = createRateLimiter(store, { limit: 8, windowMs })
  const times: number[] = []
  for (let time = 0; time < 8; time++) {
    const done = await limiter.acquire('credential')
    times.push(performance.now())
    done()
  }
  const [sixth = 0, seventh = 0, eighth = 0] = times.slice(5)
  expect(seventh - sixth).toBeGreaterThan(0.3 * windowMs)
  expect(eighth - (times[0] ?? 0)).toBeGreaterThan(0.9 * windowMs)
  await store.close()
})

test('credentials have separate limits', async () => {
  const store = openSqlite({ file: ':memory:' })
  const limiter = createRateLimiter(store, { limit: 1, windowMs: 60_000 })
  await limiter.acquire('one')
  await limiter.acquire('two')
  await store.close()
})
