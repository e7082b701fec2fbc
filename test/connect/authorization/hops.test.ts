import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { HopEvent } from '../../../src/connect/express.ts'
import { type Running, startAll } from '../../support/app.ts'
import { logIn, signedIn, toCallback } from '../../support/flow.ts'
import { leadsTo, type Visitor } from '../../support/visitor.ts'

let app: Running
let visitor: Visitor
let run = 0
let events: HopEvent[]
beforeAll(async () => {
  app = await startAll()
  app.services.parts.push({
    async onHop(event) {
      events.push(event)
      return event.target
    },
  })
})
afterAll(() => app.close())
beforeEach(async () => {
  events = []
  visitor = await signedIn(app, `user-${++run}`)
})

const MARCUS = 'marcus@ridgeline.example'
/** Each hop in a line: what the browser opened, and where it goes next, with which status and why. */
const hops = () =>
  events.map(({ hop, req, target, status, failure }) => {
    const [from, to] = [req.originalUrl, target].map((url) => new URL(url, app.url).pathname)
    return [`${hop}:`, req.method, from, '->', to, status, failure].filter(Boolean).join(' ')
  })

describe('each hop of a connect flow is reported', () => {
  test('of one that connects an account', async () => {
    await visitor.get(await toCallback(app, visitor))
    expect(hops()).toEqual([
      'start: POST /connect -> /oauth2.html 200',
      'consent: GET /connect/context -> /auth/authorize 303',
      'exchange: GET /connect/callback -> /connect/callback 303',
      'result: GET /connect/callback -> /connections 303',
    ])
    const [start, consent, , result] = events
    expect(start?.flow).toMatchObject({ userId: `user-${run}`, id: result?.flow.id })
    expect(consent?.flow).toMatchObject({ bxcontext: 'harbour-homes', state: result?.flow.state })
  })

  test('of one whose consent is denied, with the reason', async () => {
    await visitor.get(await toCallback(app, visitor, { form: { answer: 'deny' } }))
    expect(hops().at(-1)).toBe('result: GET /connect/callback -> /connect/failed 303 consent_denied')
  })

  test('of one in which another business comes back', async () => {
    await visitor.post(`${app.url}/connect`, { form: { bxcontext: 'summit-supplies' } })
    expect(events[0]?.flow.bxcontext).toBe('summit-supplies')
    const asked = await visitor.get(`${app.url}/connect/context?bxcontext=ridgeline-build`)
    await logIn(app, visitor, MARCUS)
    const confirmed = await visitor.post(new URL(asked.headers.get('location') ?? '', app.url).href)
    expect([asked.status, confirmed.status]).toEqual([303, 200])
    const path = new URL(asked.headers.get('location') ?? '', app.url).pathname
    expect(hops().slice(1)).toEqual([
      `confirm: GET /connect/context -> ${path} 303`,
      `consent: POST ${path} -> /auth/authorize 200`,
    ])
  })

  test('of a bxcontext that nobody asked for', async () => {
    await visitor.get(`${app.url}/connect/context?bxcontext=planted`)
    expect(hops()).toEqual([
      'consent: GET /connect/context -> /connect/context 400 missing_authorization_request',
    ])
  })

  test('of a callback that belongs to no flow, once', async () => {
    await visitor.get(`${app.url}/connect/callback?code=c&state=unknown`)
    expect(hops().slice(1)).toEqual(['result: GET /connect/callback -> /connect/failed 303 invalid_state'])
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
