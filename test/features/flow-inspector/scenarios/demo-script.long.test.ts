/** Follows docs/demo-script.md in a browser. With UPDATE_SCREENSHOTS=true, it also writes the pictures of the documentation. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { animatedWebp, type Frame } from '../../../starter/animated-webp.ts'
import { openChromium, openPage } from '../../../support/chromium.ts'
import { type Demo, openDemo } from '../../../support/demo.ts'
import { CHROMIUM, withChromium } from '../../../support/programs.ts'

const UPDATES = process.env.UPDATE_SCREENSHOTS === 'true'
const DOCS = fileURLToPath(new URL('../../../../docs/', import.meta.url))

/** The picture that moves shows the flow until here, and then the leads. */
const LAST_OF_FLOW = 'Point at _Harbour Homes_'
const SIZE = { width: 1000, height: 700 }
const FRAME_MS = 1_400

interface Scene {
  title: string
  /** The instructions of each row. */
  rows: string[]
  sayings: string[]
}

/** The scenes, each a heading and a table of what to click and what to say. */
function readScenes(): Scene[] {
  const [, ...sections] = readFileSync(join(DOCS, 'demo-script.md'), 'utf8').split(/^## /m)
  return sections
    .filter((section) => section.startsWith('Scene: '))
    .map((section) => {
      const cells = [...section.matchAll(/^\| (?!Click|---)(.+?) \| (.+?) \|$/gm)]
      return {
        title: section.split('\n')[0] ?? '',
        rows: cells.map(([, click = '']) => click),
        sayings: cells.map(([, , say = '']) => say),
      }
    })
}

const INSTRUCTION = /(press|open|point at) _([^_]+)_/gi

/** Follows the instructions of a row. `look`: called with the element before it is clicked, and after the last one. */
async function follow(page: Page, row: string, look = async (_target: Locator, _whole: string) => {}) {
  const instructions = [...row.matchAll(INSTRUCTION)]
  expect(instructions.length, row).toBeGreaterThan(0)
  for (const [whole, verb = '', target = ''] of instructions) {
    const name = new RegExp(`^${target.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)
    const element = elementOf(page, verb, name)
    await look(element, whole)
    if (/^point/i.test(verb)) await element.waitFor()
    else await element.click()
    await page.waitForLoadState('load')
    await takePicture(page, whole)
  }
}

function elementOf(page: Page, verb: string, name: RegExp): Locator {
  if (/^open/i.test(verb)) return page.locator('summary').filter({ hasText: name })
  if (/^point/i.test(verb)) return page.getByText(name).first()
  return page.getByRole('button', { name }).or(page.getByRole('link', { name })).first()
}

/** The picture of a flow's page, which comes after these words where they are said in the scene of the wire. */
async function takePicture(page: Page, instruction: string): Promise<void> {
  if (instruction !== 'press _Connect an account_' || !/\/flows\/[\da-f-]{36}$/.test(page.url())) return
  const path = UPDATES ? { path: join(DOCS, 'flow-inspector.png') } : {}
  const picture = await page.screenshot({ ...path, animations: 'disabled' })
  expect(picture.byteLength).toBeGreaterThan(10_000)
}

/** A picture of the page as WebP, with a frame around what is pressed next. */
async function frameOf(page: Page, target?: Locator): Promise<Frame> {
  const outline = (style: string) =>
    target?.evaluate((element, value) => element.style.setProperty('outline', value), style)
  await outline('4px solid #d9480f')
  const devTools = await page.context().newCDPSession(page)
  const { data } = await devTools.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  await devTools.detach()
  await outline('')
  return { image: Buffer.from(data, 'base64'), ms: FRAME_MS }
}

const scenes = readScenes()
/** Where the script begins. */
const [, START_PATH = ''] =
  /http:\/\/localhost:3000(\/\S+)/.exec(readFileSync(join(DOCS, 'demo-script.md'), 'utf8')) ?? []

test('the demo script has seven scenes, and something to say at each click', () => {
  expect(scenes).toHaveLength(7)
  for (const { sayings } of scenes) for (const saying of sayings) expect(saying).toMatch(/^".+[.!?]"$/)
})

describe.skipIf(!CHROMIUM)(`the demo${withChromium}`, () => {
  let demo: Demo
  let browser: Browser
  beforeAll(async () => {
    ;[demo, browser] = [await openDemo(), await openChromium()]
    await demo.start()
  })
  afterAll(async () => {
    await browser?.close()
    await demo?.close()
  })

  /** Follows the script in a private window; `between` is called before each scene. */
  async function rehearse(between: (page: Page, title: string) => Promise<void> = async () => {}) {
    const { page, complaints, close } = await openPage(browser, { viewport: SIZE })
    await page.goto(demo.app + START_PATH)
    for (const { title, rows } of scenes) {
      await between(page, title)
      for (const row of rows) await follow(page, row)
    }
    await page.getByText('A new demo: you are Alex').waitFor()
    await close()
    return complaints
  }

  const setFault = (endpoint: string, fault: string) =>
    fetch(`${demo.platform}/sandbox/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ endpoint, fault }),
    })

  test('does in a browser what the script says, word by word', async () => {
    expect(await rehearse()).toEqual([])
  })

  test('the picture of the README shows the flow from the button to the leads in 10 to 15 seconds, in 700 kB', async () => {
    const { page, close } = await openPage(browser, { viewport: SIZE })
    await page.goto(demo.app + START_PATH)
    const frames: Frame[] = []
    const rows = scenes.slice(0, 2).flatMap((scene) => scene.rows)
    for (const row of rows)
      await follow(page, row, async (target, whole) => {
        await target.waitFor()
        frames.push(await frameOf(page, whole === LAST_OF_FLOW ? undefined : target))
      })
    const leads = page.getByRole('link', { name: 'Leads' }).first()
    frames.push(await frameOf(page, leads))
    await leads.click()
    await page.getByRole('heading', { name: 'Leads' }).waitFor()
    frames.push({ ...(await frameOf(page)), ms: 2 * FRAME_MS })
    await close()
    const picture = animatedWebp(frames, SIZE)
    expect(frames.reduce((sum, { ms }) => sum + ms, 0)).toBeGreaterThanOrEqual(10_000)
    expect(frames.reduce((sum, { ms }) => sum + ms, 0)).toBeLessThanOrEqual(15_000)
    expect(picture.byteLength).toBeLessThan(700_000)
    if (UPDATES) writeFileSync(join(DOCS, 'demo-connect.webp'), picture)
  })

  test('is the same in the next rehearsal, after one that was left in the middle, and after a failure', async () => {
    const { page, close } = await openPage(browser)
    await page.goto(demo.app + START_PATH)
    for (const { rows } of scenes.slice(0, 3)) for (const row of rows) await follow(page, row)
    for (const endpoint of ['exchange', 'refresh']) await setFault(endpoint, '500')
    await close()
    await rehearse(async (presented, title) => {
      if (title !== 'Scene: Use the connection') return
      // The platform fails, which the presenter sees; then its faults are cleared.
      for (const endpoint of ['leads', 'catalogues']) await setFault(endpoint, '500')
      await presented.getByRole('button', { name: 'Test this connection' }).click()
      await presented.getByText('try again').first().waitFor()
      await fetch(`${demo.platform}/sandbox/faults`, { method: 'DELETE' })
      await presented.goto(`${demo.app}/connections`)
    })
  })
})
