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

  test('reads leads and creates one; each page is accessible and fits in every window', async () => {
    const { page, complaints, look, inspectWithoutScripts, close } = await startWalk(browser)
    await takeSession(page, app, await connected(app))
    await page.goto(`${app.url}/connections`)
    await page.getByRole('link', { name: 'Leads' }).click()
    expect(await page.locator('tbody tr').count()).toBe(25)
    await look()
    await page.getByRole('link', { name: 'Next' }).click()
    await page.locator('tbody a').first().click()
    await look()
    await page.getByRole('link', { name: 'Leads' }).click()
    await page.getByText('New lead').click()
    await look()
    await page.getByLabel('Name').fill('Nora New')
    await page.getByLabel('Suburb').fill('Coogee')
    await page.getByRole('button', { name: 'Create lead' }).click()
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Nora New')
    await look()
    await inspectWithoutScripts()
    expect(complaints).toEqual([])
    await close()
  })
})
