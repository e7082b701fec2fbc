import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/stores.ts'
import { turnKey } from '../../../src/features/price-files/turn.ts'
import { loadSandboxFeatures } from '../../../src/sandbox/load.ts'
import { createSandbox } from '../../../src/sandbox/sandbox.ts'
import type { Running } from '../../support/app.ts'
import { CLIENT, tempDir, testEnv } from '../../support/env.ts'
import { connected } from '../../support/flow.ts'
import { freePort, serve } from '../../support/ports.ts'
import { runApp } from '../../support/process.ts'
import { openPages, SAM } from './pages-support.ts'
import { itemsOf } from './support.ts'

/** Sixty batches. */
const ROWS = Array.from({ length: 60_000 }, (_, row) => `C${String(row).padStart(6, '0')},${row + 1}`)

/** An import that is being sent, in a catalogue of the sandbox, with the app as processes of their own. */
export type Interruptible = Awaited<ReturnType<typeof startImport>>

/** Starts the app, uploads a file of 60,000 items and sends it to a platform that accepts 10 requests in a second (429). `env` overrides settings. */
export async function startImport(extra: Record<string, string> = {}) {
  const { dir, remove } = tempDir()
  const port = await freePort()
  const url = `http://localhost:${port}`
  const server = await serve()
  const platform = `http://127.0.0.1:${server.port}`
  const sandbox = createSandbox({
    simulated: await loadSandboxFeatures(),
    baseUrl: platform,
    apps: [
      {
        name: 'Test App',
        ...CLIENT,
        redirectUrls: [`${url}/connect/context`, `${url}/connect/callback`],
      },
    ],
    file: ':memory:',
    rateLimit: { limit: 10, windowMs: 1_000 },
    features: { 'price-files': { importTiming: { itemsPerSecond: 1e6, settleMs: 50 } } },
  })
  let uploads = 0
  server.server.on('request', (req, res) => {
    if (!/\/import\/[^/]+\/items$/.test(req.url ?? '')) return
    uploads++
    // What the platform refuses for now, it has not accepted twice.
    res.once('finish', () => {
      if (res.statusCode === 429) uploads--
    })
  })
  server.server.on('request', sandbox.app)
  const { appUrl, authUrl, apiUrl } = sandbox.addresses
  const env = testEnv({
    PORT: String(port),
    BASE_URL: url,
    DATA_DIR: dir,
    LOG_LEVEL: 'silent',
    PLATFORM_APP_URL: appUrl,
    PLATFORM_AUTH_URL: authUrl,
    PLATFORM_API_URL: apiUrl,
    ...extra,
  })
  const app = await runApp(env)
  const visitor = await connected({ url, platform } as Running, SAM)
  const pages = await openPages({ url }, visitor)
  const { json } = await pages.upload(`code,price\n${ROWS.join('\n')}\n`)
  expect((await pages.act(json.id, 'start')).status).toBe(202)
  const sending = async () => expect((await pages.jobOf(json.id)).progress?.sent).toBeGreaterThan(2_000)
  await vi.waitFor(sending, { timeout: 20_000, interval: 25 })

  return {
    app,
    dir,
    catalogueId: pages.fresh,
    /** Starts another process of the app on the same store and files. */
    startAnother: (more: Record<string, string> = {}) => runApp({ ...env, ...more }),
    /**
     * Expects that the import is completed in this time, without user action, with exactly the file's items, that at
     * most one batch was sent again.
     */
    async expectCompleted(timeoutMs: number): Promise<void> {
      const batches = ROWS.length / 1000
      await vi.waitFor(() => expect(uploads).toBeGreaterThanOrEqual(batches), { timeout: timeoutMs })
      const items = async () => expect((await itemsOf(platform, pages.fresh)).size).toBe(ROWS.length)
      await vi.waitFor(items, { timeout: timeoutMs, interval: 500 })
      expect([...(await itemsOf(platform, pages.fresh)).keys()]).toEqual(ROWS.map((row) => row.split(',')[0]))
      expect(uploads).toBeLessThanOrEqual(batches + 1)
    },
    /** Expects that the app says so too. */
    async expectReported(): Promise<void> {
      const progress = { sent: ROWS.length }
      expect(await pages.ended(json.id)).toMatchObject({ state: 'completed', progress })
    },
    async close(): Promise<void> {
      await server.close()
      sandbox.close()
      remove()
    },
  }
}

/** Kills the app while it sends an import, and starts it again when the lease of the killed one has expired. */
export async function killInMidImport(): Promise<void> {
  const running = await startImport()
  await running.app.kill()
  const store = openSqlite({ file: join(running.dir, 'store.sqlite') })
  const lease = turnKey(running.catalogueId)
  expect(await store.get(lease)).not.toBeNull()
  await store.delete(lease)
  await store.close()
  const again = await running.startAnother()
  await running.expectCompleted(50_000)
  await running.expectReported()
  await again.kill()
  await running.close()
}
