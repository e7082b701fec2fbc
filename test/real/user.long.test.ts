import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAll } from '../support/app.ts'
import { inspect, openChromium, openPage } from '../support/chromium.ts'
import { SCOPES } from '../support/flow.ts'
import { CHROMIUM, withChromium } from '../support/programs.ts'
import { anotherVault } from '../support/stored.ts'
import { consent, newKey } from '../support/vault.ts'

// The whole walk is in test/e2e/walk.test.ts.
describe.skipIf(!CHROMIUM)(`a user in Chromium${withChromium}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(() => browser?.close())

  test('connects, refreshes and disconnects without JavaScript', async () => {
    const app = await startAll()
    const { page, close } = await openPage(browser, { javaScriptEnabled: false })
    const press = (name: string) => page.getByRole('button', { name }).first().click()
    await page.goto(app.url)
    await page.getByLabel('Your name').fill('Ann')
    await press('Sign in')
    await press('Connect an account')
    await press('Olivia Hart')
    await press('Harbour Homes')
    await press('Allow access')
    expect(await page.getByRole('status').innerText()).toBe('Harbour Homes is connected.')
    await page.getByText('Details of').click()
    await press('Renew access now')
    expect(await page.getByRole('status').innerText()).toContain('was renewed')
    await page.getByText('Details of').click()
    await page.getByRole('link', { name: 'Disconnect' }).click()
    await press('Disconnect')
    expect(await page.locator('.card').count()).toBe(0)
    await close()
    await app.close()
  })

  test('sees that a pressed button works, and cannot press it twice', async () => {
    const app = await startAll()
    const { page, complaints, close } = await openPage(browser)
    await page.goto(app.url)
    await page.getByLabel('Your name').fill('Ann')
    // The browser stays on the page, as while it waits for an answer.
    let posts = 0
    await page.route('**/sign-in', (route) => {
      posts++
      return route.fulfill({ status: 204 })
    })
    const button = page.getByRole('button', { name: 'Sign in' })
    await button.click()
    expect(await button.getAttribute('aria-busy')).toBe('true')
    expect(await button.innerText()).toBe('Sign in…')
    await button.click()
    expect(posts).toBe(1)
    expect(complaints).toEqual([])
    await close()
    await app.close()
  })

  test('sees that a link works that takes longer than a second, and can leave it', async () => {
    const app = await startAll()
    const { page, complaints, close } = await openPage(browser)
    await page.goto(app.url)
    await page.getByLabel('Your name').fill('Ann')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForLoadState('load')
    // No answer comes. From outside, nothing can be seen of a page that is being left: the page says itself what it shows.
    await page.route('**/connections', () => {})
    const said = page.waitForEvent('console')
    await page.evaluate(`
      const [link, other] = ['Connections', 'Sandbox'].map((text) =>
        [...document.querySelectorAll('nav a')].find(({ textContent }) => textContent === text))
      new MutationObserver(() => {
        console.log(link.ariaBusy + ' ' + link.textContent)
        other.click()
      }).observe(link, { attributes: true })
      setTimeout(() => link.click())
    `)
    expect((await said).text()).toBe('true Connections…')
    await page.waitForURL(`${app.platform}/**`)
    expect(complaints).toEqual([])
    await close()
    await app.close()
  })

  test('who goes back from the consent page and chooses another business connects that one', async () => {
    const app = await startAll()
    const { page, close } = await openPage(browser)
    const press = (name: string) => page.getByRole('button', { name }).first().click()
    await page.goto(app.url)
    await page.getByLabel('Your name').fill('Ann')
    await press('Sign in')
    await press('Connect an account')
    await press('Olivia Hart')
    await press('Harbour Homes')
    // On the consent page, with nothing under way any more: another site's page may be another process.
    await page.getByRole('button', { name: 'Allow access' }).waitFor()
    await page.waitForLoadState('load')
    await page.goBack()
    await press('Harbour Renovations')
    expect(await page.locator('main').innerText()).toContain('Harbour Renovations')
    await press('Allow access')
    expect(await page.locator('.card h2').innerText()).toBe('Harbour Renovations')
    await close()
    await app.close()
  })

  test('who connects in two tabs at once gets both connections', async () => {
    const app = await startAll()
    const { page: one, close } = await openPage(browser)
    const press = (page: Page, name: string) => page.getByRole('button', { name }).first().click()
    await one.goto(app.url)
    await one.getByLabel('Your name').fill('Ann')
    await press(one, 'Sign in')
    await press(one, 'Connect an account')
    await press(one, 'Olivia Hart')
    const two = await one.context().newPage()
    await two.goto(app.url)
    await press(two, 'Connect an account')
    await press(one, 'Harbour Homes')
    await press(two, 'Harbour Renovations')
    await press(two, 'Allow access')
    await press(one, 'Allow access')
    expect((await one.locator('.card h2').allInnerTexts()).sort()).toEqual([
      'Harbour Homes',
      'Harbour Renovations',
    ])
    await close()
    await app.close()
  })

  test('sees one sentence and one action for each state of a connection, on a phone', async () => {
    const app = await startAll()
    const { vault } = app.services.connect
    const ann = (bxcontext: string) => ({ userId: 'Ann', bxcontext })
    const granted = { scopes: SCOPES }
    const long = `long-${'x'.repeat(400)}`
    for (const bxcontext of ['connected', long]) await consent(vault, granted, ann(bxcontext))
    await consent(vault, { scopes: ['leads'] }, ann('partial'))
    for (const [bxcontext, fault] of [
      ['degraded', '500'],
      ['misconfigured', 'invalid_client'],
      ['revoked', 'invalid_grant'],
    ] as const) {
      await consent(anotherVault(app, { now: () => Date.now() - 400_000 }), granted, ann(bxcontext))
      await app.fault('refresh', fault, 1)
      // The sandbox does not know this made-up grant, so each fault stands in for its answer.
      await vault.accessToken(ann(bxcontext)).catch(() => {})
    }
    await consent(anotherVault(app, { keys: [newKey('lost')] }), granted, ann('unreadable'))

    const { page, close } = await openPage(browser, { viewport: { width: 375, height: 700 } })
    await page.goto(app.url)
    await page.getByLabel('Your name').fill('Ann')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await inspect(page, true)
    const links = await Promise.all(
      app.services.parts.map((part) => part.connectionLinks?.(ann('connected'))),
    )
    const states = {
      connected: ['Ready to use', links.flat().find((link) => link !== undefined)?.label],
      partial: ['without permission for catalogues', 'Grant missing permissions'],
      degraded: ['returned an error for the last request', 'Test this connection'],
      misconfigured: ['Its developers must correct them', 'Test this connection'],
      revoked: ['Reconnect to continue', 'Reconnect'],
      unreadable: ['the key "lost", which is not in TOKEN_ENCRYPTION_KEYS', 'Reconnect'],
    }
    for (const [bxcontext, [sentence, action]] of Object.entries(states)) {
      const card = page
        .locator('.card')
        .filter({ has: page.getByRole('heading', { name: bxcontext, exact: true }) })
      expect(await card.innerText(), bxcontext).toContain(sentence)
      expect(await card.locator('.primary').allInnerTexts(), bxcontext).toEqual([action])
    }
    for (const path of [
      '/connections/degraded/probe',
      '/connections/unreadable/probe',
      '/connections/none/probe',
    ]) {
      await page.goto(app.url + path)
      expect(await page.locator('.problem').count(), path).toBe(1)
      await inspect(page, true)
    }
    await app.fault('probe', '500')
    await page.goto(`${app.platform}/sandbox/faults`)
    await inspect(page, true)
    await close()
    await app.close()
  })
})
