import { expect, test } from 'vitest'
import { sharedApp, startAll } from '../../support/app.ts'
import { connected, newUser, toConsent } from '../../support/flow.ts'

const app = await sharedApp()

const turn = (on: boolean) => ({ form: { on: String(on) } })

test('one switch hides the navigation for developers, and shows it again', async () => {
  const visitor = await connected(app, { name: newUser() })
  const developersLinks = app.services.parts.flatMap(({ navigation = [] }) => navigation)
  const page = async () => (await visitor.get(`${app.url}/connections`)).text
  const shown = async () => {
    const text = await page()
    return developersLinks.filter(({ href }) => text.includes(`<a href="${href}">`))
  }
  expect(await shown()).toEqual(developersLinks)
  await visitor.post(`${app.url}/customer-view`, turn(true))
  expect(await shown()).toEqual([])
  expect(await page()).not.toMatch(/step by step|>Tokens<|Refresh token|Access token expires/i)
  expect(await page()).toContain('Show the pages for developers')
  await visitor.post(`${app.url}/customer-view`, turn(false))
  expect(await shown()).toEqual(developersLinks)
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
  expect((await visitor.get(`${alone.url}/connections`)).text).not.toContain('pages for developers')
  expect((await visitor.post(`${alone.url}/customer-view`, turn(true))).status).toBe(404)
  await alone.close()
})
