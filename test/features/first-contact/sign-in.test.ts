import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Client, createClient } from '../../../src/features/first-contact/client.ts'
import { checkSignIn } from '../../../src/features/first-contact/sign-in.ts'
import { hideAdvice, startSignInProvider } from '../../support/oidc-provider.ts'
import { serve } from '../../support/ports.ts'

const BASE_URL = 'http://localhost:3100'
let client: Client
beforeEach(() => {
  hideAdvice()
  client = createClient({})
})
afterEach(async () => {
  vi.restoreAllMocks()
  await client.close()
})

describe.each(['client_secret_basic', 'client_secret_post', undefined] as const)(
  'oidc-provider, for a client registered with %s',
  (method) => {
    let provider: Awaited<ReturnType<typeof startSignInProvider>>
    beforeAll(async () => {
      hideAdvice()
      provider = await startSignInProvider(BASE_URL, method)
    })
    afterAll(() => provider.close())

    test.each([
      ['the right settings', {}, { id: 'sign-in', status: 'ok' }],
      ['a wrong secret', { clientSecret: 'wrong' }, { id: 'sign-in.client', setting: 'OIDC_CLIENT_SECRET' }],
      ['a wrong client id', { clientId: 'wrong' }, { id: 'sign-in.client', status: 'failure' }],
    ])('%s', async (_name, wrong, finding) => {
      const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = provider.env
      const found = await checkSignIn({ issuer, clientId, clientSecret, ...wrong }, BASE_URL, client)
      expect(found).toMatchObject(finding)
    })
  },
)

describe('a sign-in service', () => {
  let server: Awaited<ReturnType<typeof serve>>
  let issuer: string
  /** What the configuration has, and what the token endpoint answers to everything. */
  let configuration: Record<string, unknown>
  let answer: [status: number, body: object]
  const of = (name: string) => ({ issuer: name, token_endpoint: `${name}/token` })
  beforeEach(async () => {
    answer = [400, { error: 'invalid_grant' }]
    server = await serve((req, res) => {
      const isConfiguration = req.url === '/tenant/.well-known/openid-configuration'
      const [status, body] = isConfiguration ? [200, configuration] : answer
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    issuer = `http://127.0.0.1:${server.port}/tenant`
    configuration = of(issuer)
  })
  afterEach(() => server.close())
  const check = (at = issuer) =>
    checkSignIn({ issuer: at, clientId: 'us', clientSecret: 'ours' }, BASE_URL, client)

  test.each<[what: string, () => string]>([
    ['another slash at its end', () => `${issuer}/`],
    ['another host', () => 'https://login.example'],
  ])('whose configuration has an issuer with %s is another issuer, which is named', async (_what, named) => {
    configuration = of(named())
    expect(await check()).toMatchObject({ id: 'sign-in.issuer', status: 'failure', value: named() })
  })

  test('with a slash at the end of its issuer is found', async () => {
    configuration = of(`${issuer}/`)
    expect(await check(`${issuer}/`)).toMatchObject({ id: 'sign-in.not-proven' })
  })

  test('without a configuration, or that is not there, is not found', async () => {
    expect(await check(`${issuer}/other`)).toMatchObject({
      id: 'sign-in.no-configuration',
      setting: 'OIDC_ISSUER',
      text: expect.stringContaining('answers 400'),
    })
    const missing = { id: 'address.refused', status: 'failure', setting: 'OIDC_ISSUER' }
    expect(await check('http://127.0.0.1:9')).toMatchObject(missing)
  })

  test.each<[number, object]>([
    [400, { error: 'invalid_grant' }],
    [403, { error: 'access_denied' }],
    [401, { result: 0, error: 9 }],
    [503, {}],
  ])('that answers any secret with %i %o proves nothing, and blames nobody', async (...any) => {
    answer = any
    expect(await check()).toMatchObject({ id: 'sign-in.not-proven', status: 'warning' })
  })
})
