import * as oauth from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LivePricingOptions } from '../../../../src/features/supplier/live-pricing/api.ts'
import { CALLER, FULL, form, GRANT, line, type Supplier, startSupplier, testSupplier } from './support.ts'

/** For tests that don't guess secrets, because the app slows guesses down. */
let shared: Supplier
beforeAll(async () => {
  shared = await startSupplier()
})
afterAll(() => shared.close())

interface Request {
  body: string | Uint8Array<ArrayBuffer>
  headers: Record<string, string>
}
const json = (body: unknown): Request => ({
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})
const ask = (request: Request, { url } = shared) =>
  fetch(`${url}/connect/token`, { method: 'POST', ...request })
const statusOf = async (request: Request, supplier: Supplier) => (await ask(request, supplier)).status

describe('POST /connect/token', () => {
  test.each([
    ['a form', form(FULL)],
    ['JSON', json(FULL)],
    ['JSON whose type is in capitals', { ...json(FULL), headers: { 'content-type': 'APPLICATION/JSON' } }],
    ['JSON with fields that it does not know', json({ ...FULL, scope: null, more: { client_id: 1 } })],
    ['JSON after a byte order mark', json(`\uFEFF${JSON.stringify(FULL)}`)],
  ])('answers exactly three fields to %s, and is not to be stored', async (_, request) => {
    const answer = await ask(request)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(await answer.json()).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 900,
    })
  })

  const { headers } = form({})
  test.each<[string, Request, error?: string]>([
    ['no body', form({})],
    ['no grant_type', form({ client_id: 'x', client_secret: 'y' })],
    ['no client_id', form({ ...GRANT, client_secret: 'y' })],
    ['no client_secret', form({ ...GRANT, client_id: 'x' })],
    ['an empty client_secret', form({ ...GRANT, client_id: 'x', client_secret: '' })],
    ['a repeated parameter', form(`grant_type=client_credentials&client_id=x&client_id=x&client_secret=y`)],
    ['a type that is neither a form nor JSON', { ...form(FULL), headers: { 'content-type': 'text/plain' } }],
    ['a broken escape', { headers, body: 'grant_type=%zz' }],
    ['bytes that are not UTF-8', { headers, body: Uint8Array.of(0x61, 0x3d, 0xff) }],
    ['broken JSON', json('{"grant_type":')],
    ['JSON that is declared as a form', { ...json(FULL), headers }],
    ['JSON that is no object', json('[1]')],
    ['JSON with a number', json({ ...FULL, client_id: 7 })],
    ['another grant type', form({ ...FULL, grant_type: 'password' }), 'unsupported_grant_type'],
  ])('answers 400 to %s', async (_, request, error = 'invalid_request') => {
    const answer = await ask(request)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({ error, error_description: expect.stringMatching(/\w.*\.$/) })
  })

  test('answers 413 to a body larger than 16 kB', async () => {
    expect((await ask(form({ ...FULL, more: 'x'.repeat(17_000) }))).status).toBe(413)
  })

  test('returns a problem document for an unknown path and for one with an extra slash', async () => {
    for (const path of ['/connect/token/', '/Connect/Token', '/stores', '/stores/nearest/']) {
      const answer = await shared.call(path)
      const type = 'application/problem+json; charset=utf-8'
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 404, type])
    }
  })

  test('returns the same 401 with a challenge for a wrong id and a wrong secret', async () => {
    const supplier = await testSupplier()
    const wrong = [{ client_secret: 'wrong' }, { client_id: 'nobody' }].map((one) =>
      form({ ...FULL, ...one }),
    )
    const answers = await Promise.all(wrong.map((request) => ask(request, supplier)))
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(answers.map(({ status }) => status)).toEqual([401, 401])
    expect(new Set(bodies).size).toBe(1)
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ error: 'invalid_client' })
    expect(answers[0]?.headers.get('www-authenticate')).toMatch(/^Bearer /)
  })

  test('accepts the old and the new secret during a rotation, and no third', async () => {
    const clients = [{ ...CALLER, secret: 'new-secret' }, CALLER]
    const supplier = await testSupplier(undefined, { clients })
    const status = (client_secret: string) => statusOf(form({ ...FULL, client_secret }), supplier)
    const secrets = ['new-secret', CALLER.secret, 'older-secret']
    expect(await Promise.all(secrets.map(status))).toEqual([200, 200, 401])
  })

  test('limits guesses of a secret, only of the client whose secret is guessed, and never a correct one', async () => {
    const clients = [CALLER, { id: 'other', secret: 'other-secret' }]
    const supplier = await testSupplier(undefined, { clients })
    const statuses = []
    for (let guess = 0; guess < 15; guess++) {
      statuses.push(await statusOf(form({ ...FULL, client_secret: `guess-${guess}` }), supplier))
      expect(await statusOf(form(FULL), supplier), `after ${guess + 1} guesses`).toBe(200)
    }
    // Correct secrets between the guesses don't allow more guesses.
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(5).fill(429)])
    const again = await ask(form({ ...FULL, client_secret: 'guess' }), supplier)
    expect(again.status).toBe(429)
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(0)
    const other = form({ ...GRANT, client_id: 'other', client_secret: 'other-secret' })
    expect(await statusOf(other, supplier)).toBe(200)
  })

  test('limits guesses per address and per IPv6 network, but not correct credentials from there', async () => {
    const supplier = await testSupplier(undefined, { trustProxy: 1 })
    const from = (address: string, fields: Record<string, string>) =>
      statusOf({ ...form(fields), headers: { ...headers, 'x-forwarded-for': address } }, supplier)
    const wrong = (address: string, client_id = CALLER.id) =>
      from(address, { ...FULL, client_id, client_secret: 'wrong' })
    for (let host = 1; host <= 10; host++) expect(await wrong(`2001:db8::${host}:1`)).toBe(401)
    expect(await wrong('2001:db8:0:0:9::1')).toBe(429)
    expect(await wrong('2001:db8:0:1::1')).toBe(401)
    const strangers = []
    for (let guess = 0; guess < 32; guess++) strangers.push(await wrong('203.0.113.7', `nobody-${guess}`))
    expect(strangers.slice(28)).toEqual([401, 401, 429, 429])
    expect(await from('203.0.113.7', FULL)).toBe(200)
    // Some proxies add the port, which differs for each connection.
    expect(await wrong('203.0.113.7:4711')).toBe(429)
    expect(await wrong('[2001:db8::99]:4711')).toBe(429)
  })
})

