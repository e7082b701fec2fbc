import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SCOPES } from '../../src/sandbox/platform.ts'
import { type Running, startAll } from '../support/app.ts'
import { CLIENT } from '../support/env.ts'
import { connected, signedIn, toCallback, toConsent } from '../support/flow.ts'
import { startSandbox } from '../support/sandbox.ts'
import { probe } from '../support/sandbox-probe.ts'
import { createVisitor } from '../support/visitor.ts'

/** Both scopes of the platform, as a request names them. */
const BOTH = Object.values(SCOPES).join(' ')

let app: Running
beforeAll(async () => {
  app = await startAll({ PLATFORM_SCOPES: BOTH }, { simulated: [probe] })
})
afterAll(() => app.close())
beforeEach(() => fetch(`${app.platform}/sandbox/faults`, { method: 'DELETE' }))

const logIn = async (
  email = 'olivia@harbour.example',
  visitor = createVisitor(),
  platform = app.platform,
) => {
  await visitor.post(`${platform}/login`, { form: { email, password: 'sandbox' } })
  return visitor
}

/** Calls the token endpoint; leaves out undefined fields. */
async function token(fields: Record<string, string | undefined>) {
  const given = { client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, ...fields }
  const body = new URLSearchParams(
    Object.entries(given).filter(([, value]) => value !== undefined) as [string, string][],
  )
  const answer = await fetch(`${app.platform}/auth/oauth/token`, { method: 'POST', body })
  return { status: answer.status, body: (await answer.json()) as Record<string, string> }
}

/** The fields of a token request with a new code, without the app. */
async function code(bxcontext = 'harbour-homes') {
  const visitor = await logIn(undefined, await signedIn(app))
  const redirectUri = `${app.url}/connect/callback`
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT.clientId,
    redirect_uri: redirectUri,
    scope: BOTH,
    state: 's',
    bxcontext,
  })
  const consent = await visitor.follow(await visitor.get(`${app.platform}/auth/authorize?${query}`))
  const answered = await visitor.post(consent.url, {
    form: { answer: 'accept', scope: BOTH.split(' ') },
  })
  const callback = await visitor.follow(answered, redirectUri)
  return {
    grant_type: 'authorization_code',
    code: new URL(callback.url).searchParams.get('code') ?? '',
    redirect_uri: redirectUri,
    bxcontext,
  }
}

const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } }
const granted = async (bxcontext?: string) =>
  (await token(await code(bxcontext))).body as { access_token: string; refresh_token: string }
const refresh = (refresh_token: string, bxcontext?: string) =>
  token({ grant_type: 'refresh_token', refresh_token, bxcontext })
const api = async (path: string, accessToken = '') =>
  fetch(`${app.platform}/api${path}`, { headers: { authorization: `Bearer ${accessToken}` } })

