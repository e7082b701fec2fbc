import { expect, test } from 'vitest'
import { type Exchange, platform } from '../../../src/connect/index.ts'
import { createMasking } from '../../../src/features/flow-inspector/masking.ts'
import { exchangeStep, isTokenRequest } from '../../../src/features/flow-inspector/steps.ts'

const SECRET = 'a+secret/with=signs'
const CREDENTIALS = Buffer.from(`client:${encodeURIComponent(SECRET)}`).toString('base64')
const masking = createMasking(platform, [{ id: 'k1', secret: Buffer.alloc(32, 1) }])

/** A token request, as the core reports it. */
const tokenRequest = (
  body: string,
  answer: object,
  authorization: string,
  { status = 401, headers = {} as Record<string, string> } = {},
): Exchange => ({
  purpose: 'token',
  context: {},
  at: 0,
  ms: 1,
  request: { method: 'POST', url: 'https://auth.example/oauth/token', headers: { authorization }, body },
  response: {
    status,
    text: JSON.stringify(answer),
    headers,
    header: (name) => headers[name],
    retryAfterMs: undefined,
  },
})

test('a client secret in a header of HTTP Basic is shown nowhere, also if the answer repeats it', () => {
  const answer = { error: 'invalid_client', error_description: `${SECRET} is wrong` }
  const body = 'grant_type=refresh_token&refresh_token=r1234567'
  const step = exchangeStep(masking, tokenRequest(body, answer, `Basic ${CREDENTIALS}`))
  expect(step.failure).toBe('invalid_client')
  expect(step.request?.headers).toEqual([
    { name: 'authorization', fingerprint: masking.fingerprint('client_secret', SECRET) },
  ])
  for (const secret of [SECRET, CREDENTIALS, 'r1234567']) expect(JSON.stringify(step)).not.toContain(secret)
})

test('a bearer token has the same fingerprint as the token itself', () => {
  const step = exchangeStep(masking, tokenRequest('', {}, 'Bearer the-access-token'))
  const [sent] = step.request?.headers ?? []
  expect(sent?.fingerprint).toBe(masking.fingerprint('access_token', 'the-access-token'))
})

test('a revocation is no request for tokens', () => {
  expect(isTokenRequest(tokenRequest('grant_type=refresh_token', {}, ''))).toBe(true)
  expect(isTokenRequest(tokenRequest('token=r1234567&token_type_hint=refresh_token', {}, ''))).toBe(false)
})

const encodings = [
  SECRET,
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64'),
  Buffer.from(SECRET).toString('base64url'),
]
const CUT = `${SECRET}-and-more`.slice(0, 25)

test.each<[string, Record<string, unknown>, Record<string, string>?]>([
  ['in a header', { error: 'busy' }, { 'www-authenticate': `Bearer realm="${SECRET}"` }],
  ['in an error description, in any encoding', { error: 'busy', error_description: encodings.join(' ') }],
  ['cut off', { error: 'busy', error_description: `no token ${CUT}…` }],
  ['as an error code', { error: SECRET }],
  ['among the scopes', { access_token: 'x', scope: `leads ${SECRET}` }],
  ['as a name', { access_token: 'x', [SECRET]: 'y', business_name: SECRET }],
  ['inside an object, and as a name of the user', { access_token: 'x', more: { SECRET }, user_name: SECRET }],
])('a secret that the platform repeats %s is in no step', (_where, answer, headers = {}) => {
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: `${SECRET}-and-more`,
    code: SECRET,
  })
  const status = 'error' in answer ? 503 : 200
  const step = exchangeStep(masking, tokenRequest(body.toString(), answer, '', { status, headers }))
  for (const text of [...encodings, CUT]) expect(JSON.stringify(step)).not.toContain(text)
})
