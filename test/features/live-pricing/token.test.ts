import { afterEach, describe, expect, test } from 'vitest'
import { CALLER, FULL, form, GRANT, type Supplier, startSupplier } from './support.ts'

let supplier: Supplier
afterEach(() => supplier?.close())

const json = (body: unknown) => ({
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})
const basic = (id: string, secret: string, fields: Record<string, string> = GRANT) => {
  const { body, headers } = form(fields)
  const pair = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
  return { body, headers: { ...headers, authorization: `Basic ${pair}` } }
}
const ask = (request: { body: string; headers: Record<string, string> }) =>
  fetch(`${supplier.url}/connect/token`, { method: 'POST', ...request })

describe('POST /connect/token', () => {
  test.each([
    ['a form', form(FULL)],
    ['JSON', json(FULL)],
    ['HTTP Basic', basic(CALLER.id, CALLER.secret)],
    [
      'JSON whose type is written in capitals',
      { ...json(FULL), headers: { 'content-type': 'APPLICATION/JSON' } },
    ],
    ['JSON with fields that it does not know', json({ ...FULL, scope: null, more: { client_id: 1 } })],
    ['JSON after a byte order mark', json(`\uFEFF${JSON.stringify(FULL)}`)],
    [
      'HTTP Basic, with the id in the form as well',
      basic(CALLER.id, CALLER.secret, { ...GRANT, client_id: CALLER.id }),
    ],
  ])('answers exactly three fields to %s, and is not to be stored', async (_, request) => {
    supplier = await startSupplier()
    const answer = await ask(request)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(await answer.json()).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 900,
    })
  })

  test.each([
    ['no body', form({}), 'invalid_request'],
    ['no grant_type', form({ client_id: 'x', client_secret: 'y' }), 'invalid_request'],
    ['no client_id', form({ ...GRANT, client_secret: 'y' }), 'invalid_request'],
    ['no client_secret', form({ ...GRANT, client_id: 'x' }), 'invalid_request'],
    ['an empty client_secret', form({ ...GRANT, client_id: 'x', client_secret: '' }), 'invalid_request'],
    [
      'a repeated parameter',
      form(`grant_type=client_credentials&client_id=x&client_id=x&client_secret=y`),
      'invalid_request',
    ],
    [
      'a repeated parameter that it does not know',
      form(`${form(FULL).body}&scope=a&scope=b`),
      'invalid_request',
    ],
    [
      'a type that is neither a form nor JSON',
      { ...form(FULL), headers: { 'content-type': 'text/plain' } },
      'invalid_request',
    ],
    ['a broken escape', form({}).headers && { ...form({}), body: 'grant_type=%zz' }, 'invalid_request'],
    [
      'bytes that are not UTF-8',
      { ...form({}), body: Buffer.from([0x61, 0x3d, 0xff]) as unknown as string },
      'invalid_request',
    ],
    ['broken JSON', json('{"grant_type":'), 'invalid_request'],
    ['JSON that is no object', json('[1]'), 'invalid_request'],
    ['JSON with a number', json({ ...FULL, client_id: 7 }), 'invalid_request'],
    ['credentials in both places', basic('x', 'y', FULL), 'invalid_request'],
    [
      'another scheme',
      { ...form(GRANT), headers: { ...form(GRANT).headers, authorization: 'Bearer x' } },
      'invalid_request',
    ],
    ['another grant type', form({ ...FULL, grant_type: 'password' }), 'unsupported_grant_type'],
  ])('answers 400 to %s', async (_, request, error) => {
    supplier = await startSupplier()
    const answer = await ask(request)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({ error, error_description: expect.stringMatching(/\w.*\.$/) })
  })

  test('reports a JSON body that is declared as a form', async () => {
    supplier = await startSupplier()
    const answer = await ask({ ...json(FULL), headers: form(FULL).headers })
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('Content-Type')])
  })

  test('returns the same 401 with a challenge for a wrong id and a wrong secret', async () => {
    supplier = await startSupplier()
    const answers = await Promise.all(
      [
        form({ ...FULL, client_secret: 'wrong' }),
        form({ ...FULL, client_id: 'nobody' }),
        basic('nobody', 'wrong'),
      ].map(ask),
    )
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
    expect(new Set(bodies).size).toBe(1)
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ error: 'invalid_client' })
    expect(answers[2]?.headers.get('www-authenticate')).toMatch(/^Basic /)
  })

  test('accepts the old and the new secret during a rotation, and no third', async () => {
    supplier = await startSupplier(undefined, {
      clients: [{ id: CALLER.id, secrets: ['new-secret', CALLER.secret] }],
    })
    const statuses = []
    for (const client_secret of ['new-secret', CALLER.secret, 'older-secret'])
      statuses.push((await ask(form({ ...FULL, client_secret }))).status)
    expect(statuses).toEqual([200, 200, 401])
  })

  test('limits guesses of a secret, only for the client whose secret is guessed', async () => {
    supplier = await startSupplier(undefined, {
      clients: [
        { id: CALLER.id, secrets: [CALLER.secret] },
        { id: 'other', secrets: ['other-secret'] },
      ],
    })
    const statuses = []
    for (let guess = 0; guess < 15; guess++)
      statuses.push((await ask(form({ ...FULL, client_secret: `guess-${guess}` }))).status)
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(5).fill(429)])
    const again = await ask(form({ ...FULL, client_secret: 'guess' }))
    expect(again.status).toBe(429)
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask(form({ ...GRANT, client_id: 'other', client_secret: 'other-secret' }))).status).toBe(
      200,
    )
  })

  test('never delays correct credentials, however many requests arrive at once', async () => {
    supplier = await startSupplier()
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(form(FULL))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })

  test.each(['zz+zz/zz%41=', 'zz+%zz'])(
    'accepts the secret %s by HTTP Basic, encoded as in the RFC or unencoded',
    async (secret) => {
      supplier = await startSupplier(undefined, { clients: [{ id: 'x', secrets: [secret] }] })
      const plain = basic('x', '')
      plain.headers.authorization = `Basic ${btoa(`x:${secret}`)}`
      expect([(await ask(basic('x', secret))).status, (await ask(plain)).status]).toEqual([200, 200])
    },
  )

  test('accepts a correct secret at any time, however many guesses come from its address', async () => {
    supplier = await startSupplier()
    const statuses = []
    for (let guess = 0; guess < 40; guess++) {
      statuses.push((await ask(form({ ...FULL, client_secret: `guess-${guess}` }))).status)
      expect((await ask(form(FULL))).status, `after ${guess + 1} guesses`).toBe(200)
    }
    // Nor does a correct one in between allow more guesses.
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(30).fill(429)])
  })

  test('limits guesses per address and per IPv6 network, but not correct credentials from there', async () => {
    const headers = (address: string) => ({ ...form(FULL).headers, 'x-forwarded-for': address })
    supplier = await startSupplier(undefined, { trustProxy: 1 })
    const wrong = (address: string, client_id = CALLER.id) =>
      ask({ body: form({ ...FULL, client_id, client_secret: 'wrong' }).body, headers: headers(address) })
    for (let host = 1; host <= 10; host++) expect((await wrong(`2001:db8::${host}:1`)).status).toBe(401)
    expect((await wrong('2001:db8:0:0:9::1')).status).toBe(429)
    expect((await wrong('2001:db8:0:1::1')).status).toBe(401)
    const strangers = []
    for (let guess = 0; guess < 32; guess++)
      strangers.push((await wrong('203.0.113.7', `nobody-${guess}`)).status)
    expect(strangers.slice(28)).toEqual([401, 401, 429, 429])
    expect((await ask({ body: form(FULL).body, headers: headers('203.0.113.7') })).status).toBe(200)
  })

  test('returns a problem document for an unknown path and for one with an extra slash', async () => {
    supplier = await startSupplier()
    for (const path of ['/connect/token/', '/Connect/Token', '/stores', '/stores/nearest/']) {
      const answer = await supplier.call(path)
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        404,
        'application/problem+json; charset=utf-8',
      ])
    }
  })

  test('answers 413 to a body larger than 16 kB', async () => {
    supplier = await startSupplier()
    expect((await ask(form({ ...FULL, more: 'x'.repeat(17_000) }))).status).toBe(413)
  })
})
