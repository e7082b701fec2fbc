import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { connected, signedIn, toCallback } from '../../support/flow.ts'
import { storedTokens } from '../../support/stored.ts'
import { startTokenEndpoint, type TokenEndpoint } from '../../support/token-endpoint.ts'
import { consent } from '../../support/vault.ts'
import type { Visitor } from '../../support/visitor.ts'
import { flowWith, latestFlow, latestRefresh } from './support.ts'

const SECRET = 'marked+refresh/token=with.Special~chars'

let endpoint: TokenEndpoint
let lying: Running
let app: Running
let user = 0
let ann: Visitor
beforeAll(async () => {
  endpoint = await startTokenEndpoint()
  lying = await startAll({ PLATFORM_AUTH_URL: endpoint.authUrl })
  app = await startAll()
})
afterAll(async () => {
  await Promise.all([lying.close(), app.close()])
  await endpoint.close()
})
afterEach(() => endpoint.answers())

/** Refreshes a connection whose refresh token is the marked secret; resolves to everything that the inspector shows. */
async function refreshed(): Promise<string> {
  const name = `ann-${++user}`
  ann = await signedIn(lying, name)
  await consent(lying.services.connect.vault, { refreshToken: SECRET }, { userId: name, bxcontext: 'b' })
  await ann.post(`${lying.url}/connections/b/refresh`)
  const { id } = await latestRefresh(lying, ann)
  const paths = ['', '/export', '/steps/1', '/present/1']
  const answers = await Promise.all(paths.map((path) => ann.get(`${lying.url}/flows/${id}${path}`)))
  return answers.map(({ text }) => text).join('\n')
}

const encodings = [
  SECRET,
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64'),
  Buffer.from(SECRET).toString('base64url'),
]

test.each<[string, Record<string, unknown>, Record<string, string>?]>([
  ['in a header', { error: 'busy' }, { 'www-authenticate': `Bearer realm="${SECRET}"` }],
  ['in an error description, in any encoding', { error: 'busy', error_description: encodings.join(' ') }],
  ['cut off', { error: 'busy', error_description: `no token ${SECRET.slice(0, 25)}…` }],
  ['as an error code', { error: SECRET }],
  ['among the scopes', { access_token: 'x', scope: `leads ${SECRET}` }],
  ['as a name', { access_token: 'x', [SECRET]: 'y', business_name: SECRET }],
  [
    'inside an object, and as a name of the business',
    { access_token: 'x', more: { SECRET }, user_name: SECRET },
  ],
])('a platform that repeats a secret %s puts it into no flow', async (_where, json, headers = {}) => {
  endpoint.answers({ status: 'error' in json ? 503 : 200, json, headers })
  const shown = await refreshed()
  for (const text of [...encodings, SECRET.slice(0, 25)]) expect(shown).not.toContain(text)
})

test('the query of a redirect of the platform is not recorded', async () => {
  endpoint.answers({
    status: 302,
    headers: { location: 'https://login.example/?ticket=secret-ticket' },
    json: {},
  })
  const shown = await refreshed()
  expect(shown).toContain('https://login.example/')
  expect(shown).not.toContain('secret-ticket')
})

test('an answer that cannot be masked is used all the same: a rotated refresh token is kept', async () => {
  const nested = '['.repeat(20_000) + ']'.repeat(20_000)
  endpoint.answers({
    text: `{"access_token":"new","refresh_token":"rotated","expires_in":300,"x":${nested}}`,
  })
  await refreshed()
  const ref = { userId: `ann-${user}`, bxcontext: 'b' }
  const stored = await storedTokens(lying.services.store, lying.config.tokenEncryptionKeys, ref)
  expect(stored).toMatchObject({ refreshToken: 'rotated' })
})

test.each(['constructor=abcdefgh', '__proto__=x', '=x', 'a:b=1', `${'n'.repeat(300)}=1`])(
  'a callback with the parameter %s is recorded like any other',
  async (parameter) => {
    const bea = await connected(app, { name: `bea-${++user}` })
    await bea.get(`${await toCallback(app, bea, { bxcontext: 'harbour-renovations' })}&${parameter}`)
    const { id } = await latestFlow(app, bea, 'connect', 'connected')
    expect((await flowWith(app, bea, id)).steps.length).toBeGreaterThan(10)
    const page = await bea.get(`${app.url}/flows/${id}`)
    expect(page.status).toBe(200)
  },
)

test('one user with hostile parameters does not cost another user a flow', async () => {
  const eve = await signedIn(app, 'eve')
  const attack = () => eve.get(`${app.url}/connect/callback?constructor=1`)
  const [cleo] = await Promise.all([connected(app, { name: 'cleo' }), attack(), attack(), attack()])
  expect((await latestFlow(app, cleo, 'connect')).outcome).toBe('connected')
})
