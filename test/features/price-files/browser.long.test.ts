import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { inspect, openChromium, openPage } from '../../support/chromium.ts'
import { CHROMIUM, withChromium } from '../../support/programs.ts'
import { type Cell, workbook } from '../../support/xlsx.ts'

const DESKTOP = { viewport: { width: 1280, height: 720 } }
const DARK_PHONE = { viewport: { width: 375, height: 700 }, colorScheme: 'dark' as const }

const LIST = '"$"#,##0.00'
/** A price list as suppliers send it: titles, two prices, 11 of 5,000 rows with a problem. */
const BAD: Cell[][] = [
  [null, 'no code', 'each', 1, 1],
  ...Array.from({ length: 6 }, (_, row): Cell[] => [`P-${row}`, 'on request', 'each', 'POA', 'POA']),
  ['N-1', '=cmd()', 'each', -4, -4],
  ['E-1', 'lost reference', 'each', { error: '#REF!' }, { error: '#REF!' }],
  ['T-1', 'other price', 'each', 99, 99],
]
const ROWS = Array.from({ length: 5_000 - BAD.length }, (_, row): Cell[] => [
  `T-${row}`,
  `Timber; ${row} mm`,
  'each',
  { value: row + 1, format: LIST },
  { value: (row + 1) * 1.1, format: LIST },
])
const XLSX = {
  name: 'price list.xlsx',
  mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  buffer: Buffer.from(
    workbook([
      {
        name: 'National',
        rows: [
          ['Summit Supplies Pty Ltd'],
          ['Price list, valid from 1 July 2026'],
          [],
          ['Item No.', 'Product', 'UOM', 'List price', 'RRP inc GST'],
          ...ROWS,
          ...BAD,
        ],
      },
    ]),
  ),
}

