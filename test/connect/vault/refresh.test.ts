import { afterEach, describe, expect, test } from 'vitest'
import {
  oauthError,
  type Scripted,
  startTokenEndpoint,
  tokens,
  tokensAfter,
} from '../../support/token-endpoint.ts'
import { connectedSetup, expiredSetup, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const found = () => setup.vault.find(REF)
const OUTAGE = { code: 'platform_unavailable', status: 503 }

describe('an access token', () => {
  test('is returned without a request until its last minute, and then refreshed in the background', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    setup.later(239)
    expect(await setup.token()).toBe('access-0')
    await setup.vault.idle()
    expect(setup.sent()).toEqual([])
    setup.later(1)
    expect(await setup.token()).toBe('access-0')
    await setup.vault.idle()
    expect(await setup.token()).toBe('next')
  })

  test('that has expired is refreshed first', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    expect(await setup.token()).toBe('next')
  })

  test('that a refresh returned again is not refreshed before its end', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(tokens({ access_token: 'access-0' }))
    setup.later(5)
    await setup.vault.refresh(REF)
    setup.later(299)
    expect(await setup.token()).toBe('access-0')
    await setup.vault.idle()
    expect(setup.sent()).toHaveLength(1)
    setup.later(1)
    await setup.token()
    expect(setup.sent()).toHaveLength(2)
  })

  test('without a connection is an error: not_connected', async () => {
    setup = await vaultSetup()
    await expect(setup.token()).rejects.toMatchObject({ code: 'not_connected', status: 404 })
  })
})

