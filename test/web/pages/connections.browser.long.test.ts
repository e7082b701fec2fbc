import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { texts } from '../../../src/web/texts.ts'
import { type Running, startAll } from '../../support/app.ts'
import { inspect, openChromium, openPage, takeSession } from '../../support/chromium.ts'
import { SCOPES, signedIn } from '../../support/flow.ts'
import { CHROMIUM, withChromium } from '../../support/programs.ts'
import { anotherVault } from '../../support/stored.ts'
import { consent, GRANTED } from '../../support/vault.ts'

describe.skipIf(!CHROMIUM)(`the page of connections in Chromium${withChromium}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    ;[browser, app] = await Promise.all([openChromium(), startAll()])
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  const cardOf = (page: Page, bxcontext: string) => page.locator(`#connection-${bxcontext}`)
  /** A new window, which closes with the test. */
  async function newWindow(options?: BrowserContextOptions) {
    const { page, complaints, close } = await openPage(browser, options)
    onTestFinished(close)
    return { page, complaints }
  }

  /** 9 pm in Tokyo. */
  const NOON = '2025-03-01T12:00:00.000Z'
  const OUTAGE = { result: 'unavailable', kind: 'error' } as const
  const OK = { result: 'ok', call: 'GET /leads', scope: platform.scopes.leads } as const
  const ref = (bxcontext: string) => ({ userId: 'Eve', bxcontext })

  // Each has new tokens, but the first consent was given long ago.
  beforeEach(async () => {
    for (const [bxcontext, at] of [
      ['first', Date.parse(NOON)],
      ['second', Date.now()],
    ] as const) {
      let time = at
      await anotherVault(app, { now: () => time }).connect(ref(bxcontext), async () => {
        time = Date.now()
        return { ...GRANTED, scopes: SCOPES }
      })
    }
  })

  const noteCall = async (bxcontext: string, outcome: typeof OUTAGE | typeof OK) => {
    const source = app.services.connect.vault.tokenSource(ref(bxcontext))
    await source.accessToken()
    await source.noteCall(outcome)
  }
  const open = async (options: BrowserContextOptions = {}) => {
    const opened = await newWindow({ timezoneId: 'Asia/Tokyo', ...options })
    await takeSession(opened.page, app, await signedIn(app, 'Eve'))
    await opened.page.goto(`${app.url}/connections`)
    return opened
  }

  test('follows a change without a reload; what is open and focused stays, and times are still local', async () => {
    const { page, complaints } = await open()
    const card = cardOf(page, 'first')
    await card.getByText('Details of').click()
    await card.getByRole('link', { name: 'Disconnect' }).focus()
    // Changes the page as a translating browser does.
    await page.evaluate("document.activeElement.textContent = 'Trennen'")
    expect(await card.locator('.badge').innerText()).toBe('Working')
    const region = page.locator('#notices')
    const before = await region.elementHandle()
    await noteCall('first', OUTAGE)
    await expect.poll(() => card.locator('.badge').innerText()).toBe('Not working now')
    // Screen readers announce it, because the element was already on the page.
    expect(await region.innerText()).toMatch(/: Not working now$/)
    expect(await before?.evaluate((element) => element.isConnected)).toBe(true)
    expect(await page.locator('details[open]').count()).toBe(1)
    const focused = '[document.activeElement.innerText, document.activeElement.closest("li")?.id]'
    expect(await page.evaluate(focused)).toEqual(['Disconnect', 'connection-first'])
    expect(await card.locator('time:not([data-countdown])').first().innerText()).toContain('9:00 pm')
    expect(await card.locator('time[data-countdown]').innerText()).toMatch(/^for [45] min/)
    expect(complaints).toEqual([])
  })

  test('keeps a button pressed until its answer comes, whatever changes, so that a second press sends nothing', async () => {
    const { page, complaints } = await open()
    const card = cardOf(page, 'first')
    await card.getByText('Details of').click()
    let posts = 0
    // Keeps the browser on the page, as if it were waiting for an answer.
    await page.route('**/connections/first/test', (route) => {
      posts++
      return route.fulfill({ status: 204 })
    })
    const button = card.getByRole('button', { name: 'Test this connection' })
    const update = () => page.waitForResponse(`${app.url}/connections`)
    await button.click()
    const first = update()
    await noteCall('first', OUTAGE)
    await first
    // The page asks again only when it has handled the first answer.
    await update()
    expect(await button.getAttribute('aria-busy')).toBe('true')
    await button.click()
    expect(posts).toBe(1)
    expect(complaints).toEqual([])
  })

  test('keeps what is typed into the form for a name while the page follows a change', async () => {
    const { page } = await open()
    const card = cardOf(page, 'first')
    await card.getByText('Details of').click()
    const field = card.getByLabel('Your name for this connection')
    await field.fill('Main')
    await expect
      .poll(async () => {
        const shown = await card.locator('.badge').innerText()
        await noteCall('first', shown === 'Not working now' ? OK : OUTAGE)
        return shown
      })
      .toBe('Not working now')
    expect(await field.inputValue()).toBe('Main')
    await page.keyboard.type(' shop')
    await page.keyboard.press('Enter')
    await page.getByText('The name is saved: Main shop.').waitFor()
    expect(await card.getByRole('heading').innerText()).toBe('Main shop')
    await app.services.connect.vault.label(ref('first'), null)
  })

  test('and its other pages fit a phone with names that are long, without spaces, and from right to left', async () => {
    const { page } = await newWindow({ viewport: { width: 375, height: 700 } })
    const user = { userId: 'Fay', bxcontext: 'third' }
    const { vault } = app.services.connect
    await consent(vault, { ...GRANTED, businessName: 'W'.repeat(200) }, user)
    await takeSession(page, app, await signedIn(app, 'Fay'))
    for (const label of [null, 'W'.repeat(60), 'שלום'.repeat(15), 'مرحبا (1) '.repeat(6).trim()]) {
      await vault.label(user, label)
      await page.goto(`${app.url}/connections`)
      await page.getByText('Details of').click()
      await inspect(page, true)
      await page.goto(`${app.url}/connections/third/disconnect`)
      await inspect(page, true)
    }
  })

  test('reads what stands beside a name that turns the direction of the text, in the heading and in the title', async () => {
    const { page } = await newWindow()
    const user = { userId: 'Gil', bxcontext: 'turned' }
    await consent(app.services.connect.vault, { ...GRANTED, businessName: 'Evil\u2069\u202e Homes' }, user)
    await takeSession(page, app, await signedIn(app, 'Gil'))
    await page.goto(`${app.url}/connections/turned/disconnect`)
    expect(await page.title()).toBe(`Disconnect Evil Homes? · ${texts.layout.appName}`)
    const [name, end] = (await page.evaluate(`['Homes', '?'].map((text) => {
      const heading = document.querySelector('h1')
      const walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT)
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const index = node.data.indexOf(text)
        if (index < 0) continue
        const range = document.createRange()
        range.setStart(node, index)
        range.setEnd(node, index + 1)
        return range.getBoundingClientRect().left
      }
    })`)) as [number, number]
    expect(end).toBeGreaterThan(name)
  })

  test('catches up when its tab is shown again', async () => {
    const { page } = await open()
    const show = (hidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      `)
    let fetches = 0
    page.on('request', (request) => {
      if (request.url() === `${app.url}/connections`) fetches++
    })
    await show(true)
    // The page fetches itself once when it is opened.
    await page.waitForTimeout(300)
    fetches = 0
    for (const outcome of [OUTAGE, OK, OUTAGE]) {
      await page.waitForTimeout(700)
      await noteCall('second', outcome)
    }
    await page.waitForTimeout(1_100)
    expect(fetches).toBe(0)
    await show(false)
    await cardOf(page, 'second').getByText('Not working now', { exact: true }).waitFor({ timeout: 5_000 })
  })

  test('shows times in the reader’s time zone, the exact time on hover, and recent ones as a duration; so does the sandbox', async () => {
    const { page, complaints } = await open()
    const connectedAt = (bxcontext: string) =>
      cardOf(page, bxcontext).locator('time:not([data-countdown])').first()
    for (const bxcontext of ['first', 'second']) await cardOf(page, bxcontext).getByText('Details of').click()
    expect(await connectedAt('first').innerText()).toBe('1 Mar 2025, 9:00 pm')
    expect(await connectedAt('first').getAttribute('title')).toBe(NOON)
    expect(await connectedAt('second').innerText()).toBe(texts.justNow)
    await app.services.connect.vault.refresh(ref('first')).catch(() => {})
    await page.goto(`${app.platform}/sandbox/faults`)
    const time = page.locator('table time').first()
    const iso = await time.getAttribute('datetime')
    expect(await time.getAttribute('title')).toBe(iso)
    const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'Asia/Tokyo' } as const
    expect(await time.innerText()).toBe(new Date(iso ?? '').toLocaleString('en-AU', options))
    expect(complaints).toEqual([])
  })
})
