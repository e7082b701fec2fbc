import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
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

  /** Goes through the provider's pages. */
  async function logIn(visitor: Visitor, name: string, path = '/sign-in') {
    let page = await visitor.follow(await visitor.get(app.url + path))
    for (const form of [{ prompt: 'login', login: name, password: 'x' }, { prompt: 'consent' }]) {
      if (page.url.startsWith(app.url)) break
      const action = /action="([^"]+)"/.exec(page.text)?.[1] ?? ''
      page = await visitor.follow(await visitor.post(new URL(action, page.url).href, { form }))
    }
    return page
  }

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

  test('stores nothing for a user who is signed in, nor for HEAD', async () => {
    const visitor = createVisitor()
    const head = await fetch(`${app.url}/sign-in`, { method: 'HEAD' })
    expect([head.status, head.headers.get('set-cookie')]).toEqual([405, null])
    await logIn(visitor, 'ann')
    const again = await visitor.get(`${app.url}/sign-in?returnTo=/connections`)
    expect(again.headers.get('location')).toBe('/connections')
    expect(again.headers.get('set-cookie')).toBeNull()
  })

  test('a second tab that finishes later ends on the start page, signed in', async () => {
    const visitor = createVisitor()
    const second = await visitor.get(`${app.url}/sign-in`)
    await logIn(visitor, 'ann')
    expect((await visitor.follow(second)).url).toMatch(new RegExp(`^${app.url}/(connections)?$`))
    expect(await signedInAs(app, visitor)).toBe('ann of Ridgeline')
  })

  test('a link to the page after signing out does not sign anyone out', async () => {
    const visitor = createVisitor()
    await logIn(visitor, 'ann')
    const page = await visitor.get(`${app.url}/signed-out`)
    expect(page.headers.get('location')).toBe('/')
  })

  test.each(['//evil.example', 'https://evil.example/', '/\\evil.example'])(
    'never returns to another site: %s',
    async (returnTo) => {
      const page = await logIn(createVisitor(), 'ann', `/sign-in?returnTo=${encodeURIComponent(returnTo)}`)
      expect(new URL(page.url).origin).toBe(app.url)
    },
  )
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

  test('is 503 while the provider does not answer, and works when it does', async () => {
    provider.choices.isDown = true
    const { page } = await logIn()
    expect(page.status).toBe(503)
    expect(page.text).toContain('The sign-in service isn&#39;t responding')
    provider.choices.isDown = false
    expect(await signedInAs(app, (await logIn()).visitor)).toBe('ann@ridgeline.example')
  })
})
