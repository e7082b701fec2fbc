import { type Browser, type BrowserContext, launch } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { endsWithFile } from '../support/children.ts'
import { serve } from '../support/ports.ts'
import { FIREFOX, withFirefox } from './programs.ts'

/** Preferences, as `about:config` lists them. */
const PREFERENCES = {
  // As Firefox is shipped, whatever its driver prefers: each site has its own jar of third-party cookies.
  'network.cookie.cookieBehavior': 5,
  // Only the pages of the test are fetched.
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
}
/** How long a page may take to show something, in ms. */
const PATIENCE_MS = 15_000

type Tab = Awaited<ReturnType<typeof openTab>>

/** A new tab. `complaints` are the errors in its console, among them what a content security policy blocked. */
async function openTab(context: BrowserContext) {
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  const show = (read: string) => expect.poll(() => page.evaluate(read), { timeout: PATIENCE_MS })
  let left = 0
  return {
    page,
    complaints,
    /** Opens a page by a script: the driver's own command can wait for an answer that Firefox never sends. */
    async open(url: string): Promise<void> {
      await page.evaluate(`location.assign(${JSON.stringify(url)})`)
      await show('document.readyState + location.origin').toBe(`complete${new URL(url).origin}`)
    },
    /** Presses the first button with this text, once it is there; or another kind of element, such as a link (`a`). */
    press: (name: string, element = 'button') =>
      page.locator(`::-p-xpath(//${element}[contains(normalize-space(), "${name}")])`).click(),
    /** Waits until the page shows this. */
    see: (text: string | RegExp) => show('document.querySelector("main").innerText').toMatch(text),
    /** Presses Back, and waits for another page. It may be one that Firefox kept, for which nothing is loaded. */
    async back(): Promise<void> {
      left++
      await page.evaluate(`window.left = ${left}; history.back()`)
      await show('window.left').not.toBe(left)
    },
  }
}

describe.skipIf(!FIREFOX)(`in Firefox${withFirefox}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    const options = { browser: 'firefox', executablePath: FIREFOX ?? 'firefox', headless: true } as const
    browser = await launch({ ...options, extraPrefsFirefox: PREFERENCES })
    const child = browser.process()
    if (child) endsWithFile(child)
    app = await startAll()
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  /** Somebody with cookies of their own, in a first tab. */
  async function newUser(): Promise<Tab> {
    const context = await browser.createBrowserContext()
    onTestFinished(() => context.close())
    return openTab(context)
  }

  /** Signs in and connects. */
  async function connect({ page, open, press, see }: Tab, name: string): Promise<void> {
    await open(app.url)
    await page.locator('#name').fill(name)
    for (const button of ['Sign in', 'Connect an account', 'Olivia Hart', 'Harbour Homes'])
      await press(button)
    await see('Test App asks for access')
    await press('Allow access')
    await see('Harbour Homes is connected.')
  }

  async function callPlatform({ press, see }: Tab): Promise<void> {
    await press('Test this connection')
    await see('Works: ')
  }

  test('who goes back after connecting and submits the same pages again gets clear pages, and no second code exchange', async () => {
    const user = await newUser()
    const { press, see, back } = user
    const exchanges = async () => (await app.calls()).filter(({ endpoint }) => endpoint === 'exchange').length
    const before = await exchanges()
    await connect(user, 'Bob')
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
    expect(await exchanges()).toBe(before + 1)
    expect(user.complaints).toEqual([])
  })

  test('a form of another site cannot sign a user in, not even through a redirect that hides where it comes from', async () => {
    const user = await newUser()
    // With these headers, Firefox takes what follows a redirect for the user's own: `Sec-Fetch-Site: none`.
    const elsewhere = await serve((req, res) => {
      res.setHeader('referrer-policy', 'no-referrer').setHeader('content-type', 'text/html')
      if (req.method === 'POST') res.writeHead(307, { location: `${app.url}/sign-in` }).end()
      else res.end('<form method="post"><input name="name" value="Mallory"><button>Win</button></form>')
    })
    onTestFinished(() => elsewhere.close())
    // `localhost` on another port is the same site, so that cookies are sent; 127.0.0.1 is another one.
    for (const host of ['localhost', '127.0.0.1']) {
      await user.open(`http://${host}:${elsewhere.port}`)
      await user.press('Win')
      await user.see('Request from another site')
    }
  })
})
