import { setTimeout } from 'node:timers/promises'
import { beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest'
import { consentFailure } from '../../../src/connect/authorization/errors.ts'
import { platform } from '../../../src/connect/index.ts'
import {
  NotFoundError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from '../../../src/connect/platform/errors.ts'
import { sharedApp } from '../../support/app.ts'
import { connectionsOf, newUser, SCOPES, signedIn, toBxcontext, toCallback } from '../../support/flow.ts'
import type { Visitor } from '../../support/visitor.ts'

const { leads } = platform.scopes

const app = await sharedApp()
let userId: string
let visitor: Visitor
let exchanges: MockInstance
beforeEach(async () => {
  userId = newUser()
  visitor = await signedIn(app, userId)
  exchanges = vi.spyOn(app.services.connect.oauth, 'exchangeCode')
})

/** The status of a HEAD request by this visitor. */
async function head(url: string, by: Visitor): Promise<number> {
  const cookies = by.cookies.get(new URL(url).host) ?? []
  const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
  return (await fetch(url, { method: 'HEAD', redirect: 'manual', headers: { cookie } })).status
}

/** Opens a url; follows the redirect of a callback, which must lead to an address without its code and state. */
async function open(url: string, accept = 'text/html', by = visitor) {
  const answer = await by.get(url, { accept })
  if (!url.toLowerCase().includes('/connect/callback')) return answer
  expect(answer.status).toBe(303)
  const last = answer.headers.get('location') ?? ''
  expect(last).not.toMatch(/[?&](code|state)=/)
  return by.get(new URL(last, url).href, { accept })
}

/** Opens a url as a browser and as a JSON client; both must fail the same way, and nothing may be stored. */
async function refused(url: string, status: number, code: string, by = visitor): Promise<void> {
  const page = await open(url, 'text/html', by)
  expect(page.status).toBe(status)
  expect(page.headers.get('content-type')).toMatch(/^text\/html/)
  expect(page.text).toMatch(/<h1>/)
  const problem = await open(url, 'application/json', by)
  expect(problem.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(problem.json()).toMatchObject({ status, code, requestId: expect.any(String) })
  expect(await connectionsOf(app, visitor)).toEqual([])
}

test.each(['words <of> others', 'words of others', 'UPPER', 'server_error\nline', 'x'.repeat(51)])(
  'an error of the consent page that does not have the form of a code is not logged: %j',
  (error) => {
    expect(consentFailure('server_error').reason).toBe('the consent page returned server_error')
    expect(consentFailure(error).reason).toBe('the consent page returned an unknown error code')
  },
)

describe('the callback', () => {
  test('opened ten times at once sends the code once and shows the connection every time', async () => {
    const url = await toCallback(app, visitor)
    const all = await Promise.all(Array.from({ length: 10 }, () => visitor.get(url)))
    expect(all.map(({ headers }) => headers.get('location'))).toEqual(Array(10).fill('/connections'))
    expect(exchanges).toHaveBeenCalledTimes(1)
    expect((await visitor.get(`${app.url}/connections/harbour-homes/probe`)).status).toBe(200)
  })

  test('redirects when the outcome is stored, so that every later visit finds it', async () => {
    const { flows } = app.services.connect
    const store = flows.end.bind(flows)
    const stored = vi.fn()
    vi.spyOn(flows, 'end').mockImplementation(async (...outcome) => {
      await setTimeout(50)
      await store(...outcome)
      stored()
    })
    await visitor.get(await toCallback(app, visitor))
    expect(stored).toHaveBeenCalledTimes(1)
  })

  test('responds with a redirect only, so that the code leaves the address bar', async () => {
    const answer = await visitor.get(await toCallback(app, visitor))
    expect(answer.status).toBe(303)
    expect(answer.text).not.toMatch(/<html/)
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  })

  test('with a state of another session of the same user is rejected', async () => {
    const elsewhere = await signedIn(app, userId)
    await refused(await toCallback(app, elsewhere), 400, 'invalid_state')
  })

  test('with a state of another user is rejected, and that user can still finish', async () => {
    const other = await signedIn(app, newUser())
    const url = await toCallback(app, other)
    await refused(url, 400, 'invalid_state')
    expect((await other.get(url)).status).toBe(303)
  })

  test.each([
    ['no state', 'code=c'],
    ['an unknown state', 'code=c&state=unknown'],
    ['no code', 'state=s'],
    ['a doubled code', 'code=c&code=d&state=s'],
    ['a doubled state', 'code=c&state=s&state=t'],
    ['a code and an error', 'code=c&error=access_denied&state=s'],
    ['a state of 20 kB', `code=c&state=${'s'.repeat(20_000)}`],
    ['a code of 16,385 characters', `code=${'c'.repeat(16_385)}&state=s`],
    ['a doubled issuer', 'code=c&state=s&iss=a&iss=b'],
    ['a doubled error', 'error=a&error=b&state=s'],
    ['an error of 20 kB', `error=${'e'.repeat(20_000)}&state=s`],
  ])('with %s is rejected', async (what, query) => {
    const code = what.startsWith('an unknown state') ? 'invalid_state' : 'invalid_callback'
    await refused(`${app.url}/connect/callback?${query}`, 400, code)
  })

  test.each([
    ...[
      'access_denied',
      'user_cancelled_authorize',
      'user_cancelled_login',
      'consent_required',
      'login_required',
      'interaction_required',
      'account_selection_required',
    ].map((error): [string, number, string] => [error, 403, 'consent_denied']),
    ['server_error', 502, 'consent_unavailable'],
    ['a_code_that_nobody_knows', 502, 'consent_unavailable'],
    ['unauthorized_client', 500, 'consent_misconfigured'],
  ])(
    'with error=%s shows its own page, and the authorization request is consumed',
    async (error, status, code) => {
      const url = await toCallback(app, visitor)
      const state = new URL(url).searchParams.get('state')
      await refused(`${app.url}/connect/callback?error=${error}&state=${state}`, status, code)
      await refused(url, status, code)
      expect(exchanges).not.toHaveBeenCalled()
    },
  )

  test('exchanges a code as long as a token may be', async () => {
    const state = new URL(await toCallback(app, visitor)).searchParams.get('state')
    app.answer('/auth/oauth/token', { json: { access_token: 'a', refresh_token: 'r', expires_in: 300 } })
    const answer = await visitor.get(`${app.url}/connect/callback?code=${'c'.repeat(16_384)}&state=${state}`)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/connections'])
    expect(await connectionsOf(app, visitor)).toMatchObject([{ status: 'active' }])
  })

  test('is not consumed by a HEAD request, nor is a bxcontext', async () => {
    const returned = await toBxcontext(app, visitor)
    expect(await head(returned, visitor)).toBe(405)
    const consent = await visitor.follow(await visitor.get(returned))
    const answered = await visitor.post(consent.url, { form: { answer: 'accept', scope: [leads] } })
    const { url } = await visitor.follow(answered, `${app.url}/connect/callback`)
    expect(await head(url, visitor)).toBe(405)
    expect((await visitor.get(url)).status).toBe(303)
  })

  test('with another spelling of its path sends the registered redirect_uri', async () => {
    const url = await toCallback(app, visitor)
    const answer = await visitor.get(url.replace('/connect/callback', '/Connect/Callback/'))
    expect(answer.headers.get('location')).toBe('/connections')
  })

  test('with another issuer is rejected', async () => {
    const url = new URL(await toCallback(app, visitor))
    url.searchParams.set('iss', 'https://elsewhere.example')
    await refused(url.href, 502, 'platform_rejected')
  })

  test('of a signed-out visitor asks to sign in and stores nothing', async () => {
    const url = await toCallback(app, visitor)
    await visitor.post(`${app.url}/sign-out`)
    const answer = await open(url, 'application/json')
    expect(answer.json()).toMatchObject({ status: 401, code: 'unauthenticated' })
  })

  test('of a previous user of this browser is rejected', async () => {
    const url = await toCallback(app, visitor)
    await visitor.post(`${app.url}/sign-out`)
    await visitor.post(`${app.url}/sign-in`, { form: { name: newUser() } })
    await refused(url, 400, 'invalid_state')
  })
})

describe('an exchange that fails', () => {
  test.each([
    ['invalid_grant', 400, 'code_rejected'],
    ['500', 503, 'platform_unavailable'],
    ['invalid_client', 500, 'misconfigured'],
  ])(
    '(%s) shows a clear page, does not send the code again, and connecting again works',
    async (fault, status, code) => {
      await app.fault('exchange', fault, 1)
      await refused(await toCallback(app, visitor), status, code)
      expect(exchanges).toHaveBeenCalledTimes(1)
      await visitor.get(await toCallback(app, visitor))
      expect(await connectionsOf(app, visitor)).toMatchObject([{ status: 'active' }])
    },
  )

  test.each([
    [new PlatformUnavailableError('refused', '423 Locked'), 'code_rejected', '423 Locked'],
    [new PlatformUnavailableError('no_answer', 'no answer within 1 s'), 'platform_unavailable', 'no answer'],
    [new PlatformRejectedError('no access_token'), 'platform_rejected', 'no access_token'],
    [new NotFoundError(), 'platform_rejected', 'not_found'],
    [new RangeError('of our own'), 'exchange_incomplete', 'RangeError'],
  ])('(%s) shows %s and logs %j', async (error, code, reason) => {
    const url = await toCallback(app, visitor)
    exchanges.mockRejectedValueOnce(error)
    expect((await open(url, 'application/json')).json()).toMatchObject({ code })
    expect(app.logLines.findLast((line) => line.includes('connect failed'))).toContain(reason)
  })
})

test('a disconnect during the exchange is not reported as a fault of the platform', async () => {
  vi.spyOn(app.services.connect.vault, 'connect').mockResolvedValueOnce('superseded')
  await refused(await toCallback(app, visitor), 503, 'exchange_incomplete')
})

describe('a bxcontext', () => {
  const bxcontextUrl = (query: string) => `${app.url}/connect/context${query}`

  test('is accepted until the authorization request has finished', async () => {
    await visitor.get(await toCallback(app, visitor, { form: { answer: 'deny' } }))
    await refused(bxcontextUrl('?bxcontext=planted'), 400, 'missing_authorization_request')
  })

  test('that the user chose in another tab, or after going back, has a consent of its own: both connect', async () => {
    const left = await toCallback(app, visitor)
    const consent = await visitor.follow(await visitor.get(bxcontextUrl('?bxcontext=harbour-renovations')))
    const form = { answer: 'accept', scope: SCOPES }
    await visitor.follow(await visitor.post(consent.url, { form }))
    expect(await connectionsOf(app, visitor)).toMatchObject([{ bxcontext: 'harbour-renovations' }])
    expect((await visitor.get(left)).headers.get('location')).toBe('/connections')
    expect(await connectionsOf(app, visitor)).toHaveLength(2)
  })

  test('is not accepted for an authorization request in another browser of the same user', async () => {
    const elsewhere = await signedIn(app, userId)
    await elsewhere.post(`${app.url}/connect`)
    await refused(bxcontextUrl('?bxcontext=harbour-homes'), 400, 'missing_authorization_request')
  })

  test.each([
    ['missing', ''],
    ['empty', '?bxcontext='],
    ['doubled', '?bxcontext=a&bxcontext=b'],
    ['an object', '?bxcontext[a]=b'],
    ['of 10 kB', `?bxcontext=${'x'.repeat(10_000)}`],
    ['with a control character', '?bxcontext=a%00b'],
    ['a dot segment', '?bxcontext=..'],
  ])(
    'that is %s is rejected, and the authorization request still accepts a valid one',
    async (_what, query) => {
      await visitor.post(`${app.url}/connect`)
      await refused(bxcontextUrl(query), 400, 'invalid_bxcontext')
      expect((await visitor.get(bxcontextUrl('?bxcontext=harbour-homes'))).status).toBe(303)
    },
  )
})
