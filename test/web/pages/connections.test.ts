import { describe, expect, test } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { platform, type TokenSource } from '../../../src/connect/index.ts'
import type { ConnectionTest } from '../../../src/web/pages/connection-actions.ts'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp } from '../../support/app.ts'
import { connected, connectionsOf, newUser, SCOPES, signedIn, toCallback } from '../../support/flow.ts'
import { shown } from '../../support/pages.ts'
import { serve } from '../../support/ports.ts'
import { consent } from '../../support/vault.ts'
import { createVisitor, type Visitor } from '../../support/visitor.ts'

const { catalogues, leads } = platform.scopes

const app = await sharedApp()

const JSON_TYPE = { accept: 'application/json' }
const at = (path: string, url = app.url) => `${url}/connections/harbour-homes${path}`

/** The same app with other features, and the visitor's session there. */
async function withTests(connectionTests: (ConnectionTest | undefined)[], visitor: Visitor) {
  const features = connectionTests.map((connectionTest, order) => ({
    ...{ name: `${order}`, folder: `${order}`, title: '', order },
    ...(connectionTest && { connectionTest }),
  }))
  const { server, port, close } = await serve()
  server.on('request', createApp({ ...app.services, features }))
  const host = `localhost:${port}`
  visitor.cookies.set(host, visitor.cookies.get(new URL(app.url).host) ?? new Map())
  return { url: `http://${host}`, close }
}

const testOf = (scope: string) => ({
  scope,
  run: async () => ({ summary: `Works: ${scope}.`, call: `GET /${scope}` }),
})

test('who is signed out gets 401, whatever the body', async () => {
  const headers = { 'content-type': 'application/json' }
  for (const path of ['/disconnect', '/probe', '/nothing']) {
    const answer = await createVisitor().post(at(path), { text: '{"invalid":1}', ...JSON_TYPE, headers })
    expect(answer.json(), path).toMatchObject({ status: 401, code: 'unauthenticated' })
  }
})

describe('POST /connections/:bxcontext/test', () => {
  test('calls the API and answers what it answered, how long it took, and the connection', async () => {
    const visitor = await connected(app, { name: newUser() })
    const answer = await visitor.post(at('/test'), JSON_TYPE)
    expect(answer.json()).toEqual({
      ok: true,
      summary: expect.stringMatching(/\S/),
      call: expect.stringMatching(/^GET \/\w+/),
      ms: expect.any(Number),
      connection: expect.objectContaining({ status: 'active', lastUsedAt: expect.any(String) }),
    })
  })

  test('leaves a browser a notice that it works, and folded the call and the time', async () => {
    const visitor = await connected(app, { name: newUser() })
    const answer = await visitor.post(at('/test'))
    expect(answer.headers.get('location')).toBe('/connections')
    expect((await visitor.follow(answer)).text).toMatch(
      /class="notice"[^>]*>[^<]+<\/p><details>.*GET \/\w+, \d+ ms/,
    )
  })

  test('uses the first test whose scope is granted', async () => {
    const visitor = await signedIn(app, newUser())
    const form = { answer: 'accept', scope: catalogues }
    await visitor.get(await toCallback(app, visitor, { form }))
    const { url, close } = await withTests([undefined, testOf(leads), testOf(catalogues)], visitor)
    expect((await visitor.post(at('/test', url), JSON_TYPE)).json().summary).toBe(`Works: ${catalogues}.`)
    await close()
  })

  test('uses the first test if the platform names its scopes otherwise, and a call that works shows that nothing is missing', async () => {
    const name = newUser()
    const ref = { userId: name, bxcontext: 'harbour-homes' }
    const visitor = await signedIn(app, name)
    const { vault } = app.services.connect
    await consent(vault, { scopes: ['https://platform.example/all'] }, ref)
    expect(await connectionsOf(app, visitor)).toMatchObject([{ status: 'needs_consent' }])
    const run = async (_api: unknown, source: TokenSource) => {
      await source.accessToken()
      for (const scope of SCOPES) await source.noteCall({ result: 'ok', call: `GET ${scope}`, scope })
      return { summary: 'Works.', call: 'GET /leads' }
    }
    const { url, close } = await withTests([{ scope: 'leads', run }], visitor)
    const answer = (await visitor.post(at('/test', url), JSON_TYPE)).json()
    expect(answer).toMatchObject({ ok: true, connection: { status: 'active', missingScopes: [] } })
    await close()
  })

  test('refreshes the token if there is no test', async () => {
    const visitor = await connected(app, { name: newUser() })
    const { url, close } = await withTests([], visitor)
    expect((await visitor.post(at('/test', url), JSON_TYPE)).json()).toMatchObject({
      summary: texts.notices.worksRenewed,
      connection: { refreshedAt: expect.any(String) },
    })
    await close()
  })

  test('calls nothing if there is no test and no refresh token, and says so', async () => {
    const name = newUser()
    const visitor = await signedIn(app, name)
    const ref = { userId: name, bxcontext: 'harbour-homes' }
    await consent(app.services.connect.vault, { refreshToken: undefined }, ref)
    const { url, close } = await withTests([], visitor)
    expect((await visitor.post(at('/test', url), JSON_TYPE)).json()).toMatchObject({
      summary: texts.notices.worksUntilExpiry,
      call: null,
    })
    await close()
  })

  test('answers the error of the call', async () => {
    const visitor = await connected(app, { name: newUser() })
    await app.sandbox('expire')
    await app.fault('refresh', 'invalid_grant', 1)
    expect((await visitor.post(at('/test'), JSON_TYPE)).json()).toMatchObject({
      status: 409,
      code: 'connection_revoked',
    })
    expect(await connectionsOf(app, visitor)).toMatchObject([{ status: 'revoked' }])
  })
})

