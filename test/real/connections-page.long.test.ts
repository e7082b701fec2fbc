import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { openChromium, openPage, takeSession } from '../support/chromium.ts'
import { SCOPES, signedIn } from '../support/flow.ts'
import { CHROMIUM, withChromium } from '../support/programs.ts'
import { anotherVault } from '../support/stored.ts'
import { GRANTED } from '../support/vault.ts'

/** 9 pm in Tokyo. */
const NOON = '2025-03-01T12:00:00.000Z'

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
  beforeEach(async () => {
    for (const bxcontext of ['first', 'second']) await connect(bxcontext, bxcontext === 'first' ? NOON : null)
  })

  const ref = (bxcontext: string) => ({ userId: 'Ann', bxcontext })
  /** Connects an account; `at`: when the consent was given, whose tokens are those of now. */
  const connect = (bxcontext: string, at: string | null) => {
    let time = at === null ? Date.now() : Date.parse(at)
    return anotherVault(app, { now: () => time }).connect(ref(bxcontext), async () => {
      time = Date.now()
      return { ...GRANTED, scopes: SCOPES }
    })
  }
  const OUTAGE = { result: 'unavailable', kind: 'error' } as const
  const OK = { result: 'ok', call: 'GET /leads', scope: 'leads' } as const
  const noteCall = async (bxcontext: string, outcome: typeof OUTAGE | typeof OK) => {
    const source = app.services.connect.vault.tokenSource(ref(bxcontext))
    await source.accessToken()
    await source.noteCall(outcome)
  }
  const open = async (options: Parameters<typeof openPage>[1] = {}) => {
    const opened = await openPage(browser, { timezoneId: 'Asia/Tokyo', ...options })
    await takeSession(opened.page, app, await signedIn(app, 'Ann'))
    await opened.page.goto(`${app.url}/connections`)
    return opened
  }
  const cardOf = (page: Page, bxcontext: string) =>
    page.locator('.card').filter({ has: page.getByRole('heading', { name: bxcontext, exact: true }) })
  const focusedCard = (page: Page) =>
    page.evaluate('[document.activeElement.innerText, document.activeElement.closest("li")?.id]')

  test('follows a change without a reload; what is open and focused stays, and times are still local', async () => {
    const { page, complaints, close } = await open()
    const card = cardOf(page, 'first')
    await card.getByText('Details of').click()
    await card.getByRole('link', { name: 'Disconnect' }).focus()
    expect(await card.locator('.badge').innerText()).toBe('Working')
    let isOut = false
    const badge = async () => {
      // Changed again and again: the events compare with what they found first.
      isOut = !isOut
      await noteCall('first', isOut ? OUTAGE : OK)
      return card.locator('.badge').innerText()
    }
    await expect.poll(badge, { interval: 500 }).toBe('Platform is slow')
    expect(await page.locator('details[open]').count()).toBe(1)
    expect(await focusedCard(page)).toEqual(['Disconnect', 'connection-first'])
    expect(await card.locator('time:not([data-countdown])').last().innerText()).toContain('9:00 pm')
    expect(await card.locator('time[data-countdown]').innerText()).toMatch(/^for [45] min/)
    expect(complaints).toEqual([])
    await close()
  })

  test('catches up when its tab is shown again', async () => {
    const { page, close } = await open()
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
    // The page fetched itself once when its stream opened.
    await page.waitForTimeout(300)
    fetches = 0
    for (const outcome of [OUTAGE, OK, OUTAGE]) {
      await page.waitForTimeout(700)
      await noteCall('second', outcome)
    }
    await page.waitForTimeout(1_100)
    expect(fetches).toBe(0)
    await show(false)
    await cardOf(page, 'second').locator('.badge.degraded').waitFor({ timeout: 5_000 })
    await close()
  })

  test('shows times in the reader’s time zone, the exact time on hover, and recent ones as a duration', async () => {
    const { page, close } = await open()
    const connectedAt = (bxcontext: string) =>
      cardOf(page, bxcontext).locator('time:not([data-countdown])').first()
    expect(await connectedAt('first').innerText()).toBe('1 Mar 2025, 9:00 pm')
    expect(await connectedAt('first').getAttribute('title')).toBe(NOON)
    expect(await connectedAt('second').innerText()).toBe('now')
    await close()
  })

  test('shows times in UTC without JavaScript', async () => {
    const { page, close } = await open({ javaScriptEnabled: false })
    expect(await cardOf(page, 'first').locator('time').first().innerText()).toBe('1 Mar 2025, 12:00 pm UTC')
    await close()
  })

  test('is not the only one: the sandbox shows local times as well', async () => {
    const { page, complaints, close } = await open()
    await app.services.connect.vault.refresh(ref('first')).catch(() => {})
    await page.goto(`${app.platform}/sandbox/faults`)
    const time = page.locator('table time').first()
    const iso = await time.getAttribute('datetime')
    expect(await time.getAttribute('title')).toBe(iso)
    const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'Asia/Tokyo' } as const
    expect(await time.innerText()).toBe(new Date(iso ?? '').toLocaleString('en-AU', options))
    expect(complaints).toEqual([])
    await close()
  })
})
