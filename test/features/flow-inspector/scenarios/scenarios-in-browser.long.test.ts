import { describe, expect, test } from 'vitest'
import { startAll } from '../../../support/app.ts'
import { openChromium, openPage, takeSession } from '../../../support/chromium.ts'
import { signedIn } from '../../../support/flow.ts'
import { CHROMIUM, withChromium } from '../../../support/programs.ts'

describe.skipIf(!CHROMIUM)(`in Chromium${withChromium}`, () => {
  // The tests of all scenarios send the same requests without a browser.
  test('a scenario runs from its page and ends as expected; its flow is a link', async () => {
    const [browser, app] = [await openChromium(), await startAll()]
    const { page, complaints, close } = await openPage(browser)
    await takeSession(page, app, await signedIn(app, 'ann'))
    await page.goto(`${app.url}/scenarios`)
    for (const name of ['happy-path', 'other-business']) {
      await page.locator(`#${name} button`).click()
      await page.locator(`#${name}`).getByText('as expected', { exact: true }).waitFor()
      // The page shows the result of the button.
      expect(await page.locator(':focus').getAttribute('id')).toBe(name)
    }
    await page.locator('#other-business').getByRole('link', { name: 'See the flow' }).first().click()
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain('Connect a business')
    expect(complaints).toEqual([])
    await close()
    await browser.close()
    await app.close()
  })
})
