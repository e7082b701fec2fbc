import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import request from 'supertest'
import { describe, expect, test, vi } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { createApp, partsOf } from '../../../src/app.ts'
import { routesOf } from '../../../src/cli/routes.ts'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { localPath } from '../../../src/web/requests/return-to.ts'
import { sessionCookie } from '../../../src/web/sign-in/session.ts'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp, startAll } from '../../support/app.ts'
import { connected, connectionsOf, newUser, signedIn } from '../../support/flow.ts'
import { shown } from '../../support/pages.ts'
import { createVisitor } from '../../support/visitor.ts'

const app = await sharedApp()

const JSON_TYPE = { accept: 'application/json' }

describe('a cross-site request', () => {
  const foreign = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    // Firefox, after a redirect that hides where it comes from.
    { 'sec-fetch-site': 'none', origin: 'null' },
  ]

  test('is refused by every unsafe route there is, and changes nothing', async () => {
    const visitor = await connected(app, { name: newUser() })
    // Server routes do not serve browsers: tokens and signatures protect them.
    const { server: _, ...parts } = partsOf(app.services)
    const routes = Object.values(parts).flat().flatMap(routesOf)
    const unsafe = routes
      .filter(({ route }) => route.stack.some(({ method }) => method !== 'get' && method !== 'head'))
      .map(({ path }) => path.replace(':bxcontext', 'harbour-homes').replace(':id', 'some'))
    expect(unsafe).toEqual(
      expect.arrayContaining(['/sign-in', '/connect', '/connections/harbour-homes/disconnect']),
    )
    expect(unsafe.join()).not.toContain(':')
    for (const path of unsafe) {
      for (const headers of foreign) {
        const answer = await visitor.post(app.url + path, {
          form: { name: 'mallory' },
          headers,
          ...JSON_TYPE,
        })
        expect(answer.json(), `${path} ${JSON.stringify(headers)}`).toMatchObject({
          status: 403,
          code: 'csrf_rejected',
        })
      }
    }
    expect(await connectionsOf(app, visitor)).toMatchObject([
      { bxcontext: 'harbour-homes', status: 'active' },
    ])
  })

  test('of the same origin, of a user’s own typing, or of a program is carried out', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
      { origin: app.url },
      {},
    ]) {
      const answer = await createVisitor().post(`${app.url}/sign-in`, { form: { name: 'ann' }, headers })
      expect(answer.status).toBe(303)
    }
  })
})

describe('the session', () => {
  const idOf = (visitor: ReturnType<typeof createVisitor>) =>
    visitor.cookies.get(new URL(app.url).host)?.get(sessionCookie(app.url))

  test('gets a new id at sign-in and at sign-out, and the old one is worth nothing', async () => {
    const visitor = await signedIn(app, newUser())
    const first = idOf(visitor)
    await visitor.post(`${app.url}/sign-in`, { form: { name: 'second' } })
    const second = idOf(visitor)
    await visitor.post(`${app.url}/sign-out`)
    expect(second).not.toBe(first)
    expect(idOf(visitor)).not.toBe(second)
    for (const old of [first, second]) {
      const thief = createVisitor()
      const answer = await thief.get(`${app.url}/connections`, {
        ...JSON_TYPE,
        headers: { cookie: `${sessionCookie(app.url)}=${old}` },
      })
      expect(answer.status).toBe(401)
    }
  })

  test('that another account planted is not taken over at sign-in', async () => {
    const attacker = await signedIn(app, newUser())
    const planted = idOf(attacker) as string
    const victim = createVisitor()
    victim.cookies.set(new URL(app.url).host, new Map([[sessionCookie(app.url), planted]]))
    await victim.post(`${app.url}/sign-in`, { form: { name: 'victim' } })
    expect(idOf(victim)).not.toBe(planted)
    expect((await attacker.get(`${app.url}/connections`, JSON_TYPE)).status).toBe(401)
  })

  test('cookie is HttpOnly and Lax, and not set before there is a session', async () => {
    expect((await createVisitor().get(app.url)).headers.get('set-cookie')).toBeNull()
    const answer = await createVisitor().post(`${app.url}/sign-in`, { form: { name: 'ann' } })
    expect(answer.headers.get('set-cookie')).toMatch(
      /^[\w-]+=.*; Path=\/; Expires=.*; HttpOnly; SameSite=Lax$/,
    )
  })

  test('of one product stays when a user signs in to another product on the same host', async () => {
    const other = await startAll()
    const visitor = await signedIn(app, newUser())
    const [host, otherHost] = [app, other].map(({ url }) => new URL(url).host)
    // Cookies ignore ports.
    visitor.cookies.set(otherHost ?? '', visitor.cookies.get(host ?? '') ?? new Map())
    await visitor.post(`${other.url}/sign-in`, { form: { name: 'bob' } })
    await visitor.post(`${other.url}/sign-out`)
    expect((await visitor.get(`${app.url}/connections`, JSON_TYPE)).status).toBe(200)
    await other.close()
  })

  test('cookie carries the name of the product in package.json, and the port if there is one', () => {
    expect(sessionCookie('http://localhost:3000')).toBe(`${manifest.name}-3000`)
    expect(sessionCookie('https://app.example')).toBe(`__Host-${manifest.name}`)
  })

  test('cookie on https is Secure, has the __Host- prefix, and is deleted at sign-out', async () => {
    const secure = await startAll({ BASE_URL: 'https://app.example' })
    const visitor = createVisitor()
    const answer = await visitor.post(`${secure.url}/sign-in`, { form: { name: 'ann' } })
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-[\w-]+=.*; Path=\/; Expires=.*; HttpOnly; Secure; SameSite=Lax$/,
    )
    expect(answer.headers.get('strict-transport-security')).toMatch(/^max-age=\d+$/)
    const switched = await visitor.post(`${secure.url}/customer-view`, { form: { on: 'true' } })
    expect(switched.headers.get('set-cookie')).toMatch(/customer_view=1;.*Secure/)
    const [deleted = ''] = (await visitor.post(`${secure.url}/sign-out`)).headers.getSetCookie()
    expect(deleted).toMatch(
      /^__Host-[\w-]+=; Path=\/; Expires=Thu, 01 Jan 1970 [^;]*; HttpOnly; Secure; SameSite=Lax$/,
    )
    await secure.close()
  })

  test('of a name that is no name is refused by name', async () => {
    for (const name of ['', '   ', 'x'.repeat(101), 'a\u0000b']) {
      const answer = await createVisitor().post(`${app.url}/sign-in`, { form: { name }, ...JSON_TYPE })
      expect(answer.json()).toMatchObject({
        status: 400,
        code: 'invalid_input',
        detail: expect.stringContaining('name'),
      })
    }
  })
})