describe('the sandbox’s tokens', () => {
  test('are issued for a code once; reusing the code revokes the grant', async () => {
    const exchange = await code()
    const first = await token(exchange)
    expect(first).toMatchObject({ status: 200, body: { expires_in: 300, scope: BOTH } })
    expect(await token(exchange)).toMatchObject(INVALID_GRANT)
    expect((await api('/probe', first.body.access_token)).status).toBe(401)
    expect(await refresh(first.body.refresh_token ?? '', 'harbour-homes')).toMatchObject(INVALID_GRANT)
  })

  test('name the business and the person, on exchange and refresh', async () => {
    const names = { business_name: 'Harbour Renovations', user_name: 'Olivia Hart' }
    const { body } = await token(await code('harbour-renovations'))
    expect(body).toMatchObject(names)
    expect((await refresh(body.refresh_token ?? '', 'harbour-renovations')).body).toMatchObject(names)
  })

  test('are refreshed with the same refresh token, again and again', async () => {
    const { refresh_token } = await granted()
    for (let time = 0; time < 3; time++) {
      const { status, body } = await refresh(refresh_token, 'harbour-homes')
      expect(status).toBe(200)
      expect(body.refresh_token ?? refresh_token).toBe(refresh_token)
      expect((await api('/probe', body.access_token)).status).toBe(200)
    }
  })

  test.each([undefined, 'harbour-renovations', ''])('need their own bxcontext, not %j', async (bxcontext) => {
    const exchange = await code()
    expect(await token({ ...exchange, bxcontext })).toMatchObject(INVALID_GRANT)
    const { refresh_token } = await granted()
    expect(await refresh(refresh_token, bxcontext)).toMatchObject(INVALID_GRANT)
    expect(await refresh(refresh_token, 'harbour-homes')).toMatchObject({ status: 200 })
  })

  test('are revoked on the connected-apps page, all of that grant and no others', async () => {
    const [homes, renovations] = [await granted(), await granted('harbour-renovations')]
    const visitor = await logIn()
    const page = await visitor.get(`${app.platform}/connected-apps`)
    const cards = page.text.split('<li class="card">').slice(1)
    const [, path] = /action="([^"]+)"/.exec(cards.find((card) => card.includes('Harbour Homes')) ?? '') ?? []
    await visitor.post(`${app.platform}${path}`)
    expect((await api('/probe', homes.access_token)).status).toBe(401)
    expect(await refresh(homes.refresh_token, 'harbour-homes')).toMatchObject(INVALID_GRANT)
    expect((await api('/probe', renovations.access_token)).status).toBe(200)
  })

  test('of an earlier consent for the same business stay valid: two users of an application may share a login', async () => {
    const [earlier, later] = [await granted(), await granted()]
    expect((await api('/probe', earlier.access_token)).status).toBe(200)
    expect((await api('/probe', later.access_token)).status).toBe(200)
  })

  test('are not issued to a wrong client secret', async () => {
    const wrong = { ...(await code()), client_secret: 'wrong' }
    expect(await token(wrong)).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  })
})

describe('the sandbox’s start page', () => {
  const at = (query: string) => createVisitor().get(`${app.platform}/oauth2.html${query}`)
  const own = () => encodeURIComponent(`${app.url}/connect/context`)

  test.each([
    [
      'is not registered',
      () => `?redirectUrl=${encodeURIComponent('https://elsewhere.example/connect/context')}`,
      'is not registered',
    ],
    ['has a query string', () => `?redirectUrl=${own()}${encodeURIComponent('?a=b')}`, 'is not plain'],
    ['has a fragment', () => `?redirectUrl=${own()}${encodeURIComponent('#a')}`, 'is not plain'],
    ['is missing', () => '', 'needs one redirectUrl'],
    ['is doubled', () => `?redirectUrl=${own()}&redirectUrl=${own()}`, 'needs one redirectUrl'],
  ])('rejects a redirect url that %s, and says so', async (_what, query, says) => {
    const answer = await at(query())
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(says)
  })

  test('leads to the login and on to the choice of business; with one business, straight back', async () => {
    const visitor = createVisitor()
    const login = await visitor.follow(await visitor.get(`${app.platform}/oauth2.html?redirectUrl=${own()}`))
    expect(login.url).toContain('/login?next=')
    await logIn('marcus@ridgeline.example', visitor)
    const back = await visitor.get(`${app.platform}/oauth2.html?redirectUrl=${own()}`)
    expect(back.headers.get('location')).toBe(`${app.url}/connect/context?bxcontext=ridgeline-build`)
  })

  test('shows the businesses of the account that is logged in now, and never hands out those of another one', async () => {
    const visitor = await logIn('marcus@ridgeline.example')
    const form = { redirectUrl: `${app.url}/connect/context`, bxcontext: 'harbour-homes' }
    const answer = await visitor.post(`${app.platform}/oauth2.html`, { form })
    const { searchParams, pathname } = new URL(answer.headers.get('location') ?? '', app.platform)
    expect([pathname, searchParams.get('redirectUrl')]).toEqual(['/oauth2.html', form.redirectUrl])
  })
})

describe('the sandbox’s API', () => {
  test('requires a bearer token with the scope', async () => {
    expect((await fetch(`${app.platform}/api/probe`)).status).toBe(401)
    expect((await api('/probe', 'made-up')).status).toBe(401)
    const visitor = await signedIn(app, 'partial')
    const form = { answer: 'accept', scope: SCOPES.leads }
    await visitor.get(await toCallback(app, visitor, { form }))
    const ref = { userId: 'partial', bxcontext: 'harbour-homes' }
    const partial = await app.services.connect.vault.accessToken(ref)
    expect((await api('/probe', partial)).status).toBe(200)
    const rejected = await api('/probe/catalogues', partial)
    expect(rejected.status).toBe(403)
    expect(rejected.headers.get('www-authenticate')).toContain(`scope="${SCOPES.catalogues}"`)
  })
})

