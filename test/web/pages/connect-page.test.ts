import { describe, expect, test } from 'vitest'
import { sharedApp } from '../../support/app.ts'
import { connected, newUser, SCOPES, signedIn } from '../../support/flow.ts'
import { createVisitor, type Visitor } from '../../support/visitor.ts'

const app = await sharedApp()
const JSON_TYPE = { accept: 'application/json' }
const LINK = `${app.url}/connect`
const RECONNECT = `${LINK}?bxcontext=harbour-homes`
const NOT_YOURS = 'You do not have this connection'

/** The forms of a page that start a flow: the business that each names, or nothing. */
const buttonsOf = (text: string) =>
  [
    ...text.matchAll(
      /<form method="post" action="\/connect">(?:<input[^>]*value="([^"]*)">)?<button[^>]*>([^<]*)/g,
    ),
  ].map(([, bxcontext, label]) => ({ bxcontext, label }))

describe('the page that links lead to', () => {
  test('says who is signed in and what will happen, and has one button', async () => {
    const name = newUser()
    const { status, text } = await (await signedIn(app, name)).get(LINK)
    expect(status).toBe(200)
    expect(text).toContain(`You are signed in as ${name}`)
    expect(text).toContain('Choose the business')
    expect(buttonsOf(text)).toEqual([{ bxcontext: undefined, label: 'Connect an account' }])
  })

  test('names the connection to reconnect, and its state', async () => {
    const visitor = await connected(app, { name: newUser() })
    await visitor.post(`${app.url}/connections/harbour-homes/label`, { form: { label: 'Main shop' } })
    const { text } = await visitor.get(RECONNECT)
    expect(text).toContain('<h1>Reconnect Main shop</h1>')
    expect(text).toContain('Ready to use.')
    expect(buttonsOf(text)).toEqual([{ bxcontext: 'harbour-homes', label: 'Reconnect' }])
  })

  test('has the same facts as JSON', async () => {
    const name = newUser()
    const visitor = await connected(app, { name })
    const facts = { user: { name }, scopes: SCOPES, connection: null }
    expect((await visitor.get(LINK, JSON_TYPE)).json()).toEqual(facts)
    expect((await visitor.get(RECONNECT, JSON_TYPE)).json()).toMatchObject({
      ...facts,
      connection: { bxcontext: 'harbour-homes', status: 'active' },
    })
  })

  test('offers nothing for a connection of another user, for a disconnected one, or for two at once', async () => {
    const other = await connected(app, { name: newUser() })
    const visitor = await signedIn(app, newUser())
    const unknown = await visitor.get(RECONNECT)
    expect([unknown.status, buttonsOf(unknown.text)]).toEqual([404, []])
    expect(unknown.text).toContain(NOT_YOURS)
    for (const query of ['bxcontext=%00', 'bxcontext=a&bxcontext=b']) {
      const { status, text } = await visitor.get(`${LINK}?${query}`)
      expect([status, buttonsOf(text)], query).toEqual([400, []])
    }
    expect((await visitor.get(RECONNECT, JSON_TYPE)).json()).toMatchObject({
      status: 404,
      code: 'not_connected',
    })
    await other.post(`${app.url}/connections/harbour-homes/disconnect`)
    expect((await other.get(RECONNECT)).text).toContain(NOT_YOURS)
  })
})

describe('a link that is opened', () => {
  const startedFlow = async (visitor: Visitor) =>
    (await visitor.get(`${app.url}/connect/context?bxcontext=harbour-homes`, JSON_TYPE)).json().code !==
    'missing_authorization_request'

  test.each<[string, string, Record<string, string>]>([
    ['by a mail scanner', 'HEAD', {}],
    ['by a prefetch', 'GET', { 'sec-purpose': 'prefetch;prerender', 'sec-fetch-dest': 'document' }],
    ['by its user, again and again', 'GET', {}],
  ])('%s starts no flow, and leaves what the user is to read', async (_, method, headers) => {
    const visitor = await connected(app, { name: newUser() })
    // It leaves a notice.
    await visitor.post(`${app.url}/connections/harbour-homes/label`, { form: { label: 'Main shop' } })
    const cookie = [...(visitor.cookies.get(new URL(app.url).host) ?? [])]
      .map((pair) => pair.join('='))
      .join('; ')
    for (const url of [LINK, RECONNECT, RECONNECT]) {
      const answer = await fetch(url, { method, headers: { accept: 'text/html', cookie, ...headers } })
      expect({ status: answer.status, cookies: answer.headers.getSetCookie() }).toEqual({
        status: 200,
        cookies: [],
      })
    }
    expect((await visitor.get(`${app.url}/connections`)).text).toContain('The name is saved: Main shop.')
    expect(await startedFlow(visitor)).toBe(false)
  })

  test.each(['/connect?bxcontext=harbour-homes', '/connect/?bxcontext=harbour-homes', '/connect'])(
    'signed out needs a sign-in, and %s comes back after it',
    async (path) => {
      const name = newUser()
      await connected(app, { name })
      const visitor = createVisitor()
      const asked = await visitor.get(app.url + path)
      expect(asked.status).toBe(401)
      const [, returnTo = ''] = /name="returnTo" value="([^"]*)"/.exec(asked.text) ?? []
      const entered = await visitor.post(`${app.url}/sign-in`, { form: { name, returnTo } })
      const page = await visitor.follow(entered)
      expect(page.url).toBe(app.url + path)
      expect(buttonsOf(page.text)).toHaveLength(1)
    },
  )

  test('signs nobody in, whatever it names', async () => {
    const name = newUser()
    await connected(app, { name })
    const query = `bxcontext=harbour-homes&userId=${name}&user=${name}&name=${name}&returnTo=/connections`
    const answer = await createVisitor().get(`${LINK}?${query}`, JSON_TYPE)
    expect(answer.json()).toMatchObject({ status: 401, code: 'unauthenticated' })
    const stranger = await signedIn(app, newUser())
    expect((await stranger.get(`${LINK}?${query}`, JSON_TYPE)).json()).toMatchObject({
      code: 'not_connected',
    })
  })
})
