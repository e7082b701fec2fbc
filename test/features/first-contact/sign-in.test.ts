import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Client, createClient } from '../../../src/features/first-contact/client.ts'
import { checkSignIn } from '../../../src/features/first-contact/sign-in.ts'
import type { OidcProvider } from '../../../src/web/oidc-discovery.ts'
import { serve } from '../../support/ports.ts'

let client: Client
let server: Awaited<ReturnType<typeof serve>>
let issuer: string
/** What the configuration has; undefined: there is none. */
let configuration: Record<string, unknown> | undefined
/** The only method by which the token endpoint accepts the secret; null: it looks at nothing but the code. */
let accepted: 'client_secret_basic' | 'client_secret_post' | null
const SECRET = 'a secret/with+signs'
const provider = (extra: Partial<OidcProvider> = {}) => ({
  issuer,
  clientId: 'connect starter',
  clientSecret: SECRET,
  baseUrl: 'http://localhost:3000',
  ...extra,
})
beforeEach(async () => {
  client = createClient(null)
  accepted = 'client_secret_basic'
  server = await serve(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    const json = (status: number, value: unknown) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (req.url === '/tenant/.well-known/openid-configuration' && configuration)
      return json(200, configuration)
    if (req.url !== '/tenant/token') return json(404, {})
    if (accepted === null || secretOf(req.headers.authorization, body, accepted) === SECRET)
      return json(400, { error: 'invalid_grant' })
    return json(401, { error: 'invalid_client' })
  })
  issuer = `http://127.0.0.1:${server.port}/tenant`
  configuration = { issuer, token_endpoint: `${issuer}/token` }
})

/** The secret that a request carries, by this method alone. */
function secretOf(authorization = '', body: string, method: string): string | null {
  if (method === 'client_secret_post') return new URLSearchParams(body).get('client_secret')
  const [, secret = ''] = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':')
  return new URLSearchParams(`secret=${secret}`).get('secret')
}
afterEach(async () => {
  await client.close()
  await server.close()
})

test.each(['', '/'])(
  'a sign-in service whose issuer ends with "%s" is fine if OIDC_ISSUER does as well',
  async (end) => {
    configuration = { issuer: issuer + end, token_endpoint: `${issuer}/token` }
    expect(await checkSignIn(provider({ issuer: issuer + end }), client)).toMatchObject({
      id: 'sign-in',
      status: 'ok',
    })
  },
)

test('an issuer with another slash at its end is another issuer, as for the sign-in', async () => {
  configuration = { issuer: `${issuer}/`, token_endpoint: `${issuer}/token` }
  expect(await checkSignIn(provider(), client)).toMatchObject({ id: 'sign-in.issuer', value: `${issuer}/` })
})

test('an address without a configuration is a failure of OIDC_ISSUER', async () => {
  configuration = undefined
  const finding = await checkSignIn(provider(), client)
  expect(finding).toMatchObject({ id: 'sign-in.no-configuration', status: 'failure', setting: 'OIDC_ISSUER' })
  expect(finding.text).toContain('answers 404')
})

test('the configuration of another issuer says which one it is', async () => {
  configuration = { issuer: 'https://login.example', token_endpoint: 'https://login.example/token' }
  expect(await checkSignIn(provider(), client)).toMatchObject({
    id: 'sign-in.issuer',
    status: 'failure',
    value: 'https://login.example',
  })
})

test('a service that is not there is a failure that says why', async () => {
  const finding = await checkSignIn(provider({ issuer: 'http://127.0.0.1:9' }), client)
  expect(finding).toMatchObject({ id: 'address.refused', status: 'failure', setting: 'OIDC_ISSUER' })
})

test.each([
  ['nothing', 'client_secret_basic', undefined],
  ['basic only', 'client_secret_basic', ['client_secret_basic']],
  ['post only', 'client_secret_post', ['client_secret_post']],
] as const)(
  'the id, the secret and the method are proven, if the metadata names %s',
  async (_what, method, supported) => {
    accepted = method
    configuration = { ...configuration, token_endpoint_auth_methods_supported: supported }
    expect(await checkSignIn(provider(), client)).toMatchObject({ id: 'sign-in', status: 'ok' })
  },
)

test('a wrong secret is a failure, and is not repeated', async () => {
  const finding = await checkSignIn(provider({ clientSecret: 'mistyped' }), client)
  expect(finding).toMatchObject({ id: 'sign-in.client', status: 'failure', setting: 'OIDC_CLIENT_SECRET' })
  expect(finding.text).not.toContain('mistyped')
})

test('a method that the provider refuses is a failure that says which one it accepts', async () => {
  accepted = 'client_secret_post'
  expect(await checkSignIn(provider(), client)).toMatchObject({
    id: 'sign-in.auth-method',
    setting: 'OIDC_TOKEN_ENDPOINT_AUTH_METHOD',
    value: 'client_secret_post',
  })
  const set = { tokenEndpointAuthMethod: 'client_secret_post' } as const
  expect(await checkSignIn(provider(set), client)).toMatchObject({ status: 'ok' })
})

test('a token endpoint that does not look at the secret proves nothing, and says so', async () => {
  accepted = null
  expect(await checkSignIn(provider(), client)).toMatchObject({ id: 'sign-in.not-proven', status: 'warning' })
})
