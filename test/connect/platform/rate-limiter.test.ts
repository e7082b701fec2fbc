import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRateLimiter } from '../../../src/connect/platform/rate-limiter.ts'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import type { Store } from '../../../src/connect/store/store.ts'
import { tempDir } from '../../support/app.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../../support/redis.ts'

const LIMIT = 40
const WINDOW_MS = 600

/** Takes permits for some windows, each for a request that lasts a little; resolves to when requests were counted. */
async function use(store: Store, windows: number, counted: number[]): Promise<void> {
  const limiter = createRateLimiter(store, { limit: LIMIT, windowMs: WINDOW_MS })
  const ends = performance.now() + windows * WINDOW_MS
  const caller = async () => {
    while (performance.now() < ends) {
      const done = await limiter.acquire('credential')
      // The other side counts it on the way there.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
      counted.push(performance.now())
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
      done()
    }
  }
  await Promise.all([caller(), caller(), caller(), caller()])
}

/** The most requests that any window has. */
function most(counted: number[]): number {
  const times = counted.toSorted((a, b) => a - b)
  return Math.max(
    ...times.map(
      (time, at) => times.filter((other, index) => index >= at && other < time + WINDOW_MS).length,
    ),
  )
}

const stores: [string, boolean, () => Promise<{ open(): Promise<Store>; close(): Promise<void> }>][] = [
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

describe.each(stores)('a request limiter in %s', (_name, there, start) => {
  let place: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    if (there) place = await start()
  })
  afterAll(() => place?.close())

  test.skipIf(!there)('is never exceeded in any window, and is used, by several that share it', async () => {
    const open = await Promise.all([place.open(), place.open(), place.open()])
    const counted: number[] = []
    await Promise.all(open.map((store) => use(store, 5, counted)))
    expect(most(counted)).toBeLessThanOrEqual(LIMIT)
    // The full limit at once, then again whenever a window has passed; a slow machine may miss one.
    expect(counted.length).toBeGreaterThanOrEqual(LIMIT * 4)
    await Promise.all(open.map((store) => store.close()))
  })
})

test('a limiter gives the permits of a killed process back', async () => {
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
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(taken).toBe(false)
  now = 61_000
  await waiting
  await store.close()
})

test('a limiter of one permit gives it to the next as soon as its window is over', async () => {
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

test('a limiter is one credential’s own', async () => {
  const store = openSqlite({ file: ':memory:' })
  const limiter = createRateLimiter(store, { limit: 1, windowMs: 60_000 })
  await limiter.acquire('one')
  await limiter.acquire('two')
  await store.close()
})
