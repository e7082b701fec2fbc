import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page, type Response } from 'playwright-core'
import { expect } from 'vitest'
import type { Running } from './app.ts'
import { CHROMIUM } from './programs.ts'
import type { Visitor } from './visitor.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The machine's own Chromium, headless. `hosts`: further names of this machine. */
export function openChromium(hosts: string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM ?? 'chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--no-first-run',
      ...hosts.map((host) => `--host-resolver-rules=MAP ${host} 127.0.0.1`),
    ],
  })
}

/** A new window of its own, as a new user has it; collects what the browser complains about. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    const failedLoad = message
      .text()
      .startsWith('Failed to load resource: the server responded with a status of 4')
    if (message.type() === 'error' && !failedLoad) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { page, complaints, close: () => context.close() }
}

/** Gives a browser window the app's session of a visitor. */
export async function takeSession(page: Page, app: Running, visitor: Visitor): Promise<void> {
  const cookies = visitor.cookies.get(new URL(app.url).host) ?? []
  await page.context().addCookies([...cookies].map(([name, value]) => ({ name, value, url: app.url })))
}

interface AxeResult {
  violations: { id: string; impact: string; nodes: { html: string }[] }[]
}

/** The serious accessibility faults of the page, by rule and place; all rules unless `rules` names some. */
async function seriousFaults(page: Page, rules?: string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  // No rule that is on needs preloaded media.
  const options = JSON.stringify({
    resultTypes: ['violations'],
    preload: false,
    ...(rules && { runOnly: rules }),
  })
  const { violations } = (await page.evaluate(`axe.run(${options})`)) as AxeResult
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** How many pixels the page can be scrolled sideways. */
async function sidewaysScroll(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'))
}

/** The short labels of buttons and badges that take more than one line. */
async function brokenLabels(page: Page): Promise<string[]> {
  return (await page.evaluate(`[...document.querySelectorAll('button, .button, .badge')]
    .filter((element) => element.checkVisibility() && element.childElementCount === 0 && element.textContent.trim().length <= 30)
    .filter((element) => {
      const range = document.createRange()
      range.selectNodeContents(element)
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1
    })
    .map((element) => element.textContent.trim())`)) as string[]
}

/**
 * What every page must be: no wider than its window, with each button's label in one line, and accessible (axe needs scripts
 * to run; `rules`: only these).
 */
export async function inspect(page: Page, scripted: boolean, rules?: string[]): Promise<void> {
  // A click returns when the next page has begun; before its styles are there it may be wider.
  await page.waitForLoadState('load')
  expect(await sidewaysScroll(page), page.url()).toBeLessThanOrEqual(0)
  expect(await brokenLabels(page), page.url()).toEqual([])
  if (scripted) expect(await seriousFaults(page, rules), page.url()).toEqual([])
}

const DESKTOP = { width: 1200, height: 800 }
const PHONE = { width: 375, height: 700 }

interface RecordedPage {
  url: string
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** A walk through pages in a desktop window, each of which must be right in every other kind of window as well. */
export async function startWalk(browser: Browser) {
  // Without transitions, so that colours are final at once.
  const options: BrowserContextOptions = { viewport: DESKTOP, reducedMotion: 'reduce' }
  const { page, complaints, close } = await openPage(browser, options)
  const recorded: RecordedPage[] = []
  let latest: Response | undefined
  page.on('response', (response) => {
    const isPage = response.request().isNavigationRequest() && response.frame() === page.mainFrame()
    if (isPage && (response.status() < 300 || response.status() > 399)) latest = response
  })
  return {
    page,
    complaints,
    close,
    /** Inspects the page that is open: as it is, in dark colours, and on a phone of 375 px. */
    async look(): Promise<void> {
      await inspect(page, true)
      await page.emulateMedia({ colorScheme: 'dark' })
      // Of all rules, only the one about contrast depends on the colours.
      await inspect(page, true, ['color-contrast'])
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize(PHONE)
      await inspect(page, true)
      await page.setViewportSize(DESKTOP)
      if (!latest) throw new Error('no page is open')
      const headers = await latest.allHeaders()
      recorded.push({ url: latest.url(), status: latest.status(), headers, body: await latest.body() })
    },
    /** Shows the pages that were looked at, as the server sent them, without JavaScript. */
    async inspectWithoutScripts(): Promise<void> {
      const plain = await openPage(browser, { viewport: DESKTOP, javaScriptEnabled: false })
      let shown: RecordedPage | undefined
      await plain.page.route('**/*', (route) =>
        shown && route.request().isNavigationRequest() ? route.fulfill(shown) : route.continue(),
      )
      for (shown of recorded) {
        await plain.page.goto(shown.url)
        for (const viewport of [PHONE, DESKTOP]) {
          await plain.page.setViewportSize(viewport)
          await inspect(plain.page, false)
        }
      }
      expect(plain.complaints).toEqual([])
      await plain.close()
    },
  }
}
