import { type Browser, type BrowserContext, launch } from 'puppeteer-core'
import { expect } from 'vitest'
import { endsWithFile } from '../support/children.ts'
import { FIREFOX } from './programs.ts'

/** Preferences, as `about:config` lists them. */
type Preferences = Record<string, string | number | boolean>

const PREFERENCES: Preferences = {
  // As Firefox is shipped, whatever its driver prefers: each site has its own jar of third-party cookies.
  'network.cookie.cookieBehavior': 5,
  // Only the pages of the test are fetched.
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
}

/** How long a page may take to show something, in ms. */
const PATIENCE_MS = 15_000

/** The machine's own Firefox, headless, with a new profile. */
export async function openFirefox(preferences: Preferences = {}): Promise<Browser> {
  const browser = await launch({
    browser: 'firefox',
    executablePath: FIREFOX ?? 'firefox',
    headless: true,
    extraPrefsFirefox: { ...PREFERENCES, ...preferences },
  })
  const child = browser.process()
  if (child) endsWithFile(child)
  return browser
}

export type Tab = Awaited<ReturnType<typeof openTab>>

/** A new tab. `complaints` are the errors in its console, among them what a content security policy blocked. */
export async function openTab(context: BrowserContext) {
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  const show = (read: string) => expect.poll(() => page.evaluate(read), { timeout: PATIENCE_MS })
  let left = 0
  return {
    page,
    complaints,
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
