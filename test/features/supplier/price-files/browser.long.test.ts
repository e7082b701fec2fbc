import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../../support/app.ts'
import { inspect, openChromium, openPage, startWalk } from '../../../support/chromium.ts'
import { CHROMIUM, withChromium } from '../../../support/programs.ts'

const DESKTOP = { viewport: { width: 1280, height: 720 } }

const csv = (name: string, lines: string[]) => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(lines.join('\n')),
})
const SAMPLE = readFileSync('src/features/supplier/price-files/sample/price-list.csv', 'utf8')
  .trim()
  .split('\n')

/** Forty columns under eighteen rows of notes, with ten items and their thirty attributes. */
const WIDE = csv('wide.csv', [
  ...Array.from(
    { length: 18 },
    (_, row) => `"${row}. All prices are subject to change without notice, ${'and so on '.repeat(9)}."`,
  ),
  [
    'SKU',
    'Item name',
    'RRP',
    'Status',
    ...Array.from({ length: 36 }, (_, at) => `Attribute_number_${at}`),
  ].join(','),
  ...Array.from({ length: 60 }, (_, row) =>
    [
      `HX-${row}`,
      `Mixer tap, series ${row}`.replace(',', ''),
      row + 1,
      row % 9 ? 'Active' : 'Deleted',
      ...Array.from({ length: 36 }, (_, at) => (at % 2 ? 'the same' : `value-${(row * at) % 25}`)),
    ].join(','),
  ),
])

