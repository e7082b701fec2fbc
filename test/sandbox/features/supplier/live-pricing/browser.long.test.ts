import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadPriceList } from '../../../../../src/features/supplier/live-pricing/csv-price-provider/load.ts'
import { priceListFolder } from '../../../../../src/features/supplier/live-pricing/csv-price-provider/price-list.ts'
import { SAMPLE } from '../../../../features/supplier/live-pricing/support.ts'
import { type Running, startAll } from '../../../../support/app.ts'
import { inspect, openChromium, openPage } from '../../../../support/chromium.ts'
import { CHROMIUM, withChromium } from '../../../../support/programs.ts'

const DESKTOP = { viewport: { width: 1200, height: 800 } }
const DARK_PHONE = { viewport: { width: 375, height: 700 }, colorScheme: 'dark' as const }

const ITEMS = [
  { code: 'DK-1001', name: 'Decking, Merbau, 90 x 19 mm', unit: 'm', price: 7.3 },
  { code: 'FT-1001', name: 'MGP10 pine 70 x 35 mm, 2.4 m', unit: 'each', price: 5.45 },
  { code: 'FT-1003', name: 'MGP10 pine 70 x 35 mm, 3.6 m', unit: 'each', price: 7.85 },
  { code: 'LV-1021', name: 'LVL beam 400 x 63 mm, 3.6 m', unit: 'each', price: 196.35 },
]

describe.skipIf(!CHROMIUM)(`a builder in Chromium${withChromium}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    const connected = [{ builder: 'ridgeline-build', supplier: 'summit-supplies', externalRef: 'CUST1002' }]
    const samples = { 'summit-supplies': { id: 'range', name: 'Summit trade range', items: ITEMS } }
    const features = { catalogues: { samples }, 'builder-requests': { connected } }
    ;[browser, app] = await Promise.all([openChromium(), startAll({}, { features })])
    await loadPriceList(SAMPLE, priceListFolder(app.config.dataDir))
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  test('picks items, finds a store, and sees live prices; a dark phone and a browser without JavaScript show the same pages', async () => {
    const { page, complaints, close } = await openPage(browser, DESKTOP)
    const others = [
      { scripted: true, ...(await openPage(browser, DARK_PHONE)) },
      { scripted: false, ...(await openPage(browser, { ...DESKTOP, javaScriptEnabled: false })) },
    ]
    const elsewhere = async ({ page: other, scripted }: (typeof others)[number]) => {
      await other.context().addCookies(await page.context().cookies())
      await other.goto(page.url())
      await inspect(other, scripted)
    }
    const look = () => Promise.all([inspect(page, true), ...others.map(elsewhere)])
    await page.goto(`${app.platform}/login`)
    await page.getByRole('button', { name: /Marcus Reid/ }).click()
    await page.getByText('Developers', { exact: true }).click()
    await page.getByRole('link', { name: 'Suppliers' }).click()
    await look()
    await page.getByRole('link', { name: 'Summit trade range' }).first().click()
    await look()
    for (const { code } of ITEMS) await page.getByLabel(`Pick ${code}`).check()
    await page.getByRole('button', { name: /Live prices/ }).click()
    await look()

    // The member number is the builder's own with the supplier.
    expect(await page.getByLabel('Your member number').inputValue()).toBe('CUST1002')
    await page.getByLabel('Near this address').fill('4 Smith Street, Northcote')
    await page.getByLabel('Quantity of DK-1001').fill('12.4')
    await page.getByRole('button', { name: 'Find stores and prices' }).click()
    expect(await page.getByLabel(/Summit Northcote/).isChecked()).toBe(true)
    const row = (code: string) => page.getByRole('row').filter({ hasText: code })
    expect(await row('DK-1001').innerText()).toMatch(/\$6\.862/)
    expect(await row('FT-1003').innerText()).toMatch(/This item does not exist/)
    expect(await row('LV-1021').innerText()).toMatch(/on application/)
    await look()

    // A builder without the member's discount pays more at another store.
    const total = async () => Number(/\$([\d.]+)\s*$/.exec(await page.locator('tfoot').innerText())?.[1])
    const asMember = await total()
    await page.getByLabel(/Summit Epping/).check()
    await page.getByLabel('Your member number').fill('')
    await page.getByRole('button', { name: 'Get live prices' }).click()
    expect(await page.getByLabel(/Summit Epping/).isChecked()).toBe(true)
    expect(await total()).toBeGreaterThan(asMember)

    // An unknown member number has no prices; Enter sends the form as it is.
    await page.getByLabel('Your member number').fill('NOBODY')
    await page.getByLabel('Your member number').press('Enter')
    await page.getByText('member_unknown').first().waitFor()
    await look()

    await page.getByLabel('Near this address').fill('Atlantis')
    await page.getByRole('button', { name: 'Get live prices' }).click()
    expect(await page.getByRole('alert').innerText()).toContain('Enter a suburb or town')
    await look()

    expect([complaints, ...others.map((other) => other.complaints)].flat()).toEqual([])
    await Promise.all([close(), ...others.map((other) => other.close())])
  })
})
