import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTokenClaims } from '../../../src/features/flow-inspector/tokens.ts'
import { type Running, startAll } from '../../support/app.ts'
import { connected, SCOPES, signedIn } from '../../support/flow.ts'
import { consent } from '../../support/vault.ts'
import { latestRefresh } from './support.ts'

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwt = (payload: unknown, header: unknown = { alg: 'ES256', typ: 'at+jwt', kid: 'k1' }) =>
  `${part(header)}.${part(payload)}.c2lnbmF0dXJl`

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

describe('the claims of an access token', () => {
  test('have the values of public claims, and only the names of others', () => {
    const payload = {
      iss: 'https://auth.example',
      aud: ['api', 'reports'],
      exp: 1_800_000_000,
      iat: 1_700_000_000,
      scope: 'leads catalogues',
      sub: 'olivia@harbour.example',
      tenant: { name: 'Harbour Homes' },
    }
    expect(readTokenClaims(jwt(payload))).toEqual({
      header: [
        { name: 'alg', value: 'ES256' },
        { name: 'typ', value: 'at+jwt' },
        { name: 'kid', value: 'k1' },
      ],
      claims: [
        { name: 'iss', value: 'https://auth.example' },
        { name: 'aud', value: 'api reports' },
        { name: 'exp', value: 1_800_000_000 },
        { name: 'iat', value: 1_700_000_000 },
        { name: 'scope', value: 'leads catalogues' },
        { name: 'sub' },
        { name: 'tenant' },
      ],
    })
  })

  test('of an unusual type have no value', () => {
    const payload = { iss: { sub: 'olivia' }, aud: ['api', { sub: 'olivia' }], exp: 'olivia', scope: null }
    expect(readTokenClaims(jwt(payload))?.claims).toEqual([
      { name: 'iss' },
      { name: 'aud' },
      { name: 'exp' },
      { name: 'scope' },
    ])
  })

  test('have no value of a header parameter that is not public', () => {
    const header = { alg: 'ES256', jwk: { kty: 'EC' }, x5u: 'https://example.com' }
    const claims = readTokenClaims(jwt({}, header))
    expect(claims?.header).toEqual([{ name: 'alg', value: 'ES256' }, { name: 'jwk' }, { name: 'x5u' }])
  })

  test('are at most 50, with at most 200 characters each', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`claim-${index}`, 1]))
    const claims = readTokenClaims(jwt({ iss: 'x'.repeat(10_000), ['n'.repeat(10_000)]: 1, ...many }))?.claims
    expect(claims).toHaveLength(50)
    expect(claims?.slice(0, 2)).toEqual([{ name: 'iss', value: 'x'.repeat(200) }, { name: 'n'.repeat(200) }])
  })

  test.each([
    ['is opaque', 'access-0'],
    ['is empty', ''],
    ['is encrypted (five parts)', `${part({ alg: 'dir', enc: 'A256GCM' })}.${part({})}.aXY.dGV4dA.dGFn`],
    ['has only two parts', `${part({ alg: 'none' })}.${part({})}`],
    ['is not base64url', `${part({ alg: 'none' })}.{"sub":1}.x`],
    ['is not JSON', `${part({ alg: 'none' })}.${Buffer.from('garbage').toString('base64url')}.x`],
    ['has no object in it', jwt(['sub'])],
    ['has a text in it', jwt('sub')],
    ['has null in it', jwt(null)],
    ['has a header without an algorithm', jwt({}, { typ: 'JWT' })],
    ['is another token in disguise', `${part(jwt({}))}.${part({})}.x`],
  ])('are null if it %s', (_case, token) => {
    expect(readTokenClaims(token)).toBeNull()
  })
})
