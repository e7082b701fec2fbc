import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CHROMIUM,
  connected,
  openChromium,
  type Running,
  startApp,
  startWalk,
  takeSession,
  withChromium,
} from '../../../../test/support/kit.ts'

describe.skipIf(!CHROMIUM)(`a user in Chromium${withChromium}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    ;[browser, app] = await Promise.all([openChromium(), startApp()])
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  test('reads widgets; each page is accessible and fits in every window', async () => {
    const { page, complaints, look, inspectWithoutScripts, close } = await startWalk(browser)
    await takeSession(page, app, await connected(app))
    await page.goto(`${app.url}/connections`)
    await page.getByRole('link', { name: 'Widgets' }).click()
    expect(await page.locator('tbody tr').count()).toBe(25)
    await look()
    // template: detail
    await page.locator('tbody a').first().click()
    await look()
    // end of template
    await inspectWithoutScripts()
    expect(complaints).toEqual([])
    await close()
  })
})
