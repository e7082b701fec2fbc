import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { inspect, openChromium, openPage, takeSession } from '../../support/chromium.ts'
import { newUser, SCOPES, signedIn } from '../../support/flow.ts'
import { CHROMIUM, withChromium } from '../../support/programs.ts'
import { anotherVault } from '../../support/stored.ts'
import { consent, GRANTED } from '../../support/vault.ts'

/** The first page of a connect flow and its files may have 25 kB when a proxy compresses them. */
const COMPRESSED = 25_000
const UNCOMPRESSED = 40_000

describe.skipIf(!CHROMIUM)(`the pages in Chromium${withChromium}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    ;[browser, app] = await Promise.all([openChromium(), startAll()])
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  /** A new window for a user with a working connection and an ended connection. */
  async function openAs(options: BrowserContextOptions = {}): Promise<Page> {
    const { page, close } = await openPage(browser, options)
    onTestFinished(close)
    const userId = newUser()
    const granted = { ...GRANTED, scopes: SCOPES }
    const hourAgo = Date.now() - 3_600_000
    const before = anotherVault(app, { now: () => hourAgo })
    await consent(app.services.connect.vault, granted, { userId, bxcontext: 'working' })
    await consent(before, { ...granted, refreshToken: undefined }, { userId, bxcontext: 'ended' })
    await takeSession(page, app, await signedIn(app, userId))
    return page
  }

  const stylesOf = (page: Page, selector: string, pseudo = '') =>
    page.evaluate(
      `(() => { const { borderTopWidth, borderTopStyle, borderLeftWidth } = getComputedStyle(document.querySelector('${selector}'), '${pseudo}')
        return { borderTopWidth, borderTopStyle, borderLeftWidth } })()`,
    ) as Promise<Record<'borderTopWidth' | 'borderTopStyle' | 'borderLeftWidth', string>>

  test('in forced colours, boxes have a border, states a dot and a word, and what needs the person a marked edge', async () => {
    const page = await openAs({ forcedColors: 'active' })
    await page.goto(`${app.url}/connections`)
    expect(await stylesOf(page, '.rows')).toMatchObject({ borderTopStyle: 'solid', borderTopWidth: '1px' })
    expect((await stylesOf(page, '#connection-ended')).borderLeftWidth).toBe('4px')
    expect((await stylesOf(page, '#connection-working')).borderLeftWidth).toBe('0px')
    // Forced colours remove backgrounds, but keep borders.
    expect(Number.parseFloat((await stylesOf(page, '.badge', '::before')).borderTopWidth)).toBeGreaterThan(3)
    expect(await page.locator('#connection-ended .badge').innerText()).toBe('Access ended')
    await page.goto(`${app.url}/connections/working/disconnect`)
    await page.evaluate(
      `document.querySelector('main').innerHTML = '<progress max="2" value="1"></progress>'`,
    )
    expect(await stylesOf(page, 'progress')).toMatchObject({ borderTopStyle: 'solid', borderTopWidth: '1px' })
  })

  test('a page whose scripts never arrive is drawn, and its buttons work', async () => {
    const page = await openAs()
    await page.route('**/*.js', () => {})
    await page.goto(`${app.url}/connections`, { waitUntil: 'commit' })
    const drawn = () => page.evaluate(`performance.getEntriesByName('first-contentful-paint').length`)
    await expect.poll(drawn).toBe(1)
    await page
      .locator('#connection-ended')
      .getByRole('button', { name: 'Reconnect' })
      .click({ noWaitAfter: true })
    // This page continues automatically once it has loaded, and also has a link.
    await page.getByRole('link', { name: 'Continue to the platform' }).click({ noWaitAfter: true })
    await page.waitForURL((url) => url.href.startsWith(app.platform), { waitUntil: 'commit' })
  })

  test('on paper there is what the page tells, without what is pressed', async () => {
    const page = await openAs()
    await page.goto(`${app.url}/connections`)
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('heading', { name: 'Your connections' }).isVisible()).toBe(true)
    expect(await page.locator('#connection-ended .badge').isVisible()).toBe(true)
    for (const selector of ['nav', '.foot', 'button'])
      for (const element of await page.locator(selector).all())
        expect(await element.isVisible(), selector).toBe(false)
  })

  test('what is pressed first on a phone is as wide as the column, and 44 px high', async () => {
    const page = await openAs({ viewport: { width: 375, height: 700 } })
    await page.goto(`${app.url}/connect`)
    const [button, heading] = [
      await page.locator('.primary').boundingBox(),
      await page.locator('h1').boundingBox(),
    ]
    expect(button?.height).toBeGreaterThanOrEqual(44)
    expect(button?.x).toBe(heading?.x)
    expect(button?.width).toBe(375 - 2 * (heading?.x ?? 0))
  })

  test('in a narrow window and in a wide one, the header that has only arrived in part stays where it is when the rest arrives', async () => {
    const page = await openAs()
    await page.goto(`${app.platform}/login`)
    await page.getByRole('button', { name: /Olivia Hart/ }).click()
    /** Where the links and buttons of the header are in each window. */
    const places = async () => {
      const found: string[][] = []
      for (const width of [375, 1280]) {
        await page.setViewportSize({ width, height: 700 })
        const inHeader = (await page.evaluate(
          `[...document.querySelectorAll('.bar :is(a, summary, button)')].map((each) => { const { left, top } = each.getBoundingClientRect()
            return \`\${left} \${top}\` })`,
        )) as string[]
        found.push(inHeader)
      }
      return found
    }
    for (const url of [`${app.url}/connections`, `${app.platform}/connected-apps`]) {
      await page.goto(url)
      const whole = await (await page.context().request.get(url)).text()
      const complete = await places()
      expect(complete[0]?.length).toBeGreaterThan(3)
      const ends = [
        ...whole.slice(0, whole.indexOf('</header>')).matchAll(/<\/(?:a|summary|button)>|<nav [^>]*>/g),
      ]
      for (const { 0: tag, index } of ends) {
        await page.route(url, (route) =>
          route.fulfill({ contentType: 'text/html', body: whole.slice(0, index + tag.length) }),
        )
        await page.goto(url)
        const partial = await places()
        expect(partial, `${url} up to ${whole.slice(index - 80, index)}`).toEqual(
          complete.map((each, at) => each.slice(0, partial[at]?.length)),
        )
        await page.unroute(url)
      }
    }
  })

  test('the pages for developers are in one menu of the header, which needs no script', async () => {
    const page = await openAs({ viewport: { width: 375, height: 700 }, javaScriptEnabled: false })
    await page.goto(`${app.url}/connections`)
    const sandbox = page.getByRole('link', { name: 'Sandbox' })
    expect(await sandbox.isVisible()).toBe(false)
    await page.getByText('Developers', { exact: true }).click()
    await inspect(page, false)
    await sandbox.click()
    await page.waitForURL(`${app.platform}/**`)
  })

  test.each(['/', '/connect'])(
    'the first page of a connect, %s, needs at most four requests, and little of a slow line',
    async (path) => {
      const { page, close } = await openPage(browser)
      onTestFinished(close)
      const bodies: Buffer[] = []
      page.on('requestfinished', async (request) =>
        bodies.push((await (await request.response())?.body()) ?? Buffer.of()),
      )
      await page.goto(app.url + path, { waitUntil: 'networkidle' })
      expect(bodies.length).toBeLessThanOrEqual(4)
      const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
      expect(bytes).toBeLessThan(UNCOMPRESSED)
      expect(bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)).toBeLessThan(COMPRESSED)
    },
  )
})
