import { expect, test, vi } from 'vitest'
import {
  type Api,
  createApi,
  createHttp,
  platform,
  type TokenSource,
  type Tokens,
} from '../../../src/connect/index.ts'
import { testConnection } from '../../../src/web/pages/connection-actions.ts'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp, startAll } from '../../support/app.ts'
import { connectionsOf, newUser, SCOPES, signedIn } from '../../support/flow.ts'
import { shown } from '../../support/pages.ts'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, consent, REF } from '../../support/vault.ts'

const { catalogues, leads } = platform.scopes

const app = await sharedApp()
const TOKENS = '/auth/oauth/token'

/** A signed-in user with a connection to `b` whose tokens the sandbox does not know. */
async function withUnknownTokens(granted: Partial<Tokens> = {}) {
  const ref = { userId: newUser(), bxcontext: 'b' }
  await consent(app.services.connect.vault, granted, ref)
  return { ref, visitor: await signedIn(app, ref.userId) }
}

test('a platform that refuses access without saying why: 409, and a card with since when, Reconnect and Check now', async () => {
  const { visitor } = await withUnknownTokens()
  app.answer(TOKENS, { status: 400, text: '{"error":"invalid_request"}' })
  const called = await visitor.get(`${app.url}/connections/b/probe`, { accept: 'application/json' })
  expect(called).toMatchObject({ status: 409 })
  expect(called.json()).toMatchObject({ code: 'connection_revoked', revokedAt: expect.any(String) })
  expect(await connectionsOf(app, visitor)).toMatchObject([
    { status: 'revoked', revokedAt: called.json().revokedAt },
  ])
  const { text } = await visitor.get(`${app.url}/connections`)
  const [, since] = text.split(`<dt>${shown(texts.connection.accessRefused)}</dt>`)
  expect(since).toMatch(/^\s*<dd><time[^>]*datetime="20/)
  expect(text.match(/<button name="do" class="primary">(.*?)<\/button>/g)?.join()).toContain(
    shown(texts.connection.reconnect),
  )
  expect(text).toContain(`<button name="do">${shown(texts.connection.checkNow)}</button>`)
})

test('an outage offers Reconnect as well, once the API has rejected the access token', async () => {
  const { visitor } = await withUnknownTokens()
  app.answer(TOKENS, { status: 503, text: '' })
  expect(await visitor.get(`${app.url}/connections/b/probe`)).toMatchObject({ status: 503 })
  expect(await connectionsOf(app, visitor)).toMatchObject([
    { status: 'degraded', canReconnect: true, canTest: true },
  ])
  const { text } = await visitor.get(`${app.url}/connections`)
  expect(text).toContain(`<button name="do" class="primary">${shown(texts.connection.test)}</button>`)
  expect(text).toContain(`<button name="do">${shown(texts.connection.reconnect)}</button>`)
})

test('Check now asks for a new token first, although refreshing is paused', async () => {
  const setup = await connectedSetup()
  setup.endpoint.answers(oauthError('invalid_request'))
  await setup.vault
    .tokenSource(REF)
    .refresh('access-0')
    .catch(() => {})
  setup.later(5.1)
  setup.endpoint.answers(tokens({ access_token: 'again' }))
  const api = createApi({ platform, baseUrl: 'http://localhost:1', http: createHttp() })
  const run = async (_api: Api, source: TokenSource) => ({
    summary: `Works: ${await source.accessToken()}.`,
    call: 'GET /leads',
  })
  expect(await testConnection({ vault: setup.vault, api }, [{ scope: leads, run }], REF)).toMatchObject({
    summary: 'Works: again.',
  })
  await setup.close()
})

test('a connection without a refresh token says on its card and in the log when it ends', async () => {
  const granted = { scopes: SCOPES, refreshToken: undefined, expiresIn: 3600 }
  const { visitor } = await withUnknownTokens(granted)
  const [{ summary, status }] = await connectionsOf(app, visitor)
  const [until = ''] = /20\d\d-\d\d-\d\dT[\d:.]+Z/.exec(summary) ?? []
  expect({ status, summary }).toEqual({ status: 'active', summary: texts.summary.readyUntil(until) })
  const line = app.logLines.findLast((text) => text.includes('no refresh token')) ?? '{}'
  expect(JSON.parse(line)).toMatchObject({
    level: 'warn',
    msg: expect.stringContaining('offline_access'),
  })
})

test('a connection without a refresh token whose time is over says so, and not that the user revoked it', async () => {
  const { visitor, ref } = await withUnknownTokens({ refreshToken: undefined, expiresIn: 1 })
  const { vault } = app.services.connect
  await vi.waitFor(() => expect(vault.accessToken(ref)).rejects.toMatchObject({ code: 'connection_revoked' }))
  expect(await connectionsOf(app, visitor)).toMatchObject([
    { status: 'revoked', revokedReason: texts.revocation.expired },
  ])
})

test('offline_access is no permission that could be missing', async () => {
  const other = await startAll({ PLATFORM_SCOPES: `${catalogues} ${leads} offline_access` })
  const visitor = await signedIn(other)
  await consent(other.services.connect.vault, {}, { userId: 'ann', bxcontext: 'b' })
  expect(await connectionsOf(other, visitor)).toMatchObject([{ status: 'active', missingScopes: [] }])
  await other.close()
})
