import { beforeEach, describe, expect, test, vi } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { StoreUnavailableError } from '../../../src/connect/store/store.ts'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp } from '../../support/app.ts'
import {
  connected,
  connectionsOf,
  logIn,
  newUser,
  SCOPES,
  signedIn,
  toBxcontext,
  toCallback,
} from '../../support/flow.ts'
import { shown } from '../../support/pages.ts'
import type { Visitor } from '../../support/visitor.ts'

const { leads } = platform.scopes

const app = await sharedApp()
let visitor: Visitor
beforeEach(async () => {
  visitor = await signedIn(app, newUser())
})

const MARCUS = 'marcus@ridgeline.example'
/** The page tells the user that a different business came back than the business to reconnect. */
const notThis = (name: string) => shown(texts.mismatch.lead(texts.mismatch.other('ridgeline-build'), name))
const bxcontextUrl = (value: string) => `${app.url}/connect/context?bxcontext=${value}`
const reconnect = (bxcontext: string) => visitor.post(`${app.url}/connect`, { form: { bxcontext } })
const connectedTo = async () =>
  (await connectionsOf(app, visitor)).map((connection: { bxcontext: string }) => connection.bxcontext)

describe('reconnecting one business when another one comes back', () => {
  /** Goes to the question: Summit was to be reconnected, and Ridgeline came back. */
  async function question(): Promise<string> {
    await reconnect('summit-supplies')
    const answer = await visitor.get(bxcontextUrl('ridgeline-build'))
    expect(answer.status).toBe(303)
    const url = new URL(answer.headers.get('location') ?? '', app.url)
    expect(url.origin + url.search).toBe(app.url)
    return url.href
  }

  test('asks the user, with the id of the other one, before consent is requested', async () => {
    const page = await visitor.get(await question())
    expect(page.status).toBe(200)
    expect(page.text).toContain(notThis(texts.connection.unnamed('…pplies')))
    expect(await connectedTo()).toEqual([])
  })

  test('names the business to reconnect as the platform does', async () => {
    visitor = await connected(app, { name: newUser() })
    await reconnect('harbour-homes')
    const page = await visitor.follow(await visitor.get(bxcontextUrl('ridgeline-build')))
    expect(page.text).toContain(notThis('Harbour Homes'))
  })

  test('asks for consent for the other one if the user confirms it', async () => {
    const url = await question()
    await logIn(app, visitor, MARCUS)
    const consent = await visitor.follow(await visitor.post(url))
    const answered = await visitor.post(consent.url, { form: { answer: 'accept', scope: [leads] } })
    await visitor.follow(answered)
    expect(await connectedTo()).toEqual(['ridgeline-build'])
  })

  test('is answered by its user only, and not once the account is connected', async () => {
    const url = await question()
    const other = await signedIn(app, newUser())
    expect((await other.post(url, { accept: 'application/json' })).json()).toMatchObject({ status: 400 })
    await logIn(app, visitor, MARCUS)
    const consent = await visitor.follow(await visitor.post(url))
    await visitor.follow(await visitor.post(consent.url, { form: { answer: 'accept', scope: [leads] } }))
    for (const again of [visitor.post(url, { accept: 'application/json' }), visitor.get(url)])
      expect((await again).text).toContain('it has already finished')
  })

  test('names the bxcontext on every Reconnect button', async () => {
    const owner = await connected(app, { name: newUser() })
    await app.sandbox('revoke')
    const error = await owner.get(`${app.url}/connections/harbour-homes/probe`)
    const list = await owner.get(`${app.url}/connections`)
    for (const page of [error, list])
      expect(page.text).toMatch(/name="bxcontext" value="harbour-homes"[\s\S]{0,60}Reconnect/)
  })

  test('remembers the expected business after a denied consent, for the next attempt', async () => {
    visitor = await connected(app, { name: newUser(), bxcontext: 'ridgeline-build', email: MARCUS })
    await reconnect('ridgeline-build')
    const consent = await visitor.follow(await visitor.get(bxcontextUrl('ridgeline-build')))
    const denied = await visitor.follow(await visitor.post(consent.url, { form: { answer: 'deny' } }))
    expect(denied.text).toContain('name="bxcontext" value="ridgeline-build"')
  })

  test('says nothing on the page of a failure that the address has made up, or that another session has', async () => {
    const words = 'Your account is locked, call 0800 123 456'
    const denied = await signedIn(app, newUser())
    const failed = await denied.follow(
      await denied.get(await toCallback(app, denied, { form: { answer: 'deny' } })),
    )
    const foreign = new URL(failed.url).searchParams.get('flow') ?? ''
    expect(failed.text).toContain(foreign)
    for (const flow of [words, foreign]) {
      const query = new URLSearchParams({ error: 'consent_denied', bxcontext: words, request: words, flow })
      const page = await visitor.get(`${app.url}/connect/failed?${query}`)
      expect(page.status).toBe(403)
      expect(page.text).not.toContain('0800')
      expect(page.text).not.toContain(foreign)
      expect(page.text).toContain('request ID')
    }
  })

  test('of what is no bxcontext is rejected', async () => {
    const form = { bxcontext: 'x'.repeat(600) }
    const answer = await visitor.post(`${app.url}/connect`, { form, accept: 'application/json' })
    expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_bxcontext' })
  })
})

