/** A walk through the pages of the app and of the sandbox, in all their states. */
import type { Page } from 'playwright-core'

/** The addresses of the demo. */
export interface Demo {
  app: string
  platform: string
}

/** Shows each page, with a name for its picture. */
export async function walk(page: Page, demo: Demo, show: (name: string) => Promise<void>): Promise<void> {
  const { app, platform } = demo
  const press = (name: string) => page.getByRole('button', { name, exact: true }).first().click()
  const open = async (path: string, name: string) => {
    await page.goto(app + path)
    await show(name)
  }
  const post = (path: string, form: Record<string, string> = {}) =>
    page.request.post(platform + path, { form })
  const fault = (endpoint: string, name: string) => post('/sandbox/faults', { endpoint, fault: name })
  const at = (bxcontext: string, path: string) => `/connections/${bxcontext}${path}`
  const cardOf = (bxcontext: string) => page.locator(`#connection-${bxcontext}`)

  await signedOut()
  await connecting()
  await listed()
  await failed()
  await features()

  /** Logs in to the platform, and chooses a business if the account has several. */
  async function logIn(account: string, business?: string): Promise<void> {
    await page.goto(`${platform}/connected-apps`)
    const out = page.getByRole('button', { name: /^Log out/ })
    if ((await out.count()) > 0) await out.click()
    await page.goto(`${app}/connect`)
    await press('Connect a business')
    await page.getByRole('button', { name: account }).click()
    if (business) await page.getByRole('button', { name: business }).click()
  }

  async function connect(account: string, business?: string, without?: string): Promise<void> {
    await logIn(account, business)
    if (without) await page.getByLabel(without).uncheck()
    await press('Allow access')
  }

  async function signedOut(): Promise<void> {
    await open('/', 'start page, signed out')
    await open('/connections', 'please sign in')
    await page.goto(app)
    await page.getByLabel('Your name').fill('Mary Jones')
    await press('Sign in')
  }

  async function connecting(): Promise<void> {
    await show('no connections')
    await open('/connect', 'connect')
    await page.route(`${platform}/oauth2.html**`, (route) => route.fulfill({ status: 204 }))
    await press('Connect a business')
    await page.waitForTimeout(500)
    await show('to the platform')
    await page.unroute(`${platform}/oauth2.html**`)
    await page.goto(`${app}/connect`)
    await press('Connect a business')
    await show('sandbox, log in')
    await page.getByRole('button', { name: 'Olivia Hart' }).click()
    await show('sandbox, choose a business')
    await page.getByRole('button', { name: 'Harbour Homes' }).click()
    await show('sandbox, consent')
    await press('Deny')
    await show('denied')
    await connect('Olivia Hart', 'Harbour Homes')
    await show('connected')
    await page.getByText('Details of').click()
    await show('connected, details')
  }

  async function listed(): Promise<void> {
    await connect('Olivia Hart', 'Harbour Renovations', 'See your leads and create new ones')
    await show('a permission is missing')
    await connect('Marcus Reid')
    await post('/sandbox/revoke')
    await page.goto(`${app}/connections`)
    await cardOf('ridgeline-build').getByText('Details of').click()
    await cardOf('ridgeline-build').getByRole('button', { name: 'Test this connection' }).click()
    await show('access has ended, on its test')
    await connect('Olivia Hart', 'Harbour Homes')
    await connect('Olivia Hart', 'Harbour Renovations', 'See your leads and create new ones')
    await connect('Priya Nair')
    await connect('Sam Field', 'Demo Builders')
    await post('/sandbox/expire')
    await fault('refresh', '500')
    await open(at('demo-builders', '/leads'), 'platform unavailable')
    await fault('refresh', 'none')
    await open('/connections', 'connections in all states')
    for (const summary of await page.getByText('Details of').all()) await summary.click()
    await show('connections in all states, details')
    await open(at('harbour-homes', '/disconnect'), 'disconnect')
    await open(at('ridgeline-build', '/disconnect'), 'remove')
    await open('/connect?bxcontext=ridgeline-build', 'reconnect')
  }

  async function failed(): Promise<void> {
    await open('/elsewhere', 'not found')
    await open(at('elsewhere', '/leads'), 'not connected')
    await open(at('ridgeline-build', '/leads'), 'access has ended')
    await open(at('harbour-renovations', '/leads'), 'a permission is missing, on its page')
    await open('/connections?top=0', 'bad input')
  }

  async function features(): Promise<void> {
    await open(at('harbour-homes', '/leads'), 'leads')
    await page.locator('.list a').first().click()
    await show('a lead')
    for (const path of ['catalogues', 'builder-requests']) await open(at('summit-supplies', `/${path}`), path)
    await page.goto(`${app}${at('summit-supplies', '/catalogues')}`)
    await page.locator('.list a').first().click()
    await show('a catalogue')
    for (const path of ['flows', 'scenarios', 'setup', 'demo']) await open(`/${path}`, path)
    await page.goto(`${app}/flows`)
    await page.locator('.list a').first().click()
    await show('a flow')
    for (const name of ['Explain each step', 'Present']) {
      await page.goto(`${app}/flows`)
      await page.locator('.list a').first().click()
      await page.getByRole('link', { name, exact: true }).click()
      await show(name)
    }
    for (const path of ['/', '/sandbox/faults', '/connected-apps', '/suppliers', '/mails'])
      await page.goto(platform + path).then(() => show(`sandbox ${path}`))
  }
}