describe('the sandbox’s login', () => {
  test.each([
    ['olivia@harbour.example', 'wrong'],
    ['nobody@example.org', 'sandbox'],
  ])('of %s with the password %s fails, and keeps the email that was typed', async (email, password) => {
    const form = { email, password }
    const { status, text } = await createVisitor().post(`${app.platform}/login`, { form })
    expect(status).toBe(401)
    expect(text).toMatch(new RegExp(`<input id="email"[^>]* value="${email}"`))
  })
})

describe('the consent page', () => {
  const allow = (scope: string[]) => ({ form: { answer: 'accept', scope } })

  test('without a permission chosen decides nothing, and asks again', async () => {
    const visitor = await signedIn(app, 'undecided')
    const consent = await toConsent(app, visitor)
    const { status, text } = await visitor.post(consent.url, allow([]))
    expect(status).toBe(400)
    expect(text).toContain('Choose at least one permission, or deny access.')
    expect(text).toContain(`value="${SCOPES.leads}"`)
    expect(text).not.toContain(' checked')
    const answered = await visitor.post(consent.url, allow([SCOPES.leads]))
    const callback = await visitor.follow(answered, `${app.url}/connect/callback`)
    expect(new URL(callback.url).searchParams.get('code')).toBeTruthy()
  })

  test('without a permission chosen can still deny', async () => {
    const visitor = await signedIn(app, 'unwilling')
    const url = await toCallback(app, visitor, { form: { answer: 'deny' } })
    expect(new URL(url).searchParams.get('error')).toBe('access_denied')
  })
})

describe('the faults of the consent page', () => {
  test.each([
    ['deny', 'access_denied'],
    ['server_error', 'server_error'],
  ])('%s the next consent', async (fault, error) => {
    await app.fault('consent', fault, 1)
    const visitor = await signedIn(app, 'faulty')
    expect(new URL(await toCallback(app, visitor)).searchParams.get('error')).toBe(error)
  })

  test('missing_scope drops one scope from the next consent', async () => {
    await app.fault('consent', 'missing_scope', 1)
    await connected(app, { name: 'scopeless' })
    const ref = { userId: 'scopeless', bxcontext: 'harbour-homes' }
    expect((await app.services.connect.vault.find(ref))?.scopes).toEqual([SCOPES.catalogues])
  })
})

describe('the sandbox’s own address', () => {
  test('is https behind a proxy with TLS that adds no headers, and is never taken from a request', async () => {
    const [baseUrl, redirectUri] = ['https://sandbox.example', 'https://app.example/connect/callback']
    const apps = [{ name: 'Test App', ...CLIENT, redirectUrls: [redirectUri] }]
    const sandbox = await startSandbox({ baseUrl, apps })
    const spoofed = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
    for (const headers of [{}, spoofed]) {
      const behind = (url: string, options: RequestInit) =>
        fetch(url.replace(baseUrl, sandbox.url), { ...options, headers: { ...options.headers, ...headers } })
      const visitor = await logIn('marcus@ridgeline.example', createVisitor(behind), baseUrl)
      const parameters = { response_type: 'code', client_id: CLIENT.clientId, redirect_uri: redirectUri }
      const query = new URLSearchParams({ ...parameters, scope: SCOPES.leads, bxcontext: 'ridgeline-build' })
      const consent = await visitor.follow(await visitor.get(`${baseUrl}/auth/authorize?${query}`))
      const answered = await visitor.post(consent.url, { form: { answer: 'accept', scope: SCOPES.leads } })
      expect(answered.headers.get('location')).toMatch(`${baseUrl}/auth/authorize/`)
      const callback = new URL((await visitor.follow(answered, redirectUri)).url)
      expect(callback.searchParams.get('iss')).toBe(`${baseUrl}/auth`)
      const metadata = await visitor.get(`${baseUrl}/auth/.well-known/openid-configuration`)
      const urls = Object.values(metadata.json()).filter((value) => /^https?:/.test(String(value)))
      expect(urls.length).toBeGreaterThan(3)
      for (const url of urls) expect(url).toMatch(`${baseUrl}/auth`)
    }
    await sandbox.close()
  })
})
