import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { openChromium, openPage, takeSession } from '../../support/chromium.ts'
import { signedIn } from '../../support/flow.ts'
import { CHROMIUM, withChromium } from '../../support/programs.ts'

describe.skipIf(!CHROMIUM)(`step by step in Chromium${withChromium}`, () => {
  let app: Running
  let browser: Browser
  beforeAll(async () => {
    app = await startAll()
    browser = await openChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  // Rarely, the browser does not come back from history: tried again.
  test('step by step works with a reload and the back button', { timeout: 60_000, retry: 2 }, async () => {
    const { page, close } = await openPage(browser)
    await takeSession(page, app, await signedIn(app, 'fay'))
    const press = (name: string | RegExp) =>
      page.getByRole('button', { name }).or(page.getByRole('link', { name })).first().click()
    const heading = () => page.getByRole('heading', { level: 1 }).innerText()
    await page.goto(`${app.url}/connections`)
    await press('Turn on step-by-step mode')
    await press('Connect a business')
    expect(await heading()).toBe("Next: the platform's start page")
    await page.reload()
    await press('Continue')
    await press(/Olivia Hart/)
    await page.getByText('Choose a business').first().waitFor()
    await page.goBack()
    await page.goForward()
    await press(/Harbour Homes/)
    expect(await heading()).toBe('Next: the consent page')
    await press('Continue')
    await page.getByText('asks for access').waitFor()
    await page.goBack()
    await press('Continue')
    await press('Allow access')
    expect(await heading()).toBe('Next: exchange the code for tokens')
    await page.reload()
    await press('Continue')
    await page.getByRole('heading', { name: 'Harbour Homes' }).waitFor()
    await page.goBack()
    await press('Continue')
    await page.getByRole('heading', { name: 'Harbour Homes' }).waitFor()
    await press('Turn off step-by-step mode')
    await close()
  })
})
