import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CLIENT, type Running, startAll } from '../support/app.ts'
import { connected, signedIn, toCallback } from '../support/flow.ts'
import { createVisitor } from '../support/visitor.ts'

let app: Running
beforeAll(async () => {
  app = await startAll()
})
afterAll(() => app.close())
beforeEach(() => fetch(`${app.platform}/sandbox/faults`, { method: 'DELETE' }))

/** Asks the token endpoint; fields that are given as undefined are left out. */
async function token(fields: Record<string, string | undefined>) {
  const given = { client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, ...fields }
  const body = new URLSearchParams(
    Object.entries(given).filter(([, value]) => value !== undefined) as [string, string][],
  )
  const answer = await fetch(`${app.platform}/auth/oauth/token`, { method: 'POST', body })
  return { status: answer.status, body: (await answer.json()) as Record<string, string> }
}

/** A code of the sandbox, with what its exchange needs; the app's own part is left out. */
async function code(context = 'harbour-homes') {
  const visitor = await signedIn(app)
  await visitor.post(`${app.platform}/login`, {
    form: { email: 'olivia@harbour.example', password: 'sandbox' },
  })
  const redirectUri = `${app.url}/connect/callback`
  const query = new URLSearchParams({
    ...{
      response_type: 'code',
      client_id: CLIENT.clientId,
      redirect_uri: redirectUri,
      scope: 'leads catalogues',
    },
    ...{ state: 's', bxcontext: context },
  })
  const consent = await visitor.follow(await visitor.get(`${app.platform}/auth/authorize?${query}`))
  const answered = await visitor.post(consent.url, {
    form: { answer: 'accept', scope: ['leads', 'catalogues'] },
  })
  const callback = await visitor.follow(answered, redirectUri)
  return {
    ...{ grant_type: 'authorization_code', code: new URL(callback.url).searchParams.get('code') ?? '' },
    ...{ redirect_uri: redirectUri, bxcontext: context },
  }
}

const granted = async (context?: string) =>
  (await token(await code(context))).body as { access_token: string; refresh_token: string }
const refresh = (refresh_token: string, bxcontext?: string) =>
  token({ grant_type: 'refresh_token', refresh_token, bxcontext })
const api = async (path: string, accessToken = '') =>
  fetch(`${app.platform}/api${path}`, { headers: { authorization: `Bearer ${accessToken}` } })

describe('the sandbox’s tokens', () => {
  test('come for a code once; the second time ends the grant', async () => {
    const exchange = await code()
    const first = await token(exchange)
    expect(first).toMatchObject({ status: 200, body: { expires_in: 300, scope: 'leads catalogues' } })
    expect(await token(exchange)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await api('/leads', first.body.access_token)).status).toBe(401)
    expect(await refresh(first.body.refresh_token ?? '', 'harbour-homes')).toMatchObject({
      body: { error: 'invalid_grant' },
    })
  })

  test.each([undefined, 'harbour-renovations', ''])(
    'are not given for a code with the bxcontext %j',
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
      expect((await api('/leads', body.access_token)).status).toBe(200)
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

  test('end with a revocation on the connected-apps page, all of that grant and no other', async () => {
    const [homes, renovations] = [await granted(), await granted('harbour-renovations')]
    const visitor = createVisitor()
    await visitor.post(`${app.platform}/login`, {
      form: { email: 'olivia@harbour.example', password: 'sandbox' },
    })
    const page = await visitor.get(`${app.platform}/connected-apps`)
    const cards = page.text.split('<li class="card">').slice(1)
    const [, path] = /action="([^"]+)"/.exec(cards.find((card) => card.includes('Harbour Homes')) ?? '') ?? []
    await visitor.post(`${app.platform}${path}`)
    expect((await api('/leads', homes.access_token)).status).toBe(401)
    expect(await refresh(homes.refresh_token, 'harbour-homes')).toMatchObject({
      body: { error: 'invalid_grant' },
    })
    expect((await api('/leads', renovations.access_token)).status).toBe(200)
  })

  test('of an earlier consent for the same business live on: two users of an application may share a login', async () => {
    const [earlier, later] = [await granted(), await granted()]
    expect((await api('/leads', earlier.access_token)).status).toBe(200)
    expect((await api('/leads', later.access_token)).status).toBe(200)
  })

  test('are not given to a wrong client secret', async () => {
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
  test('wants a bearer token with the scope', async () => {
    expect((await fetch(`${app.platform}/api/leads`)).status).toBe(401)
    expect((await api('/leads', 'made-up')).status).toBe(401)
    const visitor = await signedIn(app, 'partial')
    const form = { answer: 'accept', scope: 'leads' }
    await visitor.get(await toCallback(app, visitor, { form }))
    const partial = await app.services.vault.accessToken('partial', 'harbour-homes')
    expect((await api('/leads', partial)).status).toBe(200)
    const refused = await api('/catalogues', partial)
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toContain('scope="catalogues"')
  })

  test('pages and sorts as OData does, and has a few dozen records a business, other ones for each', async () => {
    const { access_token } = await granted()
    const list = async (query: string) =>
      (await api(`/leads${query}`, access_token)).json() as Promise<
        { id: string; name: string; createdAt: string }[]
      >
    const all = await list('')
    expect(all.length).toBeGreaterThan(30)
    expect(await list('?$top=3&$skip=2')).toEqual(all.slice(2, 5))
    const names = (await list('?$orderby=name%20desc')).map(({ name }) => name)
    expect(names).toEqual(names.toSorted().toReversed())
    const dates = (await list('?$orderby=createdAt')).map(({ createdAt }) => createdAt)
    expect(dates).toEqual(dates.toSorted())
    const counted = await api('/leads?$top=1&$count=true', access_token)
    expect(counted.headers.get('x-odata-total-count')).toBe(String(all.length))
    for (const wrong of ['?$top=x', '?$skip=-1', '?$orderby=nothing', '?$orderby=name%20up']) {
      expect((await api(`/leads${wrong}`, access_token)).status, wrong).toBe(400)
    }
    const other = await granted('harbour-renovations')
    const others = (await (await api('/leads', other.access_token)).json()) as { id: string }[]
    expect(others.some(({ id }) => all.some((lead) => lead.id === id))).toBe(false)
  })
})

