import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { inspect, openChromium, openPage } from '../../support/chromium.ts'
import { CHROMIUM, withChromium } from '../../support/programs.ts'

const DESKTOP = { viewport: { width: 1200, height: 800 } }
const DARK_PHONE = { viewport: { width: 375, height: 700 }, colorScheme: 'dark' as const }

const HEADINGS = 'Artikel;Bezeichnung;Einheit;Our list price;Notes'
const ROWS = Array.from({ length: 5000 }, (_, row) => `T-${row};"Timber; ${row} mm";each;${row + 1},50;`)
const BAD = [
  ';no code;each;1,00;',
  'T-1;again;each;1,00;',
  'T-X;=cmd();each;1,00;',
  'T-Y;negative;each;-4,00;',
]
const fileOf = (...lines: string[]) => ({
  name: 'strange prices.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(`\ufeff${[HEADINGS, ...lines].join('\r\n')}\r\n`),
})

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

  test('creates a catalogue, imports a file with strange headings, watches, and reads the report; a dark phone shows the same pages', async () => {
    const { page, complaints, close } = await openPage(browser, DESKTOP)
    const phone = await openPage(browser, DARK_PHONE)
    const onPhone = async () => {
      await phone.page.context().addCookies(await page.context().cookies())
      await phone.page.goto(page.url())
      await inspect(phone.page, true)
    }
    const look = () => Promise.all([inspect(page, true), onPhone()])
    await connect(page, app)
    await page.getByRole('link', { name: 'Catalogues' }).click()
    await page.getByText('New catalogue').click()
    await look()
    await create(page, 'National RRP')
    await look()

    // The headings are not known: guessed columns are shown, and the user is asked for the others.
    await page.getByLabel('Price file').setInputFiles(fileOf(...ROWS, ...BAD))
    await page.getByRole('button', { name: 'Upload and check' }).click()
    expect(await page.getByRole('alert').innerText()).toMatch(
      /recognised as the code[\s\S]*recognised as the price/,
    )
    await look()
    await chooseColumns(page)

    // First rows and every problem row, before anything is sent.
    const main = page.locator('main')
    await page.getByRole('heading', { name: 'Problems' }).waitFor()
    expect(await main.innerText()).toMatch(/5,000 of 5,004 rows[\s\S]*Nothing has been sent yet/)
    expect(await main.innerText()).toContain('Timber; 0 mm')
    const problems = await page.locator('.problems tbody tr').allInnerTexts()
    expect(problems.join('\n')).toMatch(
      /5002[\s\S]*code is missing[\s\S]*5003[\s\S]*already occurs on line 3[\s\S]*5004[\s\S]*formula[\s\S]*5005[\s\S]*negative/,
    )
    expect((await app.calls()).some(({ endpoint }) => endpoint === 'items')).toBe(false)
    await look()

    // Send, leave, come back, watch to the end.
    await page.getByRole('button', { name: 'Send 5,000 items' }).click()
    const importUrl = page.url()
    await inspect(page, true)
    await page.goto(`${app.url}/connections`)
    await page.goto(importUrl)
    expect(await main.innerText()).toMatch(/Sending items|processing them|Starting/)
    await look()
    await page.getByText('The platform has completed the import: 5,000 items sent').waitFor()
    await look()
    expect(await main.innerText()).toMatch(/Items sent[\s\S]*5,000 of 5,000, in 5 batches/)
    const report = await page.request.get(`${importUrl}/report.csv`)
    expect(await report.text()).toContain("'=cmd()")
    expect(report.headers()['content-disposition']).toContain('strange prices-problems.csv')

    await page.getByRole('link', { name: 'Open the catalogue' }).click()
    expect(await main.innerText()).toMatch(/Items[\s\S]*5,000/)
    await look()
    expect([...complaints, ...phone.complaints]).toEqual([])
    await close()
    await phone.close()
  })

  test('does it without JavaScript', async () => {
    const { page, complaints, close } = await openPage(browser, { ...DESKTOP, javaScriptEnabled: false })
    const look = () => inspect(page, false)
    await connect(page, app)
    await page.getByRole('link', { name: 'Catalogues' }).click()
    await page.getByText('New catalogue').click()
    await look()
    await create(page, 'Without scripts')
    await page.getByLabel('Price file').setInputFiles(fileOf(...ROWS.slice(0, 20), ...BAD))
    await page.getByRole('button', { name: 'Upload and check' }).click()
    await look()
    await chooseColumns(page)
    await page.getByRole('heading', { name: 'Problems' }).waitFor()
    await look()
    await page.getByRole('button', { name: 'Send 20 items' }).click()
    await page.getByText('The platform has completed the import: 20 items sent').waitFor()
    await look()
    expect(complaints).toEqual([])
    await close()
  })
})

/** Signs in and connects the supplier's account. */
async function connect(page: Page, app: Running): Promise<void> {
  const press = (name: string) => page.getByRole('button', { name }).first().click()
  await page.goto(app.url)
  await page.getByLabel('Your name').fill('Sam')
  await press('Sign in')
  await press('Connect an account')
  await press('Priya Nair')
  await press('Allow access')
}

async function create(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Create catalogue' }).click()
}

async function chooseColumns(page: Page): Promise<void> {
  await page.getByLabel('Code').selectOption('Artikel')
  await page.getByLabel('Name').selectOption('Bezeichnung')
  await page.getByLabel('Price').selectOption('Our list price')
  await page.getByRole('button', { name: 'Check again' }).click()
}
