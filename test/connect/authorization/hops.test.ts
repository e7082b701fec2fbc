import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BrowserEvent, browserChannel } from '../../../src/connect/index.ts'
import { type Running, startAll } from '../../support/app.ts'
import { logIn, signedIn, toCallback, toConsent } from '../../support/flow.ts'
import { leadsTo, type Visitor } from '../../support/visitor.ts'

let app: Running
let visitor: Visitor
let run = 0
let events: BrowserEvent[]
const collect = (event: unknown) => events.push(event as BrowserEvent)
beforeAll(async () => {
  app = await startAll()
})
afterAll(() => app.close())
beforeEach(async () => {
  visitor = await signedIn(app, `user-${++run}`)
  events = []
  browserChannel.subscribe(collect)
})
afterEach(() => browserChannel.unsubscribe(collect))

const MARCUS = 'marcus@ridgeline.example'
/** Each event in a line: where the browser came in, or was sent to, with which status and why. */
const hops = () =>
  events.map(({ direction, request, status, failure }) =>
    [direction, request.method, new URL(request.url).pathname, status, failure].filter(Boolean).join(' '),
  )

describe('each hop of a connect flow is published', () => {
  test('of one that connects an account', async () => {
    await visitor.get(await toCallback(app, visitor))
    expect(hops()).toEqual([
      'in POST /connect',
      'out GET /oauth2.html 200',
      'in GET /connect/context',
      'out GET /auth/authorize 303',
      'in GET /connect/callback',
      'out GET /connections 303',
    ])
    const [start, , returned] = events
    expect(start?.context).toEqual({
      userId: `user-${run}`,
      authorizationRequestId: returned?.context.authorizationRequestId,
      requestId: expect.any(String),
    })
    expect(returned?.context.bxcontext).toBe('harbour-homes')
  })

  test('of one whose consent is denied, with the reason', async () => {
    await visitor.get(await toCallback(app, visitor, { form: { answer: 'deny' } }))
    expect(hops().slice(4)).toEqual([
      'in GET /connect/callback',
      'out GET /connect/failed 303 consent_denied',
    ])
  })

  test('of one in which another business comes back', async () => {
    await visitor.post(`${app.url}/connect`, { form: { bxcontext: 'summit-supplies' } })
    expect(events[0]?.context.bxcontext).toBe('summit-supplies')
    const asked = await visitor.get(`${app.url}/connect/context?bxcontext=ridgeline-build`)
    await logIn(app, visitor, MARCUS)
    const confirmed = await visitor.post(new URL(asked.headers.get('location') ?? '', app.url).href)
    expect([asked.status, confirmed.status]).toEqual([303, 200])
    expect(hops().slice(2)).toEqual([
      'in GET /connect/context',
      'out GET /connect/confirm 303',
      'in POST /connect/confirm',
      'out GET /auth/authorize 200',
    ])
  })

  test('of a bxcontext that nobody asked for', async () => {
    await visitor.get(`${app.url}/connect/context?bxcontext=planted`)
    expect(hops()).toEqual([
      'in GET /connect/context',
      'out GET /connect/context 400 missing_authorization_request',
    ])
  })

  test('of a callback that belongs to no flow, once', async () => {
    await visitor.get(`${app.url}/connect/callback?code=c&state=unknown`)
    expect(hops()).toEqual(['in GET /connect/callback', 'out GET /connect/failed 303 invalid_state'])
  })
})

test('a form leads to the platform by a page that goes on by itself and has a link, and a program gets the address', async () => {
  const page = await visitor.post(`${app.url}/connect`)
  const start = `${app.platform}/oauth2.html?redirectUrl=${encodeURIComponent(`${app.url}/connect/context`)}`
  expect([page.status, leadsTo(page)]).toEqual([200, start])
  expect(page.text).toContain(`href="${start}"`)
  expect(page.headers.get('cache-control')).toBe('no-store')
  const answer = await visitor.post(`${app.url}/connect`, { accept: 'application/json' })
  expect([answer.status, answer.json()]).toEqual([200, { location: start }])
})

test('every other hop is a redirect with status 303', async () => {
  await visitor.post(`${app.url}/connect`)
  const returned = await visitor.get(`${app.url}/connect/context?bxcontext=harbour-homes`)
  const consent = await toConsent(app, visitor)
  const denied = await visitor.post(consent.url, { form: { answer: 'deny' } })
  const callback = await visitor.get((await visitor.follow(denied, `${app.url}/connect/callback`)).url)
  await visitor.post(`${app.url}/sign-out`)
  const signedOut = await visitor.get(`${app.url}/connect/callback?code=c&state=s`)
  expect([returned, callback, signedOut].map(({ status }) => status)).toEqual([303, 303, 303])
})
