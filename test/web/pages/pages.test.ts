import { beforeAll, describe, expect, test } from 'vitest'
import { CONNECTION_STATES, platform } from '../../../src/connect/index.ts'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp } from '../../support/app.ts'
import { connected, connectionsOf, later, newUser, SCOPES, signedIn, toCallback } from '../../support/flow.ts'
import { expectBothFormats, shown } from '../../support/pages.ts'
import { storedTokens } from '../../support/stored.ts'
import { consent } from '../../support/vault.ts'
import { createVisitor, type Visitor } from '../../support/visitor.ts'

const { catalogues, leads } = platform.scopes

const app = await sharedApp()
let visitor: Visitor
beforeAll(async () => {
  visitor = await connected(app, { name: newUser() })
})

const JSON_TYPE = { accept: 'application/json' }
const at = (path: string) => `${app.url}/connections/harbour-homes${path}`
const CONNECTED = shown(texts.notices.connected('Harbour Homes'))

describe('every page', () => {
  test.each(['/', '/connections'])(
    '%s is HTML for a browser and JSON for a client that asks for it, at one address',
    (path) => expectBothFormats(visitor, app.url + path, texts.connections.title),
  )

  test('marks itself among the links of the header', async () => {
    const page = await visitor.get(`${app.url}/connections`)
    expect(page.text.match(/<a [^>]*aria-current="page"/g)).toEqual([
      '<a href="/connections" aria-current="page"',
    ])
  })
})

test('a callback that is opened again after a disconnect does not say that the account is connected', async () => {
  const user = await signedIn(app, newUser())
  const callback = await toCallback(app, user)
  expect((await user.follow(await user.get(callback))).text).toContain(CONNECTED)
  await user.post(at('/disconnect'), JSON_TYPE)
  expect((await user.follow(await user.get(callback))).text).not.toContain(CONNECTED)
})

test('a business that is not connected can be connected from its error page, and one that is can be reconnected', async () => {
  const never = (await visitor.get(`${app.url}/connections/elsewhere/probe`)).text
  const [, button] = /name="bxcontext" value="elsewhere"><button[^>]*>([^<]*)<\/button>/.exec(never) ?? []
  expect(button).toBe(shown(texts.connection.connect))
  const form = { bxcontext: 'harbour-homes' }
  const onward = await visitor.post(`${app.url}/connect`, { form })
  expect(onward.text).toContain(shown(texts.toPlatform.leadAgain('Harbour Homes')))
  expect((await visitor.post(`${app.url}/connect`)).text).toContain(shown(texts.toPlatform.lead))
})

test('the state of a connection has a colour', async () => {
  const styles = (await visitor.get(`${app.url}/assets/app.css`)).text
  expect(Object.keys(CONNECTION_STATES).filter((status) => !styles.includes(`.${status}`))).toEqual([])
})

test('a browser that asks for an icon gets it', async () => {
  const icon = await visitor.follow(await visitor.get(`${app.url}/favicon.ico`))
  expect(icon.status).toBe(200)
  expect(icon.headers.get('content-type')).toMatch(/^image/)
})

describe('a bxcontext of odd characters', () => {
  const odd = ['a/b', 'a:b', '{a}', 'a b?c#d', '%2F', 'é😀', 'x'.repeat(500), "';--", '<b>']

  test('has its own address and its own record, and reaches no other', async () => {
    const userId = newUser()
    const user = await signedIn(app, userId)
    for (const bxcontext of odd) await consent(app.services.connect.vault, {}, { userId, bxcontext })
    const listed = async () =>
      (await connectionsOf(app, user)).map(({ bxcontext }: { bxcontext: string }) => bxcontext).sort()
    expect(await listed()).toEqual([...odd].sort())
    for (const [index, bxcontext] of odd.entries()) {
      const path = `${app.url}/connections/${encodeURIComponent(bxcontext)}`
      expect((await user.post(`${path}/disconnect`)).status).toBe(303)
      expect(await listed()).toEqual(odd.slice(index + 1).sort())
    }
  })
})

