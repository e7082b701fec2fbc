import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { openChromium, openPage, startWalk, takeSession } from '../../support/chromium.ts'
import { connected } from '../../support/flow.ts'
import { CHROMIUM, withChromium } from '../../support/programs.ts'

const LEAD = { status: 'New', suburb: 'Brunswick', projectType: 'Renovation' }

describe.skipIf(!CHROMIUM)(`a user in Chromium${withChromium}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    ;[browser, app] = await Promise.all([openChromium(), startAll()])
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  test('reads leads and creates one; each page is accessible and fits in every window', async () => {
    const { page, complaints, look, inspectWithoutScripts, close } = await startWalk(browser)
    await takeSession(page, app, await connected(app))
    await page.goto(`${app.url}/connections`)
    await page.getByRole('link', { name: 'Leads' }).click()
    expect(await page.locator('tbody tr').count()).toBe(25)
    await look()
    await page.getByRole('link', { name: 'Next' }).click()
    await page.locator('tbody a').first().click()
    await look()
    await page.getByRole('link', { name: 'Leads' }).click()
    await page.getByText('New lead').click()
    await look()
    await page.getByLabel('Name').fill('Nora New')
    await page.getByLabel('Suburb').fill('Coogee')
    await page.getByRole('button', { name: 'Create lead' }).click()
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Nora New')
    await look()
    await inspectWithoutScripts()
    expect(complaints).toEqual([])
    await close()
  })

  test('looks at the last of 500 leads, at none, and at a name of 200 characters without a space', async () => {
    const { page, complaints, look, inspectWithoutScripts, close } = await startWalk(browser)
    await takeSession(page, app, await connected(app))
    const at = `${app.url}/connections/harbour-homes/leads`
    const leads = (count: number, total: number, name: string) => ({
      json: Array.from({ length: count }, (_, id) => ({ ...LEAD, id: `${id}`, name })),
      headers: { 'x-odata-total-count': String(total) },
    })
    app.answer('/api/leads', leads(25, 500, 'Nora New'))
    await page.goto(`${at}?skip=475`)
    expect(await page.locator('main').innerText()).toContain('476–500 of 500')
    await look()
    app.answer('/api/leads', leads(0, 0, ''))
    await page.goto(at)
    await look()
    app.answer('/api/leads', leads(3, 3, 'x'.repeat(200)))
    await page.goto(at)
    expect(await page.locator('tbody tr').count()).toBe(3)
    // Only the name is broken.
    for (const label of ['Project', 'Suburb', 'Status'])
      expect(
        await page.evaluate(`document.querySelector('td[data-label=${label}] bdi').getClientRects().length`),
        label,
      ).toBe(1)
    await look()
    await inspectWithoutScripts()
    expect(complaints).toEqual([])
    await close()
  })

  test.each([
    [true, '26 Nov 2026, 9:53 am'],
    [false, '25 Nov 2026, 10:53 pm UTC'],
  ])(
    'a lead that arrived in the morning of Melbourne has its date there (JavaScript: %s)',
    async (javaScriptEnabled, shown) => {
      const lead = { id: 'one', name: 'Mel Bourne', createdAt: '2026-11-25T22:53:00Z' }
      app.answer('/api/leads', { json: [lead] })
      app.answer('/api/leads/one', { json: lead })
      const { page, close } = await openPage(browser, {
        timezoneId: 'Australia/Melbourne',
        javaScriptEnabled,
      })
      await takeSession(page, app, await connected(app))
      await page.goto(`${app.url}/connections/harbour-homes/leads`)
      expect(await page.locator('td[data-label=Received]').innerText()).toBe(shown)
      await page.goto(`${app.url}/connections/harbour-homes/leads/one`)
      expect(await page.locator('dt:text("Received") + dd').innerText()).toBe(shown)
      await close()
    },
  )
})
