/** Follows docs/demo-script.md in a browser. With UPDATE_SCREENSHOTS=true, it also writes the pictures of the README. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { openChromium, openPage } from '../../../support/chromium.ts'
import { openDemo } from '../../../support/demo.ts'
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

const INSTRUCTION = /(press|open|point at|enter "([^"]+)" as) _([^_]+)_/gi

async function follow(page: Page, row: string): Promise<void> {
  const instructions = [...row.matchAll(INSTRUCTION)]
  expect(instructions.length, row).toBeGreaterThan(0)
  for (const [whole, verb = '', typed = '', target = ''] of instructions) {
    const name = new RegExp(`^${target.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)
    if (/^enter/i.test(verb)) await page.getByLabel(target).fill(typed)
    else if (/^open/i.test(verb)) await page.locator('summary').filter({ hasText: name }).click()
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

test('the demo script has seven scenes, and something to say at each click', () => {
  expect(scenes).toHaveLength(7)
  for (const { sayings } of scenes) for (const saying of sayings) expect(saying).toMatch(/^".+[.!?]"$/)
})

describe.skipIf(!CHROMIUM)(`the demo${withChromium}`, () => {
  test('does in a browser what the script says, word by word', async () => {
    const [demo, browser] = [await openDemo(), await openChromium()]
    await demo.start()
    const { page, complaints, close } = await openPage(browser, { viewport: { width: 1000, height: 700 } })
    await page.goto(demo.app)
    for (const { rows } of scenes) for (const row of rows) await follow(page, row)
    await page.getByText('The demo is back to its initial state').waitFor()
    expect(complaints).toEqual([])
    await close()
    await browser.close()
    await demo.close()
  })
})
