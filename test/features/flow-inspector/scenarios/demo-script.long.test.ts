/** Follows docs/demo-script.md in a browser. With UPDATE_SCREENSHOTS=true, it also writes the pictures of the README. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openChromium, openPage } from '../../../support/chromium.ts'
import { type Demo, openDemo } from '../../../support/demo.ts'
import { CHROMIUM, withChromium } from '../../../support/programs.ts'

const DOCS = fileURLToPath(new URL('../../../../docs/', import.meta.url))

/** After these instructions, the README's pictures are taken. */
const PICTURES: Record<string, string> = {
  'Point at _Connect Starter asks for access_': 'demo-consent.png',
  'Point at _Harbour Homes_': 'demo-connection.png',
  'press _Connect an account_': 'flow-inspector.png',
}

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

async function follow(page: Page, row: string): Promise<void> {
  const instructions = [...row.matchAll(INSTRUCTION)]
  expect(instructions.length, row).toBeGreaterThan(0)
  for (const [whole, verb = '', target = ''] of instructions) {
    const name = new RegExp(`^${target.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)
    if (/^open/i.test(verb)) await page.locator('summary').filter({ hasText: name }).click()
    else if (/^point/i.test(verb)) await page.getByText(name).first().waitFor()
    else await page.getByRole('button', { name }).or(page.getByRole('link', { name })).first().click()
    await page.waitForLoadState('load')
    await takePicture(page, whole)
  }
}

async function takePicture(page: Page, instruction: string): Promise<void> {
  const file = PICTURES[instruction]
  // The same words may appear in a later scene, on another page.
  if (!file || (file === 'flow-inspector.png' && !/\/flows\/[\da-f-]{36}$/.test(page.url()))) return
  const path = process.env.UPDATE_SCREENSHOTS === 'true' ? { path: join(DOCS, file) } : {}
  const picture = await page.screenshot({ ...path, animations: 'disabled' })
  expect(picture.byteLength).toBeGreaterThan(10_000)
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
    const { page, complaints, close } = await openPage(browser, { viewport: { width: 1000, height: 700 } })
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

  test('is the same in the next rehearsal, after one that was left in the middle, and after a failure', async () => {
    const { page, close } = await openPage(browser)
    await page.goto(demo.app + START_PATH)
    for (const { rows } of scenes.slice(0, 6)) for (const row of rows) await follow(page, row)
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