describe('the platform (sandbox)', () => {
  test('lets the user switch accounts on the consent page, and the same flow continues', async () => {
    await logIn(app, visitor, MARCUS)
    const first = await visitor.follow(await visitor.post(`${app.url}/connect`), `${app.url}/connect/context`)
    const consent = await visitor.follow(await visitor.get(first.url))
    expect(consent.text).toContain('Switch account')
    const login = await visitor.follow(await visitor.post(consent.url, { form: { answer: 'switch' } }))
    expect(login.url).toContain(`${app.platform}/login`)
    const next = new URL(login.url).searchParams.get('next') ?? ''
    const form = { email: 'priya@summit.example', password: 'sandbox', next }
    const asked = await visitor.follow(await visitor.post(`${app.platform}/login`, { form }))
    expect(asked.text).toContain('Summit Building Supplies')
    const accepted = { answer: 'accept', scope: SCOPES }
    await visitor.follow(await visitor.post(asked.url, { form: accepted }))
    expect(await connectionsOf(app, visitor)).toMatchObject([{ bxcontext: 'summit-supplies' }])
  })

  test('offers another login if the browser returns without having reached the consent page', async () => {
    await logIn(app, visitor, MARCUS)
    await visitor.get(await toBxcontext(app, visitor, 'ridgeline-build', MARCUS))
    const second = await visitor.follow(
      await visitor.post(`${app.url}/connect`),
      `${app.url}/connect/context`,
    )
    expect(second.url).toContain(`${app.platform}/oauth2.html`)
    expect(second.text).toContain('Log in with another account')
  })

  test('keeps your consent when a colleague with the same login connects too', async () => {
    const first = await connected(app, { name: newUser() })
    await connected(app, { name: newUser() })
    await app.sandbox('expire')
    expect((await first.get(`${app.url}/connections/harbour-homes/probe`)).status).toBe(200)
  })
})

describe('the return addresses', () => {
  const NOT_NAVIGATIONS = [
    { 'sec-fetch-dest': 'image' },
    { 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch;prerender' },
  ]

  test.each(NOT_NAVIGATIONS)(
    'opened with %j are rejected, and the request is not consumed',
    async (headers) => {
      await visitor.post(`${app.url}/connect`)
      expect((await visitor.get(bxcontextUrl('harbour-homes'), { headers })).status).toBe(400)
      await logIn(app, visitor)
      const consent = await visitor.follow(
        await visitor.get(bxcontextUrl('harbour-homes'), { headers: { 'sec-fetch-dest': 'document' } }),
      )
      const answered = await visitor.post(consent.url, { form: { answer: 'accept', scope: [leads] } })
      const { url } = await visitor.follow(answered, `${app.url}/connect/callback`)
      expect((await visitor.get(url, { headers })).status).toBe(400)
      expect((await visitor.follow(await visitor.get(url))).url).toBe(`${app.url}/connections`)
      expect(await connectedTo()).toEqual(['harbour-homes'])
    },
  )

  test('and each other step of a flow have its id in the log, and the page of its failure names it', async () => {
    await reconnect('summit-supplies')
    const asked = await visitor.follow(await visitor.get(bxcontextUrl('ridgeline-build')))
    await logIn(app, visitor, MARCUS)
    const consent = await visitor.follow(await visitor.post(asked.url))
    const failed = await visitor.follow(await visitor.post(consent.url, { form: { answer: 'deny' } }))
    const { flow } = (await visitor.get(failed.url, { accept: 'application/json' })).json()
    expect(failed.text).toContain(`${shown(texts.errorPage.flowId)} <code>${flow}</code>`)
    const lines = app.logLines.map((line) => JSON.parse(line)).filter(({ flowId }) => flowId === flow)
    const confirm = 'GET /connect/confirm/:id'
    expect(lines.map(({ method, route, msg }) => (method ? `${method} ${route}` : msg))).toEqual([
      'POST /connect',
      'GET /connect/context',
      confirm,
      confirm.replace('GET', 'POST'),
      'connect failed',
      'GET /connect/callback',
      'GET /connect/failed',
      'GET /connect/failed',
    ])
  })

  test('remove code and state from the address even if the store is unavailable, and log the reason', async () => {
    const url = await toCallback(app, visitor)
    const consume = vi
      .spyOn(app.services.connect.flows, 'claim')
      .mockRejectedValueOnce(new StoreUnavailableError('away'))
    const page = await visitor.follow(await visitor.get(url))
    consume.mockRestore()
    expect([new URL(page.url).pathname, page.status]).toEqual(['/connect/failed', 503])
    expect(page.url).not.toMatch(/code=|state=/)
    expect(app.logLines.join()).toMatch(/"code":"store_unavailable","reason":"away","msg":"connect failed"/)
  })

  test('redirect to the connections if nothing failed', async () => {
    expect((await visitor.follow(await visitor.get(`${app.url}/connect/failed`))).url).toBe(
      `${app.url}/connections`,
    )
  })
})
