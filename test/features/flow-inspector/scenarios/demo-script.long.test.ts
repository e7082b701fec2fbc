/** Follows docs/demo.md in a browser. With UPDATE_SCREENSHOTS=true, it also takes the picture of its page. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openChromium, openPage } from '../../../support/chromium.ts'
import { type Demo, openDemo } from '../../../support/demo.ts'
import { CHROMIUM, withChromium } from '../../../support/programs.ts'

const UPDATES = process.env.UPDATE_SCREENSHOTS === 'true'
const DOCS = fileURLToPath(new URL('../../../../docs/', import.meta.url))

const SIZE = { width: 1000, height: 700 }

interface Scene {
  title: string
  /** The instructions of each row. */
  rows: string[]
  sayings: string[]
}

/** The scenes, each a heading and a table of what to click and what to say. */
function readScenes(): Scene[] {
  const [, ...sections] = readFileSync(join(DOCS, 'demo.md'), 'utf8').split(/^## /m)
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

/** Follows the instructions of a row. */
async function follow(page: Page, row: string) {
  const instructions = [...row.matchAll(INSTRUCTION)]
  expect(instructions.length, row).toBeGreaterThan(0)
  for (const [whole, verb = '', target = ''] of instructions) {
    const name = new RegExp(`^${target.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)
    const element = elementOf(page, verb, name)
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

/** The picture of a flow's page. It is taken after these words in the scene "What happened on the wire". */
async function takePicture(page: Page, instruction: string): Promise<void> {
  if (instruction !== 'press _Connect a business_' || !/\/flows\/[\da-f-]{36}$/.test(page.url())) return
  const path = UPDATES ? { path: join(DOCS, 'flow-inspector.png') } : {}
  const picture = await page.screenshot({ ...path, animations: 'disabled' })
  expect(picture.byteLength).toBeGreaterThan(10_000)
}

const scenes = readScenes()
/** Where the script begins. */
const [, START_PATH = ''] =
  /http:\/\/localhost:3000(\/\S+)/.exec(readFileSync(join(DOCS, 'demo.md'), 'utf8')) ?? []

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

  /** Follows the script in a private window. */
  async function rehearse() {
    const { page, complaints, close } = await openPage(browser, { viewport: SIZE })
    await page.goto(demo.app + START_PATH)
    for (const { rows } of scenes) for (const row of rows) await follow(page, row)
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

  test('does in a browser what the script says, word by word, also after a rehearsal that was left while the platform failed', async () => {
    const { page, close } = await openPage(browser)
    await page.goto(demo.app + START_PATH)
    for (const { rows } of scenes.slice(0, 3)) for (const row of rows) await follow(page, row)
    for (const endpoint of ['exchange', 'refresh']) await setFault(endpoint, '500')
    await close()
    expect(await rehearse()).toEqual([])
  })
})
