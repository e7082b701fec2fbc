import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page, type Response } from 'playwright-core'
import { expect } from 'vitest'
import type { Running } from './app.ts'
import { CHROMIUM } from './programs.ts'
import type { Visitor } from './visitor.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The machine's own Chromium, headless. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM ?? 'chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--no-first-run',
    ],
  })
}

/** A new window of its own, as a new user has it; collects what the browser complains about. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(15_000)
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

/** The serious accessibility faults of the page, by rule and place. */
async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const { violations } = (await page.evaluate('axe.run()')) as AxeResult
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** How many pixels the page can be scrolled sideways. */
async function sidewaysScroll(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'))
}

/** What every page must be: no wider than its window, and accessible (axe needs scripts to run). */
export async function inspect(page: Page, scripted: boolean): Promise<void> {
  // A click returns when the next page has begun; before its styles are there it may be wider.
  await page.waitForLoadState('load')
  expect(await sidewaysScroll(page), page.url()).toBeLessThanOrEqual(0)
  if (scripted) expect(await seriousFaults(page), page.url()).toEqual([])
}

/** The windows in which every page must be right, besides the desktop window of the walk itself. */
const OTHER_WINDOWS: BrowserContextOptions[] = [
  { viewport: { width: 1200, height: 800 }, colorScheme: 'dark' },
  { viewport: { width: 375, height: 700 }, hasTouch: true },
  { viewport: { width: 1200, height: 800 }, javaScriptEnabled: false },
]

interface RecordedPage {
  url: string
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** A walk through pages in a desktop window, whose pages the other windows then show as well. */
export async function startWalk(browser: Browser) {
  const { page, complaints, close } = await openPage(browser, { viewport: { width: 1200, height: 800 } })
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
    /** Inspects the page that is open, and remembers it for `inspectElsewhere`. */
    async look(): Promise<void> {
      await inspect(page, true)
      if (!latest) throw new Error('no page is open')
      const headers = await latest.allHeaders()
      recorded.push({ url: latest.url(), status: latest.status(), headers, body: await latest.body() })
    },
    /** Shows the remembered pages in a dark window, on a phone of 375 px and without JavaScript, and inspects them. */
    async inspectElsewhere(): Promise<void> {
      await Promise.all(OTHER_WINDOWS.map((options) => inspectAll(browser, options, recorded)))
    },
  }
}

/** The pages as the server sent them, with their own styles and scripts. */
async function inspectAll(browser: Browser, options: BrowserContextOptions, pages: RecordedPage[]) {
  const { page, complaints, close } = await openPage(browser, options)
  let shown: RecordedPage | undefined
  await page.route('**/*', (route) =>
    shown && route.request().isNavigationRequest() ? route.fulfill(shown) : route.continue(),
  )
  for (shown of pages) {
    await page.goto(shown.url)
    await inspect(page, options.javaScriptEnabled !== false)
  }
  expect(complaints).toEqual([])
  await close()
}