describe('a refresh', () => {
  test('sends the same refresh token, the same bxcontext and the client credentials in the form body', async () => {
    setup = await expiredSetup()
    await setup.token()
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

  test.each([
    ['without a refresh token', {}, 'refresh-0'],
    ['with a new refresh token', { refresh_token: 'refresh-1' }, 'refresh-1'],
    [
      'with a new refresh token, and nothing else that can be read',
      { refresh_token: 'refresh-1', expires_in: -1, scope: 7 },
      'refresh-1',
    ],
    ['with an empty refresh token', { refresh_token: '', token_type: ' ', scope: '' }, 'refresh-0'],
  ])('whose answer is %s decides what the next one sends', async (_what, fields, next) => {
    setup = await expiredSetup()
    setup.endpoint.answers(tokens(fields))
    await setup.token()
    setup.later(301)
    await setup.token()
    expect(setup.sent()).toEqual(['refresh-0', next])
  })

  test.each([
    ['token_type absent', { token_type: undefined }],
    ['expires_in as a text', { expires_in: '300' }],
    ['expires_in absent', { expires_in: undefined }],
    ['null for absent fields', { refresh_token: null, expires_in: null, token_type: null, scope: null }],
    ['fields of other types', { expires_in: 'soon', token_type: 7, scope: ['leads'] }],
    ['unknown fields', { new_field: { a: 1 } }],
  ])('accepts an answer with %s, for about five minutes', async (_what, fields) => {
    setup = await expiredSetup()
    setup.endpoint.answers(tokens({ access_token: 'next', ...fields }), oauthError('server_error', 500))
    expect(await setup.token()).toBe('next')
    setup.later(299)
    expect(await setup.token()).toBe('next')
  })

  test.each([
    ['names none', undefined, ['catalogues', 'leads']],
    ['names others', 'leads', ['leads']],
    ['names thousands', 'leads '.repeat(1_000), ['catalogues', 'leads']],
  ])('keeps the granted scopes unless its answer names them: it %s', async (_what, scope, scopes) => {
    setup = await expiredSetup()
    setup.endpoint.answers(tokens({ scope }))
    await setup.token()
    expect(await found()).toMatchObject({ scopes })
  })

  test.each([
    ['no access token', 'access_token', undefined],
    ['a line break in the access token', 'access_token', 'a\nb'],
    ['a refresh token that is not ASCII', 'refresh_token', 'tökén'],
    ['a refresh token of seven megabytes', 'refresh_token', 'x'.repeat(7_000_000)],
  ])('whose answer has %s is rejected with the field, and changes no token', async (_what, field, value) => {
    setup = await connectedSetup()
    setup.later(5)
    setup.endpoint.answers(tokens({ [field]: value }))
    await expect(setup.vault.refresh(REF)).rejects.toMatchObject({ code: 'platform_rejected', field })
    expect(await setup.token()).toBe('access-0')
    expect(await found()).toMatchObject({ view: { state: 'degraded', trouble: 'unreadable' } })
  })

  test('is finished and stored although every caller has timed out', async () => {
    setup = await expiredSetup({ waitMs: 20 })
    const answered = Promise.withResolvers<void>()
    setup.endpoint.answers(tokensAfter(() => answered.promise, { access_token: 'slow' }))
    await expect(setup.token()).rejects.toMatchObject(OUTAGE)
    answered.resolve()
    await setup.vault.idle()
    expect(await setup.token()).toBe('slow')
  })

  test.each([
    ['a refresh', () => setup.token()],
    ['a code exchange', () => setup.vault.connect(REF, exchange)],
  ])('is waited for when the app stops, as %s is: its answer is the only copy', async (_what, request) => {
    setup = await expiredSetup()
    const [sent, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const answer = () => {
      sent.resolve()
      return answered.promise
    }
    setup.endpoint.answers(tokensAfter(answer, {}))
    void request()
    await sent.promise
    const closed = setup.vault.close(1_000)
    answered.resolve()
    await closed
    // The new token was received now.
    expect(await found()).toMatchObject({ tokens: { refreshableInMs: 5_000 } })
  })

  const exchange = () => setup.oauth.refresh({ refreshToken: 'like a code', bxcontext: 'ctx' })
})

describe('a refresh that fails', () => {
  test.each<[what: string, answer: Scripted, trouble: string]>([
    ['500', oauthError('server_error', 500), 'error'],
    ['503 with a page', { status: 503, text: '<h1>Down</h1>' }, 'error'],
    ['429', { status: 429, json: {} }, 'busy'],
    ['temporarily_unavailable', oauthError('temporarily_unavailable'), 'error'],
    ['the page of a firewall', { status: 403, text: '<html>Blocked</html>' }, 'error'],
    ['a page', { status: 200, text: '<h1>Welcome</h1>' }, 'unreadable'],
    ['a dropped connection', (res) => void res.destroy(), 'no_answer'],
    ['no answer in time', () => {}, 'no_answer'],
  ])(
    'by %s: 503, and the connection is degraded until a refresh succeeds',
    async (_what, answer, trouble) => {
      setup = await expiredSetup({ stepTimeoutMs: 100 })
      setup.endpoint.answers(answer, tokens({ access_token: 'next' }))
      for (let time = 0; time < 2; time++) {
        await expect(setup.token()).rejects.toMatchObject(OUTAGE)
        expect(await found()).toMatchObject({ view: { state: 'degraded', trouble, canReconnect: false } })
      }
      setup.later(1)
      expect(await setup.token()).toBe('next')
      expect(await found()).toMatchObject({ view: { state: 'active' } })
    },
  )

  test('because of our credentials: an error for the operator, and the connection stays', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers(oauthError('invalid_client', 401), tokens({ access_token: 'next' }))
    for (let time = 0; time < 2; time++)
      await expect(setup.token()).rejects.toMatchObject({ code: 'misconfigured', status: 500 })
    const errors = setup.logLines.filter((line) => line.includes('"level":"error"'))
    expect(errors).toEqual([expect.stringContaining('invalid_client')])
    expect(await found()).toMatchObject({ view: { state: 'misconfigured' } })
    setup.later(1)
    expect(await setup.token()).toBe('next')
  })

  test('affects no caller while the token is valid', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(oauthError('server_error', 500))
    setup.later(250)
    await setup.token()
    await setup.vault.idle()
    expect(await setup.token()).toBe('access-0')
  })

  test('by a redirect does not send the refresh token to the other address', async () => {
    setup = await expiredSetup()
    const elsewhere = await startTokenEndpoint()
    setup.endpoint.answers({ status: 307, json: {}, headers: { location: elsewhere.authUrl } })
    await expect(setup.token()).rejects.toMatchObject(OUTAGE)
    expect(elsewhere.requests).toEqual([])
    await elsewhere.close()
  })

  test('by an answer without end is over as soon as that is too long', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers((res) => {
      res.writeHead(200, { 'content-type': 'application/json' })
      const more = () => {
        while (!res.destroyed && res.write('x'.repeat(100_000)));
        if (!res.destroyed) res.once('drain', more)
      }
      more()
    })
    await expect(setup.token()).rejects.toMatchObject({ code: 'platform_rejected' })
  })

  test('is followed by a pause in every process', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers(oauthError('server_error', 500))
    const other = setup.anotherVault()
    for (let call = 0; call < 20; call++) {
      await setup.token().catch(() => {})
      await other.accessToken(REF).catch(() => {})
    }
    expect(setup.sent()).toHaveLength(1)
  })

  test('is followed by a pause as long as the platform asks for, which a person can end', async () => {
    setup = await expiredSetup()
    const busy = { status: 429, json: {}, headers: { 'retry-after': '60' } }
    setup.endpoint.answers(busy, tokens({ access_token: 'next' }))
    await expect(setup.token()).rejects.toMatchObject({ retryAfterMs: 60_000 })
    setup.later(50)
    await expect(setup.token()).rejects.toMatchObject({ ...OUTAGE, retryAfterMs: 10_000 })
    expect(setup.sent()).toHaveLength(1)
    expect(await setup.vault.refresh(REF)).toBe(true)
    expect(await setup.token()).toBe('next')
  })

  test('by an error of our own is not taken for a failure of the platform', async () => {
    const oauth = { scopes: [], refresh: () => Promise.reject(new RangeError('of our own')) }
    setup = await expiredSetup({ oauth })
    await expect(setup.token()).rejects.toThrow('of our own')
    expect(await found()).toMatchObject({ view: { state: 'active' } })
  })

  test('logs no secret', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers(
      oauthError('invalid_client'),
      oauthError('invalid_request'),
      oauthError('invalid_grant'),
    )
    for (let time = 0; time < 3; time++) await setup.vault.refresh(REF).catch(() => {})
    expect(setup.logLines).toHaveLength(4)
    expect(setup.logLines.join('')).not.toMatch(/access-|refresh-|client secret/)
  })
})
