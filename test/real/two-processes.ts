import { vi } from 'vitest'
import { loadSandboxFeatures } from '../../src/sandbox/load.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { CLIENT, tempDir, testEnv } from '../support/env.ts'
import { freePort, serve } from '../support/ports.ts'
import { type Program, runApp } from '../support/process.ts'
import { startRedis } from '../support/redis.ts'

const FEATURES = await loadSandboxFeatures()

/** Two processes of the app on one Redis, with a sandbox, for a proxy at `url`. */
export async function startTwoProcesses(url: string, extra: Record<string, string> = {}) {
  const [redis, { server, port, close }] = [await startRedis(), await serve()]
  const platform = `http://127.0.0.1:${port}`
  const redirectUrls = [`${url}/connect/context`, `${url}/connect/callback`]
  const sandbox = createSandbox({
    baseUrl: platform,
    apps: [{ name: 'Test App', ...CLIENT, redirectUrls }],
    file: ':memory:',
    rateLimit: { limit: 100_000, windowMs: 1_000 },
    simulated: FEATURES,
  })
  server.on('request', sandbox.app)
  const { appUrl, authUrl, apiUrl } = sandbox.addresses
  const settings = testEnv({
    BASE_URL: url,
    HOST: '127.0.0.1',
    TRUST_PROXY: '1',
    DEMO_ALLOW_REMOTE: 'true',
    REDIS_URL: redis.url,
    PLATFORM_APP_URL: appUrl,
    PLATFORM_AUTH_URL: authUrl,
    PLATFORM_API_URL: apiUrl,
    SANDBOX_URL: platform,
    LOG_LEVEL: 'error',
    ...extra,
  })
  const folders = [tempDir(), tempDir()] as const
  const ports = [await freePort(), await freePort()] as const
  const programs: (Program | undefined)[] = []
  async function start(index: 0 | 1): Promise<void> {
    const at = `http://127.0.0.1:${ports[index]}`
    programs[index] = await runApp({ ...settings, PORT: String(ports[index]), DATA_DIR: folders[index].dir })
    await vi.waitUntil(async () => (await fetch(`${at}/health/ready`)).status === 200, {
      timeout: 20_000,
      interval: 20,
    })
  }
  await Promise.all([start(0), start(1)])
  return {
    ports,
    platform,
    /** As an operator does it: SIGTERM, wait for the end, start again, wait until it is ready. */
    async restart(index: 0 | 1): Promise<void> {
      await programs[index]?.kill('SIGTERM')
      await start(index)
    },
    async close(): Promise<void> {
      await Promise.all(programs.map((program) => program?.kill()))
      await redis.close()
      await close()
      sandbox.close()
      for (const { remove } of folders) remove()
    },
  }
}
