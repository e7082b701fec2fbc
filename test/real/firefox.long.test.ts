import type { Browser } from 'puppeteer-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { serve } from '../support/ports.ts'
import { openFirefox, openTab, type Tab } from './firefox.ts'
import { FIREFOX, withFirefox } from './programs.ts'

describe.skipIf(!FIREFOX)(`in Firefox${withFirefox}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    browser = await openFirefox()
  })
  afterAll(() => browser?.close())
  beforeEach(async () => {
    app = await startAll()
  })
  afterEach(() => app?.close())

  /** Somebody with cookies of their own, in a first tab. */
  async function newUser(program = browser) {
    const context = await program.createBrowserContext()
    onTestFinished(() => context.close())
    return { context, ...(await openTab(context)) }
  }

  async function signIn({ page, press }: Tab): Promise<void> {
    await page.goto(app.url)
    await page.locator('#name').fill('Ann')
    await press('Sign in')
  }

  async function connect({ press, see }: Tab): Promise<void> {
    await press('Connect an account')
    await press('Olivia Hart')
    await press('Harbour Homes')
    await see('Test App asks for access')
    await press('Allow access')
    await see('Harbour Homes is connected.')
  }

  async function callPlatform({ press, see }: Tab): Promise<void> {
    await press('Test this connection')
    await see('Works: ')
  }

  test('a user connects, uses the connection, reconnects it after a revocation, and refreshes its token', async () => {
    const user = await newUser()
    const { page, press, see } = user
    await signIn(user)
    await connect(user)
    await see(/Harbour Homes\s+Working\s+Connected by Olivia Hart/)

    // The first feature, whichever that is.
    const link = page.locator('.connection a.primary')
    const [feature] = await Promise.all([page.waitForNavigation(), link.click()])
    expect(feature?.url()).toContain(`${app.url}/connections/harbour-homes/`)
    expect(feature?.status()).toBe(200)
    await press('Connections', 'a')
    await callPlatform(user)

    // In another tab, access is revoked, and the app notices; this page then shows it without a reload.
    const other = await openTab(user.context)
    await other.page.goto(`${app.platform}/connected-apps`)
    await other.press('Revoke')
    await other.see('No applications have access')
    await other.page.goto(`${app.url}/connections`)
    await other.press('Test this connection')
    await other.see('Access was revoked')
    await page.bringToFront()
    await see('Reconnect to continue')

    await press('Reconnect')
    await press('Harbour Homes')
    await press('Allow access')
    await see('Harbour Homes is connected.')
    await callPlatform(user)
    // Only now: a token that was refreshed a moment ago is not yet taken for a revoked one.
    await press('Details', 'summary')
    await press('Renew access now')
    await see('Access to Harbour Homes was renewed.')
    await callPlatform(user)
    expect([...user.complaints, ...other.complaints]).toEqual([])
  })

  test('who goes back after connecting and submits the same pages again gets clear pages, and no second code exchange', async () => {
    const user = await newUser()
    const { press, see, back } = user
    await signIn(user)
    await connect(user)

    await back()
    await press('Allow access')
    await see('This consent request has already been used')
    await back()
    await see('This consent request has already been used')
    await back()
    await see('Choose a business')
    await press('Harbour Homes')
    await see('No connection in progress')
    await back()
    await see('Choose a business')
    await back()
    await see('Log in')
    await back()
    await see(/Harbour Homes\s+Working/)
    await callPlatform(user)

    const calls = await app.calls()
    expect(calls.filter(({ endpoint }) => endpoint === 'exchange')).toHaveLength(1)
    expect(user.complaints).toEqual([])
  })

  test('who blocks all cookies is told so after signing in', async () => {
    const strict = await openFirefox({ 'network.cookie.cookieBehavior': 2 })
    onTestFinished(() => strict.close())
    const user = await newUser(strict)
    await signIn(user)
    await user.see(/cookies/i)
  })

  // `localhost` on another port is the same site, so that cookies are sent; 127.0.0.1 is another one.
  test.each(['localhost', '127.0.0.1'])(
    'a form on %s cannot sign a user in, not even through a redirect that hides where it comes from',
    async (host) => {
      const user = await newUser()
      // With these headers, Firefox takes what follows a redirect for the user's own: `Sec-Fetch-Site: none`.
      const elsewhere = await serve((req, res) => {
        res.setHeader('referrer-policy', 'no-referrer').setHeader('content-type', 'text/html')
        if (req.method === 'POST') res.writeHead(307, { location: `${app.url}/sign-in` }).end()
        else res.end('<form method="post"><input name="name" value="Mallory"><button>Win</button></form>')
      })
      onTestFinished(() => elsewhere.close())
      await user.page.goto(`http://${host}:${elsewhere.port}`)
      await user.press('Win')
      await user.see('Request from another site')
    },
  )
})
