import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tokenRequestChannel } from '../../../src/connect/events.ts'
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
    appUrl: 'https://app.platform.example/sub/',
    authUrl: endpoint.authUrl,
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

const flow = { bxcontext: 'ctx/1', state: 'the-state', codeVerifier: 'v'.repeat(43) }
const callback = (query: string) => new URL(`https://app.example/connect/callback?${query}`)

test('the start url is the platform’s page with the redirect url, and keeps the path of the address', () => {
  const url = oauth().startUrl('https://app.example/connect/context')
  expect(url.href).toBe(
    'https://app.platform.example/sub/oauth2.html?redirectUrl=https%3A%2F%2Fapp.example%2Fconnect%2Fcontext',
  )
})

describe('the authorization url', () => {
  const consent = { ...flow, redirectUri: 'https://app.example/connect/callback' }

  test('has the configured parameters and path, and no PKCE if it is off', async () => {
    const url = await oauth({
      pkce: false,
      authorizePath: '/consent',
      authorizeParams: { audience: 'api' },
    }).authorizationUrl(consent)
    expect(url.pathname).toBe('/consent')
    expect(url.searchParams.get('audience')).toBe('api')
    expect(url.searchParams.has('code_challenge')).toBe(false)
  })

  test('has a configured parameter twice, and those of the flow once', async () => {
    const authorizeParams = new URLSearchParams(
      'resource=https://a.example&resource=https://b.example&state=x',
    )
    const { searchParams } = await oauth({ authorizeParams }).authorizationUrl(consent)
    expect(searchParams.getAll('resource')).toEqual(['https://a.example', 'https://b.example'])
    expect(searchParams.getAll('state')).toEqual([flow.state])
  })

  test('never carries the client secret or the code verifier', async () => {
    const { href } = await oauth().authorizationUrl(consent)
    expect(decodeURIComponent(href)).not.toContain('a+secret')
    expect(href).not.toContain(flow.codeVerifier)
  })
})

describe('the code exchange', () => {
  const names = async (fields: object) => {
    endpoint.answers(tokens({ ...fields }))
    const callbackUrl = callback('code=the-code&state=the-state')
    const { businessName, userName } = await oauth().exchangeCode({ ...flow, callbackUrl })
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

  test('sends the client id and the secret in a header if the platform wants HTTP Basic, and publishes neither', async () => {
    const events: unknown[] = []
    const subscriber = (event: unknown) => void events.push(event)
    tokenRequestChannel.subscribe(subscriber)
    let authorization = ''
    const server = await serve((req, res) => {
      authorization = req.headers.authorization ?? ''
      res.writeHead(401, { 'content-type': 'application/json' })
      // A server may repeat what it was sent.
      res.end(JSON.stringify({ error: 'invalid_client', error_description: 'a+secret/with=signs is wrong' }))
    })
    const basic = oauth({
      authUrl: `http://127.0.0.1:${server.port}`,
      tokenEndpointAuthMethod: 'client_secret_basic',
    })
    await expect(basic.refresh({ refreshToken: 'r1234567', bxcontext: 'ctx' })).rejects.toThrow()
    tokenRequestChannel.unsubscribe(subscriber)
    await server.close()
    const encoded = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString()
    expect(encoded.split(':').map((part) => new URLSearchParams(`v=${part}`).get('v'))).toEqual([
      'client id',
      'a+secret/with=signs',
    ])
    expect(events).toHaveLength(1)
    const published = JSON.stringify(events)
    expect(published).toContain('authorization')
    expect(published).not.toContain('a+secret/with=signs')
    expect(published).not.toContain(authorization)
  })

  test('sends code, redirect_uri, verifier, bxcontext and credentials as a form, once', async () => {
    endpoint.answers(tokens({ refresh_token: 'r', scope: 'leads catalogues', expires_in: 60 }))
    const got = await oauth().exchangeCode({
      ...flow,
      callbackUrl: callback('code=the-code&state=the-state'),
    })
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

  test('takes no scope that contains a token of the same answer', async () => {
    const [access_token, refresh_token] = ['the-access-token', 'the-refresh-token']
    const scope = `leads ${access_token} x:${refresh_token}`
    endpoint.answers(tokens({ access_token, refresh_token, scope }))
    const got = await oauth().exchangeCode({
      ...flow,
      callbackUrl: callback('code=the-code&state=the-state'),
    })
    expect(got.scopes).toEqual(['leads'])
  })

  test('is not sent if the state or the issuer does not match', async () => {
    for (const query of [
      'code=c&state=other',
      'code=c',
      'code=c&state=the-state&iss=https%3A%2F%2Felsewhere.example',
    ]) {
      const exchange = oauth().exchangeCode({ ...flow, callbackUrl: callback(query) })
      await expect(exchange).rejects.toMatchObject({ code: 'platform_rejected' })
    }
    expect(endpoint.requests).toEqual([])
  })

  test.each(['', '/'])('accepts its issuer followed by %j', async (end) => {
    const query = new URLSearchParams({ code: 'c', state: 'the-state', iss: endpoint.authUrl + end })
    await oauth().exchangeCode({ ...flow, callbackUrl: callback(String(query)) })
    expect(endpoint.requests).toHaveLength(1)
  })

  test('ignores an id token, which was not requested', async () => {
    endpoint.answers(tokens({ id_token: 'not.a.jwt' }))
    await oauth().exchangeCode({ ...flow, callbackUrl: callback('code=c&state=the-state') })
  })
})

test.each([
  [
    'a code',
    () => oauth().exchangeCode({ ...flow, callbackUrl: callback('code=SECRET-CODE&state=the-state') }),
  ],
  ['a refresh token', () => oauth().refresh({ refreshToken: 'SECRET-REFRESH', bxcontext: 'ctx' })],
])('an error about %s contains no secret at any depth', async (_what, call) => {
  const answers = [
    oauthError('invalid_grant'),
    oauthError('invalid_client', 401),
    { status: 500, text: 'SECRET-BODY' },
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
