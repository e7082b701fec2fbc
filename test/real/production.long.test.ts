import { describe, expect, test, vi } from 'vitest'
import { loadSandboxFeatures } from '../../src/sandbox/load.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { openChromium, openPage } from '../support/chromium.ts'
import { CLIENT, tempDir, testEnv } from '../support/env.ts'
import { freePort, serve } from '../support/ports.ts'
import { run } from '../support/process.ts'
import { CHROMIUM, REDIS } from '../support/programs.ts'
import { startRedis } from '../support/redis.ts'
import { startOidcProvider } from './openid-provider.ts'

describe.skipIf(!process.env.LONG_TESTS || !CHROMIUM || !REDIS)('the app in production', () => {
  test('serves a real sign-in and a real connection, with settings alone', async () => {
    for (const method of ['info', 'warn'] as const) vi.spyOn(console, method).mockImplementation(() => {})
    const port = await freePort()
    const url = `http://localhost:${port}`
    const { dir, remove } = tempDir()
    const [provider, redis, server] = await Promise.all([startOidcProvider(url), startRedis(), serve()])
    const platform = `http://127.0.0.1:${server.port}`
    const redirectUrls = [`${url}/connect/context`, `${url}/connect/callback`]
    const sandbox = createSandbox({
      simulated: await loadSandboxFeatures(),
      baseUrl: platform,
      apps: [{ name: 'Test App', ...CLIENT, redirectUrls }],
      file: ':memory:',
    })
    server.server.on('request', sandbox.app)
    const { appUrl, authUrl, apiUrl } = sandbox.addresses
    const { LOG_LEVEL: _, ...settings } = testEnv({
      ...provider.env,
      NODE_ENV: 'production',
      BASE_URL: url,
      PORT: String(port),
      DATA_DIR: dir,
      REDIS_URL: redis.url,
      PLATFORM_APP_URL: appUrl,
      PLATFORM_AUTH_URL: authUrl,
      PLATFORM_API_URL: apiUrl,
    })
    const app = run('src/start.cjs', settings)
    await vi.waitFor(async () => expect((await fetch(`${url}/health/ready`)).status).toBe(200), {
      timeout: 20_000,
      interval: 50,
    })
    const browser = await openChromium()
    const { page, close } = await openPage(browser, {})
    const press = (name: string) => page.getByRole('button', { name }).first().click()
    await page.goto(url)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.locator('input[name=login]').fill('ann')
    await page.locator('input[name=password]').fill('x')
    await page.locator('button[type=submit]').click()
    await page.locator('button[type=submit]').click()
    await page.getByText('ann of Ridgeline').waitFor()
    await press('Connect an account')
    await press('Marcus')
    await press('Allow access')
    await page.getByText(' is connected.').waitFor()
    await page.getByRole('button', { name: /Sign out/ }).click()
    await page.waitForURL(`${provider.env.OIDC_ISSUER}/**`)
    expect(app.output()).not.toContain(provider.env.OIDC_CLIENT_SECRET)
    await close()
    await browser.close()
    await app.kill()
    await Promise.all([provider.close(), redis.close(), server.close()])
    sandbox.close()
    remove()
    vi.restoreAllMocks()
  })
})
