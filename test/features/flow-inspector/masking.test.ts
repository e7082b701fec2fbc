import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { mask, Secret, splitUrl } from '../../../src/features/flow-inspector/masking.ts'

const TOKEN = 'secret-token-0123456789'

test('a secret cannot be read, logged or serialised', () => {
  const secret = new Secret('access_token', TOKEN)
  const shown = [
    String(secret),
    JSON.stringify({ secret }),
    inspect(secret),
    inspect({ secret }, { showHidden: true }),
  ]
  expect(shown.join()).not.toContain('secret-token')
  expect(shown[0]).toBe('[access_token, 23 characters]')
})

test('the same value has the same digest for one key, and another for another key', () => {
  const [one, same, other] = [TOKEN, TOKEN, `${TOKEN}x`].map((value) =>
    new Secret('code', value).digest('key'),
  )
  expect(same).toBe(one)
  expect(other).not.toBe(one)
  expect(new Secret('code', TOKEN).digest('another key')).not.toBe(one)
})

test('only parameters that are known to be public keep their value', () => {
  const { query } = mask(platform, {
    query: [
      ['scope', 'leads'],
      ['code', TOKEN],
      ['session_handle', TOKEN],
    ],
  })
  expect(query.map(({ value }) => (value instanceof Secret ? value.kind : value))).toEqual([
    'leads',
    'code',
    'session_handle',
  ])
})

test('a public value that repeats a secret of the same exchange is masked', () => {
  const { form, answer } = mask(platform, {
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
  expect(answer[1]?.value).toBeInstanceOf(Secret)
})

test('a secret behind more members than are shown is masked everywhere', () => {
  const many = Array.from({ length: 150 }, (_, index) => [`member${index}`, '1'] as const)
  const { body } = mask(platform, { body: [['scope', `leads ${TOKEN}`], ...many, ['access_token', TOKEN]] })
  expect(body).toHaveLength(100)
  expect(body[0]?.value).toBeInstanceOf(Secret)
})

test('an answer with thousands of members is masked as a whole: to compare all of them would take seconds', () => {
  const bodyOf = (count: number) =>
    mask(platform, { body: Array.from({ length: count }, () => ['error', 'invalid_grant'] as const) }).body
  expect(bodyOf(1_000)[0]).toEqual({ name: 'error', value: 'invalid_grant' })
  const [first] = bodyOf(1_001)
  expect(first?.name).toBe('(masked)')
  expect(first?.value).toBeInstanceOf(Secret)
})

test('an unknown number does not hide a known one that equals it', () => {
  const { answer } = mask(platform, {
    answer: [
      ['ext_expires_in', 3600],
      ['expires_in', 3600],
    ],
  })
  expect(answer[0]?.value).toBeInstanceOf(Secret)
  expect(answer[1]?.value).toBe('3600')
})

test('an error code and a free text are shown only if they cannot be a token', () => {
  const shown = (name: string, value: string) =>
    !(mask(platform, { a: [[name, value]] }).a[0]?.value instanceof Secret)
  expect(shown('error', 'temporarily_unavailable')).toBe(true)
  expect(shown('error', 'Kj38dkKDJ30dkdie9')).toBe(false)
  expect(shown('error_description', 'the access token has expired')).toBe(true)
  expect(shown('error_description', `no token ${TOKEN.slice(0, 21)}`)).toBe(false)
  expect(shown('iss', 'https://login.example/realms/construction-platform')).toBe(true)
})

test('a bearer token has the same digest as the token itself', () => {
  const { headers, answer } = mask(platform, {
    headers: [['authorization', `Bearer ${TOKEN}`]],
    answer: [['access_token', TOKEN]],
  })
  const [sent, answered] = [headers, answer].flat().map(({ value }) => value as Secret)
  expect(sent?.digest('key')).toBe(answered?.digest('key'))
  expect(sent?.kind).toBe('access_token')
})

test('objects and lists in an answer are masked as a whole', () => {
  const { answer } = mask(platform, {
    answer: [
      ['scope', { access: TOKEN }],
      ['expires_in', 300],
    ],
  })
  expect(answer[0]?.value).toBeInstanceOf(Secret)
  expect(answer[1]?.value).toBe('300')
})

test('a URL is split into its address and its query, without the fragment', () => {
  expect(splitUrl('https://platform.example/authorize?state=s#token=t')).toEqual({
    address: 'https://platform.example/authorize',
    query: [['state', 's']],
  })
})

test('the id of a request is shown if it is a UUID, which is no secret of the exchange', () => {
  const id = 'a3bb189e-8bf9-4c2e-9d47-6d4f3d7e5a10'
  const shownId = (value: string, token = TOKEN) =>
    mask(platform, { answer: [['access_token', token]], headers: [['x-request-id', value]] }).headers[0]
      ?.value
  expect(shownId(id)).toBe(id)
  expect(shownId('some-other-token')).toBeInstanceOf(Secret)
  expect(shownId(id, id)).toBeInstanceOf(Secret)
})
