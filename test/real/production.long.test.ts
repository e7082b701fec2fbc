import { onTestFinished, test, vi } from 'vitest'
import { openChromium, openPage } from '../support/chromium.ts'
import { hideAdvice, startSignInProvider } from '../support/oidc-provider.ts'
import { freePort } from '../support/ports.ts'
import { CHROMIUM, REDIS, withChromium, withRedis } from '../support/programs.ts'
import { startProcesses } from './processes.ts'

test.skipIf(!CHROMIUM || !REDIS)(
  `in production, settings alone give a real sign-in and a real connection, and no secret is in the log${withChromium}${withRedis}`,
  async ({ expect }) => {
    hideAdvice()
    onTestFinished(() => void vi.restoreAllMocks())
    const port = await freePort()
    const url = `http://localhost:${port}`
    const provider = await startSignInProvider(url)
    onTestFinished(provider.close)
    const app = await startProcesses(url, [port], { ...provider.env, NODE_ENV: 'production' })
    onTestFinished(app.close)
    const browser = await openChromium()
    onTestFinished(() => browser.close())
    const { page } = await openPage(browser)
    const press = (name: string) => page.getByRole('button', { name }).first().click()
    await page.goto(url)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.locator('input[name=login]').fill('ann')
    await page.locator('input[name=password]').fill('x')
    await page.locator('button[type=submit]').click()
    await page.locator('button[type=submit]').click()
    await page.getByText('ann of Ridgeline').waitFor()
    await press('Connect a business')
    await press('Marcus')
    await press('Allow access')
    await page.getByText(' is connected.').waitFor()
    await page.getByRole('button', { name: /^Sign out (?!everywhere)/ }).click()
    await page.waitForURL(`${provider.env.OIDC_ISSUER}/**`)
    expect(app.output()).toContain('listening')
    expect(app.output()).not.toContain(provider.env.OIDC_CLIENT_SECRET)
  },
)
