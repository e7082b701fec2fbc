import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { CHROMIUM } from './programs.ts'

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
