import { type RequestHandler, Router } from 'express'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createApp, partsOf } from '../../../src/app.ts'
import { routesOf } from '../../../src/cli/routes.ts'
import type { Part } from '../../../src/web/feature.ts'
import { connectionRef } from '../../../src/web/pages/connection-guard.ts'
import { sharedApp } from '../../support/app.ts'
import { aMinuteApart, connected, newUser, signedIn } from '../../support/flow.ts'
import { serve } from '../../support/ports.ts'
import type { Visitor } from '../../support/visitor.ts'

const JSON_TYPE = { accept: 'application/json' }
const app = await sharedApp()
let own: Awaited<ReturnType<typeof serve>> | undefined
afterEach(async () => {
  await own?.close()
  own = undefined
})

/** Starts the app with another feature, which has this part and a link to it. Resolves to the app's address. */
async function withPart(part: Part): Promise<string> {
  const feature = { routes: [part], navigation: [{ href: part.path, label: 'Added' }] }
  own = await serve(createApp({ ...app.services, parts: [feature, ...app.services.parts] }))
  return `http://localhost:${own.port}`
}

/** A signed-in visitor of both apps, with a connection. */
async function connectedAt(url: string, name = newUser()) {
  await connected(app, { name })
  return signedIn({ url, platform: app.platform }, name)
}

const answering: RequestHandler = (req, res) => void res.json({ at: req.originalUrl })

describe('a middleware of an owner', () => {
  test.each([
    '/connections/harbour-homes/probe',
    '/Connections/harbour%2Dhomes/Probe/',
    '/connections/harbour-homes/probe/P1',
    '/connections/x/unknown',
  ])('on /connections/*rest is called for %s', async (path) => {
    const url = await withPart({
      path: '/connections/*rest',
      needsConnection: false,
      router: Router().use(answering),
    })
    const visitor = await signedIn({ url, platform: app.platform }, newUser())
    expect((await visitor.get(url + path)).json()).toEqual({ at: path })
  })
})

describe('what a feature mounts below a connection', () => {
  const routes = partsOf(app.services)
    .features.filter(({ path }) => path.startsWith('/connections/:bxcontext/'))
    .flatMap(routesOf)
    .flatMap(({ path, route }) => route.stack.map(({ method }) => `${method} ${path}`))
  const asked = [...new Set(routes)].filter((route) => !route.startsWith('head '))

  /** What each route answers a visitor. */
  const answersTo = (visitor: Visitor) =>
    Promise.all(
      asked.map(async (route) => {
        const [method, path = ''] = route.split(' ')
        const url = app.url + path.replace(':bxcontext', 'harbour-homes').replaceAll(/:\w+/g, '1')
        const answer = await (method === 'get' ? visitor.get(url, JSON_TYPE) : visitor.post(url, JSON_TYPE))
        return [route, answer.status, answer.json().code]
      }),
    )
  const all = (status: number, code: string) => asked.map((route) => [route, status, code])

  test('is not asked for a connection of another user, or one that was disconnected', async () => {
    const owner = await connected(app, { name: newUser() })
    const other = await signedIn(app, newUser())
    expect(await answersTo(other)).toEqual(all(404, 'not_connected'))
    await owner.post(`${app.url}/connections/harbour-homes/disconnect`)
    expect(await answersTo(owner)).toEqual(all(404, 'not_connected'))
  })

  test('is not asked once access has ended; then the connection can still be tested and disconnected', async () => {
    const userId = newUser()
    const visitor = await connected(app, { name: userId })
    await app.sandbox('revoke')
    await aMinuteApart(async () => {
      const refreshed = app.services.connect.vault.refresh({ userId, bxcontext: 'harbour-homes' })
      await expect(refreshed).rejects.toMatchObject({ code: 'connection_revoked' })
    })
    expect(await answersTo(visitor)).toEqual(all(409, 'connection_revoked'))
    const act = (name: string) => visitor.post(`${app.url}/connections/harbour-homes/${name}`, JSON_TYPE)
    expect((await act('test')).json()).toMatchObject({ code: 'connection_revoked' })
    expect((await act('disconnect')).status).toBe(200)
  })

  test('is asked after one read through the cache to read, and of the store to change something', async () => {
    const path = '/connections/:bxcontext/guarded'
    const url = await withPart({ path, needsConnection: true, router: Router().use(answering) })
    const visitor = await connectedAt(url)
    const required = vi.spyOn(app.services.connect.vault, 'requireConnection')
    await visitor.get(`${url}/connections/harbour-homes/guarded`)
    await visitor.post(`${url}/connections/harbour-homes/guarded`)
    expect(required.mock.calls.map(([, how]) => how)).toEqual([{ cached: true }, { cached: false }])
  })

  test('is not asked either where the path of the part is that of the connection', async () => {
    const router = Router().get('/notes', answering)
    const url = await withPart({ path: '/connections/:bxcontext', needsConnection: true, router })
    const visitor = await signedIn({ url, platform: app.platform }, newUser())
    const answer = await visitor.get(`${url}/connections/harbour-homes/notes`, JSON_TYPE)
    expect(answer.json()).toMatchObject({ code: 'not_connected' })
  })
})

test('a part that does not need the connection has none, wherever it is, and an error tells its developer what to change', async () => {
  const router = Router().get('/', (req, res) => void res.json(connectionRef(req)))
  const path = '/connections/:bxcontext/reports'
  const url = await withPart({ path, needsConnection: false, router })
  const visitor = await connectedAt(url)
  expect((await visitor.get(`${url}/connections/harbour-homes/reports`)).status).toBe(500)
  expect(() => connectionRef({})).toThrow('needsConnection: true')
})

test('a page of a mounted router marks its item in the menu', async () => {
  const page: RequestHandler = (_req, res) => res.page('app/home', { title: 'Reports', requestedScopes: [] })
  const url = await withPart({ path: '/reports', needsConnection: false, router: Router().get('/', page) })
  const visitor = await signedIn({ url, platform: app.platform }, newUser())
  const { text } = await visitor.get(`${url}/reports?year=1`)
  expect(text).toMatch(/<a href="\/reports" aria-current="page">/)
})

test('the log has the template of a route, in its own letters, and no bxcontext', async () => {
  const router = Router().get('/:id', answering)
  const url = await withPart({ path: '/connections/:bxcontext/reports', needsConnection: true, router })
  const visitor = await connectedAt(url)
  const from = app.logLines.length
  await visitor.get(`${url}/Connections/harbour-homes/Reports/7/`)
  await visitor.get(`${app.url}/CONNECTIONS/harbour-homes/probe`, JSON_TYPE)
  await visitor.get(`${url}/connections/nowhere/reports/7`)
  await vi.waitFor(() => expect(app.logLines.length).toBeGreaterThanOrEqual(from + 3))
  const lines = app.logLines.slice(from).join('')
  expect(lines).toContain('"route":"/connections/:bxcontext/reports/:id"')
  expect(lines).toMatch(/"route":"\(none\)","status":404/)
  expect(lines).not.toMatch(/harbour|nowhere/)
})
