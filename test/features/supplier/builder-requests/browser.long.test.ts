import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../../support/app.ts'
import { inspect, openChromium, openPage } from '../../../support/chromium.ts'
import { CHROMIUM, withChromium } from '../../../support/programs.ts'

const DESKTOP = { viewport: { width: 1200, height: 800 } }
const DARK_PHONE = { viewport: { width: 375, height: 700 }, colorScheme: 'dark' as const }
const press = (page: Page, name: string) => page.getByRole('button', { name }).first().click()

describe.skipIf(!CHROMIUM)(`a supplier in Chromium${withChromium}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    ;[browser, app] = await Promise.all([openChromium(), startAll()])
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  test('sees a builder’s request arrive, accepts it, and grants a Managed catalogue; a dark phone shows the same pages', async () => {
    const supplier = await openPage(browser, DESKTOP)
    const builder = await openPage(browser, DESKTOP)
    const phone = await openPage(browser, DARK_PHONE)
    const onPhone = async (page: Page) => {
      // A live page reloads when its session ends. That must not happen during the next navigation.
      await phone.page.goto('about:blank')
      await phone.page.context().clearCookies()
      await phone.page.context().addCookies(await page.context().cookies())
      await phone.page.goto(page.url())
      await inspect(phone.page, true)
    }
    const look = (page: Page) => Promise.all([inspect(page, true), onPhone(page)])
    await connect(supplier.page, app)
    for (const scope of ['Public', 'Managed']) {
      await supplier.page.goto(`${app.url}/connections/summit-supplies/catalogues`)
      await supplier.page.getByText('New catalogue').click()
      await supplier.page.getByLabel('Name').fill(`Fresh ${scope}`)
      await supplier.page.getByLabel('Visibility', { exact: true }).selectOption(scope)
      await press(supplier.page, 'Create catalogue')
    }
    const managed = supplier.page.url()

    // The builder asks; the supplier's open page shows it without a reload.
    await supplier.page.goto(`${app.url}/connections/summit-supplies/builder-requests`)
    await look(supplier.page)
    expect(await updatesOf(supplier.page)).toBe('Updated in real time')
    await builder.page.goto(`${app.platform}/suppliers`)
    await press(builder.page, 'Olivia Hart')
    await look(builder.page)
    const card = await ask(builder.page, 'Harbour Homes', 'CUST1001')
    expect(await card.innerText()).toContain('pending')
    await supplier.page.getByRole('heading', { name: 'Harbour Homes' }).waitFor({ timeout: 5000 })
    await supplier.page.getByText('Details: events received').click()
    const shown = await supplier.page.locator('main').innerText()
    expect(shown).toMatch(/CUST1001[\s\S]*Olivia Hart[\s\S]*olivia@harbour.example/)
    expect(shown).toContain('integration-connection.requested')
    await look(supplier.page)
    expect(await supplier.page.getByRole('status').innerText()).toBe('Harbour Homes asks to connect')
    await supplier.page.getByRole('link', { name: 'Accept' }).click()
    await look(supplier.page)
    await press(supplier.page, 'Accept')
    expect(await supplier.page.getByRole('status').innerText()).toContain('The builder is connected')

    // Public is visible at once, Managed only after the grant.
    await builder.page.reload()
    expect(await card.innerText()).toContain('Fresh Public')
    expect(await card.innerText()).not.toContain('Fresh Managed')
    await look(builder.page)
    await supplier.page.goto(managed)
    await supplier.page.getByLabel('Your account number for this builder').fill('CUST1001')
    await press(supplier.page, 'Grant access')
    expect(await supplier.page.getByRole('status').innerText()).toContain(
      'Access was granted to account number CUST1001',
    )
    await look(supplier.page)
    await builder.page.reload()
    expect(await card.innerText()).toContain('Fresh Managed')
    await card.getByRole('link', { name: 'Fresh Managed' }).click()
    await look(builder.page)

    await builder.page.goto(`${app.platform}/business-setup`)
    await look(builder.page)
    expect([...supplier.complaints, ...builder.complaints, ...phone.complaints]).toEqual([])
    await Promise.all([supplier.close(), builder.close(), phone.close()])
  })

  test('sees a builder’s request after a reload, and accepts it, without JavaScript', async () => {
    const options = { ...DESKTOP, javaScriptEnabled: false }
    const supplier = await openPage(browser, options)
    const builder = await openPage(browser, options)
    await connect(supplier.page, app)
    await supplier.page.goto(`${app.url}/connections/summit-supplies/builder-requests`)
    expect(await updatesOf(supplier.page)).toBe('This page reloads every 15 seconds.')
    await builder.page.goto(`${app.platform}/suppliers`)
    await press(builder.page, 'Olivia Hart')
    const card = await ask(builder.page, 'Harbour Renovations', 'CUST1002')
    expect(await card.innerText()).toContain('pending')
    await inspect(builder.page, false)
    await supplier.page.reload()
    await supplier.page.getByRole('heading', { name: 'Harbour Renovations' }).waitFor({ timeout: 5000 })
    await inspect(supplier.page, false)
    await supplier.page.getByRole('link', { name: 'Accept' }).click()
    await press(supplier.page, 'Accept')
    expect(await supplier.page.getByRole('status').innerText()).toContain('The builder is connected')
    await builder.page.reload()
    expect(await card.innerText()).toContain('connected')
    expect([...supplier.complaints, ...builder.complaints]).toEqual([])
    await Promise.all([supplier.close(), builder.close()])
  })
})

/** The page's sentence about how it is updated. */
const updatesOf = (page: Page) => page.locator('.heading .hint').innerText()

/** Asks the supplier to connect, on the builder's page; returns the card of that business. */
async function ask(page: Page, business: string, accountNumber: string) {
  const card = page.getByLabel(`Summit Building Supplies for ${business}`)
  await card.getByLabel('Your account number with this supplier').fill(accountNumber)
  await card.getByRole('button', { name: 'Request connection' }).click()
  return card
}

/** Signs in and connects the supplier's account. */
async function connect(page: Page, app: Running): Promise<void> {
  await page.goto(app.url)
  await page.getByLabel('Your name').fill('Sam')
  await press(page, 'Sign in')
  await press(page, 'Connect a business')
  await press(page, 'Priya Nair')
  await press(page, 'Allow access')
}
