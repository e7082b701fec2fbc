import { expect, test } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { createMasking } from '../../../src/features/flow-inspector/masking.ts'

const TOKEN = 'secret-token-0123456789'
const keyOf = (fill: number) => [{ id: 'k1', secret: Buffer.alloc(32, fill) }]
const { mask, fingerprint } = createMasking(platform, keyOf(1))

test('a secret is shown as its kind, its length and six digits, from which nobody can read it', () => {
  expect(fingerprint('access_token', TOKEN)).toMatch(/^access_token:23:[\da-f]{6}$/)
})

test('the same value has the same digits with one encryption key, and others with another key', () => {
  const other = createMasking(platform, keyOf(2))
  expect(createMasking(platform, keyOf(1)).fingerprint('code', TOKEN)).toBe(fingerprint('code', TOKEN))
  expect(fingerprint('code', `${TOKEN}x`)).not.toBe(fingerprint('code', TOKEN))
  expect(other.fingerprint('code', TOKEN)).not.toBe(fingerprint('code', TOKEN))
})

test('only parameters that are known to be public keep their value', () => {
  const { query } = mask({
    query: [
      ['scope', 'leads'],
      ['code', TOKEN],
      ['session_handle', TOKEN],
    ],
  })
  expect(query).toEqual([
    { name: 'scope', value: 'leads' },
    { name: 'code', fingerprint: fingerprint('code', TOKEN) },
    { name: 'session_handle', fingerprint: fingerprint('session_handle', TOKEN) },
  ])
})

test('a public value that repeats a secret of the same exchange is masked', () => {
  const { form, answer } = mask({
    form: [
      ['refresh_token', TOKEN],
      ['grant_type', 'refresh_token'],
    ],
    answer: [
      ['error', 'invalid_grant'],
      ['error_description', `The token ${TOKEN} has expired`],
    ],
  })
  expect(form[1]?.value).toBe('refresh_token')
  expect(answer[0]?.value).toBe('invalid_grant')
  expect(answer[1]?.value).toBeUndefined()
})

test.each([
  ['percent-encoded', encodeURIComponent],
  ['in base64', (text: string) => Buffer.from(text).toString('base64')],
  ['in base64url', (text: string) => Buffer.from(text).toString('base64url')],
])('a public value that repeats a secret %s is masked', (_form, encode) => {
  // Short, so that no form of it looks like a token.
  const secret = 'p/ß?>~w'
  expect(encode(secret)).not.toBe(secret)
  const { answer } = mask({
    form: [['client_secret', secret]],
    answer: [['error_description', `wrong: ${encode(secret)}`]],
  })
  expect(answer[0]?.value).toBeUndefined()
})

test('a secret behind more members than are shown is masked everywhere', () => {
  const many = Array.from({ length: 150 }, (_, index) => [`member${index}`, '1'] as const)
  const { body } = mask({ body: [['scope', `leads ${TOKEN}`], ...many, ['access_token', TOKEN]] })
  expect(body).toHaveLength(100)
  expect(body[0]?.value).toBeUndefined()
})

test('an answer with more than 100 members is masked as a whole: to compare thousands would take seconds', () => {
  const bodyOf = (count: number) =>
    mask({ body: Array.from({ length: count }, () => ['error', 'invalid_grant'] as const) }).body
  expect(bodyOf(100)[0]).toEqual({ name: 'error', value: 'invalid_grant' })
  expect(bodyOf(101)[0]).toEqual({
    name: '(masked)',
    fingerprint: fingerprint('(masked)', 'invalid_grant'),
  })
})

test('an unknown number does not hide a known one that equals it', () => {
  const { answer } = mask({
    answer: [
      ['ext_expires_in', 3600],
      ['expires_in', 3600],
    ],
  })
  expect(answer.map(({ value }) => value)).toEqual([undefined, '3600'])
})

test('an error code, a free text and the id of a request are shown only if they cannot be a token', () => {
  const shown = (name: string, value: string) => mask({ a: [[name, value]] }).a[0]?.value !== undefined
  expect(shown('error', 'temporarily_unavailable')).toBe(true)
  expect(shown('error', 'Kj38dkKDJ30dkdie9')).toBe(false)
  expect(shown('error_description', 'the access token has expired')).toBe(true)
  expect(shown('error_description', `no token ${TOKEN.slice(0, 21)}`)).toBe(false)
  expect(shown('iss', 'https://login.example/realms/construction-platform')).toBe(true)
  expect(shown('x-request-id', 'a3bb189e-8bf9-4c2e-9d47-6d4f3d7e5a10')).toBe(true)
  expect(shown('x-request-id', 'some-other-token')).toBe(false)
})

test('objects and lists in an answer are masked as a whole', () => {
  const { answer } = mask({
    answer: [
      ['scope', { access: TOKEN }],
      ['expires_in', 300],
    ],
  })
  expect(answer.map(({ value }) => value)).toEqual([undefined, '300'])
})
