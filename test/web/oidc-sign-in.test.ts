import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { sessionCookie } from '../../src/web/session.ts'
import { type Running, startAll } from '../support/app.ts'
import {
  OIDC_CLIENT,
  type OpenIdProvider,
  startOidcProvider,
  startOwnProvider,
} from '../support/openid-provider.ts'
import { freePort } from '../support/ports.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'

const JSON_TYPE = { accept: 'application/json' }
const signedInAs = async (app: Running, visitor: Visitor) =>
  /class="who">([^<]*)</.exec((await visitor.get(`${app.url}/connections`)).text)?.[1]

/** Goes through the provider's pages. */
async function logInAt(app: Running, visitor: Visitor, name: string, path = '/sign-in') {
  let page = await visitor.follow(await visitor.get(app.url + path))
  for (const form of [{ prompt: 'login', login: name, password: 'x' }, { prompt: 'consent' }]) {
    if (page.url.startsWith(app.url)) break
    const action = /action="([^"]+)"/.exec(page.text)?.[1] ?? ''
    page = await visitor.follow(await visitor.post(new URL(action, page.url).href, { form }))
  }
  return page
}

/** Where the page after signing out goes on to. */
const logoutUrlIn = ({ text }: { text: string }) =>
  new URL(/url=([^"]+)/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '')

describe('sign-in at a real provider (node-oidc-provider)', () => {
  let app: Running
  let provider: OpenIdProvider
  beforeEach(async () => {
    // It prints advice for production.
    for (const method of ['info', 'warn'] as const) vi.spyOn(console, method).mockImplementation(() => {})
    const port = await freePort()
    provider = await startOidcProvider(`http://localhost:${port}`)
    app = await startAll(provider.env, {}, undefined, port)
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    await app.close()
    await provider.close()
  })

  const logIn = (visitor: Visitor, name: string, path?: string) => logInAt(app, visitor, name, path)

  test('returns to the page that asked for it; the user is the issuer and the subject together', async () => {
    const visitor = createVisitor()
    const asked = await visitor.get(`${app.url}/connections`)
    expect(asked.text).toContain('href="/sign-in?returnTo=%2Fconnections"')
    expect(asked.text).not.toContain('name="name"')
    const page = await logIn(visitor, 'ann', '/sign-in?returnTo=/connections')
    expect(page.url).toBe(`${app.url}/connections`)
    expect(await signedInAs(app, visitor)).toBe('ann of Ridgeline')
    await visitor.post(`${app.url}/connect`)
    expect(app.logLines.join('')).not.toMatch(/code_verifier|id_token|openid-client-secret/)
  })

  test('renews the session, and two users have nothing in common', async () => {
    const [ann, bob] = [createVisitor(), createVisitor()]
    await ann.get(`${app.url}/sign-in`)
    const before = ann.cookies.get(new URL(app.url).host)?.get(sessionCookie(app.url))
    await logIn(ann, 'ann')
    expect(ann.cookies.get(new URL(app.url).host)?.get(sessionCookie(app.url))).not.toBe(before)
    await logIn(bob, 'bob')
    expect([await signedInAs(app, ann), await signedInAs(app, bob)]).toEqual([
      'ann of Ridgeline',
      'bob of Ridgeline',
    ])
  })

  test('signs out here and leads to the provider’s logout', async () => {
    const visitor = createVisitor()
    await logIn(visitor, 'ann')
    const logout = `${provider.env.OIDC_ISSUER}/session/end?client_id=${OIDC_CLIENT.id}`
    const page = await visitor.follow(await visitor.post(`${app.url}/sign-out`), logout)
    expect(page.url).toContain(logout)
    // By a page of ours: browsers block a form post that is redirected to another site.
    expect(page.status).toBe(200)
    expect(await signedInAs(app, visitor)).toBeUndefined()
    expect((await visitor.post(`${app.url}/sign-out`, JSON_TYPE)).json()).toMatchObject({
      user: null,
      logoutUrl: expect.stringContaining('/session/end'),
    })
  })

  test('a callback counts once, in the browser that started it, and for its own state', async () => {
    const visitor = createVisitor()
    const started = await visitor.get(`${app.url}/sign-in`)
    const state = new URL(started.headers.get('location') ?? '').searchParams.get('state')
    const callback = `${app.url}/sign-in/callback?code=c&state=${state}`
    const other = await createVisitor().get(callback, JSON_TYPE)
    expect(other.json()).toMatchObject({ status: 400, code: 'sign_in_failed' })
    const forged = await visitor.get(`${app.url}/sign-in/callback?code=c&state=x`, JSON_TYPE)
    expect(forged.json()).toMatchObject({ status: 400, code: 'sign_in_failed' })
    expect((await visitor.get(callback, JSON_TYPE)).json().detail).toMatch(/could not be completed/)
    expect((await visitor.get(callback, JSON_TYPE)).json().detail).toMatch(/already been completed/)
    expect(await signedInAs(app, visitor)).toBeUndefined()
  })

  test('leaves the cookies of a user who is signed in as they are', async () => {
    const visitor = createVisitor()
    await logIn(visitor, 'ann')
    const again = await visitor.get(`${app.url}/sign-in?returnTo=/connections`)
    expect(again.headers.get('location')).toBe('/connections')
    expect(again.headers.get('set-cookie')).toBeNull()
  })

  test('a second tab that finishes later ends on the page that it asked for, signed in', async () => {
    const visitor = createVisitor()
    const second = await visitor.get(`${app.url}/sign-in?returnTo=/connections?second`)
    await logIn(visitor, 'ann')
    expect((await visitor.follow(second)).url).toBe(`${app.url}/connections?second`)
    expect(await signedInAs(app, visitor)).toBe('ann of Ridgeline')
  })

  test('the newest of a hundred sign-ins that a browser has begun works: its cookie stays one that browsers keep', async () => {
    const visitor = createVisitor()
    const long = `/connections?${'x'.repeat(1_000)}`
    for (let tab = 0; tab < 100; tab++) {
      const { headers } = await visitor.get(`${app.url}/sign-in?returnTo=${encodeURIComponent(long)}`)
      for (const cookie of headers.getSetCookie()) expect(cookie.length).toBeLessThanOrEqual(4_096)
    }
    expect((await logIn(visitor, 'ann', '/sign-in?returnTo=/connections')).url).toBe(`${app.url}/connections`)
  })

  test('is told at the logout who signs out, and accepts it', async () => {
    const visitor = createVisitor()
    await logIn(visitor, 'ann')
    const url = logoutUrlIn(await visitor.post(`${app.url}/sign-out`))
    expect(decodeJwt(url.searchParams.get('id_token_hint') ?? '')).toMatchObject({ sub: 'ann' })
    expect((await visitor.get(url.href)).status).toBe(200)
    url.searchParams.set('id_token_hint', 'x')
    expect((await visitor.get(url.href)).status).toBe(400)
  })

  test.each(['//evil.example', 'https://evil.example/', '/\\evil.example'])(
    'never returns to another site: %s',
    async (returnTo) => {
      const page = await logIn(createVisitor(), 'ann', `/sign-in?returnTo=${encodeURIComponent(returnTo)}`)
      expect(new URL(page.url).origin).toBe(app.url)
    },
  )
})

test('shows the name of UserInfo if the ID token has none, at a real provider', async () => {
  for (const method of ['info', 'warn'] as const) vi.spyOn(console, method).mockImplementation(() => {})
  const port = await freePort()
  const provider = await startOidcProvider(`http://localhost:${port}`, { namesInUserInfo: true })
  const app = await startAll(provider.env, {}, undefined, port)
  onTestFinished(async () => void (await Promise.all([app.close(), provider.close()])))
  const visitor = createVisitor()
  await logInAt(app, visitor, 'ann')
  expect(await signedInAs(app, visitor)).toBe('ann of Ridgeline')
})

describe('sign-in at a provider with other choices', () => {
  let app: Running
  let provider: Awaited<ReturnType<typeof startOwnProvider>>
  beforeEach(async () => {
    provider = await startOwnProvider()
    app = await startAll(provider.env)
  })
  afterEach(async () => {
    await app.close()
    await provider.close()
  })
  const logIn = async (visitor = createVisitor()) => ({
    visitor,
    page: await visitor.follow(await visitor.get(`${app.url}/sign-in`)),
  })

  test('works with an issuer that has a path, and with a key that changes each time', async () => {
    for (let round = 0; round < 3; round++) {
      const { visitor } = await logIn()
      expect(await signedInAs(app, visitor)).toBe('ann@ridgeline.example')
    }
  })

  test.each([-120, 120])('works with a clock that is off by %d s', async (clockSkew) => {
    provider.choices.clockSkew = clockSkew
    expect(await signedInAs(app, (await logIn()).visitor)).toBe('ann@ridgeline.example')
  })

  test('without a logout page ends on the start page', async () => {
    const { visitor } = await logIn()
    const page = await visitor.follow(await visitor.post(`${app.url}/sign-out`))
    expect(page.url).toBe(`${app.url}/`)
    expect(await signedInAs(app, visitor)).toBeUndefined()
  })

  test.each<[string, Record<string, unknown>]>([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another client', { aud: 'somebody-else' }],
    ['another nonce', { nonce: 'replayed' }],
    ['the past', { exp: 1_000_000 }],
    ['nobody', { sub: '' }],
    ['a subject without end', { sub: 'x'.repeat(300) }],
  ])('refuses an ID token of %s', async (_name, claims) => {
    provider.choices.claims = claims
    const { visitor, page } = await logIn()
    expect(page.status).toBe(400)
    expect(page.text).toMatch(/The sign-in could not be completed|did not say who you are/)
    expect(await signedInAs(app, visitor)).toBeUndefined()
  })

  test('refuses a token response without an ID token', async () => {
    provider.choices.withoutIdToken = true
    expect((await logIn()).page.status).toBe(400)
  })

  test.each([
    ['access_denied', 'You cancelled the sign-in.'],
    ['<script>alert(1)</script>', 'The sign-in service refused the request.'],
  ])('says what %s means, and offers to try again', async (error, words) => {
    provider.choices.response = { error, error_description: 'secret-looking text' }
    const { page } = await logIn()
    expect(page.status).toBe(400)
    expect(page.text).toContain(words)
    expect(page.text).toContain('href="/sign-in"')
    expect(page.text).not.toMatch(/<script>alert|secret-looking/)
  })

  test('shows a name without control characters, at most 100 characters long', async () => {
    provider.choices.claims = { name: `\u0000\u202eAnn${'x'.repeat(300)}` }
    const name = (await signedInAs(app, (await logIn()).visitor)) ?? ''
    expect(name).toMatch(/Annx+$/)
    expect(name.length).toBeLessThanOrEqual(100)
  })

  test('signs out at a provider that requires the ID token', async () => {
    provider.choices.hasLogout = true
    const { visitor } = await logIn()
    const url = logoutUrlIn(await visitor.post(`${app.url}/sign-out`))
    expect(await (await fetch(url)).text()).toBe('You are signed out.')
  })

  test('an ID token that is too long for an address is left out at sign-out', async () => {
    Object.assign(provider.choices, { hasLogout: true, claims: { groups: 'x'.repeat(20_000) } })
    const { visitor } = await logIn()
    const url = logoutUrlIn(await visitor.post(`${app.url}/sign-out`))
    expect([...url.searchParams.keys()]).toEqual(['client_id', 'post_logout_redirect_uri'])
  })

  test('nobody who reads the store can read the ID token', async () => {
    provider.choices.hasLogout = true
    const { visitor } = await logIn()
    const stored = readdirSync(app.config.dataDir)
      .map((name) => readFileSync(join(app.config.dataDir, name), 'latin1'))
      .join()
    expect(stored).toContain('ann@ridgeline.example')
    const url = logoutUrlIn(await visitor.post(`${app.url}/sign-out`))
    const [, payload = ''] = url.searchParams.get('id_token_hint')?.split('.') ?? []
    expect(payload.length).toBeGreaterThan(100)
    expect(stored).not.toContain(payload)
  })

  test('shows the name of UserInfo if the ID token has none', async () => {
    provider.choices.userInfo = { sub: 'user|42 é', name: 'Ann Lee' }
    expect(await signedInAs(app, (await logIn()).visitor)).toBe('Ann Lee')
  })

  test('shows no name of a UserInfo that is about somebody else', async () => {
    provider.choices.userInfo = { sub: 'user|43', name: 'Bob' }
    expect(await signedInAs(app, (await logIn()).visitor)).toBe('ann@ridgeline.example')
  })

  test('is 503 while the provider does not answer, and works when it does', async () => {
    provider.choices.isDown = true
    const { page } = await logIn()
    expect(page.status).toBe(503)
    expect(page.text).toContain('The sign-in service isn&#39;t responding')
    provider.choices.isDown = false
    expect(await signedInAs(app, (await logIn()).visitor)).toBe('ann@ridgeline.example')
  })
})
