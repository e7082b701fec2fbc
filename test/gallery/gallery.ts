/**
 * `npm run gallery`: pictures of the pages in all their states, on a phone, a tablet and a desktop, light and dark, in the folder
 * `gallery`. It measures each page: one left edge, one position of the heading, at most one primary action, no horizontal scroll,
 * and no serious fault of accessibility in either scheme. It exits with 1 if a page breaks one of these rules. Needs Chromium, and takes two minutes.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import { seriousFaults } from '../support/axe.ts'
import { endChildren } from '../support/children.ts'
import { tempDir } from '../support/env.ts'
import { freePort } from '../support/ports.ts'
import { answering, runProgram } from '../support/process.ts'
import { CHROMIUM } from '../support/programs.ts'
import { type Measures, measure } from './measures.ts'
import { type Demo, walk } from './walk.ts'

const FOLDER = fileURLToPath(new URL('../../gallery', import.meta.url))
const WIDTHS = [375, 768, 1440]
const SCHEMES = ['light', 'dark'] as const

if (!CHROMIUM) {
  console.error(
    'The gallery needs Chromium. In Debian and Ubuntu: apt-get install chromium. On macOS: brew install chromium.',
  )
  process.exit(1)
}

/** Starts the demo with its own data. */
async function startDemo(): Promise<Demo & { remove(): void }> {
  const { dir, remove } = tempDir()
  const [port, sandboxPort] = [await freePort(), await freePort()]
  const settings = { PORT: String(port), SANDBOX_PORT: String(sandboxPort), DATA_DIR: dir }
  const app = `http://localhost:${port}`
  await answering(`${app}/health/ready`, runProgram('src/demo.ts', settings))
  return { app, platform: `http://localhost:${sandboxPort}`, remove }
}

const problems: string[] = []
/** Where the heading of the first page was, by the width of the window. */
const positions = new Map<number, number>()
let count = 0

/** Takes the pictures of the page that is open, and measures it. */
async function show(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('load')
  const number = String(++count).padStart(2, '0')
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    for (const measured of problemsOf(await measure(page), width))
      problems.push(`${number} ${name}, ${width} px: ${measured}`)
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const path = join(FOLDER, `${number}-${name.replaceAll(/\W+/g, '-')}-${width}-${colorScheme}.png`)
      await page.screenshot({ path, fullPage: true })
      for (const fault of await seriousFaults(page))
        problems.push(`${number} ${name}, ${width} px, ${colorScheme}: ${fault.slice(0, 300)}`)
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

function problemsOf({ headings, top, edges, primary, overflow, isOurs }: Measures, width: number): string[] {
  const found: string[] = []
  if (overflow > 0) found.push(`${overflow} px wider than the window`)
  if (!isOurs) return found
  if (headings !== 1) found.push(`${headings} first headings`)
  if (primary.length > 1) found.push(`${primary.length} primary actions: ${primary.join(', ')}`)
  const expected = positions.get(width) ?? top
  positions.set(width, expected)
  if (Math.abs(top - expected) > 1) found.push(`the heading is at ${top} px, elsewhere at ${expected} px`)
  if (edges.length > 1) found.push(`left edges: ${edges.join(', ')}`)
  return found
}

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
const demo = await startDemo()
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
const page = await browser.newPage({ timezoneId: 'Australia/Sydney', locale: 'en-AU' })
page.setDefaultTimeout(20_000)
try {
  await walk(page, demo, (name) => show(page, name))
} finally {
  await browser.close()
  endChildren()
  demo.remove()
}
for (const [width, top] of positions) console.log(`${width} px: the heading is at ${top} px`)
for (const problem of problems) console.error(problem)
console.log(`${count} pages are in ${FOLDER}: ${problems.length} problems.`)
process.exitCode = problems.length > 0 ? 1 : 0
