import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { openChromium, openPage, startWalk, takeSession } from '../../support/chromium.ts'
import { connected, logIn, signedIn } from '../../support/flow.ts'
import { CHROMIUM, withChromium } from '../../support/programs.ts'
import { latestFlow } from './support.ts'

describe.skipIf(!CHROMIUM)(`in Chromium${withChromium}`, () => {
  let browser: Browser
  let app: Running
  beforeAll(async () => {
    ;[browser, app] = await Promise.all([openChromium(), startAll()])
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  test('flows, steps and the presenter view are accessible and fit in every window', async () => {
    const { page, complaints, look, inspectWithoutScripts, close } = await startWalk(browser, {
      maxBytes: 60_000,
    })
    const bea = await connected(app, { name: 'bea' })
    const { id } = await latestFlow(app, bea, 'connect')
    await takeSession(page, app, bea)
    for (const path of ['/flows', `/flows/${id}`, `/flows/${id}/steps/8`, `/flows/${id}/present/8`]) {
      await page.goto(app.url + path)
      if (path === `/flows/${id}`) await page.locator('details summary').nth(7).click()
      await look()
    }
    await inspectWithoutScripts()
    expect(complaints).toEqual([])
    await close()
  })

  test('the arrow keys walk through the steps, and through the presented ones without leaving the page', async () => {
    const { page, close } = await openPage(browser, { viewport: { width: 1280, height: 720 } })
    const cleo = await connected(app, { name: 'cleo' })
    const { id } = await latestFlow(app, cleo, 'connect')
    await takeSession(page, app, cleo)
    await page.goto(`${app.url}/flows/${id}`)
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(/\/steps\/1$/)
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(/\/steps\/2$/)
    await page.keyboard.press('ArrowLeft')
    await page.waitForURL(/\/steps\/1$/)

    await page.goto(`${app.url}/flows/${id}/present/1`)
    await page.evaluate('window.stays = true')
    await page.keyboard.press('ArrowRight')
    await page.getByText(/^\s*2 \/ \d+$/).waitFor()
    expect(await page.evaluate('window.stays')).toBe(true)
    expect(page.url()).toMatch(/\/present\/2$/)
    // Large enough to read from the back of a room.
    const size = await page.evaluate("parseFloat(getComputedStyle(document.querySelector('h1')).fontSize)")
    expect(size).toBeGreaterThan(40)
    await close()
  })

  test.each([
    { width: 1280, height: 720 },
    { width: 1920, height: 1080 },
  ])(
    'at $width×$height, each presented step fits, and its arrow is in view below the headings of the lanes',
    async (viewport) => {
      const { page, close } = await openPage(browser, { viewport })
      const gus = await connected(app, { name: 'gus' })
      const { id, steps } = await latestFlow(app, gus, 'connect')
      await takeSession(page, app, gus)
      for (const { number } of steps) {
        await page.goto(`${app.url}/flows/${id}/present/${number}`)
        const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
        expect(height, `step ${number}`).toBeLessThanOrEqual(viewport.height)
        const boxOf = async (selector: string) =>
          (await page.locator(`.presenting ${selector}`).boundingBox()) ?? { y: 0, height: 0 }
        const diagram = await boxOf('.diagram')
        const headings = await boxOf('.sequence-lanes')
        const active = await boxOf('.sequence-step.active')
        expect(headings.y, `step ${number}`).toBeGreaterThanOrEqual(diagram.y)
        expect(active.y, `step ${number}`).toBeGreaterThanOrEqual(headings.y + headings.height - 1)
        expect(active.y + active.height, `step ${number}`).toBeLessThanOrEqual(diagram.y + diagram.height)
        expect(diagram.y + diagram.height, `step ${number}`).toBeLessThanOrEqual(viewport.height)
      }
      // Scrolled to its end, the diagram still shows the names of its lanes.
      await page.locator('.presenting .diagram').evaluate('(diagram) => diagram.scrollTo(0, 10000)')
      const [diagram, headings] = await Promise.all([
        page.locator('.presenting .diagram').boundingBox(),
        page.locator('.presenting .sequence-lanes').boundingBox(),
      ])
      expect((headings?.y ?? 0) - (diagram?.y ?? 0)).toBeLessThan(5)
      await close()
    },
  )

  test('a presentation prints as a handout, one step a row', async () => {
    const { page, close } = await openPage(browser)
    const edda = await connected(app, { name: 'edda' })
    const { id } = await latestFlow(app, edda, 'connect')
    await takeSession(page, app, edda)
    await page.goto(`${app.url}/flows/${id}/present/1`)
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.handout tbody tr').count()).toBeGreaterThan(10)
    expect(await page.locator('.handout').isVisible()).toBe(true)
    expect(await page.locator('main').isVisible()).toBe(false)
    await close()
  })

  test('on a phone, a flow is a list of its steps from top to bottom, without a diagram that is cut off', async () => {
    const { page, close } = await openPage(browser, { viewport: { width: 375, height: 700 } })
    const fred = await connected(app, { name: 'fred' })
    const { id } = await latestFlow(app, fred, 'connect')
    await takeSession(page, app, fred)
    await page.goto(`${app.url}/flows/${id}`)
    expect(await page.locator('.diagram').isVisible()).toBe(false)
    expect(await page.locator('.flow-steps li').count()).toBeGreaterThan(10)
    await close()
  })

  test('an open flow grows while it runs', async () => {
    const dora = await signedIn(app, 'dora')
    await logIn(app, dora)
    const started = await dora.post(`${app.url}/connect`)
    const { page, close } = await openPage(browser)
    await takeSession(page, app, dora)
    await page.goto(`${app.url}/flows`)
    await page.getByText('in progress', { exact: true }).waitFor()
    await page.locator('.flows a').first().click()
    const start = await dora.follow(started)
    await page.locator('.flow-steps').getByText('login and start page').waitFor()
    const redirectUrl = new URL(start.url).searchParams.get('redirectUrl') ?? ''
    const form = { redirectUrl, bxcontext: 'harbour-homes' }
    await dora.follow(await dora.post(`${app.platform}/oauth2.html`, { form }))
    await page.locator('.flow-steps').getByText("The platform's consent page").waitFor()
    await close()
  })
})