describe('JSON errors', () => {
  test('are given to a client that asks for problem documents', async () => {
    const answer = await createVisitor().get(`${app.url}/connections`, { accept: 'application/problem+json' })
    expect(answer.json()).toMatchObject({ code: 'unauthenticated' })
  })

  test('of a form after the session has ended says that nothing was saved', async () => {
    const answer = await createVisitor().post(at('/disconnect'), JSON_TYPE)
    expect(answer.json()).toMatchObject({
      code: 'unauthenticated',
      detail: texts.signIn.notSaved,
    })
  })

  test.each(['refresh', 'test', 'disconnect'])(
    'POST %s of no connection: 404 not_connected',
    async (action) => {
      const answer = await visitor.post(`${app.url}/connections/elsewhere/${action}`, JSON_TYPE)
      expect(answer.json()).toMatchObject({ status: 404, code: 'not_connected' })
    },
  )

  test.each([
    ['top=0', 'top'],
    ['top=101', 'top'],
    ['top=abc', 'top'],
    ['top=1&top=2', 'top'],
    ['skip=-1', 'skip'],
    ['skip=1.5', 'skip'],
  ])('?%s: 400 that names %s', async (query, field) => {
    const answer = await visitor.get(at(`/probe?${query}`), JSON_TYPE)
    expect(answer.json()).toMatchObject({
      status: 400,
      code: 'invalid_input',
      detail: expect.stringContaining(field),
      field,
    })
  })

  test.each(['top=', 'top=&skip='])('?%s is as if there was no number', async (query) => {
    const [empty, none] = [
      await visitor.get(at(`/probe?${query}`), JSON_TYPE),
      await visitor.get(at('/probe'), JSON_TYPE),
    ]
    expect([empty.status, empty.json()]).toEqual([200, none.json()])
  })

  test('of a missing resource or page: 404 not_found', async () => {
    for (const url of [at('/probe/none'), `${app.url}/nowhere`]) {
      expect((await visitor.get(url, JSON_TYPE)).json()).toMatchObject({ status: 404, code: 'not_found' })
    }
  })
})

describe('a connection', () => {
  test('is refreshed on request, with a new token, at most every 5 s', async () => {
    const userId = newUser()
    const eager = await connected(app, { name: userId })
    const token = () => app.services.connect.vault.accessToken({ userId, bxcontext: 'harbour-homes' })
    const before = await token()
    const result = await eager.post(at('/refresh'), JSON_TYPE)
    expect(result.json()).toMatchObject({ connection: { status: 'active', refreshedAt: expect.any(String) } })
    const after = await token()
    expect(after).not.toBe(before)
    const again = await eager.post(at('/refresh'), JSON_TYPE)
    expect(again.json()).toMatchObject({ status: 429, code: 'refresh_too_soon' })
    expect(Number(again.headers.get('retry-after'))).toBeLessThanOrEqual(5)
    const page = await eager.follow(await eager.post(at('/refresh')))
    expect(page.text).toContain(shown(texts.coreErrors.refresh_too_soon.detail))
    const waits = [1, 2, 3, 4, 5].map((seconds) => shown(texts.tryAgain(seconds)))
    expect(waits.some((wait) => page.text.includes(wait))).toBe(true)
    expect(await token()).toBe(after)
  })

  test('is gone after disconnecting, tokens and all', async () => {
    const userId = newUser()
    const leaver = await connected(app, { name: userId })
    expect((await leaver.post(at('/disconnect'))).headers.get('location')).toBe('/connections')
    expect(await connectionsOf(app, leaver)).toEqual([])
    const ref = { userId, bxcontext: 'harbour-homes' }
    expect(await storedTokens(app.services.store, app.config.tokenEncryptionKeys, ref)).toBeNull()
  })

  test('without a scope that the app asks for shows the gap, and one new consent fills it', async () => {
    const partial = await signedIn(app, newUser())
    const form = { answer: 'accept', scope: catalogues }
    await partial.get(await toCallback(app, partial, { form }))
    expect(await connectionsOf(app, partial)).toMatchObject([
      {
        status: 'needs_consent',
        scopes: [catalogues],
        missingScopes: SCOPES.filter((scope) => scope !== catalogues),
      },
    ])
    const page = await partial.get(`${app.url}/connections`)
    const [, notice] = /class="notice wait"[^>]*>([^<]*)/.exec(page.text) ?? []
    expect(notice).toContain(leads)
    expect(page.text).not.toContain(CONNECTED)
    expect(page.text).toContain(shown(texts.connection.grantMissing))
    const refused = (await partial.get(at('/probe'))).text
    const [, button] = /name="bxcontext" value="harbour-homes"><button[^>]*>([^<]*)/.exec(refused) ?? []
    expect(button).toBe(shown(texts.connection.grantMissing))
    expect(refused).not.toContain(shown(texts.connection.reconnect))
    const denied = await partial.get(at('/probe'), JSON_TYPE)
    expect(denied.json()).toMatchObject({ status: 403, code: 'insufficient_scope', scope: leads })
    await partial.get(await toCallback(app, partial))
    expect((await partial.get(at('/probe'))).status).toBe(200)
    expect(await connectionsOf(app, partial)).toMatchObject([{ status: 'active', missingScopes: [] }])
  })
})

