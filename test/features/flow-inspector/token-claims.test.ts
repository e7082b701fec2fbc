import { describe, expect, test } from 'vitest'
import { readTokenClaims } from '../../../src/features/flow-inspector/token-claims.ts'

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwt = (payload: unknown, header: unknown = { alg: 'ES256', typ: 'at+jwt', kid: 'k1' }) =>
  `${part(header)}.${part(payload)}.c2lnbmF0dXJl`

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
