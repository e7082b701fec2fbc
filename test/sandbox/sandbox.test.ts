import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { CLIENT, type Running, startAll } from '../support/app.ts'
import { connected, signedIn, toCallback } from '../support/flow.ts'
import { createVisitor } from '../support/visitor.ts'
import { probe } from './probe.ts'
import { startSandbox } from './support.ts'

let app: Running
beforeAll(async () => {
  app = await startAll({}, { parts: [probe] })
})
afterAll(() => app.close())
beforeEach(() => fetch(`${app.platform}/sandbox/faults`, { method: 'DELETE' }))

/** Calls the token endpoint; leaves out undefined fields. */
async function token(fields: Record<string, string | undefined>) {
  const given = { client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, ...fields }
  const body = new URLSearchParams(
    Object.entries(given).filter(([, value]) => value !== undefined) as [string, string][],
  )
  const answer = await fetch(`${app.platform}/auth/oauth/token`, { method: 'POST', body })
  return { status: answer.status, body: (await answer.json()) as Record<string, string> }
}

/** The fields of an exchange with a new code; the app has no part in it. */
async function code(bxcontext = 'harbour-homes') {
  const visitor = await signedIn(app)
  await visitor.post(`${app.platform}/login`, {
    form: { email: 'olivia@harbour.example', password: 'sandbox' },
  })
  const redirectUri = `${app.url}/connect/callback`
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT.clientId,
    redirect_uri: redirectUri,
    scope: 'leads catalogues',
    state: 's',
    bxcontext,
  })
  const consent = await visitor.follow(await visitor.get(`${app.platform}/auth/authorize?${query}`))
  const answered = await visitor.post(consent.url, {
    form: { answer: 'accept', scope: ['leads', 'catalogues'] },
  })
  const callback = await visitor.follow(answered, redirectUri)
  return {
    grant_type: 'authorization_code',
    code: new URL(callback.url).searchParams.get('code') ?? '',
    redirect_uri: redirectUri,
    bxcontext,
  }
}

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
    expect(first).toMatchObject({ status: 200, body: { expires_in: 300, scope: 'leads catalogues' } })
    expect(await token(exchange)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await api('/probe', first.body.access_token)).status).toBe(401)
    expect(await refresh(first.body.refresh_token ?? '', 'harbour-homes')).toMatchObject({
      body: { error: 'invalid_grant' },
    })
  })

  test.each([undefined, 'harbour-renovations', ''])(
    'are not issued for a code with the bxcontext %j',
    async (bxcontext) => {
      expect(await token({ ...(await code()), bxcontext })).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
    },
  )

  test('are refreshed with the same refresh token, again and again', async () => {
    const { refresh_token } = await granted()
    for (let time = 0; time < 3; time++) {
      const { status, body } = await refresh(refresh_token, 'harbour-homes')
      expect(status).toBe(200)
      expect(body.refresh_token ?? refresh_token).toBe(refresh_token)
      expect((await api('/probe', body.access_token)).status).toBe(200)
    }
  })

  test.each([undefined, 'harbour-renovations'])(
    'are not refreshed with the bxcontext %j',
    async (bxcontext) => {
      const { refresh_token } = await granted()
      expect(await refresh(refresh_token, bxcontext)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
      expect(await refresh(refresh_token, 'harbour-homes')).toMatchObject({ status: 200 })
    },
  )

  test('are revoked on the connected-apps page, all of that grant and no others', async () => {
    const [homes, renovations] = [await granted(), await granted('harbour-renovations')]
    const visitor = createVisitor()
    await visitor.post(`${app.platform}/login`, {
      form: { email: 'olivia@harbour.example', password: 'sandbox' },
    })
    const page = await visitor.get(`${app.platform}/connected-apps`)
    const cards = page.text.split('<li class="card">').slice(1)
    const [, path] = /action="([^"]+)"/.exec(cards.find((card) => card.includes('Harbour Homes')) ?? '') ?? []
    await visitor.post(`${app.platform}${path}`)
    expect((await api('/probe', homes.access_token)).status).toBe(401)
    expect(await refresh(homes.refresh_token, 'harbour-homes')).toMatchObject({
      body: { error: 'invalid_grant' },
    })
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
  ])('refuses a redirect url that %s, and says so', async (_what, query, says) => {
    const answer = await at(query())
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(says)
  })

  test('leads to the login and on to the choice of business; with one business, straight back', async () => {
    const visitor = createVisitor()
    const login = await visitor.follow(await visitor.get(`${app.platform}/oauth2.html?redirectUrl=${own()}`))
    expect(login.url).toContain('/login?next=')
    await visitor.post(`${app.platform}/login`, {
      form: { email: 'marcus@ridgeline.example', password: 'sandbox' },
    })
    const back = await visitor.get(`${app.platform}/oauth2.html?redirectUrl=${own()}`)
    expect(back.headers.get('location')).toBe(`${app.url}/connect/context?bxcontext=ridgeline-build`)
  })

  test('does not hand out another account’s business', async () => {
    const visitor = createVisitor()
    await visitor.post(`${app.platform}/login`, {
      form: { email: 'marcus@ridgeline.example', password: 'sandbox' },
    })
    const form = { redirectUrl: `${app.url}/connect/context`, context: 'harbour-homes' }
    expect((await visitor.post(`${app.platform}/oauth2.html`, { form })).status).toBe(400)
  })
})

