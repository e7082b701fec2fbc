import { expect, onTestFinished, test } from 'vitest'
import { openChromium, openPage } from '../support/chromium.ts'
import { freePort } from '../support/ports.ts'
import { CHROMIUM, REDIS } from '../support/programs.ts'
import { startAlternatingProxy } from './alternating-proxy.ts'
import { startProcesses } from './processes.ts'

const PRICES = [
  'Code,Description,Unit,Price',
  ...Array.from({ length: 3_000 }, (_, row) => `T-${row},Timber ${row},each,${row + 1}.50`),
  'T-X,no price,each,on request',
].join('\n')

test.skipIf(!CHROMIUM || !REDIS)(
  'two processes with a folder each, behind a proxy that sends every request to the other one: every page, upload, live update and flow works',
  async () => {
    const [port, one, two] = [await freePort(), await freePort(), await freePort()]
    const url = `http://localhost:${port}`
    const processes = await startProcesses(url, [one, two], (SANDBOX_URL) => ({ SANDBOX_URL }))
    onTestFinished(processes.close)
    const { platform } = processes
    const proxy = await startAlternatingProxy(port, [one, two])
    onTestFinished(proxy.close)
    const browser = await openChromium()
    onTestFinished(() => browser.close())
    const [supplier, builder] = [await openPage(browser), await openPage(browser)]
    const { page } = supplier
    const press = (name: string | RegExp, at = page) => at.getByRole('button', { name }).first().click()
    const main = () => page.locator('main').innerText()

    // The flow, and its record from both processes.
    await page.goto(url)
    await page.getByLabel('Your name').fill('Sam')
    await press('Sign in')
    await press('Connect an account')
    await press('Priya Nair')
    await press('Allow access')
    await page.getByText(' is connected.').waitFor()
    await page.goto(`${url}/flows`)
    await page.getByText('connected', { exact: true }).first().waitFor()
    await page.locator('.flows a').first().click()
    await expect.poll(main, { timeout: 5_000 }).toContain('Exchange the code')
    await page.goto(`${url}/connections/summit-supplies/tokens`)
    expect(await main()).toContain('Access token')

    // A file: received by one process, checked, sent and reported by any.
    await page.goto(`${url}/connections/summit-supplies/catalogues`)
    await page.getByText('New catalogue').click()
    await page.getByLabel('Name').fill('Two machines')
    await press('Create catalogue')
    const file = { name: 'prices.csv', mimeType: 'text/csv', buffer: Buffer.from(PRICES) }
    await page.getByLabel('Price file').setInputFiles(file)
    await press('Upload and check')
    await page.getByLabel('Australian dollars, before GST').check()
    await press('Continue')
    await page.getByRole('heading', { name: 'What differs' }).waitFor()
    await press('Send 3,000 items')
    const importUrl = page.url()
    await page
      .locator('#live')
      .getByText('The platform has completed the import: 3,000 items sent')
      .waitFor({ timeout: 30_000 })
    const shown = async () => (await page.request.get(importUrl)).text()
    for (let request = 0; request < 4; request++) await expect.poll(shown).toContain('on request')

    // A webhook arrives at one process, and the page that is open at the other one shows it.
    await page.goto(`${url}/connections/summit-supplies/builder-requests`)
    await page.getByText('Updated in real time').waitFor()
    await builder.page.goto(`${platform}/suppliers`)
    await press('Olivia Hart', builder.page)
    const card = builder.page.getByLabel('Summit Building Supplies for Harbour Homes')
    await card.getByLabel('Your account number with this supplier').fill('CUST1')
    await card.getByRole('button', { name: 'Request connection' }).click()
    await page.getByRole('heading', { name: 'Harbour Homes' }).waitFor()
    await page.getByRole('link', { name: 'Accept' }).click()
    await press('Accept')
    await page.getByText('The builder is connected').waitFor()

    // Step by step: the pause of one process is continued at the other one.
    await page.goto(`${url}/connections`)
    await press(/Turn on step by step/)
    await press('Connect an account')
    const onward = page.getByRole('button', { name: /Continue|Next|Send/ }).first()
    const allow = page.getByRole('button', { name: 'Allow access' })
    for (let pauses = 0; pauses < 12; pauses++) {
      await onward.or(allow).first().waitFor()
      if (await allow.isVisible()) break
      await onward.click()
    }
    expect(page.url()).toContain(platform)
    await page.goto(`${url}/connections`)
    await press(/Turn off step by step/)

    // The rest of the pages, and the end.
    for (const path of ['/setup', '/scenarios', '/flows', '/connections'])
      for (let request = 0; request < 2; request++)
        expect((await page.goto(url + path))?.status(), path).toBe(200)
    await page.locator('.card').getByText('Details of').first().click()
    await press('Renew access now')
    await page.getByText('was renewed').waitFor()
    await page.locator('.card').getByText('Details of').first().click()
    await page.getByRole('link', { name: 'Disconnect' }).click()
    await press('Disconnect')
    await expect.poll(() => page.locator('.card').count()).toBe(0)
    await press('Sign out')
    await page.getByRole('heading', { level: 1, name: 'Connect your account' }).waitFor()
    expect([...supplier.complaints, ...builder.complaints]).toEqual([])
    expect(Math.min(...proxy.handled)).toBeGreaterThan(20)
  },
)
