import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { createHttp } from '../../../src/connect/platform/http.ts'
import { createOAuth, type OAuthOptions } from '../../../src/connect/platform/oauth.ts'
import { serve } from '../../support/ports.ts'
import { oauthError, startTokenEndpoint, type TokenEndpoint, tokens } from '../../support/token-endpoint.ts'

let endpoint: TokenEndpoint
beforeEach(async () => {
  endpoint = await startTokenEndpoint()
})
afterEach(() => endpoint.close())

function oauth(options: Partial<OAuthOptions> = {}) {
  return createOAuth({
    platform,
    appUrl: 'https://app.platform.example/sub//',
    authUrl: `${endpoint.authUrl}//`,
    clientId: 'client id',
    clientSecret: 'a+secret/with=signs',
    scopes: ['leads', 'catalogues'],
    authorizePath: '/authorize',
    authorizeParams: {},
    pkce: true,
    http: createHttp(),
    ...options,
  })
}

const redirectUri = 'https://app.example/connect/callback'
const flow = { bxcontext: 'ctx/1', redirectUri, codeVerifier: 'v'.repeat(43) }
const callback = { ...flow, code: 'the-code', iss: undefined }

test('the start url is the platform’s page with the redirect url, and keeps the path of the address', () => {
  const url = oauth().startUrl('https://app.example/connect/context')
  expect(url.href).toBe(
    'https://app.platform.example/sub/oauth2.html?redirectUrl=https%3A%2F%2Fapp.example%2Fconnect%2Fcontext',
  )
})

describe('the authorization url', () => {
  const consent = { ...flow, state: 'the-state' }

  test('has the parameters of RFC 6749 and RFC 7636, and the business', () => {
    // The verifier and the challenge of RFC 7636 appendix B.
    const codeVerifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
    const url = oauth().authorizationUrl({ ...consent, codeVerifier })
    expect(url.origin + url.pathname).toBe(`${endpoint.authUrl}/authorize`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'client id',
      redirect_uri: 'https://app.example/connect/callback',
      scope: 'leads catalogues',
      state: 'the-state',
      bxcontext: 'ctx/1',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    })
  })

  test('has the configured path and parameters, also one that comes twice, those of the flow once, and neither PKCE nor scopes if there are none', () => {
    const authorizeParams = new URLSearchParams('resource=a&resource=b&state=x')
    const changed = oauth({ pkce: false, scopes: [], authorizePath: '/consent', authorizeParams })
    const { pathname, searchParams } = changed.authorizationUrl(consent)
    expect(pathname).toBe('/consent')
    for (const name of ['code_challenge', 'scope']) expect(searchParams.has(name)).toBe(false)
    expect(searchParams.getAll('resource')).toEqual(['a', 'b'])
    expect(searchParams.getAll('state')).toEqual(['the-state'])
  })
})