describe('the sandbox’s API', () => {
  test('requires a bearer token with the scope', async () => {
    expect((await fetch(`${app.platform}/api/probe`)).status).toBe(401)
    expect((await api('/probe', 'made-up')).status).toBe(401)
    const visitor = await signedIn(app, 'partial')
    const form = { answer: 'accept', scope: 'leads' }
    await visitor.get(await toCallback(app, visitor, { form }))
    const partial = await app.services.vault.accessToken('partial', 'harbour-homes')
    expect((await api('/probe', partial)).status).toBe(200)
    const refused = await api('/probe/catalogues', partial)
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toContain('scope="catalogues"')
  })
})

describe('the sandbox’s faults', () => {
  test('apply to the given number of calls, or until they are cleared', async () => {
    const { access_token } = await granted()
    const status = async () => (await api('/probe', access_token)).status
    await app.fault('probe', '500', 2)
    expect([await status(), await status(), await status()]).toEqual([500, 500, 200])
    await app.fault('probe', '500')
    for (let call = 0; call < 5; call++) expect(await status()).toBe(500)
    await app.fault('probe', 'none')
    expect(await status()).toBe(200)
    await app.fault('probe', 'forbidden')
    await fetch(`${app.platform}/sandbox/faults`, { method: 'DELETE' })
    expect(await status()).toBe(200)
  })

  test('429 says when to retry; garbage is not JSON; drop and stall give no response; expired is a 401', async () => {
    const { access_token } = await granted()
    await app.fault('probe', '429', 1, 7)
    expect((await api('/probe', access_token)).headers.get('retry-after')).toBe('7')
    await app.fault('probe', 'garbage', 1)
    await expect((await api('/probe', access_token)).json()).rejects.toThrow()
    await app.fault('probe', 'drop', 1)
    await expect(api('/probe', access_token)).rejects.toThrow()
    await app.fault('probe', 'stall', 1)
    const headers = { authorization: `Bearer ${access_token}` }
    await expect(
      fetch(`${app.platform}/api/probe`, { headers, signal: AbortSignal.timeout(300) }),
    ).rejects.toThrow(/timeout/)
    await app.fault('probe', 'expired', 1)
    expect((await api('/probe', access_token)).headers.get('www-authenticate')).toContain('invalid_token')
  })

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
    expect((await app.services.vault.find('scopeless', 'harbour-homes'))?.scopes).toEqual(['catalogues'])
  })

  test.each([
    [{ endpoint: 'nowhere', fault: '500' }, 'endpoint'],
    [{ endpoint: 'probe', fault: 'deny' }, 'must be none or one of 500'],
    [{ endpoint: 'probe', fault: '500', times: 0 }, 'times'],
    [{}, 'endpoint'],
  ])('that do not exist (%j) are rejected by name', async (body, says) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${app.platform}/sandbox/faults`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(400)
    expect(((await answer.json()) as { message: string }).message).toContain(says)
  })

  test('can be set on the page, whose list of calls contains no token', async () => {
    const visitor = createVisitor()
    await granted()
    await visitor.post(`${app.platform}/sandbox/faults`, {
      form: { endpoint: 'probe', fault: '500', times: '', retryAfter: '' },
    })
    const page = await visitor.get(`${app.platform}/sandbox/faults`)
    expect(page.text).toContain('500, until cleared')
    expect(page.text).toContain('exchange')
  })

  test('cannot be set by another site', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' }
    const form = { endpoint: 'probe', fault: '500' }
    expect((await createVisitor().post(`${app.platform}/sandbox/faults`, { form, headers })).status).toBe(403)
  })
})

test('the rate limit accepts its number of calls in any window, and says when to retry', async () => {
  const { call, close } = await startSandbox({
    rateLimit: { limit: 5, windowMs: 2_000 },
    parts: [probe],
  })
  const status = async () => (await call('harbour-homes', '/probe')).status
  for (let time = 0; time < 5; time++) expect(await status()).toBe(200)
  const rejected = await call('harbour-homes', '/probe')
  expect(rejected.status).toBe(429)
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  await vi.waitFor(async () => expect(await status()).toBe(200), { timeout: 5_000 })
  await close()
})

test('without features it still has its home page, and the menu shows only pages of the core', async () => {
  const { url, logIn, close } = await startSandbox({ parts: [] })
  const visitor = await logIn('olivia@harbour.example')
  const { status, text } = await visitor.get(`${url}/`)
  expect(status).toBe(200)
  expect([...text.matchAll(/<a href="(\/[^"]+)"/g)].map(([, path]) => path)).toEqual([
    '/sandbox/faults',
    '/connected-apps',
  ])
  await close()
})
