import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/stores.ts'
import { turnKey } from '../../../src/features/price-files/turn.ts'
import { loadSandboxFeatures } from '../../../src/sandbox/load.ts'
import { createSandbox } from '../../../src/sandbox/sandbox.ts'
import type { Running } from '../../support/app.ts'
import { CLIENT, tempDir, testEnv } from '../../support/env.ts'
import { fileForm } from '../../support/file-form.ts'
import { connected } from '../../support/flow.ts'
import { freePort, serve } from '../../support/ports.ts'
import { runApp } from '../../support/process.ts'
import { SAM } from './pages-support.ts'
import { draftOf } from './read-support.ts'
import { itemsOf } from './support.ts'

/** Sixty batches. */
const ROWS = Array.from({ length: 60_000 }, (_, row) => `C${String(row).padStart(6, '0')},${row + 1}`)
const JSON_TYPE = { accept: 'application/json' }

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
  const at = `${url}/connections/summit-supplies`
  const form = { name: 'Killed', scope: 'Public' }
  const { id } = (await visitor.post(`${at}/catalogues`, { form, ...JSON_TYPE })).json()
  const file = fileForm(`code,price\n${ROWS.join('\n')}\n`)
  const job = (await visitor.post(`${at}/catalogues/${id}/imports`, { ...file, ...JSON_TYPE })).json()
  const progress = async () => (await visitor.get(`${at}/imports/${job.id}`, JSON_TYPE)).json()
  const post = (action: string, body: object) =>
    visitor.post(`${at}/imports/${job.id}/${action}`, {
      text: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
      ...JSON_TYPE,
    })
  const draft = draftOf((await progress()).reading)
  await post('layout', { draft })
  expect((await post('layout', { draft, confirm: 'on' })).status).toBe(200)
  expect((await visitor.post(`${at}/imports/${job.id}/start`, JSON_TYPE)).status).toBe(202)
  const sending = async () => expect((await progress()).progress?.sent).toBeGreaterThan(2_000)
  await vi.waitFor(sending, { timeout: 20_000, interval: 25 })

  return {
    app,
    dir,
    catalogueId: id,
    /** `POST` on the import; resolves to the status of the answer. */
    act: async (action: string) => (await post(action, {})).status,
    /** Starts another process of the app on the same store and files. */
    startAnother: (more: Record<string, string> = {}) => runApp({ ...env, ...more }),
    /**
     * Expects that the import is completed in this time, without user action, with exactly the file's items, that at
     * most one batch was sent again.
     */
    async expectCompleted(timeoutMs: number): Promise<void> {
      const batches = ROWS.length / 1000
      await vi.waitFor(() => expect(uploads).toBeGreaterThanOrEqual(batches), { timeout: timeoutMs })
      const items = async () => expect((await itemsOf(platform, id)).size).toBe(ROWS.length)
      await vi.waitFor(items, { timeout: timeoutMs, interval: 500 })
      expect([...(await itemsOf(platform, id)).keys()]).toEqual(ROWS.map((row) => row.split(',')[0]))
      expect(uploads).toBeLessThanOrEqual(batches + 1)
    },
    /** Expects that the app says so too. */
    async expectReported(): Promise<void> {
      const done = async () =>
        expect(await progress()).toMatchObject({ state: 'completed', progress: { sent: ROWS.length } })
      await vi.waitFor(done, { timeout: 20_000, interval: 100 })
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
