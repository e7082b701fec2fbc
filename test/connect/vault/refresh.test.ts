import { afterEach, describe, expect, test } from 'vitest'
import { oauthError, startTokenEndpoint, tokens } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  expiredSetup,
  GRANTED,
  REF,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const expired = async (options?: Parameters<typeof expiredSetup>[0]) => {
  setup = await expiredSetup(options)
}

const token = () => setup.vault.accessToken(REF)
const connection = () => setup.vault.find(REF)

describe('an access token', () => {
  test('is returned without a request while it is fresh', async () => {
    setup = await connectedSetup()
    expect(await token()).toBe('access-0')
    expect(setup.endpoint.requests).toHaveLength(0)
  })

  test('is returned and refreshed in the background shortly before it expires', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    setup.later(250)
    expect(await token()).toBe('access-0')
    await setup.vault.idle()
    expect(await token()).toBe('next')
    expect(setup.endpoint.requests).toHaveLength(1)
  })

  test('that has expired is refreshed first', async () => {
    await expired()
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    expect(await token()).toBe('next')
  })

  test('without a connection is an error: not_connected', async () => {
    setup = await vaultSetup()
    await expect(token()).rejects.toMatchObject({ code: 'not_connected', status: 404 })
  })
})

describe('a refresh', () => {
  test('sends the same refresh token, the same bxcontext and the client credentials in the form body', async () => {
    await expired()
    await token()
    expect(setup.endpoint.requests).toEqual([
      {
        grant_type: 'refresh_token',
        refresh_token: 'refresh-0',
        bxcontext: 'ctx',
        client_id: 'client',
        client_secret: 'client secret',
      },
    ])
  })

  test('whose answer has no refresh token keeps the old one', async () => {
    await expired()
    await token()
    setup.later(301)
    await token()
    expect(setup.endpoint.requests.map(({ refresh_token }) => refresh_token)).toEqual([
      'refresh-0',
      'refresh-0',
    ])
  })

  test('whose answer has a new refresh token makes later refreshes use it', async () => {
    await expired()
    setup.endpoint.answers(tokens({ refresh_token: 'refresh-1' }))
    await token()
    setup.later(301)
    await token()
    expect(setup.endpoint.requests.map(({ refresh_token }) => refresh_token)).toEqual([
      'refresh-0',
      'refresh-1',
    ])
  })

  test.each([
    ['token_type absent', { token_type: undefined }],
    ['expires_in as a string', { expires_in: '300' }],
    ['expires_in absent', { expires_in: undefined }],
    ['null for absent fields', { refresh_token: null, expires_in: null, token_type: null, scope: null }],
    ['fields that are not what they should be', { expires_in: 'soon', token_type: 7, scope: ['leads'] }],
    ['unknown fields', { new_field: { a: 1 } }],
  ])('accepts an answer with %s, for about five minutes', async (_what, fields) => {
    await expired()
    setup.endpoint.answers(tokens({ access_token: 'next', ...fields }))
    expect(await token()).toBe('next')
    setup.later(299)
    setup.endpoint.answers(oauthError('server_error', 500))
    expect(await token()).toBe('next')
  })

  test('stores a rotated refresh token also if no other field can be read', async () => {
    await expired()
    setup.endpoint.answers(tokens({ refresh_token: 'rotated', expires_in: -1, scope: 7, business_name: {} }))
    await token()
    setup.later(301)
    await token()
    expect(setup.endpoint.requests.at(-1)?.refresh_token).toBe('rotated')
  })

  test('takes empty texts for absent fields', async () => {
    await expired()
    setup.endpoint.answers(tokens({ refresh_token: '', token_type: ' ', scope: '' }), tokens())
    await token()
    expect(await connection()).toMatchObject({ scopes: ['catalogues', 'leads'] })
    setup.later(301)
    await token()
    expect(setup.sent()).toEqual(['refresh-0', 'refresh-0'])
  })

  test('does not store scopes of thousands of characters', async () => {
    await expired()
    setup.endpoint.answers(tokens({ scope: 'leads '.repeat(1_000) }))
    await token()
    expect(await connection()).toMatchObject({ scopes: ['catalogues', 'leads'] })
  })

  test('keeps the granted scopes when the answer does not name them, and replaces them when it does', async () => {
    await expired()
    await token()
    expect(await connection()).toMatchObject({ scopes: ['catalogues', 'leads'] })
    setup.later(301)
    setup.endpoint.answers(tokens({ scope: 'leads' }))
    await token()
    expect(await connection()).toMatchObject({ scopes: ['leads'] })
  })

  test('whose answer has an unexpected format is rejected with the field, and nothing is stored', async () => {
    await expired()
    setup.endpoint.answers({ json: { accessToken: 'elsewhere' } })
    await expect(token()).rejects.toMatchObject({
      code: 'platform_rejected',
      field: 'access_token',
      reason: 'the token response has an unexpected format: access_token',
    })
    expect(await connection()).toMatchObject({ status: 'active', refreshedAt: null })
  })

  test('for many callers at once is one request', async () => {
    await expired()
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    const all = await Promise.all(Array.from({ length: 100 }, token))
    expect(new Set(all)).toEqual(new Set(['next']))
    expect(setup.endpoint.requests).toHaveLength(1)
  })

  test('measures expiry by this app’s clock, whatever the platform’s clock says', async () => {
    await expired()
    setup.endpoint.answers({
      ...(tokens({ access_token: 'next' }) as object),
      headers: { date: 'Thu, 01 Jan 1970 00:00:00 GMT' },
    })
    await token()
    setup.later(200)
    expect(await token()).toBe('next')
    expect(setup.endpoint.requests).toHaveLength(1)
  })
})

