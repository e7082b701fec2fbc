import { describe, expect, test } from 'vitest'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp, startAll } from '../../support/app.ts'
import { connected, newUser, toConsent } from '../../support/flow.ts'
import { shown } from '../../support/pages.ts'

const app = await sharedApp()

const turn = (on: boolean) => ({ form: { on: String(on) } })

test('one switch hides the navigation for developers, and shows it again', async () => {
  const visitor = await connected(app, { name: newUser() })
  const developersLinks = app.services.parts.flatMap(({ navigation = [] }) => navigation)
  const page = async () => (await visitor.get(`${app.url}/connections`)).text
  const linked = async () => {
    const text = await page()
    return developersLinks.filter(({ href }) => text.includes(`<a href="${href}">`))
  }
  expect(await linked()).toEqual(developersLinks)
  await visitor.post(`${app.url}/customer-view`, turn(true))
  expect(await linked()).toEqual([])
  expect(await page()).not.toMatch(/step[ -]by[ -]step|>Tokens<|Refresh token|Access token expires/i)
  expect(await page()).toContain(shown(texts.layout.showDeveloperPages))
  await visitor.post(`${app.url}/customer-view`, turn(false))
  expect(await linked()).toEqual(developersLinks)
})

describe('while the pages for developers are hidden', () => {
  /** The addresses of the pages for developers that need no other id. */
  const hidden = () => [
    ...app.services.parts
      .flatMap(({ routes = [] }) => routes)
      .flatMap(({ path, isForDevelopers }) => (isForDevelopers ? app.url + path : [])),
    `${app.platform}/sandbox/faults`,
  ]

  /** A visitor from whom the pages for developers are hidden, in the app and in the sandbox. */
  async function customer() {
    const visitor = await connected(app, { name: newUser() })
    await visitor.post(`${app.url}/customer-view`, turn(true))
    visitor.cookies.get(new URL(app.platform).host)?.set('customer_view', '1')
    return visitor
  }

  test('no page that a user reaches links to one, or shows what was called', async () => {
    const visitor = await customer()
    const denied = await visitor.post((await toConsent(app, visitor)).url, { form: { answer: 'deny' } })
    await app.fault('probe', '500', 1)
    const pages = [
      await visitor.follow(await visitor.post(`${app.url}/connections/harbour-homes/test`)),
      await visitor.get(`${app.url}/connections/harbour-homes/probe`),
      await visitor.follow(await visitor.post(`${app.url}/connections/harbour-homes/test`)),
      await visitor.follow(denied),
      await visitor.get(app.platform),
    ]
    const seen = new Set<string>()
    for (const { url, text } of pages) {
      const hrefs = [...text.matchAll(/<a [^>]*href="([^"#]+)/g)].map(
        ([, href = '']) => new URL(href, url).href,
      )
      for (const href of hrefs)
        expect(
          hidden().filter((page) => href.startsWith(page)),
          url,
        ).toEqual([])
      expect(text, url).not.toContain(shown(texts.layout.calls))
      for (const href of hrefs) {
        // One page of each kind is enough, such as one lead and one page of a list.
        const kind = href.replace(/\?.*/, '').replace(/\/[^/]*\d[^/]*(?=\/|$)/g, '/:id')
        if (seen.has(kind) || ![app.url, app.platform].includes(new URL(href).origin)) continue
        seen.add(kind)
        pages.push(await visitor.get(href))
      }
    }
    expect(seen.size).toBeGreaterThan(4)
  })

  test('each of them is 404, and is there again when they are shown', async () => {
    const visitor = await customer()
    for (const url of hidden()) expect((await visitor.get(url)).status, url).toBe(404)
    await visitor.post(`${app.url}/customer-view`, turn(false))
    visitor.cookies.get(new URL(app.platform).host)?.delete('customer_view')
    for (const url of hidden()) expect((await visitor.get(url)).status, url).toBe(200)
  })
})

test('the sandbox hides its control page, too: cookies do not depend on the port', async () => {
  const headers = { accept: 'text/html', cookie: 'customer_view=1' }
  const page = await (await fetch(app.platform, { headers })).text()
  expect(page).not.toContain('/sandbox/faults')
  expect(await (await fetch(app.platform)).text()).toContain('/sandbox/faults')
})

test('a consent page shows the decision, and no navigation', async () => {
  const visitor = await connected(app, { name: newUser() })
  expect((await toConsent(app, visitor)).text).not.toContain('<nav')
})

test('without the sandbox there is no switch', async () => {
  const alone = await startAll({ SANDBOX_URL: '' })
  const visitor = await connected(alone)
  const { text } = await visitor.get(`${alone.url}/connections`)
  expect(text).not.toContain(shown(texts.layout.hideDeveloperPages))
  expect((await visitor.post(`${alone.url}/customer-view`, turn(true))).status).toBe(404)
  await alone.close()
})
