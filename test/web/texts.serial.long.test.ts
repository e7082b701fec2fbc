import { afterAll, beforeAll, describe, test } from 'vitest'
import { platform } from '../../src/connect/index.ts'
import type { Running } from '../support/app.ts'
import { expectMarked, expectMarkedPage, hideDeveloperPages } from '../support/marked-texts.ts'
import type { Visitor } from '../support/visitor.ts'

const { leads } = platform.scopes

const { startAll } = await import('../support/app.ts')
const { SCOPES, connected, logIn, signedIn, toCallback, toConsent } = await import('../support/flow.ts')
const { createVisitor } = await import('../support/visitor.ts')

let app: Running
let visitor: Visitor
beforeAll(async () => {
  app = await startAll()
  visitor = await hideDeveloperPages(app, await connected(app))
})
afterAll(() => app.close())

/** Names that the tests and the sandbox give. */
const DATA = [
  'ann',
  'Harbour Homes',
  'Olivia Hart',
  'Probe',
  'to read records',
  'to read others',
  'Works: the probe answered.',
  ...SCOPES,
  'harbour-homes',
]
const card = (path: string) => `${app.url}/connections/harbour-homes${path}`

describe('every sentence that users read is in a file of texts:', () => {
  test('the start page, an invalid name and the page for who is not signed in', async () => {
    const visitor = createVisitor()
    // Hides the pages for developers, whose sentences aren't in the files of texts.
    visitor.cookies.set(new URL(app.url).host, new Map([['customer_view', '1']]))
    await expectMarkedPage(visitor, `${app.url}/`, DATA)
    expectMarked(await visitor.post(`${app.url}/sign-in`, { form: { name: '' } }), DATA)
    expectMarked(await visitor.get(`${app.url}/connections`), DATA)
  })

  test('an empty list of connections', async () => {
    const visitor = await hideDeveloperPages(app, await signedIn(app, 'bea'))
    await expectMarkedPage(visitor, `${app.url}/connections`, ['bea', ...DATA])
  })

  test('a connection that works, and the notices of its actions', async () => {
    await expectMarkedPage(visitor, `${app.url}/connections`, DATA)
    for (const action of ['/test', '/refresh', '/refresh', '/disconnect'])
      expectMarked(await visitor.follow(await visitor.post(card(action))), [
        'Harbour Homes',
        'Olivia Harbour',
        ...DATA,
      ])
  })

  test('a connection without a permission, and one that was revoked', async () => {
    const visitor = await hideDeveloperPages(app, await signedIn(app, 'cleo'))
    const form = { answer: 'accept', scope: [leads] }
    const partial = await visitor.follow(await visitor.get(await toCallback(app, visitor, { form })))
    const data = ['cleo', ...DATA]
    expectMarked(partial, data)
    await fetch(`${app.platform}/sandbox/revoke`, { method: 'POST' })
    await visitor.post(card('/refresh'))
    await expectMarkedPage(visitor, `${app.url}/connections`, data)
    expectMarked(await visitor.post(card('/refresh')), data)
  })

  test.each(['no-such-page', 'connections/elsewhere/nothing'])('the error page of /%s', async (path) => {
    expectMarked(await visitor.get(`${app.url}/${path}`), DATA)
  })

  test('the question about another business than the one to reconnect', async () => {
    const visitor = await hideDeveloperPages(app, await signedIn(app, 'eve'))
    const form = { bxcontext: 'lakeside' }
    await logIn(app, visitor)
    const started = await visitor.follow(await visitor.post(`${app.url}/connect`, { form }), 'x')
    const redirectUrl = new URL(started.url).searchParams.get('redirectUrl') ?? ''
    const chosen = { redirectUrl, bxcontext: 'harbour-homes' }
    const asked = await visitor.follow(await visitor.post(`${app.platform}/oauth2.html`, { form: chosen }))
    expectMarked(asked, ['eve', '…keside', 'harbour-homes', ...DATA])
  })

  test('the error pages of a connect flow', async () => {
    const visitor = await hideDeveloperPages(app, await signedIn(app, 'dan'))
    for (const path of [
      'context',
      'callback',
      'callback?state=a&code=b',
      'callback?state=a&error=access_denied',
    ])
      expectMarked(await visitor.follow(await visitor.get(`${app.url}/connect/${path}`)), ['dan', ...DATA])
    const consent = await toConsent(app, visitor)
    const denied = await visitor.post(consent.url, { form: { answer: 'deny' } })
    expectMarked(await visitor.follow(denied), ['dan', `${app.url}/connect`, ...DATA])
  })
})
