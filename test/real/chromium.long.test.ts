/** Tests that need a browser. The whole walk is in test/e2e/walk.long.test.ts. */
import { once } from 'node:events'
import { request } from 'node:http'
import { createServer } from 'node:https'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { platform } from '../../src/connect/index.ts'
import { type Running, startAll } from '../support/app.ts'
import { CERTIFICATES } from '../support/certificates.ts'
import { inspect, openChromium, openPage } from '../support/chromium.ts'
import { openDemo } from '../support/demo.ts'
import { SCOPES } from '../support/flow.ts'
import { freePort, serve } from '../support/ports.ts'
import { CHROMIUM, withChromium } from '../support/programs.ts'
import { anotherVault } from '../support/stored.ts'
import { consent, newKey } from '../support/vault.ts'

let browser: Browser
let app: Running
beforeAll(async () => {
  if (!CHROMIUM) return // Browsers treat plain http as secure only on localhost and 127.0.0.1.
  ;[browser, app] = await Promise.all([openChromium(['*.box.example']), startAll()])
})
afterAll(async () => {
  await browser?.close()
  await app?.close()
})

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click()
async function pressAll(page: Page, ...names: string[]): Promise<void> {
  for (const name of names) await press(page, name)
}
const status = (page: Page) => page.getByRole('status').innerText()
const cardOf = (page: Page, bxcontext: string) => page.locator(`#connection-${bxcontext}`)

/** A new window, which closes with the test. */
async function newWindow(options?: BrowserContextOptions) {
  const { page, complaints, close } = await openPage(browser, options)
  onTestFinished(close)
  return { page, complaints }
}

/** Signs a user in at an app, by its start page. */
async function signIn(page: Page, name: string, url = app.url): Promise<void> {
  await page.goto(url)
  await page.getByLabel('Your name').fill(name)
  await press(page, 'Sign in')
}

async function disconnect(page: Page): Promise<void> {
  await page.getByText('Details of').click()
  await page.getByRole('link', { name: 'Disconnect' }).click()
  await press(page, 'Disconnect')
}

describe.skipIf(!CHROMIUM)(`a user in Chromium${withChromium}`, () => {
  test('sees that a link works that takes longer than a second, and can leave it', async () => {
    const { page, complaints } = await newWindow()
    await signIn(page, 'Ann')
    await page.waitForLoadState('load')
    // No answer comes. A test can't look at a page that the browser is leaving, so the page itself reports its content.
    await page.route('**/connections', () => {})
    const said = page.waitForEvent('console')
    await page.evaluate(`
      const [link, other] = ['Connections', 'Sandbox'].map((text) =>
        [...document.querySelectorAll('nav a')].find(({ textContent }) => textContent === text))
      new MutationObserver(() => {
        console.log(link.ariaBusy + ' ' + link.textContent)
        other.click()
      }).observe(link, { attributes: true })
      setTimeout(() => link.click())
    `)
    expect((await said).text()).toBe('true Connections…')
    await page.waitForURL(`${app.platform}/**`)
    expect(complaints).toEqual([])
  })

  test('sees one action for each state of a connection, and one sentence if something is wrong, on a phone', async () => {
    const { vault } = app.services.connect
    const dan = (bxcontext: string) => ({ userId: 'Dan', bxcontext })
    const granted = { scopes: SCOPES }
    for (const bxcontext of ['connected', `long-${'x'.repeat(400)}`])
      await consent(vault, granted, dan(bxcontext))
    await consent(vault, { scopes: [platform.scopes.leads] }, dan('partial'))
    for (const [bxcontext, fault] of [
      ['degraded', '500'],
      ['revoked', 'invalid_grant'],
    ] as const) {
      await consent(anotherVault(app, { now: () => Date.now() - 400_000 }), granted, dan(bxcontext))
      await app.fault('refresh', fault, 1)
      // The sandbox does not know this made-up grant, so each fault stands in for its answer.
      await vault.accessToken(dan(bxcontext)).catch(() => {})
    }
    await consent(anotherVault(app, { keys: [newKey('lost')] }), granted, dan('unreadable'))

    const { page } = await newWindow({ viewport: { width: 375, height: 700 } })
    await signIn(page, 'Dan')
    await inspect(page, true)
    const links = await Promise.all(
      app.services.parts.map((part) => part.connectionLinks?.(dan('connected'))),
    )
    const states = {
      connected: ['Working', links.flat().find((link) => link !== undefined)?.label],
      partial: ['without permission for catalogues', 'Grant missing permissions'],
      degraded: ['The platform returned an error.', 'Test this connection'],
      revoked: ['Reconnect to continue', 'Reconnect'],
      unreadable: ['the key "lost", which is not in TOKEN_ENCRYPTION_KEYS', 'Reconnect'],
    }
    const expectCard = async (bxcontext: string, [sentence, action]: (string | undefined)[]) => {
      const card = cardOf(page, bxcontext)
      expect(await card.innerText(), bxcontext).toContain(sentence)
      expect(await card.locator('.actions :is(button, a)').first().innerText(), bxcontext).toBe(action)
    }
    for (const [bxcontext, shown] of Object.entries(states)) await expectCard(bxcontext, shown)
    await vault.credentials.note(true)
    await page.reload()
    for (const bxcontext of ['connected', 'partial', 'degraded'])
      await expectCard(bxcontext, ['Its developers have to correct them', 'Test this connection'])
    await inspect(page, true)
    await vault.credentials.note(false)
    for (const bxcontext of ['degraded', 'unreadable', 'none']) {
      await page.goto(`${app.url}/connections/${bxcontext}/probe`)
      expect(await page.locator('h1').count(), bxcontext).toBe(1)
      await inspect(page, true)
    }
    await app.fault('probe', '500')
    onTestFinished(app.clear)
    await page.goto(`${app.platform}/sandbox/faults`)
    await inspect(page, true)
  })
})

