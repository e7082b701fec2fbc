import { describe, expect, test } from 'vitest'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp } from '../../support/app.ts'
import { connected, newUser, SCOPES, signedIn, toBxcontext, toCallback } from '../../support/flow.ts'
import { shown } from '../../support/pages.ts'
import { createVisitor, type Visitor } from '../../support/visitor.ts'

const app = await sharedApp()
const JSON_TYPE = { accept: 'application/json' }
const LINK = `${app.url}/connect`
const RECONNECT = `${LINK}?bxcontext=harbour-homes`
const NOT_YOURS = shown(texts.errors.not_connected.title)

/** The business that each form that starts a flow names, or undefined. */
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
    expect(text).toContain(shown(texts.connectPage.signedInAs(name)))
    expect(text).toContain(shown(texts.home.choose))
    expect(buttonsOf(text)).toEqual([{ bxcontext: undefined, label: shown(texts.connections.connect) }])
  })

  test('names the connection to reconnect, and its state', async () => {
    const visitor = await connected(app, { name: newUser() })
    await visitor.post(`${app.url}/connections/harbour-homes/label`, { form: { label: 'Main shop' } })
    const works = await visitor.get(RECONNECT)
    expect(works.text).toContain(`<h1>${shown(texts.connectPage.works('Main shop'))}</h1>`)
    expect(works.text).toContain('<a class="button primary" href="/connections">')
    await app.fault('refresh', 'invalid_grant', 1)
    await visitor.post(`${app.url}/connections/harbour-homes/refresh`)
    const { text } = await visitor.get(RECONNECT)
    expect(text).toContain(`<h1>${shown(texts.connectPage.reconnect('Main shop'))}</h1>`)
    expect(text).toContain(shown(texts.home.chooseAgain('Main shop')))
    expect(buttonsOf(text)).toEqual([
      { bxcontext: 'harbour-homes', label: shown(texts.connection.reconnect) },
    ])
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

/** The address to which the sign-in on a page returns. */
const returnToOf = (text: string) => /name="returnTo" value="([^"]*)"/.exec(text)?.[1] ?? ''

describe('the page that a link shows to visitors who are signed out', () => {
  const { signedOut } = texts.connectPage

  test.each([
    [LINK, false],
    [RECONNECT, true],
  ])('tells who asks, what for and what it can read, and starts nothing (%s)', async (url, again) => {
    const { status, text } = await createVisitor().get(url)
    expect(status).toBe(200)
    expect(text).toContain(`<h1>${shown(signedOut.title(again))}</h1>`)
    expect(text).toContain(shown(texts.layout.appName))
    const purposes = text
      .split('class="permissions"')[1]
      ?.split('</ul>')[0]
      ?.match(/<li>[^<]{10,}<\/li>/g)
    expect(purposes).toHaveLength(SCOPES.length)
    expect(buttonsOf(text)).toEqual([])
    expect(app.url + returnToOf(text)).toBe(url)
  })

  test('has a text to send on to the person who can allow it, which needs no script', async () => {
    const { text } = await createVisitor().get(RECONNECT)
    const [, toSend = ''] = /<textarea readonly[^>]*>([^<]*)/.exec(text) ?? []
    expect(toSend).toBe(shown(texts.sendOn.text(LINK)))
    const [, href = ''] = /href="(mailto:[^"]*)"/.exec(text) ?? []
    expect(new URL(href.replaceAll('&amp;', '&')).searchParams.get('body')).toBe(texts.sendOn.text(LINK))
  })

  test('is the same for a business that another user has connected and for a business that does not exist', async () => {
    await connected(app, { name: newUser() })
    const page = async (id: string) =>
      (await createVisitor().get(`${LINK}?bxcontext=${id}`)).text.replaceAll(id, 'ID')
    expect(await page('harbour-homes')).toBe(await page('no-such-business'))
  })

  test('shows nothing of what a forged link says, and leads to no other site', async () => {
    const forged = new URLSearchParams({
      bxcontext: '"><b>Call 555',
      returnTo: 'https://evil.example/',
      name: 'Eve',
    })
    const { text } = await createVisitor().get(`${LINK}?${forged}`)
    const shown = text.replace(/value="[^"]*"/g, '')
    expect(shown).not.toMatch(/Call 555|evil\.example|Eve/)
    expect(returnToOf(text)).toMatch(/^\/connect\?/)
  })
})

describe('a user who is signed out while connecting', () => {
  const steps: [string, (visitor: Visitor) => Promise<string>][] = [
    ['choosing the business', (visitor) => toBxcontext(app, visitor)],
    ['deciding about the consent', (visitor) => toCallback(app, visitor)],
  ]
  test.each(steps)('%s comes back to connecting after the sign-in', async (_, begin) => {
    const name = newUser()
    const visitor = await signedIn(app, name)
    const next = await begin(visitor)
    await visitor.post(`${app.url}/sign-out`)
    const asked = await visitor.follow(await visitor.get(next))
    expect(asked.status).toBe(401)
    expect(asked.text).toContain(shown(texts.signIn.signedOutWhileConnecting))
    const form = { name, returnTo: returnToOf(asked.text) }
    const page = await visitor.follow(await visitor.post(`${app.url}/sign-in`, { form }))
    expect(page.url).toBe(LINK)
    expect(buttonsOf(page.text)).toHaveLength(1)
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
    expect((await visitor.get(`${app.url}/connections`)).text).toContain(
      shown(texts.notices.labelled('Main shop')),
    )
    expect(await startedFlow(visitor)).toBe(false)
  })

  test.each(['/connect?bxcontext=harbour-homes', '/connect/?bxcontext=harbour-homes', '/connect'])(
    'signed out needs a sign-in, and %s comes back after it',
    async (path) => {
      const name = newUser()
      await connected(app, { name })
      const visitor = createVisitor()
      const returnTo = returnToOf((await visitor.get(app.url + path)).text)
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
    expect(answer.json()).toMatchObject({ user: null, connection: null })
    const stranger = await signedIn(app, newUser())
    expect((await stranger.get(`${LINK}?${query}`, JSON_TYPE)).json()).toMatchObject({
      code: 'not_connected',
    })
  })
})
