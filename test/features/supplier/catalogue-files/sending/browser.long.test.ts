import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../../../support/app.ts'
import { inspect, openChromium, openPage, startWalk } from '../../../../support/chromium.ts'
import { CHROMIUM, withChromium } from '../../../../support/programs.ts'

const SAMPLES = 'views/public/supplier/catalogue-files'
const DESKTOP = { viewport: { width: 1280, height: 720 } }

describe.skipIf(!CHROMIUM)(`a supplier in Chromium${withChromium}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    const features = { 'catalogue-files': { importTiming: { itemsPerSecond: 5_000, settleMs: 100 } } }
    ;[browser, app] = await Promise.all([openChromium(), startAll({}, { features })])
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  test('sends this month and next month, and is told what is wrong in a file with mistakes, with at most 60 words beside the data', async () => {
    const walk = await startWalk(browser, { maxBytes: 90_000 })
    const { page } = walk
    await connect(page, app)
    await newCatalogue(page, 'National RRP')
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download the template' }).click()
    expect((await download).suggestedFilename()).toBe('template.csv')
    await check(page, 'with-mistakes.csv')
    await page.getByRole('heading', { name: 'This file has errors' }).waitFor()
    await walk.look()
    await expectFewWords(page)
    await check(page, 'this-month.csv')
    await page.getByRole('heading', { name: 'What differs' }).waitFor()
    await walk.look()
    await expectFewWords(page)
    await press(page, 'Send 22 items')
    await done(page, 22)
    // A page that grows during an import doesn't count as a page that jumps while it loads.
    await page.reload()
    await walk.look()
    await expectFewWords(page)
    await page.getByText('Check another file').click()
    await check(page, 'next-month.csv')
    const counts = page.locator('.counts')
    await expect
      .poll(() => counts.innerText())
      .toMatch(/1 new\s+4 higher\s+1 lower\s+1 other texts\s+15 the same\s+1 no longer in the file/)
    await walk.look()
    await expectFewWords(page)
    // With the keyboard alone.
    await page.getByRole('button', { name: 'Send 22 items' }).focus()
    await page.keyboard.press('Enter')
    await done(page, 22)
    await walk.inspectWithoutScripts()
    expect(walk.complaints).toEqual([])
    await walk.close()
  })

  test('ticks what a doubled price asks for, with the keyboard, and is told so beside the box without it', async () => {
    const { page, complaints, close } = await openPage(browser, { viewport: { width: 375, height: 800 } })
    await connect(page, app)
    await newCatalogue(page, 'Doubled')
    await check(page, 'this-month.csv')
    await press(page, 'Send 22 items')
    await done(page, 22)
    await page.getByText('Check another file').click()
    await checkText(page, 'code,price\nSB-TP9045H3,89.50\n')
    await page.getByText('1 price changed to double or more').waitFor()
    await inspect(page, true)
    await press(page, 'Send 1 item')
    await page.getByText('Tick the box to send this').waitFor()
    await inspect(page, true)
    await page.getByLabel('I have looked, and this is right.').focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await done(page, 1)
    expect(complaints).toEqual([])
    await close()
  })

  test('keeps the question of Stop open while the page updates, stops, and sends again', async () => {
    const { page, complaints, close } = await openPage(browser, DESKTOP)
    await connect(page, app)
    await newCatalogue(page, 'Stopped by hand')
    const live = page.locator('#live')
    await check(page, 'this-month.csv')
    await app.fault('items', '429', undefined, 1)
    await press(page, 'Send 22 items')
    await live.getByText('The platform is busy').waitFor()
    await page.getByText('Stop…').click()
    await app.fault('items', '500')
    await live.getByText('The platform returned an error').waitFor()
    await inspect(page, true)
    await press(page, 'Stop the import')
    await live.getByText('0 of 22 items sent.').waitFor()
    await app.fault('items', '429', undefined, 1)
    await press(page, 'Resume')
    await app.fault('items', 'none')
    await done(page, 22)
    expect(complaints).toEqual([])
    await close()
  })

  test('does it without JavaScript', async () => {
    const { page, complaints, close } = await openPage(browser, { ...DESKTOP, javaScriptEnabled: false })
    await connect(page, app)
    await newCatalogue(page, 'Without scripts')
    await check(page, 'with-mistakes.csv')
    await inspect(page, false)
    await check(page, 'this-month.csv')
    await inspect(page, false)
    await press(page, 'Send 22 items')
    const sent = page.locator('#live').getByText('The platform has completed the import: 22 items sent')
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
  for (const name of ['Sign in', 'Connect a business', 'Priya Nair', 'Allow access'])
    await page.getByRole('button', { name }).first().click()
}

async function newCatalogue(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name: 'Catalogues' }).click()
  await page.getByText('New catalogue').click()
  await page.getByLabel('Name').fill(name)
  await press(page, 'Create catalogue')
}

async function check(page: Page, sample: string): Promise<void> {
  await page.getByLabel('Catalogue file').setInputFiles(`${SAMPLES}/${sample}`)
  await page.getByRole('button', { name: 'Check', exact: true }).click()
}

async function checkText(page: Page, text: string): Promise<void> {
  const file = { name: 'items.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
  await page.getByLabel('Catalogue file').setInputFiles(file)
  await page.getByRole('button', { name: 'Check', exact: true }).click()
}

/** The words of a page without its crumbs, the rows of tables, and the kinds of errors. */
async function expectFewWords(page: Page): Promise<void> {
  const words = (await page.evaluate(`(() => {
    const main = document.querySelector('main').cloneNode(true)
    for (const data of main.querySelectorAll('.crumbs, tbody, .kind')) data.remove()
    document.body.append(main)
    const text = main.innerText
    main.remove()
    return text.split(/\\s+/).filter(Boolean)
  })()`)) as string[]
  expect(words.length, words.join(' ')).toBeLessThanOrEqual(60)
}

const done = (page: Page, items: number) =>
  page.locator('#live').getByText(`The platform has completed the import: ${items} item`).waitFor()

const press = (page: Page, name: string) => page.getByRole('button', { name }).last().click()
