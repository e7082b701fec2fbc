import { setTimeout } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { addressesOf } from '../../../../../src/sandbox/platform.ts'
import { CLIENT, testEnv } from '../../../../support/env.ts'
import { connected } from '../../../../support/flow.ts'
import { freePort } from '../../../../support/ports.ts'
import { runApp } from '../../../../support/process.ts'
import { REDIS, withRedis } from '../../../../support/programs.ts'
import { startRedis } from '../../../../support/redis.ts'
import { openPages, SAM } from '../pages-support.ts'
import { startPlatform } from '../support.ts'

describe.skipIf(!process.env.LONG_TESTS)('an import in progress', () => {
  test.skipIf(!REDIS).concurrent(`survives a Redis outage of 8 s${withRedis}`, async () => {
    const redis = await startRedis()
    const running = await startImport({ REDIS_URL: redis.url })
    await redis.kill()
    await setTimeout(8_000)
    await redis.start()
    await running.expectCompleted(60_000)
    await running.expectReported()
    await running.app.kill()
    await running.close()
    await redis.close()
  })

  test.concurrent.each([['SQLite'], ['Redis']])(
    'whose process dies is taken over by another one, on %s',
    async (store) => {
      if (store === 'Redis' && !REDIS) return
      const redis = store === 'Redis' ? await startRedis() : undefined
      const running = await startImport(redis && { REDIS_URL: redis.url })
      const other = await running.startAnother({ PORT: String(await freePort()) })
      await running.app.kill()
      await running.expectCompleted(60_000)
      await other.kill()
      await running.close()
      await redis?.close()
    },
  )
})

/** Sixty batches. */
const ROWS = Array.from({ length: 60_000 }, (_, row) => `C${String(row).padStart(6, '0')},${row + 1}`)

/** Starts the app, uploads a file of 60,000 items and sends it to a platform that accepts 10 requests in a second (429). `env` overrides settings. */
async function startImport(extra: Record<string, string> = {}) {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const redirectUrls = [`${url}/connect/context`, `${url}/connect/callback`]
  const platform = await startPlatform({
    apps: [{ name: 'Test App', ...CLIENT, redirectUrls }],
    rateLimit: { limit: 10, windowMs: 1_000 },
  })
  // What the platform refuses for now, it has not accepted twice.
  const uploads = async () => (await platform.statusesOf('items')).filter((status) => status !== 429).length
  const { appUrl, authUrl, apiUrl } = addressesOf(platform.url)
  const env = testEnv({
    PORT: String(port),
    BASE_URL: url,
    DATA_DIR: platform.dir,
    LOG_LEVEL: 'silent',
    PLATFORM_APP_URL: appUrl,
    PLATFORM_AUTH_URL: authUrl,
    PLATFORM_API_URL: apiUrl,
    ...extra,
  })
  const app = await runApp(env)
  const ready = async () => expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  await vi.waitFor(ready, { timeout: 60_000 })
  const visitor = await connected({ url, platform: platform.url }, SAM)
  const pages = await openPages({ url }, visitor)
  const { json } = await pages.upload(`code,price\n${ROWS.join('\n')}\n`)
  expect((await pages.send(json.id)).status).toBe(202)
  const sending = async () => expect((await pages.jobOf(json.id)).progress?.sent).toBeGreaterThan(2_000)
  await vi.waitFor(sending, { timeout: 60_000, interval: 25 })

  return {
    app,
    /** Starts another process of the app on the same store and files. */
    startAnother: (more: Record<string, string> = {}) => runApp({ ...env, ...more }),
    /**
     * Expects that the import is completed in this time, without user action, with exactly the file's items, that at
     * most one batch was sent again.
     */
    async expectCompleted(timeoutMs: number): Promise<void> {
      const batches = ROWS.length / 1000
      const sent = async () => expect(await uploads()).toBeGreaterThanOrEqual(batches)
      await vi.waitFor(sent, { timeout: timeoutMs, interval: 100 })
      const items = () => platform.items(pages.fresh)
      const arrived = async () => expect((await items()).size).toBe(ROWS.length)
      await vi.waitFor(arrived, { timeout: timeoutMs, interval: 500 })
      expect([...(await items()).keys()]).toEqual(ROWS.map((row) => row.split(',')[0]))
      expect(await uploads()).toBeLessThanOrEqual(batches + 1)
    },
    /** Expects that the app says so too. */
    async expectReported(): Promise<void> {
      const progress = { sent: ROWS.length }
      expect(await pages.ended(json.id)).toMatchObject({ state: 'completed', progress })
    },
    close: () => platform.close(),
  }
}