describe('the sandbox’s faults', () => {
  test('strike as often as they were set to, or until they are cleared', async () => {
    const { access_token } = await granted()
    const status = async () => (await api('/leads', access_token)).status
    await app.fault('leads', '500', 2)
    expect([await status(), await status(), await status()]).toEqual([500, 500, 200])
    await app.fault('leads', '500')
    for (let call = 0; call < 5; call++) expect(await status()).toBe(500)
    await app.fault('leads', 'none')
    expect(await status()).toBe(200)
    await app.fault('leads', 'forbidden')
    await fetch(`${app.platform}/sandbox/faults`, { method: 'DELETE' })
    expect(await status()).toBe(200)
  })

  test('429 tells when to try again; garbage is no JSON; drop and stall give no answer; expired is a 401', async () => {
    const { access_token } = await granted()
    await app.fault('leads', '429', 1, 7)
    expect((await api('/leads', access_token)).headers.get('retry-after')).toBe('7')
    await app.fault('leads', 'garbage', 1)
    await expect((await api('/leads', access_token)).json()).rejects.toThrow()
    await app.fault('leads', 'drop', 1)
    await expect(api('/leads', access_token)).rejects.toThrow()
    await app.fault('leads', 'stall', 1)
    const headers = { authorization: `Bearer ${access_token}` }
    await expect(
      fetch(`${app.platform}/api/leads`, { headers, signal: AbortSignal.timeout(300) }),
    ).rejects.toThrow(/timeout/)
    await app.fault('leads', 'expired', 1)
    expect((await api('/leads', access_token)).headers.get('www-authenticate')).toContain('invalid_token')
  })

  test.each([
    ['deny', 'access_denied'],
    ['server_error', 'server_error'],
  ])('%s the next consent', async (fault, error) => {
    await app.fault('consent', fault, 1)
    const visitor = await signedIn(app, 'faulty')
    expect(new URL(await toCallback(app, visitor)).searchParams.get('error')).toBe(error)
  })

  test('missing_scope leaves one scope out of the next consent', async () => {
    await app.fault('consent', 'missing_scope', 1)
    await connected(app, { name: 'scopeless' })
    expect((await app.services.vault.find('scopeless', 'harbour-homes'))?.scopes).toEqual(['catalogues'])
  })

  test.each([
    [{ endpoint: 'nowhere', fault: '500' }, 'endpoint'],
    [{ endpoint: 'leads', fault: 'deny' }, 'must be none or one of 500'],
    [{ endpoint: 'leads', fault: '500', times: 0 }, 'times'],
    [{}, 'endpoint'],
  ])('that do not exist (%j) are refused by name', async (body, says) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${app.platform}/sandbox/faults`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(400)
    expect(((await answer.json()) as { message: string }).message).toContain(says)
  })

  test('can be set on the page, whose list of calls names no token', async () => {
    const visitor = createVisitor()
    await granted()
    await visitor.post(`${app.platform}/sandbox/faults`, {
      form: { endpoint: 'leads', fault: '500', times: '', retryAfter: '' },
    })
    const page = await visitor.get(`${app.platform}/sandbox/faults`)
    expect(page.text).toContain('500, until cleared')
    expect(page.text).toContain('exchange')
  })

  test('cannot be set by another site', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' }
    const form = { endpoint: 'leads', fault: '500' }
    expect((await createVisitor().post(`${app.platform}/sandbox/faults`, { form, headers })).status).toBe(403)
  })
})