/**
 * A platform that sends browsers on to a login host, which the app does not know, before it shows its start page and its consent
 * page. Both are the sandbox's.
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
    const forwarded = request(app.platform + url.pathname + url.search, { method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    req.pipe(forwarded)
  })
  const close = () => Promise.all([app.close(), platform.close(), loginHost.close()])
  return { app, platformUrl, loginUrl, close }
}

test.skipIf(!CHROMIUM)(
  `a link in an email reconnects an ended business on a phone in four taps, and each page tells what it wants${withChromium}`,
  async () => {
    const ref = { userId: 'Ida', bxcontext: 'harbour-homes' }
    const { vault } = app.services.connect
    await consent(anotherVault(app, { now: () => Date.now() - 400_000 }), { scopes: SCOPES }, ref)
    await app.fault('refresh', 'invalid_grant', 1)
    await vault.accessToken(ref).catch(() => {})
    const viewport = { width: 375, height: 700 }
    const { page } = await newWindow({ viewport, hasTouch: true, isMobile: true })
    await page.goto(`${app.platform}/login`)
    await page.getByLabel('Email').fill('olivia@harbour.example')
    await page.getByLabel('Password').fill('sandbox')
    await press(page, 'Log in')
    await signIn(page, 'Ida')
    const link = 'The link in the email'
    await page.setContent(`<a href="${app.url}/connect?bxcontext=${ref.bxcontext}">${link}</a>`)
    /** Resolves to the heading of the page to which it leads. */
    const tap = async (name: string) => {
      const next = page.waitForEvent('load')
      await page.getByRole('button', { name }).or(page.getByRole('link', { name })).first().tap()
      await next
      // The page that leads to the platform continues without a tap.
      await page.waitForURL((url) => url.href !== `${app.url}/connect`)
      return page.getByRole('heading', { level: 1 }).innerText()
    }
    expect(await tap(link)).toBe('Reconnect Connected business …-homes')
    expect(await tap('Reconnect')).toBe('Choose a business')
    expect(await tap('Harbour Homes')).toBe('Test App asks for access')
    await tap('Allow access')
    expect(await status(page)).toContain('is connected.')
    expect((await vault.find(ref))?.view.state).toBe('active')
  },
)

