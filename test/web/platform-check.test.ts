import { afterEach, expect, test } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { connected, signedIn } from '../support/flow.ts'
import { freePort } from '../support/ports.ts'
import type { Visitor } from '../support/visitor.ts'

let app: Running
afterEach(() => app.close())

const JSON_TYPE = { accept: 'application/json' }
const call = (visitor: Visitor) => visitor.get(`${app.url}/connections/harbour-homes/probe`, JSON_TYPE)

test('when the last calls failed and the platform does not answer, Connect stays on a page of the app', async () => {
  const dead = `http://127.0.0.1:${await freePort()}`
  app = await startAll({ PLATFORM_APP_URL: dead })
  const ann = await signedIn(app)
  const tokens = { accessToken: 'a', refreshToken: 'r', expiresIn: 3600, scopes: ['leads', 'catalogues'] }
  await app.services.connect.vault.connect({ userId: 'ann', bxcontext: 'harbour-homes' }, tokens)
  await app.fault('probe', '500', 10)
  expect((await call(ann)).json()).toMatchObject({ code: 'platform_unavailable' })
  const stayed = await ann.post(`${app.url}/connect`)
  expect(stayed.status).toBe(503)
  expect(stayed.text).toMatch(/isn(&#39;|')t responding[\s\S]*action="\/connect"[\s\S]*Try again/)
})

test('when the last calls failed but the platform answers, Connect goes there', async () => {
  app = await startAll()
  const visitor = await connected(app)
  await app.fault('probe', '500', 10)
  await call(visitor)
  expect((await visitor.post(`${app.url}/connect`)).headers.get('location')).toContain('/oauth2.html')
})

test('when the last calls succeeded, Connect does not look first', async () => {
  app = await startAll({ PLATFORM_APP_URL: `http://127.0.0.1:${await freePort()}` })
  const ann = await signedIn(app)
  expect((await ann.post(`${app.url}/connect`)).status).toBe(303)
})