describe('the code exchange', () => {
  const names = async (fields: object) => {
    endpoint.answers(tokens({ ...fields }))
    const { businessName, userName } = await oauth().exchangeCode(callback)
    return { businessName, userName }
  }

  test('reads the names of the business and the person', async () => {
    const name = '𝒳'.repeat(200)
    expect(await names({ business_name: name, user_name: 'Ann' })).toEqual({
      businessName: name,
      userName: 'Ann',
    })
  })

  test.each([7, null, {}, '', '  ', 'x'.repeat(201), 'a\nb', 'a\u0000', '\ud800'])(
    'ignores the name %j',
    async (name) => {
      expect(await names({ business_name: name, user_name: name })).toEqual({})
    },
  )

  test.each([
    'a+secret/with=signs',
    'the-code',
    'THE-CODE',
    Buffer.from('the-code').toString('base64'),
    encodeURIComponent('a+secret/with=signs'),
    flow.codeVerifier,
  ])('ignores a name that repeats a secret of the request, in whatever form (%s)', async (secret) => {
    expect(await names({ business_name: `Harbour ${secret}`, user_name: secret })).toEqual({})
  })

  test('sends the client id and the secret in a header if the platform wants HTTP Basic, and nowhere else', async () => {
    let sent: { authorization: string | undefined; body: string } | undefined
    const server = await serve(async (req, res) => {
      sent = { authorization: req.headers.authorization, body: await text(req) }
      res.end('{"access_token":"a"}')
    })
    const basic = oauth({
      authUrl: `http://127.0.0.1:${server.port}`,
      tokenEndpointAuthMethod: 'client_secret_basic',
    })
    await basic.refresh({ refreshToken: 'r1234567', bxcontext: 'ctx' })
    await server.close()
    // Both are form-encoded first (RFC 6749 section 2.3.1).
    expect(sent?.authorization).toBe(`Basic ${btoa('client+id:a%2Bsecret%2Fwith%3Dsigns')}`)
    expect(Object.fromEntries(new URLSearchParams(sent?.body))).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'r1234567',
      bxcontext: 'ctx',
    })
  })

  test('sends code, redirect_uri, verifier, bxcontext and credentials as a form, once', async () => {
    endpoint.answers(tokens({ refresh_token: 'r', scope: ' leads  catalogues', expires_in: 60 }))
    const got = await oauth().exchangeCode(callback)
    expect(endpoint.requests).toEqual([
      {
        grant_type: 'authorization_code',
        code: 'the-code',
        redirect_uri: 'https://app.example/connect/callback',
        code_verifier: flow.codeVerifier,
        bxcontext: 'ctx/1',
        client_id: 'client id',
        client_secret: 'a+secret/with=signs',
      },
    ])
    expect(got).toMatchObject({ refreshToken: 'r', expiresIn: 60, scopes: ['leads', 'catalogues'] })
  })

  test('takes no scope that is a secret of the request or the answer, and each that only has one in it', async () => {
    const [access_token, refresh_token] = ['the-access-token', 'the-refresh-token']
    const scope = `leads ${access_token} lead ${refresh_token}`
    endpoint.answers(tokens({ access_token, refresh_token, scope }))
    const got = await oauth({ clientSecret: 'lead' }).exchangeCode(callback)
    expect(got.scopes).toEqual(['leads'])
  })

  test.each([
    ['another host', () => 'https://elsewhere.example'],
    ['a longer host', () => `${endpoint.authUrl}.evil.example`],
    ['a path', () => `${endpoint.authUrl}/tenant`],
    ['two slashes', () => `${endpoint.authUrl}//`],
    ['a part', () => endpoint.authUrl.slice(0, -1)],
    ['nothing', () => ''],
  ])('is not sent if the callback came from another issuer: %s', async (_what, issuer) => {
    const exchange = oauth().exchangeCode({ ...callback, iss: issuer() })
    await expect(exchange).rejects.toMatchObject({ code: 'platform_rejected' })
    expect(endpoint.requests).toEqual([])
  })

  test.each(['', '/'])('accepts its issuer followed by %j', async (end) => {
    await oauth().exchangeCode({ ...callback, iss: endpoint.authUrl + end })
    expect(endpoint.requests).toHaveLength(1)
  })
})

test('a user who disconnects waits for the revocation for at most 5 s', async () => {
  const http = createHttp()
  const sent = vi.spyOn(http, 'send')
  await oauth({ http, revocationUrl: `${endpoint.authUrl}/oauth/token` }).revoke?.('r', 'refresh_token')
  expect(sent.mock.calls).toMatchObject([[{ deadlineMs: 5_000 }]])
})

test.each([
  ['a code', () => oauth().exchangeCode({ ...callback, code: 'SECRET-CODE' })],
  ['a refresh token', () => oauth().refresh({ refreshToken: 'SECRET-REFRESH', bxcontext: 'ctx' })],
])('an error about %s contains no secret at any depth', async (_what, call) => {
  const answers = [
    oauthError('invalid_grant'),
    oauthError('invalid_client', 401),
    { status: 500, text: 'SECRET-BODY' },
    { status: 308, text: '', headers: { location: '/moved/SECRET-CODE/SECRET-REFRESH' } },
    { json: { access_token: 'SECRET ACCESS' } },
    { json: { access_token: 7, refresh_token: 'SECRET-NEXT' } },
  ]
  for (const answer of answers) {
    endpoint.answers(answer)
    const error = await call().then(
      () => expect.unreachable('it must fail'),
      (thrown: unknown) => thrown,
    )
    expect(everythingIn(error)).not.toMatch(/SECRET|a\+secret|vvvv/)
  }
})

/** All strings that are reachable from a value, including hidden properties. */
function everythingIn(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || seen.has(value)) return ''
  seen.add(value)
  const keys = [...Object.getOwnPropertyNames(value), ...Object.getOwnPropertySymbols(value)]
  return keys.map((key) => everythingIn((value as Record<PropertyKey, unknown>)[key], seen)).join('\n')
}