describe('what a failed refresh means', () => {
  test('invalid_client: a configuration error, logged as an error; the connection stays as it was', async () => {
    const error = 'invalid_client'
    await expired()
    setup.endpoint.answers(oauthError(error, 401), tokens({ access_token: 'next' }))
    await expect(token()).rejects.toMatchObject({ code: 'misconfigured', status: 500 })
    expect(await connection()).toMatchObject({ status: 'active', problem: 'misconfigured' })
    expect(setup.logLines.some((line) => line.includes('"level":"error"') && line.includes(error))).toBe(true)
    setup.later(31)
    expect(await token()).toBe('next')
  })

  test.each([
    ['500', { status: 500, json: { error: 'server_error' } }],
    ['503 with HTML', { status: 503, text: '<h1>Down</h1>' }],
    ['429', { status: 429, json: {} }],
    ['429 that says invalid_client', { status: 429, json: { error: 'invalid_client' } }],
    ['500 that says invalid_grant', { status: 500, json: { error: 'invalid_grant' } }],
    ['200 that is not JSON', { status: 200, text: '<h1>Welcome</h1>' }],
    ['404 that is not JSON', { status: 404, text: 'no such page' }],
    ['a 4xx with an unknown error', { status: 418, json: { error: 'teapot' } }],
    ['the page of a firewall', { status: 403, text: '<html>Blocked</html>' }],
  ])('%s: 503, the connection is kept and works again afterwards', async (_what, answer) => {
    await expired()
    setup.endpoint.answers(answer, tokens({ access_token: 'next' }))
    await expect(token()).rejects.toMatchObject({ code: 'platform_unavailable', status: 503 })
    expect(await connection()).toMatchObject({ status: 'active', problem: expect.any(String) })
    setup.later(31)
    expect(await token()).toBe('next')
    expect(await connection()).toMatchObject({ problem: null })
  })

  test('a redirect: 503, and the refresh token is not sent to the other address', async () => {
    await expired()
    const elsewhere = await startTokenEndpoint()
    setup.endpoint.answers({ status: 307, json: {}, headers: { location: elsewhere.authUrl } })
    await expect(token()).rejects.toMatchObject({ code: 'platform_unavailable' })
    expect(elsewhere.requests).toEqual([])
    await elsewhere.close()
  })

  test('no answer in time: 503, the connection is kept', async () => {
    await expired({ stepTimeoutMs: 100 })
    setup.endpoint.answers(() => {})
    await expect(token()).rejects.toMatchObject({ code: 'platform_unavailable' })
    expect(await connection()).toMatchObject({ status: 'active' })
  })

  test('a dropped connection: 503, the connection is kept', async () => {
    await expired()
    setup.endpoint.answers((res) => void res.destroy())
    await expect(token()).rejects.toMatchObject({ code: 'platform_unavailable' })
    expect(await connection()).toMatchObject({ status: 'active' })
  })

  test('a refused connection: 503, the connection is kept', async () => {
    await expired()
    await setup.endpoint.close()
    await expect(token()).rejects.toMatchObject({ code: 'platform_unavailable' })
    expect(await connection()).toMatchObject({ status: 'active' })
  })

  test('a token response of endless size: rejected, the connection is kept', async () => {
    await expired()
    setup.endpoint.answers((res) => {
      res.writeHead(200, { 'content-type': 'application/json' })
      const more = () => {
        while (!res.destroyed && res.write('x'.repeat(100_000)));
        if (!res.destroyed) res.once('drain', more)
      }
      more()
    })
    await expect(token()).rejects.toMatchObject({ code: 'platform_rejected' })
    expect(await connection()).toMatchObject({ status: 'active' })
  })

  test('an outage does not affect callers while the token is valid', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(oauthError('server_error', 500))
    setup.later(250)
    expect(await token()).toBe('access-0')
    await setup.vault.idle()
    expect(await token()).toBe('access-0')
  })

  test('after a failure, no process sends another request for a while', async () => {
    await expired()
    setup.endpoint.answers(oauthError('server_error', 500))
    for (let call = 0; call < 20; call++) await token().catch(() => {})
    expect(setup.endpoint.requests).toHaveLength(1)
    setup.later(1.1)
    for (let call = 0; call < 20; call++)
      await setup
        .anotherVault()
        .accessToken(REF)
        .catch(() => {})
    expect(setup.endpoint.requests).toHaveLength(2)
  })

  test('a new consent ends the pause: the next refresh is sent at once', async () => {
    await expired()
    setup.endpoint.answers(oauthError('server_error', 500), tokens({ access_token: 'next' }))
    await token().catch(() => {})
    await setup.vault.connect(REF, { ...GRANTED, expiresIn: 0 })
    expect(await connection()).toMatchObject({ problem: null })
    expect(await token()).toBe('next')
  })

  test('a problem is shown until a refresh succeeds, however long that takes', async () => {
    await expired()
    setup.endpoint.answers(oauthError('invalid_client', 401), tokens())
    await token().catch(() => {})
    setup.later(600)
    expect(await connection()).toMatchObject({ problem: 'misconfigured' })
    await token()
    expect(await connection()).toMatchObject({ problem: null })
  })

  test('a refresh without an answer does not block the connection: it times out, and the next one works', async () => {
    await expired({ stepTimeoutMs: 100 })
    setup.endpoint.answers(() => {}, tokens({ access_token: 'next' }))
    await token().catch(() => {})
    setup.later(2)
    expect(await token()).toBe('next')
  })

  test('Retry-After is honoured and passed on', async () => {
    await expired()
    setup.endpoint.answers({ status: 429, json: {}, headers: { 'retry-after': '60' } })
    await expect(token()).rejects.toMatchObject({ retryAfterMs: 60_000 })
    setup.later(50)
    await expect(token()).rejects.toMatchObject({ code: 'platform_unavailable', retryAfterMs: 10_000 })
    setup.later(11)
    await token().catch(() => {})
    expect(setup.endpoint.requests).toHaveLength(2)
  })
})

describe('a token that the API rejects', () => {
  const refreshRejected = (rejected: string) => setup.vault.tokenSource(REF).refresh(rejected)

  test('is refreshed once for all callers', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => refreshRejected('access-0'))))).toEqual(
      new Set(['next']),
    )
    expect(await refreshRejected('access-0')).toBe('next')
    expect(setup.endpoint.requests).toHaveLength(1)
  })
})
