import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Running, sharedApp, startAll } from '../../support/app.ts'
import { connected, newUser, signedIn } from '../../support/flow.ts'
import { storedTokens } from '../../support/stored.ts'
import { startTokenEndpoint, type TokenEndpoint } from '../../support/token-endpoint.ts'
import { consent } from '../../support/vault.ts'
import type { Visitor } from '../../support/visitor.ts'
import { latestFlow, latestRefresh } from './support.ts'

const SECRET = 'marked+refresh/token=with.Special~chars'

let endpoint: TokenEndpoint
let lying: Running
const app = await sharedApp()
let user: string
let ann: Visitor
beforeAll(async () => {
  endpoint = await startTokenEndpoint()
  lying = await startAll({ PLATFORM_AUTH_URL: endpoint.authUrl })
})
afterAll(async () => {
  await lying.close()
  await endpoint.close()
})
afterEach(() => endpoint.answers())

/** Refreshes a connection whose refresh token is the marked secret; resolves to everything that the inspector shows. */
async function refreshed(): Promise<string> {
  user = newUser()
  ann = await signedIn(lying, user)
  await consent(lying.services.connect.vault, { refreshToken: SECRET }, { userId: user, bxcontext: 'b' })
  await ann.post(`${lying.url}/connections/b/refresh`)
  const { id } = await latestRefresh(lying, ann)
  const paths = ['', '/export', '/steps/1', '/present/1']
  const answers = await Promise.all(paths.map((path) => ann.get(`${lying.url}/flows/${id}${path}`)))
  return answers.map(({ text }) => text).join('\n')
}

test('a platform that repeats a secret puts it into no page of the flow', async () => {
  endpoint.answers({
    status: 503,
    json: { error: 'busy', error_description: `no token ${SECRET}`, [SECRET]: 1 },
  })
  const shown = await refreshed()
  expect(shown).toContain('busy')
  expect(shown).not.toContain(SECRET)
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
  const ref = { userId: user, bxcontext: 'b' }
  const stored = await storedTokens(lying.services.store, lying.config.tokenEncryptionKeys, ref)
  expect(stored).toMatchObject({ refreshToken: 'rotated' })
})

test('one user with hostile parameters does not cost another user a flow', async () => {
  const eve = await signedIn(app, newUser())
  const attack = () => eve.get(`${app.url}/connect/callback?constructor=1&__proto__=x&=y`)
  const [cleo] = await Promise.all([connected(app, { name: newUser() }), attack(), attack(), attack()])
  expect((await latestFlow(app, cleo, 'connect')).outcome).toBe('connected')
})