describe('the access token', () => {
  const NEAREST = '/stores/nearest?latitude=0&longitude=0&radius=1'
  const call = (path: string, authorization?: string, { url } = shared) =>
    fetch(url + path, {
      headers: { ...(authorization && { authorization }), 'content-type': 'application/json' },
      ...(path.startsWith('/request-prices') && { method: 'POST', body: '{"items":[]}' }),
    })

  test.each([NEAREST, '/stores/S1', '/request-prices'])(
    'is required for %s: anything else returns 401 with a challenge',
    async (path) => {
      const token = await shared.token()
      expect((await call(path, `Bearer ${token}`)).status).toBe(200)
      for (const [authorization, challenge] of [
        [undefined, 'Bearer realm="live-pricing"'],
        [`Basic ${token}`, 'Bearer realm="live-pricing"'],
        [`Bearer ${token.slice(0, -4)}AAAA`, 'Bearer realm="live-pricing", error="invalid_token"'],
        ['Bearer x', 'Bearer realm="live-pricing", error="invalid_token"'],
      ]) {
        const answer = await call(path, authorization)
        expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, challenge])
      }
      expect((await call(`${path}${path.includes('?') ? '&' : '?'}access_token=${token}`)).status).toBe(401)
    },
  )

  test('expires on time, even if it was used before', async () => {
    let ms = Date.now()
    const supplier = await testSupplier(undefined, { now: () => ms, tokenSeconds: 60 })
    const token = await supplier.token()
    const status = async () => (await call('/stores/S1', `Bearer ${token}`, supplier)).status
    expect(await status()).toBe(200)
    ms += 60_000
    expect(await status()).toBe(401)
  })

  test('survives a rotation of the signing key, and is rejected at another address and for a removed client', async () => {
    const token = await shared.token()
    const old = { id: 'k1', secret: new Uint8Array(32).fill(7) }
    const other = { id: 'k2', secret: new Uint8Array(32).fill(8) }
    const status = async (options: Partial<LivePricingOptions>) => {
      const supplier = await testSupplier(undefined, { baseUrl: shared.url, ...options })
      return (await call('/stores/S1', `Bearer ${token}`, supplier)).status
    }
    expect(await status({ keys: [other, old] })).toBe(200)
    expect(await status({ keys: [other] })).toBe(401)
    expect(await status({ baseUrl: `${shared.url}-other` })).toBe(401)
    expect(await status({ clients: [{ id: 'other', secret: 's' }] })).toBe(401)
  })

  test('is a JWT that only identifies its client, and neither it nor the secret is ever logged', async () => {
    const supplier = await testSupplier()
    const token = await supplier.token()
    await call('/stores/S1', `Bearer ${token}x`, supplier)
    await ask(form({ ...FULL, client_secret: 'a-wrong-secret-0123' }), supplier)
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(Object.keys(claims).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'sub'])
    const log = supplier.logLines.join('')
    for (const secret of [token, CALLER.secret, 'a-wrong-secret-0123']) expect(log).not.toContain(secret)
  })
})

test('an independent client, openid-client, gets a token and calls the three endpoints', async () => {
  const { url } = shared
  const server = { issuer: url, token_endpoint: `${url}/connect/token` }
  const config = new oauth.Configuration(server, CALLER.id, undefined, oauth.ClientSecretPost(CALLER.secret))
  oauth.allowInsecureRequests(config)
  const { access_token: token, expires_in } = await oauth.clientCredentialsGrant(config)
  expect(expires_in).toBe(900)
  const call = async (path: string, method: string, body?: string) => {
    const headers = new Headers({ 'content-type': 'application/json' })
    const target = new URL(url + path)
    return (await oauth.fetchProtectedResource(config, token, target, method, body, headers)).json()
  }
  const nearest = '/stores/nearest?latitude=-37.8&longitude=145&radius=10'
  expect(await call(nearest, 'GET')).toMatchObject([{ id: 'S1' }])
  expect(await call('/stores/S2', 'GET')).toMatchObject({ id: 'S2' })
  const body = JSON.stringify({ items: [line('A', 'S1', 2)] })
  expect(await call('/request-prices', 'POST', body)).toMatchObject([{ totalPrice: 25 }])
})
