import { expect, test } from 'vitest'
import { type Exchange, platform } from '../../../src/connect/index.ts'
import { isTokenRequest, maskExchange } from '../../../src/features/flow-inspector/exchanges.ts'

const SECRET = 'a+secret/with=signs'
const CREDENTIALS = Buffer.from(`client:${encodeURIComponent(SECRET)}`).toString('base64')

/** A token request, as the core reports it. */
const tokenRequest = (body: string, answer: object): Exchange => ({
  purpose: 'token',
  context: {},
  at: 0,
  ms: 1,
  request: {
    method: 'POST',
    url: 'https://auth.example/oauth/token',
    headers: { authorization: `Basic ${CREDENTIALS}` },
    body,
  },
  response: {
    status: 401,
    text: JSON.stringify(answer),
    headers: {},
    header: () => undefined,
    retryAfterMs: undefined,
  },
})

test('a client secret in a header of HTTP Basic is shown nowhere, also if the answer repeats it', () => {
  const answer = { error: 'invalid_client', error_description: `${SECRET} is wrong` }
  const masked = maskExchange(
    platform,
    tokenRequest('grant_type=refresh_token&refresh_token=r1234567', answer),
  )
  const shown = JSON.stringify(masked)
  expect(shown).toContain('invalid_client')
  expect(shown).toContain('[client_secret, ')
  for (const secret of [SECRET, CREDENTIALS, 'r1234567']) expect(shown).not.toContain(secret)
})

test('a revocation is no request for tokens', () => {
  expect(isTokenRequest(tokenRequest('grant_type=refresh_token', {}))).toBe(true)
  expect(isTokenRequest(tokenRequest('token=r1234567&token_type_hint=refresh_token', {}))).toBe(false)
})
