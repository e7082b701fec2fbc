import { afterEach, expect, test, vi } from 'vitest'
import { type Api, createApi, createHttp, platform, type TokenSource } from '../../src/connect/index.ts'
import { testConnection } from '../../src/web/connection-actions.ts'
import { type Running, startAll } from '../support/app.ts'
import { connectionsOf, SCOPES, signedIn } from '../support/flow.ts'
import { startTokenEndpoint, type TokenEndpoint, tokens } from '../support/token-endpoint.ts'
import { connectedSetup, consent, REF } from '../support/vault.ts'

const REF_B = { userId: 'ann', bxcontext: 'b' }

let endpoint: TokenEndpoint | undefined
let app: Running | undefined
afterEach(async () => {
  await app?.close()
  await endpoint?.close()
  endpoint = app = undefined
})

test('a platform that refuses access without saying why: 409, and a card with since when, Reconnect and Check now', async () => {
  endpoint = await startTokenEndpoint()
  app = await startAll({ PLATFORM_AUTH_URL: endpoint.authUrl })
  const ann = await signedIn(app)
  // The sandbox's API does not know this token.
  await consent(app.services.connect.vault, {}, REF_B)
  endpoint.answers({ status: 400, text: '' })
  const called = await ann.get(`${app.url}/connections/b/probe`, { accept: 'application/json' })
  expect(called).toMatchObject({ status: 409 })
  expect(called.json()).toMatchObject({ code: 'connection_revoked', revokedAt: expect.any(String) })
  expect(await connectionsOf(app, ann)).toMatchObject([
    { status: 'revoked', revokedAt: called.json().revokedAt },
  ])
  const { text } = await ann.get(`${app.url}/connections`)
  expect(text).toMatch(/<dt>Access refused<\/dt>\s*<dd><time[^>]*datetime="20/)
  expect(text.match(/<button name="do" class="primary">(.*?)<\/button>/g)?.join()).toContain('Reconnect')
  expect(text).toContain('<button name="do">Check now</button>')
})

test('an outage offers Reconnect as well, once the API has rejected the access token', async () => {
  endpoint = await startTokenEndpoint()
  app = await startAll({ PLATFORM_AUTH_URL: endpoint.authUrl })
  const ann = await signedIn(app)
  // The sandbox's API does not know this token.
  await consent(app.services.connect.vault, {}, REF_B)
  endpoint.answers({ status: 503, text: '' })
  expect(await ann.get(`${app.url}/connections/b/probe`)).toMatchObject({ status: 503 })
  expect(await connectionsOf(app, ann)).toMatchObject([
    { status: 'degraded', canReconnect: true, canTest: true },
  ])
  const { text } = await ann.get(`${app.url}/connections`)
  expect(text).toContain('<button name="do" class="primary">Test this connection</button>')
  expect(text).toContain('<button name="do">Reconnect</button>')
})

test('Check now asks for a new token first, although refreshing is paused', async () => {
  const setup = await connectedSetup()
  setup.endpoint.answers({ status: 400, text: '' })
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
  expect(await testConnection({ vault: setup.vault, api }, [{ scope: 'leads', run }], REF)).toMatchObject({
    summary: 'Works: again.',
  })
  await setup.close()
})

test('a connection without a refresh token says on its card and in the log when it ends', async () => {
  app = await startAll()
  const ann = await signedIn(app)
  const granted = { scopes: SCOPES, refreshToken: undefined, expiresIn: 3600 }
  await consent(app.services.connect.vault, granted, REF_B)
  const [{ summary, status }] = await connectionsOf(app, ann)
  expect({ status, summary }).toEqual({
    status: 'active',
    summary: expect.stringMatching(
      /^Ready to use until 20\d\d-\d\d-\d\dT[\d:.]+Z\. The platform does not let the app renew this access/,
    ),
  })
  const line = app.logLines.map((text) => JSON.parse(text)).find(({ msg }) => /no refresh token/.test(msg))
  expect(line).toMatchObject({
    level: 'warn',
    msg: expect.stringContaining('offline_access'),
  })
})

test('a connection without a refresh token whose time is over says so, and not that the user revoked it', async () => {
  app = await startAll()
  const ann = await signedIn(app)
  const { vault } = app.services.connect
  await consent(vault, { refreshToken: undefined, expiresIn: 1 }, REF_B)
  await vi.waitFor(() =>
    expect(vault.accessToken(REF_B)).rejects.toMatchObject({ code: 'connection_revoked' }),
  )
  expect(await connectionsOf(app, ann)).toMatchObject([
    { status: 'revoked', revokedReason: expect.stringContaining('limited time') },
  ])
})

test('offline_access is no permission that could be missing', async () => {
  app = await startAll({ PLATFORM_SCOPES: 'catalogues leads offline_access' })
  const ann = await signedIn(app)
  await consent(app.services.connect.vault, {}, REF_B)
  expect(await connectionsOf(app, ann)).toMatchObject([{ status: 'active', missingScopes: [] }])
})
