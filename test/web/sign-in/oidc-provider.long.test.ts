import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import {
  hideAdvice,
  passPages,
  type SignInProvider,
  startSignInProvider,
} from '../../support/oidc-provider.ts'
import { OIDC_CLIENT } from '../../support/openid-provider.ts'
import { freePort } from '../../support/ports.ts'
import { createVisitor, type Visitor } from '../../support/visitor.ts'

const JSON_TYPE = { accept: 'application/json' }
const METHODS = ['client_secret_basic', 'client_secret_post'] as const

let provider: SignInProvider
let app: Running
let visitor: Visitor
beforeEach(() => {
  hideAdvice()
  visitor = createVisitor()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await app.close()
  await provider.close()
})

/** Starts the provider, and the app with these settings. */
async function start(only?: (typeof METHODS)[number], settings: Record<string, string> = {}) {
  const port = await freePort()
  provider = await startSignInProvider(`http://localhost:${port}`, only)
  app = await startAll({ ...provider.env, ...settings }, {}, port)
}

/** Goes through the provider's pages, as far as the callback, which is not yet opened. */
async function toCallback(who = visitor, name = 'ann', path = '/sign-in') {
  const started = await who.get(app.url + path)
  return (await passPages(who, started, `${app.url}/sign-in/callback`, name)).url
}
const logIn = async (...login: Parameters<typeof toCallback>) =>
  (login[0] ?? visitor).follow(await (login[0] ?? visitor).get(await toCallback(...login)))
const nameOf = async (who = visitor) =>
  /class="who">([^<]*)</.exec((await who.get(`${app.url}/connections`)).text)?.[1]

describe('signing in at oidc-provider', () => {
  test('works with its defaults: returns to the page that asked for it, with the name of UserInfo', async () => {
    await start()
    const asked = await visitor.get(`${app.url}/connections`)
    expect(asked.text).toContain('href="/sign-in?returnTo=%2Fconnections"')
    expect(asked.text).not.toContain('name="name"')
    const page = await logIn(visitor, 'ann', '/sign-in?returnTo=/connections')
    expect(page.url).toBe(`${app.url}/connections`)
    expect(await nameOf()).toBe('ann of Ridgeline')
    expect(app.logLines.join('')).not.toMatch(/code_verifier|id_token|openid-client-secret/)
  })

  test('and out leads to its logout, which is told who signs out and accepts it', async () => {
    await start()
    await logIn()
    const page = await visitor.post(`${app.url}/sign-out`)
    // Goes through a page of ours, because browsers block a form post that is redirected to another site.
    expect(page.status).toBe(200)
    const url = new URL(/url=([^"]+)/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '')
    expect(url.href).toContain(`${provider.env.OIDC_ISSUER}/session/end?client_id=${OIDC_CLIENT.id}`)
    expect(decodeJwt(url.searchParams.get('id_token_hint') ?? '')).toMatchObject({ sub: 'ann' })
    expect((await visitor.get(url.href)).status).toBe(200)
    url.searchParams.set('id_token_hint', 'x')
    expect((await visitor.get(url.href)).status).toBe(400)
    expect(await nameOf()).toBeUndefined()
    const again = await visitor.post(`${app.url}/sign-out`, JSON_TYPE)
    expect(again.json()).toMatchObject({ user: null, logoutUrl: expect.stringContaining('/session/end') })
  })

  test.each(METHODS)('works by discovery alone if it offers only %s', async (only) => {
    await start(only)
    await logIn()
    expect(provider.tokenRequests).toMatchObject([{ method: only, status: 200 }])
    expect(await nameOf()).toBe('ann of Ridgeline')
  })

  test.each(METHODS)('logs which settings to check if the secret is wrong (only %s)', async (only) => {
    await start(only, { OIDC_CLIENT_SECRET: 'wrong' })
    await logIn()
    expect(provider.tokenRequests).toMatchObject([{ status: 401, answer: { error: 'invalid_client' } }])
    const line = app.logLines.findLast((text) => text.includes('"route":"/sign-in/callback"'))
    expect(JSON.parse(line ?? '')).toMatchObject({
      code: 'sign_in_failed',
      reason: expect.stringMatching(/OIDC_CLIENT_ID.*OIDC_CLIENT_SECRET/),
    })
  })
})
