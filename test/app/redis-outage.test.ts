import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { connected, signedIn } from '../support/flow.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../support/redis.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'

const JSON_TYPE = { accept: 'application/json' }
const PATHS = ['/', '/connections', '/connections/harbour-homes/leads']

describe.skipIf(!REDIS)(`the app, when Redis${withRedis}`, () => {
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
    for (const path of PATHS) {
      const started = performance.now()
      const page = await visitor.get(app.url + path)
      expect(performance.now() - started, path).toBeLessThan(2000)
      expect(page.status, path).toBe(503)
      expect(page.text).toContain('Try again')
      expect(page.headers.get('retry-after')).toBe('1')
      expect((await visitor.get(app.url + path, JSON_TYPE)).json()).toMatchObject({
        code: 'store_unavailable',
      })
    }
    expect((await visitor.get(`${app.url}/health/ready`)).status).toBe(503)
    expect((await visitor.get(`${app.url}/health/live`)).status).toBe(200)
  }

  /** All is as before, within 2 s from now. */
  async function recovers(): Promise<void> {
    const answer = async () =>
      expect((await visitor.get(`${app.url}/connections/harbour-homes/leads`)).status).toBe(200)
    await vi.waitFor(answer, { timeout: 2000, interval: 50 })
    expect((await visitor.get(`${app.url}/health/ready`)).status).toBe(200)
  }

  test('stops and starts again, answers 503 meanwhile and recovers by itself within 2 s', async () => {
    await redis.kill()
    await unavailable()
    await redis.start()
    await recovers()
    expect(app.logLines.filter((line) => line.includes('not reachable'))).toHaveLength(1)
  })

  test('hangs and goes on, answers 503 meanwhile and recovers by itself within 2 s', async () => {
    redis.signal('SIGSTOP')
    await unavailable()
    redis.signal('SIGCONT')
    await recovers()
  })

  test('is not there at the start, starts all the same and works once Redis is there', async () => {
    await redis.kill()
    const early = await startAll({ REDIS_URL: redis.url })
    expect((await createVisitor().get(`${early.url}/health/live`)).status).toBe(200)
    expect((await createVisitor().get(`${early.url}/health/ready`)).status).toBe(503)
    await vi.waitFor(() => expect(early.logLines.join()).toContain('not reachable'), { timeout: 5000 })
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

describe.skipIf(!REDIS)(`a Redis that may forget${withRedis}`, () => {
  test.each([
    ['evict', ['--maxmemory-policy', 'allkeys-lru'], 'maxmemory-policy is allkeys-lru'],
    ['keep nothing on disk', ['--appendonly', 'no', '--save', ''], 'keeps nothing on disk'],
  ])('is warned about at the start: it may %s', async (_what, settings, warning) => {
    const redis = await startRedis(...settings)
    const app = await startAll({ REDIS_URL: redis.url })
    await vi.waitFor(() => expect(app.logLines.join()).toContain(warning), { timeout: 5000 })
    await app.close()
    await redis.close()
  })
})