const CSV = {
  name: 'strange prices.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(
    [
      'Artikel;Bezeichnung;Einheit;Our list price;Notes',
      ...Array.from({ length: 20 }, (_, row) => `T-${row};"Timber; ${row} mm";each;${row + 1},50;`),
      ';no code;each;1,00;',
      'T-Y;negative;each;-4,00;',
    ].join('\r\n'),
  ),
}

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

  test('creates a catalogue, publishes a workbook with titles, two price columns and problems, watches, and reads the report; a dark phone shows the same pages', async () => {
    const { page, complaints, close } = await openPage(browser, DESKTOP)
    const phone = await openPage(browser, DARK_PHONE)
    const onPhone = async () => {
      await phone.page.context().addCookies(await page.context().cookies())
      // Without the fragment: else the page would not be loaded again.
      await phone.page.goto(page.url().replace(/#.*/, ''))
      await inspect(phone.page, true)
    }
    const look = () => Promise.all([inspect(page, true), onPhone()])
    await connect(page, app)
    await page.getByRole('link', { name: 'Catalogues' }).click()
    await page.getByText('New catalogue').click()
    await look()
    await create(page, 'National RRP')
    await look()

    // Everything that the file says, every column, and three questions, one after the other.
    await page.getByLabel('Price file').setInputFiles(XLSX)
    await page.getByRole('button', { name: 'Upload and check' }).click()
    await page.getByText('Price list, valid from 1 July 2026').waitFor()
    // Which of two prices is sent, a person says: the question is in view beside the columns, and the page is light.
    const question = page.getByRole('group', { name: 'Which column is the price?' })
    await expectInView(question, DESKTOP)
    expect((await page.content()).length).toBeLessThan(60_000)
    await look()
    await page.getByRole('button', { name: 'RRP inc GST' }).click()
    await pressEnterInField(page)
    await expectInView(page.getByRole('group', { name: 'Are the prices before GST?' }), DESKTOP)
    await look()
    await page.getByRole('button', { name: 'Including 10 %' }).click()
    await page.getByRole('button', { name: 'Australian dollars' }).waitFor()
    await look()
    // With the keyboard alone.
    await page.getByRole('button', { name: 'Australian dollars' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Everyone' }).click()
    await page.getByRole('button', { name: 'This is right' }).waitFor()
    await pressEnterInField(page)
    await expectInView(page.getByRole('button', { name: 'This is right' }), DESKTOP)
    await look()
    // On a phone, the ten rows take no more than two of its heights.
    expect((await phone.page.locator('table.sent').boundingBox())?.height).toBeLessThan(
      2 * DARK_PHONE.viewport.height,
    )
    await page.getByRole('button', { name: 'This is right' }).click()
    await page.getByText('as it was confirmed').waitFor()

    // First rows and every problem row, before anything is sent.
    const main = page.locator('main')
    await page.getByRole('heading', { name: 'Problems' }).waitFor()
    expect(await main.innerText()).toMatch(
      /4,989 of 5,000 rows[\s\S]*11 rows have problems[\s\S]*Nothing has been sent yet/,
    )
    expect(await main.innerText()).toMatch(
      /Which column is the price\?\s+RRP inc GST[\s\S]*Including 10 % GST[\s\S]*Australian dollars/,
    )
    const problems = await page.locator('.problems tbody tr').allInnerTexts()
    expect(problems.join('\n')).toMatch(
      /6[\s\S]*another price or unit on line 5004[\s\S]*code is missing[\s\S]*"POA" is not an amount[\s\S]*negative[\s\S]*#REF!/,
    )
    expect((await app.calls()).some(({ endpoint }) => endpoint === 'items')).toBe(false)
    await look()

    // Send, leave, come back, watch to the end.
    await page.getByRole('button', { name: 'Send 4,989 items' }).click()
    const importUrl = page.url()
    await inspect(page, true)
    await page.goto(`${app.url}/connections`)
    await page.goto(importUrl)
    expect(await main.innerText()).toMatch(/Sending items|processing them|Starting|completed/)
    await look()
    await page.locator('#live').getByText('The platform has completed the import: 4,989 items sent').waitFor()
    await look()
    expect(await main.innerText()).toMatch(/Items sent[\s\S]*4,989 of 4,989, in 5 batches/)
    const report = await page.request.get(`${importUrl}/report.csv`)
    expect(await report.text()).toContain("'=cmd()")
    expect(report.headers()['content-disposition']).toContain('price list-problems.csv')

    // The next file of this layout needs two clicks.
    await page.getByRole('link', { name: 'Open the catalogue' }).click()
    expect(await main.innerText()).toMatch(/Items[\s\S]*4,989/)
    await look()
    await page.getByLabel('Price file').setInputFiles(XLSX)
    await page.getByRole('button', { name: 'Upload and check' }).click()
    await page.getByRole('button', { name: 'Send 4,989 items' }).click()
    await page.locator('#live').getByText('The platform has completed the import: 4,989 items sent').waitFor()
    expect([...complaints, ...phone.complaints]).toEqual([])
    await close()
    await phone.close()
  })

  test('keeps the question of Stop open while the page updates by itself, stops and resumes, and learns on the list of connections, without a reload, that the import has ended', async () => {
    const { page, complaints, close } = await openPage(browser, DESKTOP)
    await connect(page, app)
    await upload(page, 'Stopped by hand')
    await chooseColumns(page)
    await app.fault('items', '429', undefined, 1)
    await press(page, 'Send 20 items')
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
    await link.waitFor()
    await app.fault('items', 'none')
    await page.getByRole('status').getByText('20 items sent to “Stopped by hand”').waitFor()
    await link.waitFor({ state: 'detached' })
    await inspect(page, true)
    expect(complaints).toEqual([])
    await close()
  })

  test('does it without JavaScript', async () => {
    const { page, complaints, close } = await openPage(browser, { ...DESKTOP, javaScriptEnabled: false })
    const look = () => inspect(page, false)
    await connect(page, app)
    await upload(page, 'Without scripts')
    await look()
    await chooseColumns(page)
    await page.getByRole('heading', { name: 'Problems' }).waitFor()
    await look()
    await press(page, 'Send 20 items')
    const done = page.locator('#live').getByText('The platform has completed the import: 20 items sent')
    await expect
      .poll(async () => {
        if ((await done.count()) === 0) await page.reload()
        return done.count()
      })
      .toBe(1)
    await look()
    expect(complaints).toEqual([])
    await close()
  })
})

/** Enter presses the first button of a form: it must answer nothing. */
async function pressEnterInField(page: Page): Promise<void> {
  const answer = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.getByLabel('Row of the headings').press('Enter')
  await answer
}

async function expectInView(locator: Locator, { viewport }: typeof DESKTOP): Promise<void> {
  await locator.waitFor()
  const { y, height } = (await locator.boundingBox()) ?? { y: -1, height: 0 }
  expect(y).toBeGreaterThanOrEqual(0)
  expect(y + height).toBeLessThanOrEqual(viewport.height)
}

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

/** Uploads the file into a new catalogue. */
async function upload(page: Page, catalogue: string): Promise<void> {
  await page.getByRole('link', { name: 'Catalogues' }).click()
  await page.getByText('New catalogue').click()
  await create(page, catalogue)
  await page.getByLabel('Price file').setInputFiles(CSV)
  await press(page, 'Upload and check')
}

async function chooseColumns(page: Page): Promise<void> {
  await page.getByLabel('Use: Artikel').selectOption('code')
  await page.getByLabel('Use: Bezeichnung').selectOption('name')
  await page.getByLabel('Use: Our list price').selectOption('price')
  for (const name of ['Use these columns', 'Before GST', 'Australian dollars', 'Everyone', 'This is right'])
    await press(page, name)
}

const press = (page: Page, name: string) => page.getByRole('button', { name }).last().click()
