import { expect, vi } from 'vitest'
import { loadSandboxFeatures } from '../../src/sandbox/load.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { CLIENT, tempDir, testEnv } from '../support/env.ts'
import { serve } from '../support/ports.ts'
import { type Program, runApp } from '../support/process.ts'
import { startRedis } from '../support/redis.ts'

const simulated = await loadSandboxFeatures()
const PLATFORM_WEBHOOK_SECRET = 'secret-of-the-webhook'

/**
 * Processes of the app on these ports, each with its own folder. They share a Redis and a sandbox, and browsers reach them at
 * `url`. `env`: further settings.
 */
export async function startProcesses(
  url: string,
  ports: readonly number[],
  env: Record<string, string> | ((platform: string) => Record<string, string>),
) {
  const [redis, { server, port, close }] = [await startRedis(), await serve()]
  const platform = `http://127.0.0.1:${port}`
  const webhook = { url: `${url}/webhooks/platform`, secret: PLATFORM_WEBHOOK_SECRET }
  const sandbox = createSandbox({
    baseUrl: platform,
    apps: [
      {
        name: 'Test App',
        ...CLIENT,
        redirectUrls: [`${url}/connect/context`, `${url}/connect/callback`],
      },
    ],
    file: ':memory:',
    rateLimit: { limit: 100_000, windowMs: 1_000 },
    features: { 'builder-requests': { webhooks: { 'summit-supplies': webhook } } },
    simulated,
  })
  server.on('request', sandbox.app)
  const { appUrl, authUrl, apiUrl } = sandbox.addresses
  const settings = testEnv({
    PLATFORM_WEBHOOK_SECRET,
    BASE_URL: url,
    REDIS_URL: redis.url,
    PLATFORM_APP_URL: appUrl,
    PLATFORM_AUTH_URL: authUrl,
    PLATFORM_API_URL: apiUrl,
    ...(typeof env === 'function' ? env(platform) : env),
  })
  const folders = ports.map(() => tempDir())
  const start = async (index: number): Promise<Program> => {
    const own = { PORT: String(ports[index]), DATA_DIR: folders[index]?.dir ?? '' }
    const program = await runApp({ ...settings, ...own })
    const ready = async () => (await fetch(`${program.url}/health/ready`)).status
    await vi.waitFor(async () => expect(await ready()).toBe(200), { interval: 20 })
    return program
  }
  const programs = await Promise.all(ports.map((_, index) => start(index)))
  return {
    platform,
    output: () => programs.map((program) => program.output()).join(''),
    /** As an operator does it: SIGTERM, wait for the end, start again, wait until it is ready. */
    async restart(index: number): Promise<void> {
      await programs[index]?.kill('SIGTERM')
      programs[index] = await start(index)
    },
    async close(): Promise<void> {
      await Promise.all(programs.map((program) => program.kill()))
      await redis.close()
      await close()
      sandbox.close()
      for (const { remove } of folders) remove()
    },
  }
}
