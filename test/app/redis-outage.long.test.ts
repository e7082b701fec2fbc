import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { connected, signedIn } from '../support/flow.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../support/redis.ts'
import { tapProxy } from '../support/tap-proxy.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'

/** How much longer an answer may take on a busy machine, in ms. */
const BUSY_MS = 1000
const JSON_TYPE = { accept: 'application/json' }
const PATHS = ['/', '/connections', '/connections/harbour-homes/probe']

describe.skipIf(!REDIS)(`the app, if Redis${withRedis}`, () => {
  let redis: RedisServer
  let app: Running
  let visitor: Visitor

  beforeAll(async () => {
    redis = await startRedis()
    app = await startAll({ REDIS_URL: redis.url })
    await ready(app.services.store)
    visitor = await connected(app)
  })
  afterAll(async () => {
    await app?.close()
    await redis?.close()
  })

  /** Every page answers 503 with a way on, each within 2 s. */
  async function unavailable(): Promise<void> {
    const open = async (path: string) => {
      const started = performance.now()
      const page = await visitor.get(app.url + path)
      expect(performance.now() - started, path).toBeLessThan(2000 + BUSY_MS)
      expect(page.status, path).toBe(503)
      expect(page.text).toContain('Try again')
      expect(page.headers.get('retry-after')).toBe('1')
    }
    const read = async (path: string) =>
      expect((await visitor.get(app.url + path, JSON_TYPE)).json()).toMatchObject({
        code: 'store_unavailable',
      })
    await Promise.all(PATHS.flatMap((path) => [open(path), read(path)]))
    expect((await visitor.get(`${app.url}/health/ready`)).status).toBe(503)
    expect((await visitor.get(`${app.url}/health/live`)).status).toBe(200)
  }

  /** Within 2 s from now, everything works as before. */
  async function recovers(): Promise<void> {
    const answer = async () => {
      for (const path of ['/connections/harbour-homes/probe', '/health/ready'])
        expect((await visitor.get(app.url + path)).status, path).toBe(200)
    }
    await vi.waitFor(answer, { timeout: 2000, interval: 50 })
  }

  test.each([
    { what: 'stops and starts again', fail: () => redis.kill(), recover: () => redis.start() },
    {
      what: 'hangs and continues',
      async fail() {
        redis.signal('SIGSTOP')
        // Until then, entries that were read before may come from memory.
        await pause(1_100)
      },
      recover: async () => redis.signal('SIGCONT'),
    },
  ])('$what, answers 503 meanwhile and recovers by itself within 2 s', async ({ fail, recover }) => {
    await fail()
    await unavailable().finally(recover)
    await recovers()
  })

  test('disappears without closing its connections and is back at the same address: the app notices and recovers automatically', async () => {
    const proxy = await tapProxy(redis.port)
    const proxied = await startAll({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` })
    await ready(proxied.services.store)
    proxy.fallSilent()
    const failing = proxied.services.store.get({ kind: 'x', owner: 'x', id: 'x' })
    await expect(failing).rejects.toMatchObject({ code: 'store_unavailable' })
    await vi.waitFor(() => proxied.services.store.ping(), { timeout: 10_000, interval: 100 })
    expect(proxied.logLines.join()).toContain('did not answer')
    await proxied.close()
    proxy.close()
  })

  test('is not there at the start, starts nevertheless and works once Redis is there', async () => {
    await redis.kill()
    const early = await startAll({ REDIS_URL: redis.url })
    expect((await createVisitor().get(`${early.url}/health/live`)).status).toBe(200)
    expect((await createVisitor().get(`${early.url}/health/ready`)).status).toBe(503)
    await vi.waitFor(() => expect(early.logLines.join()).toContain('not available'), { timeout: 5000 })
    await redis.start()
    await vi.waitFor(
      async () => expect((await createVisitor().get(`${early.url}/health/ready`)).status).toBe(200),
      {
        timeout: 2000,
      },
    )
    expect((await (await signedIn(early)).get(`${early.url}/connections`)).status).toBe(200)
    await early.close()
  })
})

test.skipIf(!REDIS)(
  `a Redis that may lose data is reported in the log at the start${withRedis}`,
  async () => {
    const redis = await startRedis('--maxmemory-policy', 'allkeys-lru')
    const app = await startAll({ REDIS_URL: redis.url })
    await vi.waitFor(() => expect(app.logLines.join()).toContain('maxmemory-policy is allkeys-lru'))
    await app.close()
    await redis.close()
  },
)
