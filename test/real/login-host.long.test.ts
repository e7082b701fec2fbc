import { request } from 'node:http'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { openChromium, openPage } from '../support/chromium.ts'
import { SCOPES } from '../support/flow.ts'
import { serve } from '../support/ports.ts'
import { CHROMIUM, withChromium } from '../support/programs.ts'

/**
 * A platform that sends browsers on to a login host, which this app does not know, before it shows its start page and its
 * consent page. Both are the sandbox's.
 */
async function startPlatformWithLoginHost() {
  const [platform, loginHost] = [await serve(), await serve()]
  const platformUrl = `http://127.0.0.1:${platform.port}`
  const loginUrl = `http://127.0.0.1:${loginHost.port}`
  const app = await startAll({}, { baseUrl: platformUrl })
  loginHost.server.on('request', (req, res) => {
    const next = new URL(req.url ?? '/', platformUrl)
    next.searchParams.set('sso', 'done')
    res.setHeader('content-type', 'text/html')
    res.end(`<!doctype html><h1>Login host</h1><a href="${next.href.replaceAll('&', '&amp;')}">Go on</a>`)
  })
  platform.server.on('request', (req, res) => {
    const url = new URL(req.url ?? '/', platformUrl)
    const needsLogin = ['/oauth2.html', '/auth/authorize'].includes(url.pathname)
    if (needsLogin && !url.searchParams.has('sso'))
      return void res.writeHead(302, { location: loginUrl + req.url }).end()
    url.searchParams.delete('sso')
    const { method, headers } = req
    const target = app.platform + url.pathname + url.search
    const forwarded = request(target, { method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    req.pipe(forwarded)
  })
  return {
    app,
    platformUrl,
    loginUrl,
    close: () => Promise.all([app.close(), platform.close(), loginHost.close()]),
  }
}

describe.skipIf(!CHROMIUM)(`behind another login host${withChromium}`, () => {
  let browser: Browser
  let started: Awaited<ReturnType<typeof startPlatformWithLoginHost>>
  let app: Running
  beforeAll(async () => {
    browser = await openChromium()
    started = await startPlatformWithLoginHost()
    app = started.app
  })
  afterAll(async () => {
    await browser.close()
    await started.close()
  })

  const press = (page: Page, name: string) => page.getByRole('button', { name }).first().click()
  const throughLoginHost = async (page: Page) => {
    await page.waitForURL(`${started.loginUrl}/**`)
    await page.getByRole('link', { name: 'Go on' }).click()
  }

  /** A window whose user is signed in to the app, and logged in to the platform with one business, ridgeline-build. */
  async function open(name: string, javaScriptEnabled: boolean) {
    const { page, complaints, close } = await openPage(browser, { javaScriptEnabled })
    await page.goto(`${started.platformUrl}/login`)
    await press(page, 'Marcus')
    await page.goto(app.url)
    await page.getByLabel('Your name').fill(name)
    await press(page, 'Sign in')
    return { page, complaints, close }
  }

  test.each([true, false])('an account is connected (JavaScript: %s)', async (scripts) => {
    const { page, complaints, close } = await open(`bob-${scripts}`, scripts)
    await press(page, 'Connect an account')
    await throughLoginHost(page)
    await throughLoginHost(page)
    await press(page, 'Allow access')
    expect(await page.getByRole('status').innerText()).toContain(' is connected.')
    expect(complaints).toEqual([])
    await close()
  })

  test.each([true, false])(
    'an account is reconnected, or another one after the question (JavaScript: %s)',
    async (scripts) => {
      const ref = { userId: `ann-${scripts}`, bxcontext: 'harbour-homes' }
      const { vault } = app.services.connect
      const tokens = { accessToken: 'a', refreshToken: 'r', expiresIn: 0, scopes: SCOPES }
      await vault.connect(ref, async () => tokens)
      // The sandbox does not know this grant.
      await vault.accessToken(ref).catch(() => {})
      const { page, complaints, close } = await open(ref.userId, scripts)
      await press(page, 'Reconnect')
      await throughLoginHost(page)
      await page.waitForURL(`${app.url}/connect/confirm/**`)
      await press(page, 'Connect')
      await throughLoginHost(page)
      await press(page, 'Allow access')
      expect(await page.getByRole('status').innerText()).toContain(' is connected.')
      expect(complaints).toEqual([])
      await close()
    },
  )

  test('Back leads to the page whose button was pressed, which works again', async () => {
    const { page, close } = await open('cat', true)
    await press(page, 'Connect an account')
    await page.waitForURL(`${started.loginUrl}/**`)
    await page.waitForLoadState('load')
    await page.goBack()
    expect(new URL(page.url()).origin).toBe(app.url)
    await press(page, 'Connect an account')
    await page.waitForURL(`${started.loginUrl}/**`)
    await close()
  })
})
