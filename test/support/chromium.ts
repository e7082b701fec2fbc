import { type Browser, type BrowserContextOptions, chromium, type Page, type Response } from 'playwright-core'
import { expect } from 'vitest'
import type { Running } from './app.ts'
import { seriousFaults } from './axe.ts'
import { CHROMIUM } from './programs.ts'
import type { Visitor } from './visitor.ts'

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

/** The addresses that a page asks the browser to load with it. */
const PARTS = ['stylesheet', 'script', 'image', 'font']

/** Opens a separate window, as for a new user, and collects the browser's complaints. */
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
  page.on('response', (response) => {
    const isPart = PARTS.includes(response.request().resourceType())
    if (isPart && response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
  })
  return { page, complaints, close: () => context.close() }
}

/** Gives a browser window the app's session of a visitor. */
export async function takeSession(page: Page, app: Running, visitor: Visitor): Promise<void> {
  const cookies = visitor.cookies.get(new URL(app.url).host) ?? []
  await page.context().addCookies([...cookies].map(([name, value]) => ({ name, value, url: app.url })))
}

/** The innermost elements that are wider than the window, if the page can be scrolled sideways. */
async function tooWide(page: Page): Promise<string[]> {
  return (await page.evaluate(`document.documentElement.scrollWidth <= window.innerWidth ? [] :
    [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > window.innerWidth)
      .filter((element, _, all) => !all.some((other) => other !== element && element.contains(other)))
      .map(({ outerHTML }) => outerHTML.slice(0, 200))`)) as string[]
}

/** The ids that more than one element of the page has. */
async function doubledIds(page: Page): Promise<string[]> {
  return (await page.evaluate(`[...document.querySelectorAll('[id]')].map(({ id }) => id)
    .filter((id, index, all) => all.indexOf(id) !== index)`)) as string[]
}

const HEADINGS = 'h1, h2, h3'
const WORDS = `${HEADINGS}, th, td, dt, dd, p, li, label, summary, caption`

/** The words that are broken in two, except names and long words such as an address. */
async function brokenWords(page: Page, selector: string): Promise<string[]> {
  return (await page.evaluate(`[...document.querySelectorAll('${selector}')]
    .filter((element) => element.checkVisibility())
    .flatMap((element) => [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE))
    .flatMap((node) => [...node.data.matchAll(/\\S{1,14}(?=\\s|$)/g)].filter(({ index }) => index === 0 || /\\s/.test(node.data[index - 1])).map(({ 0: word, index }) => {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      return [word, new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size]
    }))
    .filter(([, lines]) => lines > 1)
    .map(([word]) => word)`)) as string[]
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
 * Requirements for every page: no wider than its window, each id once, each button's label on one line, no broken word, and
 * accessible (axe needs scripts to run; `rules`: only these).
 */
export async function inspect(page: Page, scripted: boolean, rules?: string[]): Promise<void> {
  // A click returns when the next page has begun to load. The page may be wider until its styles arrive.
  await page.waitForLoadState('load')
  expect(await tooWide(page), page.url()).toEqual([])
  expect(await doubledIds(page), page.url()).toEqual([])
  expect(await brokenLabels(page), page.url()).toEqual([])
  expect(await brokenWords(page, WORDS), page.url()).toEqual([])
  if (scripted) expect(await seriousFaults(page, rules), page.url()).toEqual([])
}

/**
 * Nothing on a page jumps while it loads, and it is light. `LONG_TASKS=1` prints tasks of 50 ms or more. A test can't limit them,
 * because they depend on the machine.
 */
async function inspectLoad(page: Page, maxBytes: number): Promise<void> {
  const { jumps, bytes, tasks } = (await page.evaluate(`new Promise((resolve) => {
    const jumps = []
    const note = (entries) => {
      for (const { hadRecentInput, sources } of entries)
        if (!hadRecentInput) jumps.push(sources.map(({ node }) => node?.outerHTML ?? node?.textContent).join(' ').slice(0, 300))
    }
    const observer = new PerformanceObserver((list) => note(list.getEntries()))
    observer.observe({ type: 'layout-shift', buffered: true })
    const tasks = []
    new PerformanceObserver((list) => tasks.push(...list.getEntries())).observe({ type: 'longtask', buffered: true })
    const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    const bytes = loaded.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
    requestAnimationFrame(() => setTimeout(() => {
      note(observer.takeRecords())
      resolve({ jumps, bytes, tasks: tasks.map(({ duration }) => duration) })
    }))
  })`)) as { jumps: string[]; bytes: number; tasks: number[] }
  if (process.env.LONG_TASKS) console.log(`long tasks of ${page.url()}, in ms: ${tasks.join(', ') || 'none'}`)
  expect(jumps, `${page.url()} jumps`).toEqual([])
  expect(bytes, `${page.url()} weighs too much`).toBeLessThan(maxBytes)
}

/** With a font of 200%, a page is no wider than its window, and no heading breaks inside a word. */
async function inspectLargeFont(page: Page): Promise<void> {
  await page.evaluate("document.documentElement.style.fontSize = '200%'")
  expect(await tooWide(page), `${page.url()} with a font of 200 %`).toEqual([])
  expect(await brokenWords(page, HEADINGS), `${page.url()} with a font of 200 %`).toEqual([])
  await page.evaluate("document.documentElement.style.fontSize = ''")
}

const DESKTOP = { width: 1200, height: 800 }
const PHONE = { width: 375, height: 700 }

interface RecordedPage {
  url: string
  status: number
  headers: Record<string, string>
  body: Buffer
}

/**
 * A walk through pages in a desktop window. Each page must also meet the requirements in every other kind of window. `maxBytes`:
 * the maximum size of a page and the files that it loads, uncompressed.
 */
export async function startWalk(browser: Browser, { maxBytes = 60_000 } = {}) {
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
    /**
     * Inspects the open page: while it loads, once it has loaded, and on a phone of 375 px in dark colours, also with a font of
     * 200%.
     */
    async look(): Promise<void> {
      await page.waitForLoadState('load')
      await inspectLoad(page, maxBytes)
      await inspect(page, true)
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.setViewportSize(PHONE)
      // Of all rules, only these two depend on the colours or on the size of the window.
      await inspect(page, true, ['color-contrast', 'scrollable-region-focusable'])
      await inspectLargeFont(page)
      await page.setViewportSize(DESKTOP)
      await page.emulateMedia({ colorScheme: 'light' })
      if (!latest) throw new Error('no page is open')
      const headers = await latest.allHeaders()
      recorded.push({ url: latest.url(), status: latest.status(), headers, body: await latest.body() })
    },
    /** Shows the inspected pages, as the server sent them, on a phone without JavaScript. A page that fits there fits anywhere. */
    async inspectWithoutScripts(): Promise<void> {
      const plain = await openPage(browser, { viewport: PHONE, javaScriptEnabled: false })
      let shown: RecordedPage | undefined
      await plain.page.route('**/*', (route) =>
        shown && route.request().isNavigationRequest() ? route.fulfill(shown) : route.continue(),
      )
      for (shown of recorded) {
        await plain.page.goto(shown.url)
        await inspect(plain.page, false)
      }
      expect(plain.complaints).toEqual([])
      await plain.close()
    },
  }
}
