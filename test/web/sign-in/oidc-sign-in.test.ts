import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { texts } from '../../../src/web/texts.ts'
import { type Running, startAll } from '../../support/app.ts'
import { later } from '../../support/flow.ts'
import { type Choices, startOwnProvider } from '../../support/openid-provider.ts'
import { shown } from '../../support/pages.ts'
import { createVisitor, type Visitor } from '../../support/visitor.ts'

const JSON_TYPE = { accept: 'application/json' }
const signedInAs = async (app: Running, visitor: Visitor) =>
  /class="who">([^<]*)</.exec((await visitor.get(`${app.url}/connections`)).text)?.[1]

/** The address to which the page after signing out leads. */
const logoutUrlIn = ({ text }: { text: string }) =>
  new URL(/url=([^"]+)/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '')

/** A scripted provider, and an app whose users sign in there. */
async function startBoth(choices: Choices = {}) {
  const provider = await startOwnProvider()
  Object.assign(provider.choices, choices)
  const app = await startAll(provider.env)
  return {
    app,
    choices: provider.choices,
    logIn: async (visitor = createVisitor(), path = '/sign-in') => ({
      visitor,
      page: await visitor.follow(await visitor.get(app.url + path)),
    }),
    close: async () => {
      await app.close()
      await provider.close()
    },
  }
}
type Both = Awaited<ReturnType<typeof startBoth>>

// The long tests use a real provider (node-oidc-provider).
describe('sign-in at a provider', () => {
  let both: Both
  let app: Running
  let logIn: Both['logIn']
  beforeAll(async () => {
    both = await startBoth()
    app = both.app
    logIn = both.logIn
  })
  beforeEach(() => {
    for (const name of Object.keys(both.choices)) Reflect.deleteProperty(both.choices, name)
  })
  afterAll(() => both.close())

  test('a callback counts once, in the browser that started it, and for its own state', async () => {
    const visitor = createVisitor()
    const started = await visitor.get(`${app.url}/sign-in`)
    const state = new URL(started.headers.get('location') ?? '').searchParams.get('state')
    const callback = `${app.url}/sign-in/callback?code=c&state=${state}`
    const other = await createVisitor().get(callback, JSON_TYPE)
    expect(other.json()).toMatchObject({ status: 400, code: 'sign_in_failed' })
    const forged = await visitor.get(`${app.url}/sign-in/callback?code=c&state=x`, JSON_TYPE)
    expect(forged.json()).toMatchObject({ status: 400, code: 'sign_in_failed' })
    expect((await visitor.get(callback, JSON_TYPE)).json().detail).toBe(texts.errors.sign_in_failed.detail)
    expect((await visitor.get(callback, JSON_TYPE)).json().detail).toBe(texts.signIn.notPending)
    expect(await signedInAs(app, visitor)).toBeUndefined()
  })

  test('two callbacks at once send the code once', async () => {
    const visitor = createVisitor()
    const atProvider = await visitor.get(
      (await visitor.get(`${app.url}/sign-in`)).headers.get('location') ?? '',
    )
    const callback = atProvider.headers.get('location') ?? ''
    const answers = await Promise.all([visitor.get(callback, JSON_TYPE), visitor.get(callback, JSON_TYPE)])
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400])
    const refused = answers.find(({ status }) => status === 400)
    // The provider's own refusal of a used code has another text.
    expect(refused?.json().detail).toBe(texts.signIn.notPending)
  })

  test('leaves the cookies of a user who is signed in as they are', async () => {
    const visitor = createVisitor()
    await logIn(visitor)
    const again = await visitor.get(`${app.url}/sign-in?returnTo=/connections`)
    expect(again.headers.get('location')).toBe('/connections')
    expect(again.headers.get('set-cookie')).toBeNull()
  })

  test('five tabs that start at the same time end on their pages, signed in', async () => {
    const visitor = createVisitor()
    const pages = [1, 2, 3, 4, 5].map((tab) => `/connections?tab=${tab}`)
    const started = await Promise.all(
      pages.map((page) => visitor.get(`${app.url}/sign-in?returnTo=${encodeURIComponent(page)}`)),
    )
    const ended = await Promise.all(started.map((answer) => visitor.follow(answer)))
    expect(ended.map(({ url, status }) => [url, status])).toEqual(pages.map((page) => [app.url + page, 200]))
    expect(await signedInAs(app, visitor)).toBe('ann@ridgeline.example')
  })

  test('a second tab that finishes later ends on the page that it asked for, signed in', async () => {
    const visitor = createVisitor()
    const second = await visitor.get(`${app.url}/sign-in?returnTo=/connections?second`)
    await logIn(visitor)
    expect((await visitor.follow(second)).url).toBe(`${app.url}/connections?second`)
    expect(await signedInAs(app, visitor)).toBe('ann@ridgeline.example')
  })

  test('the newest of ten sign-ins that a browser has begun works, and proxies accept its cookies', async () => {
    const visitor = createVisitor()
    const long = `/connections?${'x'.repeat(800)}`
    for (let tab = 0; tab < 10; tab++) {
      await visitor.get(`${app.url}/sign-in?returnTo=${encodeURIComponent(long)}`)
      const cookies = [...(visitor.cookies.get(new URL(app.url).host) ?? [])]
      expect(cookies.map(([name, value]) => `${name}=${value}`).join('; ').length).toBeLessThan(8_000)
    }
    expect((await logIn(visitor, '/sign-in?returnTo=/connections')).page.url).toBe(`${app.url}/connections`)
  })

  test.each([
    [14, 200],
    [16, 400],
  ])(
    'a callback %d minutes after its start is answered with %d, although the browser kept its cookie',
    async (minutes, status) => {
      const visitor = createVisitor()
      const started = await visitor.get(`${app.url}/sign-in?returnTo=/connections`)
      later(minutes * 60)
      expect((await visitor.follow(started)).status).toBe(status)
    },
  )

  test('to return to a page with a long address fits into the headers that proxies accept, or continues without it', async () => {
    for (const length of [800, 2_000]) {
      const page = '/connections?'.padEnd(length, 'x')
      const visitor = createVisitor()
      const started = await visitor.get(`${app.url}/sign-in?returnTo=${encodeURIComponent(page)}`)
      const headers = [...started.headers].map(([name, value]) => `${name}: ${value}\r\n`)
      expect(Buffer.byteLength(headers.join('')) + 50).toBeLessThanOrEqual(4_096)
      expect((await visitor.follow(started)).url).toBe(app.url + (length === 800 ? page : '/'))
      expect(await signedInAs(app, visitor)).toBe('ann@ridgeline.example')
    }
  })

  test('works with an issuer that has a path, and with a key that changes each time', async () => {
    for (let round = 0; round < 3; round++) {
      const { visitor } = await logIn()
      expect(await signedInAs(app, visitor)).toBe('ann@ridgeline.example')
    }
  })

  test.each([-120, 120])('works with a clock that is off by %d s', async (clockSkew) => {
    both.choices.clockSkew = clockSkew
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
  ])('refuses an ID token of %s', async (_name, claims) => {
    both.choices.claims = claims
    const { visitor, page } = await logIn()
    expect(page.status).toBe(400)
    expect(page.text).toContain(shown(texts.errors.sign_in_failed.detail))
    expect(await signedInAs(app, visitor)).toBeUndefined()
  })

  test('refuses a token response without an ID token', async () => {
    both.choices.withoutIdToken = true
    expect((await logIn()).page.status).toBe(400)
  })

  test.each([
    ['access_denied', texts.signIn.cancelled],
    ['<script>alert(1)</script>', texts.signIn.refused],
  ])('says what %s means, and offers to try again', async (error, words) => {
    both.choices.response = { error, error_description: 'secret-looking text' }
    const { page } = await logIn()
    expect(page.status).toBe(400)
    expect(page.text).toContain(shown(words))
    expect(page.text).toContain('href="/sign-in"')
    expect(page.text).not.toMatch(/<script>alert|secret-looking/)
  })

  test('shows a name without control characters, at most 100 characters long', async () => {
    both.choices.claims = { name: `\u0000\u202eAnn${'x'.repeat(300)}` }
    const name = (await signedInAs(app, (await logIn()).visitor)) ?? ''
    expect(name).toMatch(/Annx+$/)
    expect(name.length).toBeLessThanOrEqual(100)
  })

  test('shows the name of UserInfo if the ID token has none', async () => {
    both.choices.userInfo = { sub: 'user|42 é', name: 'Ann Lee' }
    expect(await signedInAs(app, (await logIn()).visitor)).toBe('Ann Lee')
  })

  test('shows no name of a UserInfo about another user', async () => {
    both.choices.userInfo = { sub: 'user|43', name: 'Bob' }
    expect(await signedInAs(app, (await logIn()).visitor)).toBe('ann@ridgeline.example')
  })

  test.each(['a\u0000b', 'a\ud800b', '', 'x'.repeat(256)])(
    'signs nobody in by an ID token with the subject %j, and the log says why',
    async (sub) => {
      both.choices.claims = { sub }
      const from = app.logLines.length
      const { visitor, page } = await logIn()
      expect(page.status).toBe(400)
      expect(page.text).toContain(shown(texts.signIn.unknownUser))
      expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
      expect(app.logLines.slice(from).join()).toMatch(/"code":"sign_in_failed","reason":"ID token: sub is/)
    },
  )

  test('says to a callback without any cookie that the browser blocks them', async () => {
    const answer = await fetch(`${app.url}/sign-in/callback?code=c&state=s`)
    expect(await answer.text()).toContain(shown(texts.signIn.cookiesBlocked))
  })
})

describe('sign-out at a provider with a logout page', () => {
  let both: Both
  beforeAll(async () => {
    both = await startBoth({ hasLogout: true })
  })
  afterAll(() => both.close())
  const logoutUrlOf = async (visitor: Visitor) => logoutUrlIn(await visitor.post(`${both.app.url}/sign-out`))

  test('ends the session there, with the ID token that it requires', async () => {
    const { visitor } = await both.logIn()
    const url = await logoutUrlOf(visitor)
    expect(await (await fetch(url)).text()).toBe('You are signed out.')
  })

  test('an ID token that is too long for an address is left out at sign-out', async () => {
    both.choices.claims = { groups: 'x'.repeat(20_000) }
    const { visitor } = await both.logIn()
    const url = await logoutUrlOf(visitor)
    delete both.choices.claims
    expect([...url.searchParams.keys()]).toEqual(['client_id', 'post_logout_redirect_uri'])
  })

  test('nobody who reads the store can read the ID token', async () => {
    const { visitor } = await both.logIn()
    const stored = readdirSync(both.app.config.dataDir)
      .map((name) => readFileSync(join(both.app.config.dataDir, name), 'latin1'))
      .join()
    expect(stored).toContain('ann@ridgeline.example')
    const url = await logoutUrlOf(visitor)
    const [, payload = ''] = url.searchParams.get('id_token_hint')?.split('.') ?? []
    expect(payload.length).toBeGreaterThan(100)
    expect(stored).not.toContain(payload)
  })
})

test.each([
  ['lists both ways', ['client_secret_basic', 'client_secret_post']],
  ['lists HTTP Basic only', ['client_secret_basic']],
])('sign-in works at a provider that %s and does not decode HTTP Basic', async (_what, authMethods) => {
  const { app, logIn, close } = await startBoth({ authMethods })
  expect(await signedInAs(app, (await logIn()).visitor)).toBe('ann@ridgeline.example')
  await close()
})

test('sign-in is 503 while the provider does not answer, and works when it does', async () => {
  const { app, choices, logIn, close } = await startBoth({ isDown: true })
  const { page } = await logIn()
  expect(page.status).toBe(503)
  expect(page.text).toContain(shown(texts.errors.sign_in_unavailable.detail))
  choices.isDown = false
  expect(await signedInAs(app, (await logIn()).visitor)).toBe('ann@ridgeline.example')
  await close()
})
