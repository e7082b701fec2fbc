import { expect, vi } from 'vitest'
import { addressesOf } from '../../../../../src/sandbox/platform.ts'
import { CLIENT, testEnv } from '../../../../support/env.ts'
import { connected } from '../../../../support/flow.ts'
import { freePort } from '../../../../support/ports.ts'
import { runApp } from '../../../../support/process.ts'
import { openPages, SAM } from '../pages-support.ts'
import { startPlatform } from '../support.ts'

/** Sixty batches. */
const ROWS = Array.from({ length: 60_000 }, (_, row) => `C${String(row).padStart(6, '0')},${row + 1}`)

/** An import that is being sent, in a catalogue of the sandbox, with the app as processes of their own. */
export type Interruptible = Awaited<ReturnType<typeof startImport>>

/** Starts the app, uploads a file of 60,000 items and sends it to a platform that accepts 10 requests in a second (429). `env` overrides settings. */
export async function startImport(extra: Record<string, string> = {}) {
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
  const visitor = await connected({ url, platform: platform.url }, SAM)
  const pages = await openPages({ url }, visitor)
  const { json } = await pages.upload(`code,price\n${ROWS.join('\n')}\n`)
  expect((await pages.send(json.id)).status).toBe(202)
  const sending = async () => expect((await pages.jobOf(json.id)).progress?.sent).toBeGreaterThan(2_000)
  await vi.waitFor(sending, { timeout: 20_000, interval: 25 })

  return {
    app,
    dir: platform.dir,
    catalogueId: pages.fresh,
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