describe.skipIf(!CHROMIUM)(`a supplier in Chromium${withChromium}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    const features = { 'price-files': { importTiming: { itemsPerSecond: 5_000, settleMs: 100 } } }
    ;[browser, app] = await Promise.all([openChromium(), startAll({}, { features })])
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  test('answers one question for the first file of the sample; the next month is one page and one press, with at most 60 words before it', async () => {
    const walk = await startWalk(browser, { maxBytes: 90_000 })
    const { page } = walk
    await connect(page, app)
    await upload(page, 'National RRP', csv('price-list.csv', SAMPLE))
    await walk.look()
    await page.getByLabel('Australian dollars, before GST').check()
    await press(page, 'Continue')
    await page.getByRole('heading', { name: 'What differs' }).waitFor()
    await walk.look()
    await press(page, 'Send 5 items')
    await done(page, 5)
    // What has grown while it was sent is no jump of a page that loads.
    await page.reload()
    await walk.look()

    await page.getByRole('link', { name: 'Open the catalogue' }).click()
    await walk.look()
    const next = SAMPLE.map((line) => line.replace('8.95', '9.25').replace('64.50', '66.10'))
    await choose(page, csv('price-list.csv', next))
    await page.getByRole('heading', { name: 'What differs' }).waitFor()
    await walk.look()
    // What is read before the press, beside the rows of the file.
    const words = (await page.evaluate(`(() => {
      for (const row of document.querySelectorAll('.crumbs, .examples')) row.style.display = 'none'
      const text = document.querySelector('main').innerText
      return text.slice(0, text.lastIndexOf('Send ')).split(/\\s+/).filter(Boolean)
    })()`)) as string[]
    expect(words.length, words.join(' ')).toBeLessThanOrEqual(60)
    expect(words.join(' ')).toMatch(/3 prices are the same, 2 higher/)
    await press(page, 'Send 5 items')
    await done(page, 5)
    await walk.inspectWithoutScripts()
    expect(walk.complaints).toEqual([])
    await walk.close()
  })

  test('sees all of forty columns and eighteen notes on a phone, chooses with the keyboard alone, and leaves a row out', async () => {
    const walk = await startWalk(browser, { maxBytes: 250_000 })
    const { page } = walk
    await connect(page, app)
    await upload(page, 'Wide', WIDE)
    await walk.look()
    expect(await page.locator('.above tr').count()).toBe(18)
    expect(await page.locator('.column').count()).toBe(40)
    // Values are ticked only where they count.
    const ticks = page.locator('.column', { hasText: 'Status' }).getByRole('checkbox')
    expect(await ticks.first().isVisible()).toBe(false)
    await page.getByLabel('Use of Status').focus()
    await page.keyboard.press('o')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    expect(await ticks.first().isChecked()).toBe(true)
    await page.getByLabel('Australian dollars, before GST').focus()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('button', { name: 'Continue' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: '10 of 53 items' }).waitFor()
    await walk.look()
    const first = page.locator('.examples').getByRole('checkbox').first()
    await first.focus()
    await page.keyboard.press('Space')
    await press(page, 'Send 53 items')
    await page.getByText('Nothing was sent yet').waitFor()
    await page.getByText('Left out by hand (1)').waitFor()
    await walk.look()
    await press(page, 'Send 52 items')
    await done(page, 52)
    await walk.inspectWithoutScripts()
    expect(walk.complaints).toEqual([])
    await walk.close()
  })

  test('keeps the question of Stop open while the page updates by itself, stops and resumes, and finds the import by its link on the list of connections', async () => {
    const { page, complaints, close } = await openPage(browser, DESKTOP)
    await connect(page, app)
    await upload(page, 'Stopped by hand', csv('strange prices.csv', SAMPLE))
    await page.getByLabel('Australian dollars, before GST').check()
    await press(page, 'Continue')
    await app.fault('items', '429', undefined, 1)
    await press(page, 'Send 5 items')
    await page.getByText('The platform is busy').waitFor()
    await page.getByText('Stop…').click()
    await app.fault('items', '500')
    await page.getByText('The platform returned an error').waitFor()
    await inspect(page, true)
    await press(page, 'Stop the import')
    await page.getByText('You stopped this import').waitFor()
    await app.fault('items', '429', undefined, 1)
    await press(page, 'Resume')
    await page.goto(`${app.url}/connections`)
    const link = page.getByRole('link', { name: 'Import of strange prices.csv' })
    await inspect(page, true)
    await link.click()
    await app.fault('items', 'none')
    await done(page, 5)
    expect(complaints).toEqual([])
    await close()
  })

  test('does it without JavaScript', async () => {
    const { page, complaints, close } = await openPage(browser, { ...DESKTOP, javaScriptEnabled: false })
    await connect(page, app)
    await upload(page, 'Without scripts', csv('prices.csv', ['Notes', ...SAMPLE]))
    await page.getByLabel('Headings are in row').fill('0')
    await press(page, 'Show this sheet and row')
    await page.getByLabel('New Zealand dollars, before GST').check()
    await page.getByLabel('Headings are in row').fill('2')
    await press(page, 'Show this sheet and row')
    expect(await page.getByLabel('New Zealand dollars, before GST').isChecked()).toBe(true)
    await inspect(page, false)
    // Enter is Continue.
    await page.getByLabel('Prices are for how many units?').press('Enter')
    await press(page, 'Send 5 items')
    const sent = page.locator('#live').getByText('The platform has completed the import: 5 items sent')
    await expect
      .poll(async () => {
        if ((await sent.count()) === 0) await page.reload()
        return sent.count()
      })
      .toBe(1)
    expect(complaints).toEqual([])
    await close()
  })
})

/** Signs in and connects the supplier's account. */
async function connect(page: Page, app: Running): Promise<void> {
  await page.goto(app.url)
  await page.getByLabel('Your name').fill('Sam')
  for (const name of ['Sign in', 'Connect an account', 'Priya Nair', 'Allow access'])
    await page.getByRole('button', { name }).first().click()
}

type File = Parameters<ReturnType<Page['getByLabel']>['setInputFiles']>[0]

/** Uploads a file into a new catalogue. */
async function upload(page: Page, catalogue: string, file: File): Promise<void> {
  await page.getByRole('link', { name: 'Catalogues' }).click()
  await page.getByText('New catalogue').click()
  await page.getByLabel('Name').fill(catalogue)
  await press(page, 'Create catalogue')
  await choose(page, file)
}

async function choose(page: Page, file: File): Promise<void> {
  await page.getByLabel('Price file').setInputFiles(file)
  await press(page, 'Upload and check')
}

const done = (page: Page, items: number) =>
  page.locator('#live').getByText(`The platform has completed the import: ${items} items sent`).waitFor()

const press = (page: Page, name: string) => page.getByRole('button', { name }).last().click()
