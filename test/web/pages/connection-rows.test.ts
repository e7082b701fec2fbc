import { expect, test } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp } from '../../support/app.ts'
import { aMinuteApart, newUser, SCOPES, signedIn, toConsent } from '../../support/flow.ts'
import { shown } from '../../support/pages.ts'
import { anotherVault } from '../../support/stored.ts'
import { consent, GRANTED } from '../../support/vault.ts'

const { catalogues } = platform.scopes

const app = await sharedApp()
const LIST = `${app.url}/connections`
const { vault } = app.services.connect

/** A signed-in user, and a function that connects a business of this user. */
async function newcomer() {
  const userId = newUser()
  const visitor = await signedIn(app, userId)
  const connect = (bxcontext: string, granted = {}, of = vault) =>
    consent(of, { ...GRANTED, scopes: SCOPES, businessName: bxcontext, ...granted }, { userId, bxcontext })
  /** Access that could not be renewed, and has ended. */
  const connectEnded = (bxcontext: string) => {
    const hourAgo = Date.now() - 3_600_000
    return connect(bxcontext, { refreshToken: undefined }, anotherVault(app, { now: () => hourAgo }))
  }
  return { visitor, connect, connectEnded }
}

const headingsIn = (text: string) =>
  [...text.matchAll(/<h2 id="title-[^"]*">([^<]*)/g)].map(([, name]) => name)
const rowOf = (text: string, bxcontext: string) =>
  text.split('<li class="card ').find((row) => row.includes(`id="connection-${bxcontext}"`)) ?? ''
/** The consent page's sentences about the permissions. */
const onConsentPage = (text: string) =>
  [...text.matchAll(/<strong>([^<]*)<\/strong> <code>/g)].map(([, can]) => can)
const permissionsIn = (row: string, label: string) => {
  const [, list = ''] =
    new RegExp(`<dt>${RegExp.escape(shown(label))}</dt><dd><ul>(.*?)</ul>`).exec(row) ?? []
  return [...list.matchAll(/<li>([^<]*)<\/li>/g)].map(([, can]) => can)
}
const primaryIn = (text: string) =>
  [...text.matchAll(/class="(?:button )?primary"[^>]*>([^<]*)/g)].map(([, label]) => label)

test('a row has a line for each permission of the consent page', async () => {
  const { visitor } = await newcomer()
  const asked = await toConsent(app, visitor)
  await visitor.follow(await visitor.post(asked.url, { form: { answer: 'accept', scope: SCOPES } }))
  const row = rowOf((await visitor.get(LIST)).text, 'harbour-homes')
  const permissions = SCOPES.map((scope) => shown(texts.connection.permission(scope)))
  expect(permissionsIn(row, texts.connection.can).sort()).toEqual(permissions.sort())
  expect(permissions).toHaveLength(onConsentPage(asked.text).length)
})

test('only permissions that were granted are listed, and of a connection that has ended, those that there were', async () => {
  const { visitor, connect, connectEnded } = await newcomer()
  await connect('some', { scopes: [catalogues] })
  await connectEnded('ended')
  const { text } = await visitor.get(LIST)
  expect(permissionsIn(rowOf(text, 'some'), texts.connection.can)).toEqual([
    shown(texts.connection.permission(catalogues)),
  ])
  expect(rowOf(text, 'ended')).not.toContain(shown(texts.connection.can))
  expect(permissionsIn(rowOf(text, 'ended'), texts.connection.could)).toHaveLength(SCOPES.length)
})

test('connections that need the person come first, on the first page, with a marked edge; the first of them has the only primary action', async () => {
  const { visitor, connect, connectEnded } = await newcomer()
  await connect('missing', { scopes: [catalogues] })
  await connectEnded('ended')
  for (let i = 0; i < 26; i++) await connect(`working-${i}`)
  const { text } = await visitor.get(LIST)
  expect(headingsIn(text).slice(0, 2).sort()).toEqual(['ended', 'missing'])
  for (const name of ['ended', 'missing']) expect(rowOf(text, name)).toMatch(/^[^"]* needs-you"/)
  expect(rowOf(text, 'working-25')).not.toMatch(/^[^"]* needs-you"/)
  expect(primaryIn(text)).toHaveLength(1)
  const second = await visitor.get(`${LIST}?top=25&skip=25`)
  expect(headingsIn(second.text).every((name) => name?.startsWith('working'))).toBe(true)
  expect(primaryIn(second.text)).toEqual([shown(texts.connections.connect)])
})

test('a connection that the API has rejected comes before those that work', async () => {
  const { visitor, connect } = await newcomer()
  await connect('rejected')
  app.answer('/auth/oauth/token', { status: 503, text: '' })
  await aMinuteApart(() => visitor.post(`${LIST}/rejected/test`))
  await connect('working')
  const { text } = await visitor.get(LIST)
  expect(rowOf(text, 'rejected')).toContain(shown(texts.connection.reconnect))
  expect(headingsIn(text)).toEqual(['rejected', 'working'])
})

test('a connection that works has no sentence about it, and one with a fault has one', async () => {
  const { visitor, connect } = await newcomer()
  await connect('working')
  await connect('missing', { scopes: [catalogues] })
  const { text } = await visitor.get(LIST)
  const sentence = /<\/div>\s*<p>([^<]*)<\/p>/
  expect(rowOf(text, 'working')).not.toMatch(sentence)
  expect(rowOf(text, 'missing')).toMatch(sentence)
})

test('programs that translate pages leave names, ids and code as they are', async () => {
  const { visitor, connect } = await newcomer()
  await connect('harbour-homes', { businessName: 'Harbour Homes' })
  const cookie = [...(visitor.cookies.get(new URL(app.url).host) ?? [])]
    .map((one) => one.join('='))
    .join('; ')
  const answer = await fetch(LIST, { headers: { accept: 'text/html', cookie } })
  const text = await answer.text()
  expect(text).toContain('<bdi translate="no">Harbour Homes</bdi>')
  expect(text).toContain('<code translate="no">harbour-homes</code>')
  expect(text).not.toMatch(/<(code|bdi)(?![^>]*translate="no")/)
})
