import { once } from 'node:events'
import { createServer } from 'node:https'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createListener } from '../../src/app.ts'
import { startAll } from '../support/app.ts'
import { CERTIFICATES } from '../support/certificates.ts'
import { openChromium, openPage } from '../support/chromium.ts'
import { type Demo, openDemo } from '../support/demo.ts'
import { freePort, serve } from '../support/ports.ts'
import { CHROMIUM, withChromium } from '../support/programs.ts'

const press = (page: Page, name: string) => page.getByRole('button', { name }).first().click()

describe.skipIf(!CHROMIUM)(`under a name other than localhost${withChromium}`, () => {
  let browser: Browser
  let demo: Demo
  let demoUrl: string
  /** A page of another site, whose form posts to `?to=`. */
  let foreign: Awaited<ReturnType<typeof serve>>
  beforeAll(async () => {
    // To browsers, plain http is safe on localhost and 127.0.0.1 only.
    browser = await openChromium(['*.box.example'])
    const port = String(await freePort())
    demoUrl = `http://demo.box.example:${port}`
    // As docs/deploy.md says: "The demo on another machine".
    demo = await openDemo({ PORT: port, BASE_URL: demoUrl, DEMO_ALLOW_REMOTE: 'true' })
    await demo.start()
    foreign = await serve((req, res) => {
      const action = new URL(req.url ?? '', 'http://foreign').searchParams.get('to')
      res.setHeader('content-type', 'text/html')
      res.end(
        `<form method="post" action="${action}/sign-in"><input name="name" value="Mallory"><button>Win</button></form>`,
      )
    })
  })
  afterAll(async () => {
    await Promise.all([browser.close(), demo.close(), foreign.close()])
  })

  async function refusalOfForeignForm(target: string): Promise<string> {
    const { page, close } = await openPage(browser, { ignoreHTTPSErrors: true })
    await page.goto(`http://foreign.box.example:${foreign.port}/?to=${target}`)
    await press(page, 'Win')
    await page.waitForURL(`${target}/**`)
    const text = await page.locator('main').innerText()
    await page.goto(`${target}/connections`)
    expect(await page.locator('h1').innerText()).toBe('Please sign in to continue')
    await close()
    return text
  }

  test('users sign in, connect, disconnect and sign out over plain http', async () => {
    const { page, close } = await openPage(browser)
    await page.goto(demoUrl)
    await page.getByLabel('Your name').fill('Ann')
    await press(page, 'Sign in')
    await press(page, 'Connect an account')
    await press(page, 'Marcus')
    await press(page, 'Allow access')
    expect(await page.getByRole('status').innerText()).toMatch(/ is connected\.$/)
    expect(page.url()).toBe(`${demoUrl}/connections`)
    await page.getByText('Details of').click()
    await page.getByRole('link', { name: 'Disconnect' }).click()
    await press(page, 'Disconnect')
    expect(await page.getByRole('status').innerText()).toContain('disconnected')
    expect(await page.locator('.card').count()).toBe(0)
    await press(page, 'Sign out')
    expect(await page.getByLabel('Your name').count()).toBe(1)
    await close()
  })

  test('a form of another site is refused over plain http', async () => {
    expect(await refusalOfForeignForm(demoUrl)).toContain('Request from another site')
  })

  test('a form of another site is refused over https', async () => {
    const port = await freePort()
    const app = await startAll({ BASE_URL: `https://secure.box.example:${port}` })
    const server = createServer(CERTIFICATES.valid, createListener(app.services)).listen(port, '127.0.0.1')
    await once(server, 'listening')
    expect(await refusalOfForeignForm(app.config.baseUrl)).toContain('Request from another site')
    server.closeAllConnections()
    server.close()
    await app.close()
  })
})
