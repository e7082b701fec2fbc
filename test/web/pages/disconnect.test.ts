import { expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp, startAll } from '../../support/app.ts'
import { aMinuteApart, connected, newUser } from '../../support/flow.ts'
import { around, expectInOrder, shown } from '../../support/pages.ts'
import { serve } from '../../support/ports.ts'

const JSON_TYPE = { accept: 'application/json' }

test('disconnecting ends the consent on a platform that has a revocation endpoint', async () => {
  const app = await startAll(({ authUrl }) => ({ PLATFORM_REVOCATION_URL: `${authUrl}/oauth/revoke` }))
  const visitor = await connected(app)
  const consents = async () => (await visitor.get(`${app.platform}/connected-apps`)).text
  expect(await consents()).toContain('Revoke')
  const answer = await visitor.post(`${app.url}/connections/harbour-homes/disconnect`, JSON_TYPE)
  expect(answer.json()).toEqual({ connection: null, consent: 'revoked' })
  expect(await consents()).not.toContain('>Revoke')
  await app.close()
})

test('addresses of the platform are used as they were typed, with a closing slash, a query and a #', async () => {
  const asked: (string | undefined)[] = []
  const endpoint = await serve((req, res) => {
    asked.push(req.url)
    res.end()
  })
  const path = '/o/revoke_token/?tenant=1'
  const app = await startAll(() => ({
    PLATFORM_REVOCATION_URL: `http://127.0.0.1:${endpoint.port}${path}`,
    PLATFORM_CONNECTED_APPS_URL: 'https://app.example/settings/?tab=apps#connected',
  }))
  const visitor = await connected(app)
  const card = (await visitor.get(`${app.url}/connections`)).text
  expect(card).toContain('<a href="https://app.example/settings/?tab=apps#connected">')
  await visitor.post(`${app.url}/connections/harbour-homes/disconnect`, JSON_TYPE)
  expect(asked).toEqual([path])
  await app.close()
  await endpoint.close()
})

const app = await sharedApp()
const [before = '', after = ''] = texts.disconnect.lead(['Probe']).split('Probe')

test('asks once: names the business and what stops working, and changes nothing', async () => {
  const visitor = await connected(app, { name: newUser() })
  const page = await visitor.get(`${app.url}/connections/harbour-homes/disconnect`)
  expect(page.text).toContain(`<h1>${shown(texts.disconnect.title('Harbour Homes'))}</h1>`)
  expectInOrder(page.text, before, 'Probe', after)
  expect(page.text).not.toContain(around((team) => texts.disconnect.team(team, null))[1])
  const { items: connections } = (await visitor.get(`${app.url}/connections`, JSON_TYPE)).json()
  expect(connections).toMatchObject([{ bxcontext: 'harbour-homes', status: 'active' }])
  const other = await visitor.get(`${app.url}/connections/elsewhere/disconnect`, JSON_TYPE)
  expect(other.json()).toMatchObject({ status: 404, code: 'not_connected' })
})

test('a connection whose access has ended is removed, and nothing stops working by that', async () => {
  const visitor = await connected(app, { name: newUser() })
  await app.sandbox('revoke')
  await aMinuteApart(() => visitor.get(`${app.url}/connections/harbour-homes/probe`))
  const page = await visitor.get(`${app.url}/connections/harbour-homes/disconnect`)
  expect(page.text).toContain(`<h1>${shown(texts.disconnect.remove.title('Harbour Homes'))}</h1>`)
  expect(page.text).not.toContain(shown(after))
})

test('the business can be connected again with one button', async () => {
  const visitor = await connected(app, { name: newUser() })
  const page = await visitor.follow(await visitor.post(`${app.url}/connections/harbour-homes/disconnect`))
  expect(page.text).toContain(shown(texts.notices.disconnected.remains('Harbour Homes')))
  const [, button] = /name="bxcontext" value="harbour-homes"><button[^>]*>([^<]*)/.exec(page.text) ?? []
  expect(button).toBe(shown(texts.notices.connectAgain))
})

test('without one, the page says that the consent remains, and links to where it is withdrawn', async () => {
  const visitor = await connected(app, { name: newUser() })
  const card = (await visitor.get(`${app.url}/connections`)).text
  expect(card).toContain(
    `<a href="${app.platform}/connected-apps">${shown(texts.connection.connectedApps)}</a>`,
  )
  const page = await visitor.follow(await visitor.post(`${app.url}/connections/harbour-homes/disconnect`))
  expect(page.text).toContain(shown(texts.notices.disconnected.remains('Harbour Homes')))
  expect(page.text).toContain(
    `<a href="${app.platform}/connected-apps">${shown(texts.notices.withdrawThere)}</a>`,
  )
})

test('a disconnect that is done is not reported as failed when the connection cannot be read after it', async () => {
  const visitor = await connected(app, { name: newUser() })
  vi.spyOn(app.services.connect.vault, 'find').mockRejectedValue(new StoreUnavailableError('a fault'))
  const answer = await visitor.post(`${app.url}/connections/harbour-homes/disconnect`, JSON_TYPE)
  expect([answer.status, answer.json()]).toEqual([200, { connection: null, consent: 'remains' }])
})