test('a pause that the platform asks for binds the buttons, and the page says until when', async () => {
  const visitor = await connected(app, { name: newUser() })
  await app.fault('refresh', '429', 50, 300)
  const before = (await app.calls()).length
  for (let press = 0; press < 50; press++) {
    const answer = await visitor.post(at('/refresh'), JSON_TYPE)
    expect(answer.json()).toMatchObject({ status: 503, code: 'platform_unavailable' })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(200)
  }
  expect(await app.calls()).toHaveLength(before + 1)
  await app.clear()
  const soon = (text: (seconds: number) => string) =>
    new RegExp(shown(text(777)).split('777').map(RegExp.escape).join('(29\\d|300)'))
  expect((await visitor.get(`${app.url}/connections`)).text).toMatch(soon(texts.connection.refreshHint))
  expect((await visitor.post(at('/refresh'))).text).toMatch(soon(texts.tryAgain))
})

test('a body that is nested by the thousand is 400, whatever reads it', async () => {
  const visitor = await connected(app, { name: newUser() })
  const deep = '['.repeat(15_000) + ']'.repeat(15_000)
  const headers = { 'content-type': 'application/json' }
  for (const accept of ['application/json', 'text/html'])
    for (const path of ['/label', '/refresh', '/probe'])
      expect((await visitor.post(at(path), { text: `{"label":${deep}}`, accept, headers })).status).toBe(400)
})

test('an open page learns that a connection has changed', async () => {
  const visitor = await connected(app, { name: newUser() })
  const { text } = await visitor.get(`${app.url}/connections`)
  const [, live] = /data-live="([^"]+)"/.exec(text) ?? []
  const versionOf = async () => (await visitor.get(app.url + live)).json().version
  const versions = [await versionOf(), await versionOf()]
  expect(versions[1]).toBe(versions[0])
  await visitor.post(at('/label'), { form: { label: 'Mine' } })
  versions.push(await versionOf())
  expect(new Set(versions).size).toBe(2)
})
