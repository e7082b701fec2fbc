import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { inspect, openChromium, openPage } from '../../support/chromium.ts'
import { CHROMIUM, withChromium } from '../../support/programs.ts'

const windows: { name: string; options: BrowserContextOptions }[] = [
  { name: 'a desktop window', options: { viewport: { width: 1200, height: 800 } } },
  { name: 'a dark phone of 375 px', options: { viewport: { width: 375, height: 700 }, colorScheme: 'dark' } },
  {
    name: 'a browser without JavaScript',
    options: { viewport: { width: 1200, height: 800 }, javaScriptEnabled: false },
  },
]

const HEADINGS = 'Artikel;Bezeichnung;Einheit;Our list price;Notes'
const ROWS = Array.from({ length: 5000 }, (_, row) => `T-${row};"Timber; ${row} mm";each;${row + 1},50;`)
const BAD = [
  ';no code;each;1,00;',
  'T-1;again;each;1,00;',
  'T-X;=cmd();each;1,00;',
  'T-Y;negative;each;-4,00;',
]
const FILE = {
  name: 'strange prices.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(`\ufeff${[HEADINGS, ...ROWS, ...BAD].join('\r\n')}\r\n`),
}

describe.skipIf(!CHROMIUM)(`a supplier in Chromium${withChromium}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(() => browser?.close())

  test.each(windows)(
    'creates a catalogue, imports a file with strange headings, watches, reads the report, in $name',
    async ({ options }) => {
      const app = await startAll({}, { importTiming: { itemsPerSecond: 3_000, settleMs: 300 } })
      const { page, complaints, close } = await openPage(browser, options)
      const scripted = options.javaScriptEnabled !== false
      const look = () => inspect(page, scripted)
      await connect(page, app)
      await page.getByRole('link', { name: 'Catalogues' }).click()
      await page.getByText('New catalogue').click()
      await look()
      await page.getByLabel('Name').fill('National RRP')
      await page.getByRole('button', { name: 'Create catalogue' }).click()
      await look()

      // The headings are not ours: what was guessed is shown, what was not is asked for.
      await page.getByLabel('Price file').setInputFiles(FILE)
      await page.getByRole('button', { name: 'Upload and check' }).click()
      expect(await page.getByRole('alert').innerText()).toMatch(
        /looks like the code[\s\S]*looks like the price/,
      )
      await look()
      await page.getByLabel('Code').selectOption('Artikel')
      await page.getByLabel('Name').selectOption('Bezeichnung')
      await page.getByLabel('Price').selectOption('Our list price')
      await page.getByRole('button', { name: 'Check with these columns' }).click()

      // First rows and every problem row, before anything is sent.
      const main = page.locator('main')
      await page.getByRole('heading', { name: 'Problems' }).waitFor()
      expect(await main.innerText()).toMatch(/5,000 of 5,004 rows can go[\s\S]*Nothing has been sent yet/)
      expect(await main.innerText()).toContain('Timber; 0 mm')
      const problems = await page.locator('.problems tbody tr').allInnerTexts()
      expect(problems.join('\n')).toMatch(
        /5002[\s\S]*code is missing[\s\S]*5003[\s\S]*on line 3 already[\s\S]*5004[\s\S]*formula[\s\S]*5005[\s\S]*negative/,
      )
      expect((await app.calls()).some(({ endpoint }) => endpoint === 'items')).toBe(false)
      await look()

      // Send, leave, come back, watch to the end.
      await page.getByRole('button', { name: 'Send 5,000 items' }).click()
      await look()
      const importUrl = page.url()
      await page.goto(`${app.url}/connections`)
      await page.goto(importUrl)
      expect(await main.innerText()).toMatch(/Sending items|processing it|Starting/)
      await page.getByText('The platform has completed the import: 5,000 items sent').waitFor()
      await look()
      expect(await main.innerText()).toMatch(/Items sent[\s\S]*5,000 of 5,000, in 5 batches/)
      const report = await page.request.get(`${importUrl}/report.csv`)
      expect(await report.text()).toContain("'=cmd()")
      expect(report.headers()['content-disposition']).toContain('strange prices-problems.csv')

      await page.getByRole('link', { name: 'Open the catalogue' }).click()
      expect(await main.innerText()).toMatch(/Items[\s\S]*5,000/)
      await look()
      expect(complaints).toEqual([])
      await close()
      await app.close()
    },
  )

  test.each(windows)(
    'sees a builder’s request arrive, accepts it, and grants a Managed catalogue, in $name',
    async ({ options }) => {
      const app = await startAll()
      const supplier = await openPage(browser, options)
      const builder = await openPage(browser, options)
      const scripted = options.javaScriptEnabled !== false
      const press = (page: Page, name: string) => page.getByRole('button', { name }).first().click()
      await connect(supplier.page, app)
      for (const scope of ['Public', 'Managed']) {
        await supplier.page.goto(`${app.url}/connections/summit-supplies/catalogues`)
        await supplier.page.getByText('New catalogue').click()
        await supplier.page.getByLabel('Name').fill(`Fresh ${scope}`)
        await supplier.page.getByLabel('Who sees it').selectOption(scope)
        await press(supplier.page, 'Create catalogue')
      }
      const managed = supplier.page.url()

      // The builder asks; the supplier's open page shows it by itself.
      await supplier.page.goto(`${app.url}/connections/summit-supplies/builder-requests`)
      await inspect(supplier.page, scripted)
      await builder.page.goto(`${app.platform}/suppliers`)
      await press(builder.page, 'Olivia Hart')
      await inspect(builder.page, scripted)
      const card = builder.page.getByLabel('Summit Building Supplies for Harbour Homes')
      await card.getByLabel('Your account number there').fill('CUST1001')
      await card.getByRole('button', { name: 'Ask to connect' }).click()
      expect(await card.innerText()).toContain('pending')
      if (!scripted) await supplier.page.reload()
      await supplier.page.getByRole('heading', { name: 'Harbour Homes' }).waitFor({ timeout: 5000 })
      const shown = await supplier.page.locator('main').innerText()
      expect(shown).toMatch(/CUST1001[\s\S]*Olivia Hart[\s\S]*olivia@harbour.example/)
      expect(shown).toContain('integration-connection.requested')
      await inspect(supplier.page, scripted)
      await press(supplier.page, 'Accept')
      expect(await supplier.page.getByRole('status').innerText()).toContain('The builder is connected')

      // Public is visible at once, Managed only after the grant.
      await builder.page.reload()
      expect(await card.innerText()).toContain('Fresh Public')
      expect(await card.innerText()).not.toContain('Fresh Managed')
      await inspect(builder.page, scripted)
      await supplier.page.goto(managed)
      await supplier.page.getByLabel("The builder's account number with you").fill('CUST1001')
      await press(supplier.page, 'Grant access')
      expect(await supplier.page.getByRole('status').innerText()).toContain('CUST1001 may now see')
      await inspect(supplier.page, scripted)
      await builder.page.reload()
      expect(await card.innerText()).toContain('Fresh Managed')
      await card.getByRole('link', { name: 'Fresh Managed' }).click()
      await inspect(builder.page, scripted)

      await builder.page.goto(`${app.platform}/business-setup`)
      await inspect(builder.page, scripted)
      expect([...supplier.complaints, ...builder.complaints]).toEqual([])
      await supplier.close()
      await builder.close()
      await app.close()
    },
  )
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