describe('returnTo', () => {
  test.each([
    ['/connections', '/connections'],
    ['/connections/a%2Fb/probe?top=5', '/connections/a%2Fb/probe?top=5'],
    ['https://evil.example/', '/'],
    ['//evil.example/', '/'],
    ['/\\evil.example', '/'],
    ['/.//evil.example', '/'],
    ['/x/..//evil.example', '/'],
    ['/%2e//evil.example', '/'],
    ['\\\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['/\n//evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['evil.example', '/'],
    ['', '/'],
  ])('%j leads to %s', (returnTo, location) => {
    expect(localPath(returnTo) ?? '/').toBe(location)
  })

  test('decides where a sign-in leads, and an address that names it', async () => {
    const cases = [['/connections', '/connections'] as const, ['//evil.example/', '/'] as const]
    for (const [returnTo, location] of cases) {
      const visitor = createVisitor()
      const { headers } = await visitor.post(`${app.url}/sign-in`, { form: { name: 'ann', returnTo } })
      const answer = await visitor.get(app.url + headers.get('location'))
      expect(answer.headers.get('location')).toBe(location)
      const forged = await visitor.get(`${app.url}/signed-in?${new URLSearchParams({ returnTo })}`)
      expect(forged.headers.get('location')).toBe(location)
    }
  })

  test('never leads to another origin, whatever it is', async () => {
    const { default: fc } = await import('fast-check')
    const near = fc.string({
      unit: fc.constantFrom('/', '\\', '.', '@', ':', '\t', '\n', ' ', '?', '#', '%', 'a', '\u0000', '／'),
    })
    fc.assert(
      fc.property(near, (value) => {
        const path = localPath(value)
        if (path !== null) {
          expect(new URL(path, 'https://app.example').origin).toBe('https://app.example')
          expect(path.startsWith('//')).toBe(false)
        }
      }),
      { numRuns: 5000 },
    )
  })
})

describe('a session store that fails', () => {
  test('offers to try again on this site only, and never with a code', async () => {
    const visitor = await signedIn(app, newUser())
    vi.spyOn(app.services.sessionStore, 'get').mockImplementation((_id, done) =>
      done(new StoreUnavailableError('gone')),
    )
    for (const path of ['//evil.example/x', '/.//evil.example/x']) {
      const { status, text } = await visitor.get(app.url + path)
      expect(status, path).toBe(503)
      expect(text, path).toContain(`href="/connections">${shown(texts.errorPage.tryAgain)}`)
    }
    const callback = await visitor.get(`${app.url}/Connect/callback?code=secret&state=x`)
    const location = '/connect/failed?error=exchange_incomplete'
    expect([callback.status, callback.headers.get('location')]).toEqual([303, location])
    expect((await visitor.get(`${app.url}/connections?connected=x`)).text).toContain(
      `href="/connections?connected=x">${shown(texts.errorPage.tryAgain)}`,
    )
  })

  test('slowly does not let the next request come too early', async () => {
    const { sessionStore } = app.services
    const set = sessionStore.set.bind(sessionStore)
    vi.spyOn(sessionStore, 'set').mockImplementation((...args) => void setTimeout(() => set(...args), 200))
    const visitor = createVisitor()
    await visitor.post(`${app.url}/sign-in`, { form: { name: 'ann' } })
    expect((await visitor.get(`${app.url}/connections`)).status).toBe(200)
  })
})

test('the id of a session is nowhere in the embedded store', async () => {
  const name = newUser()
  const visitor = await signedIn(app, name)
  const cookie = decodeURIComponent(
    visitor.cookies.get(new URL(app.url).host)?.get(sessionCookie(app.url)) ?? '',
  )
  const [, id = ''] = /^s:([^.]+)\./.exec(cookie) ?? []
  expect(id).toHaveLength(32)
  const files = readdirSync(app.config.dataDir).map((name) =>
    readFileSync(join(app.config.dataDir, name), 'latin1'),
  )
  expect(files.join()).toContain(name)
  expect(files.join()).not.toContain(id)
})

describe('text that cannot be an id is 400 where it enters', () => {
  test.each([
    '/connections/%00/disconnect',
    '/connections/a%1fb/probe',
    '/connections/harbour-homes/probe/%C2%85',
    '/probe/server/%7f',
    '/connect?bxcontext=%01',
    '/connect/context?bxcontext=%01',
    '/connections/live?id=%01',
    `/connections/${'x'.repeat(513)}/disconnect`,
  ])('in the address: %s', async (path) => {
    const visitor = await connected(app, { name: newUser() })
    await visitor.post(`${app.url}/connect`)
    expect((await visitor.get(app.url + path)).status).toBe(400)
  })

  test.each([
    ['/sign-in', { name: '\ud800' }],
    ['/sign-in', { name: 'a\u0000' }],
    ['/sign-in', { name: ['ann'] }],
    ['/connect', { bxcontext: 'a\udc00' }],
    ['/connections/harbour-homes/label', { label: '\ud800', shown: '' }],
    ['/connections/harbour-homes/probe', { name: 'x', '\ud800': 1 }],
    ['/sign-out', { everywhere: 'perhaps' }],
  ])('in a body: %s %o', async (path, body) => {
    const visitor = await connected(app, { name: newUser() })
    const headers = { 'content-type': 'application/json' }
    const text = JSON.stringify(body)
    expect((await visitor.post(app.url + path, { text, headers, ...JSON_TYPE })).json()).toMatchObject({
      status: 400,
      code: expect.stringMatching(/^invalid_/),
    })
  })
})

describe('headers', () => {
  test('of every kind of answer are strict', async () => {
    const visitor = await signedIn(app, newUser())
    const paths = ['/', '/connections', '/nowhere', '/health/live', '/connect/callback', '/probe/server']
    for (const path of paths) {
      const { headers } = await visitor.get(app.url + path)
      const csp = headers.get('content-security-policy') ?? ''
      expect(csp).toContain("default-src 'none'")
      expect(csp).toContain("frame-ancestors 'none'")
      expect(csp).toMatch(/form-action 'self'(;|$)/)
      expect(csp).not.toMatch(/unsafe|\*|data:/)
      expect(headers.get('referrer-policy')).toBe(
        path === '/connect/callback' ? 'no-referrer' : 'same-origin',
      )
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-powered-by')).toBeNull()
      expect(headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
    }
  })

  test('allow nothing if the address of the request cannot be read', async () => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.write('GET http://[/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 404 /)
    expect(answer).toMatch(/^content-security-policy: default-src 'none'/im)
  })

  test('of a page allow what the page uses: it has nothing inline', async () => {
    const visitor = await connected(app, { name: newUser() })
    for (const path of ['/', '/connections', '/connections/harbour-homes/probe', '/nowhere']) {
      const { text } = await visitor.get(app.url + path)
      expect(text).not.toMatch(/<style|style=|<script(?![^>]*src=)|\son\w+=/i)
    }
  })
})

describe('limits', () => {
  test('a body that is too large is 413, and one that cannot be read is 400', async () => {
    const visitor = await signedIn(app, newUser())
    const large = await visitor.post(`${app.url}/sign-in`, {
      form: { name: 'x'.repeat(100_000) },
      ...JSON_TYPE,
    })
    expect(large.json()).toMatchObject({ status: 413, code: 'payload_too_large' })
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const broken = await fetch(`${app.url}/sign-in`, { method: 'POST', headers, body: '{' })
    expect(await broken.json()).toMatchObject({ status: 400 })
  })

  test('a url that cannot be decoded is 400, not 500', async () => {
    const visitor = await signedIn(app, newUser())
    expect((await visitor.get(`${app.url}/connections/%E0%A4%A/probe`, JSON_TYPE)).json()).toMatchObject({
      status: 400,
    })
  })

  test('health tells no versions, users or keys', async () => {
    await request(createApp(app.services)).get('/health/ready').expect(200, { status: 'ready' })
    await request(createApp(app.services)).get('/health/live').expect(200, { status: 'live' })
  })
})

describe('text from elsewhere', () => {
  test('is escaped on every page', async () => {
    const name = '<img src=x onerror=alert(1)>'
    const visitor = await connected(app, { name })
    const failed = await visitor.get(`${app.url}/connections/${encodeURIComponent(name)}/probe`)
    const rejected = await visitor.post(`${app.url}/connections/harbour-homes/probe`, { form: { name } })
    for (const { text } of [await visitor.get(`${app.url}/connections`), failed, rejected]) {
      expect(text).toContain('&lt;img src=x')
      expect(text).not.toMatch(/<img src=x/)
    }
  })
})