describe.skipIf(!CHROMIUM)(`behind another login host${withChromium}`, () => {
  let started: Awaited<ReturnType<typeof startPlatformWithLoginHost>>
  beforeAll(async () => {
    started = await startPlatformWithLoginHost()
  })
  afterAll(() => started.close())

  const throughLoginHost = async (page: Page) => {
    await page.waitForURL(`${started.loginUrl}/**`)
    await page.getByRole('link', { name: 'Go on' }).click()
  }

  /** A window whose user is signed in to the app, and logged in to the platform with one business, ridgeline-build. */
  async function open(name: string, javaScriptEnabled: boolean) {
    const opened = await newWindow({ javaScriptEnabled })
    await opened.page.goto(`${started.platformUrl}/login`)
    await press(opened.page, 'Marcus')
    await signIn(opened.page, name, started.app.url)
    return opened
  }

  test.each([true, false])(
    'an account is connected, and reconnected, or another one after the question (JavaScript: %s)',
    async (scripts) => {
      const ref = { userId: `ann-${scripts}`, bxcontext: 'harbour-homes' }
      const { vault } = started.app.services.connect
      const tokens = { accessToken: 'a', refreshToken: 'r', expiresIn: 300, scopes: SCOPES }
      await vault.connect(ref, async () => tokens)
      // The sandbox does not know this grant.
      await vault.refresh(ref).catch(() => {})
      const { page, complaints } = await open(ref.userId, scripts)
      await press(page, 'Reconnect')
      await throughLoginHost(page)
      await page.waitForURL(`${started.app.url}/connect/confirm/**`)
      await press(page, 'Connect')
      await throughLoginHost(page)
      await press(page, 'Allow access')
      expect(await status(page)).toContain(' is connected.')
      await press(page, 'Connect a business')
      for (const _page of ['start', 'consent']) await throughLoginHost(page)
      await press(page, 'Allow access')
      expect(await status(page)).toContain(' is connected.')
      expect(complaints).toEqual([])
    },
  )

  test('Back leads to the page whose button was pressed, which works again', async () => {
    const { page } = await open('cat', true)
    await press(page, 'Connect a business')
    await page.waitForURL(`${started.loginUrl}/**`)
    await page.waitForLoadState('load')
    await page.goBack()
    expect(new URL(page.url()).origin).toBe(started.app.url)
    await press(page, 'Connect a business')
    await page.waitForURL(`${started.loginUrl}/**`)
  })
})

describe.skipIf(!CHROMIUM)(`under a name other than localhost${withChromium}`, () => {
  /** A form of another site is refused, and nobody is signed in. */
  async function refusesForeignForm(target: string): Promise<void> {
    // Its form posts to `?to=`.
    const foreign = await serve((req, res) => {
      const action = new URL(req.url ?? '', 'http://foreign').searchParams.get('to')
      const fields = '<input name="name" value="Mallory"><button>Win</button>'
      res.setHeader('content-type', 'text/html')
      res.end(`<form method="post" action="${action}/sign-in">${fields}</form>`)
    })
    onTestFinished(foreign.close)
    const { page } = await newWindow({ ignoreHTTPSErrors: true })
    await page.goto(`http://foreign.box.example:${foreign.port}/?to=${target}`)
    await press(page, 'Win')
    await page.waitForURL(`${target}/**`)
    expect(await page.locator('main').innerText()).toContain('Request from another site')
    await page.goto(`${target}/connections`)
    expect(await page.locator('h1').innerText()).toBe('Please sign in to continue')
  }

  test('users of the demo sign in, connect, disconnect and sign out over plain http, and a form of another site is refused', async () => {
    const port = String(await freePort())
    const url = `http://demo.box.example:${port}`
    // As docs/deploy.md says: "The demo on another machine".
    const demo = await openDemo({ PORT: port, BASE_URL: url, DEMO_ALLOW_REMOTE: 'true' })
    onTestFinished(demo.close)
    await demo.start()
    const { page } = await newWindow()
    await signIn(page, 'Ann', url)
    await pressAll(page, 'Connect a business', 'Marcus', 'Allow access')
    expect(await status(page)).toMatch(/ is connected\.$/)
    expect(page.url()).toBe(`${url}/connections`)
    await disconnect(page)
    expect(await status(page)).toContain('disconnected')
    expect(await page.locator('.card').count()).toBe(0)
    await press(page, 'Sign out')
    expect(await page.getByLabel('Your name').count()).toBe(1)
    await refusesForeignForm(url)
  })

  test('a form of another site is refused over https', async () => {
    const port = await freePort()
    const secure = await startAll({ BASE_URL: `https://secure.box.example:${port}` })
    onTestFinished(secure.close)
    const server = createServer(CERTIFICATES.valid, createApp(secure.services)).listen(port, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    await refusesForeignForm(secure.config.baseUrl)
  })
})
