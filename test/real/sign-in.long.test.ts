import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { sessionCookie } from '../../src/web/session.ts'
import { type Running, startAll } from '../support/app.ts'
import { OIDC_CLIENT, type OpenIdProvider } from '../support/openid-provider.ts'
import { freePort } from '../support/ports.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'
import { startOidcProvider } from './openid-provider.ts'

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
