import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { openChromium, startWalk, takeSession } from '../../support/chromium.ts'
import { connected } from '../../support/flow.ts'
import { CHROMIUM, withChromium } from '../../support/programs.ts'

describe.skipIf(!CHROMIUM)(`a user in Chromium${withChromium}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    ;[browser, app] = await Promise.all([openChromium(), startAll()])
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  test('reads catalogues; each page is accessible and fits in every window', async () => {
    const { page, complaints, look, inspectWithoutScripts, close } = await startWalk(browser)
    await takeSession(page, app, await connected(app))
    await page.goto(`${app.url}/connections`)
    await page.getByRole('link', { name: 'Catalogues' }).click()
    expect(await page.locator('tbody tr').count()).toBe(25)
    await look()
    await page.locator('tbody a').first().click()
    await look()
    await inspectWithoutScripts()
    expect(complaints).toEqual([])
    await close()
  })
})
