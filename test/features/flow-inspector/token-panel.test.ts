import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { connected, SCOPES, signedIn } from '../../support/flow.ts'
import { consent } from '../../support/vault.ts'
import { latestRefresh } from './support.ts'

const JSON_ONLY = { accept: 'application/json' }

let app: Running
beforeAll(async () => {
  app = await startAll()
})
afterAll(() => app.close())

const panelOf = async (visitor: Awaited<ReturnType<typeof signedIn>>, bxcontext = 'harbour-homes') =>
  (await visitor.get(`${app.url}/connections/${bxcontext}/tokens`, JSON_ONLY)).json()

test('the panel has the times, the refreshes, the permissions and the events of a connection', async () => {
  const ann = await connected(app)
  const before = Date.now()
  await ann.post(`${app.url}/connections/harbour-homes/refresh`)
  await latestRefresh(app, ann)
  const panel = await panelOf(ann)
  expect(panel).toMatchObject({
    bxcontext: 'harbour-homes',
    refreshes: 1,
    refreshToken: 'same',
    claims: null,
  })
  expect(Date.parse(panel.issuedAt)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(panel.expiresAt) - Date.parse(panel.issuedAt)).toBe(300_000)
  expect(panel.requestedScopes).toEqual(SCOPES)
  expect(panel.scopes.toSorted()).toEqual(SCOPES)
  const events = panel.events.map(({ kind, outcome }: Record<string, string>) => `${kind} ${outcome}`)
  expect(events).toEqual(['refresh refreshed', 'connect connected'])
})

test('of an access token that is a JWT, the public claims are shown with their values, others by name', async () => {
  const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url')
  const payload = {
    iss: 'https://auth.example',
    exp: 1_900_000_000,
    scope: 'leads',
    email: 'ann@mail.example',
  }
  const accessToken = `${part({ alg: 'ES256', typ: 'at+jwt' })}.${part(payload)}.signature-of-the-token`
  const bea = await signedIn(app, 'bea')
  const granted = { accessToken, refreshToken: undefined }
  await consent(app.services.connect.vault, granted, { userId: 'bea', bxcontext: 'b' })
  const { claims, refreshToken } = await panelOf(bea, 'b')
  expect(claims.claims).toEqual([
    { name: 'iss', value: 'https://auth.example' },
    { name: 'exp', value: 1_900_000_000 },
    { name: 'scope', value: 'leads' },
    { name: 'email' },
  ])
  expect(refreshToken).toBe('none')
  const page = await bea.get(`${app.url}/connections/b/tokens`)
  expect(page.text).toContain('https://auth.example')
  for (const secret of [accessToken, 'signature-of-the-token', 'ann@mail.example'])
    expect(page.text).not.toContain(secret)
})

test('a connection that does not exist or is revoked has no panel', async () => {
  const cleo = await connected(app, { name: 'cleo' })
  expect((await panelOf(cleo, 'unknown')).code).toBe('not_connected')
  await app.sandbox('revoke')
  await cleo.post(`${app.url}/connections/harbour-homes/refresh`)
  expect((await panelOf(cleo)).code).toBe('connection_revoked')
})
