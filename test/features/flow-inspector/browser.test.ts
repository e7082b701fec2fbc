import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { openChromium, openPage, startWalk, takeSession } from '../../support/chromium.ts'
import { connected, logIn, signedIn } from '../../support/flow.ts'
import { CHROMIUM, withChromium } from '../../support/programs.ts'
import { latestFlow } from './support.ts'

describe.skipIf(!CHROMIUM)(`in Chromium${withChromium}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    ;[browser, app] = await Promise.all([openChromium(), startAll()])
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  test('flows, steps, the presenter view and tokens are accessible and fit in every window', async () => {
    const { page, complaints, look, inspectWithoutScripts, close } = await startWalk(browser)
    const bea = await connected(app, { name: 'bea' })
    const { id } = await latestFlow(app, bea, 'connect')
    await takeSession(page, app, bea)
    const paths = ['/flows', `/flows/${id}`, `/flows/${id}/steps/12`, `/flows/${id}/present/12`]
    for (const path of [...paths, '/connections/harbour-homes/tokens', '/scenarios']) {
      await page.goto(app.url + path)
      if (path === `/flows/${id}`) await page.locator('details summary').nth(11).click()
      await look()
    }
    await inspectWithoutScripts()
    expect(complaints).toEqual([])
    await close()
  })

  test('the arrow keys walk through the steps, and through the presented ones without leaving the page', async () => {
    const { page, close } = await openPage(browser, { viewport: { width: 1280, height: 720 } })
    const cleo = await connected(app, { name: 'cleo' })
    const { id } = await latestFlow(app, cleo, 'connect')
    await takeSession(page, app, cleo)
    await page.goto(`${app.url}/flows/${id}`)
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(/\/steps\/1$/)
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(/\/steps\/2$/)
    await page.keyboard.press('ArrowLeft')
    await page.waitForURL(/\/steps\/1$/)

    await page.goto(`${app.url}/flows/${id}/present/1`)
    await page.evaluate('window.stays = true')
    await page.keyboard.press('ArrowRight')
    await page.getByText(/^2 \/ \d+$/).waitFor()
    expect(await page.evaluate('window.stays')).toBe(true)
    expect(page.url()).toMatch(/\/present\/2$/)
    // Readable from the back of a room, without scrolling.
    const size = await page.evaluate("parseFloat(getComputedStyle(document.querySelector('h1')).fontSize)")
    expect(size).toBeGreaterThan(40)
    for (let step = 1; step <= 15; step++) {
      await page.goto(`${app.url}/flows/${id}/present/${step}`)
      const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
      expect(height, `step ${step}`).toBeLessThanOrEqual(720)
    }
    await close()
  })

  test('an open flow grows while it runs', async () => {
    const dora = await signedIn(app, 'dora')
    await logIn(app, dora)
    const started = await dora.post(`${app.url}/connect`)
    const { page, close } = await openPage(browser)
    await takeSession(page, app, dora)
    await page.goto(`${app.url}/flows`)
    await page.getByText('in progress').waitFor()
    await page.locator('.flows a').first().click()
    const start = await dora.follow(started)
    await page.getByText('The start page', { exact: true }).last().waitFor()
    const redirectUrl = new URL(start.url).searchParams.get('redirectUrl') ?? ''
    const form = { redirectUrl, bxcontext: 'harbour-homes' }
    await dora.follow(await dora.post(`${app.platform}/oauth2.html`, { form }))
    await page.locator('.flow-steps').getByText('The consent page', { exact: true }).waitFor()
    await close()
  })

  test.each([true, false])(
    'step by step works with a reload and the back button (JavaScript: %s)',
    // Rarely, the browser does not come back from history: tried again, with a session of its own.
    { timeout: 20_000, retry: 2 },
    async (javaScriptEnabled) => {
      const { page, close } = await openPage(browser, { javaScriptEnabled })
      await takeSession(page, app, await signedIn(app, `fay-${javaScriptEnabled}`))
      const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click()
      const heading = () => page.getByRole('heading', { level: 1 }).innerText()
      await page.goto(`${app.url}/connections`)
      await press('Step by step: off')
      await press('Connect an account')
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
      expect(await heading()).toBe('Next: back to your connections')
      await page.goBack()
      await press('Continue')
      await press('Continue')
      await page.getByText('Connected by Olivia Hart').waitFor()
      await press('Step by step: on')
      await close()
    },
  )
})