describe('a connection whose platform has a fault', () => {
  test('is shown as degraded with when to try again, and as connected afterwards', async () => {
    const patient = await connected(app, { name: newUser() })
    await app.sandbox('expire')
    await app.fault('refresh', '429', 1, 1)
    const answer = await patient.get(at('/probe'), JSON_TYPE)
    expect(answer.json()).toMatchObject({ status: 503, code: 'platform_unavailable' })
    expect(Number(answer.headers.get('retry-after'))).toBe(1)
    expect(await connectionsOf(app, patient)).toMatchObject([{ status: 'degraded' }])
    await expect.poll(async () => (await patient.get(at('/probe'))).status, { interval: 100 }).toBe(200)
    expect(await connectionsOf(app, patient)).toMatchObject([{ status: 'active' }])
  })

  test('is shown as degraded when its API does not answer', async () => {
    const patient = await connected(app, { name: newUser() })
    await app.fault('probe', '500', 3)
    expect((await patient.get(at('/probe'), JSON_TYPE)).json()).toMatchObject({ status: 503 })
    expect(await connectionsOf(app, patient)).toMatchObject([{ status: 'degraded' }])
    const { text } = await patient.get(`${app.url}/connections`)
    expect(text).toContain(`>${shown(texts.status.degraded)}<`)
    expect(text).toContain(shown(texts.outages.error.detail))
    expect((await patient.post(at('/refresh'))).status).toBe(303)
    expect(await connectionsOf(app, patient)).toMatchObject([{ status: 'active' }])
  })

  test("is shown as the app's own fault when the platform refuses its credentials", async () => {
    const patient = await connected(app, { name: newUser() })
    await app.sandbox('expire')
    // Another user's connection has the same status, although its token still works.
    const other = await connected(app, { name: newUser() })
    await app.fault('refresh', 'invalid_client', 1)
    const answer = await patient.get(at('/probe'), JSON_TYPE)
    expect(answer.json()).toMatchObject({ status: 500, code: 'misconfigured' })
    for (const visitor of [patient, other])
      expect(await connectionsOf(app, visitor)).toMatchObject([{ status: 'misconfigured' }])
    const page = await patient.get(`${app.url}/connections`)
    expect(page.text).toContain(shown(texts.summary.misconfigured))
    expect(page.text).not.toContain(shown(texts.connection.reconnect))
    later(5)
    expect((await patient.post(at('/test'), JSON_TYPE)).json()).toMatchObject({ ok: true })
    expect(await connectionsOf(app, patient)).toMatchObject([{ status: 'active' }])
  })
})
