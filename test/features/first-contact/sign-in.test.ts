import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Client, createClient } from '../../../src/features/first-contact/client.ts'
import { checkSignIn } from '../../../src/features/first-contact/sign-in.ts'
import { serve } from '../../support/ports.ts'

let client: Client
let server: Awaited<ReturnType<typeof serve>>
let issuer: string
/** What the configuration has; undefined: there is none. */
let configuration: Record<string, unknown> | undefined
beforeEach(async () => {
  client = createClient(null)
  server = await serve((req, res) => {
    const found = req.url === '/tenant/.well-known/openid-configuration' ? configuration : undefined
    res.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? {}))
  })
  issuer = `http://127.0.0.1:${server.port}/tenant`
  configuration = { issuer, token_endpoint: `${issuer}/token` }
})
afterEach(async () => {
  await client.close()
  await server.close()
})

test.each(['', '/'])(
  'a sign-in service whose issuer ends with "%s" is fine if OIDC_ISSUER does as well',
  async (end) => {
    configuration = { issuer: issuer + end, token_endpoint: `${issuer}/token` }
    expect(await checkSignIn(issuer + end, client)).toMatchObject({
      id: 'sign-in',
      status: 'ok',
    })
  },
)

test('an issuer with another slash at its end is another issuer, as for the sign-in', async () => {
  configuration = { issuer: `${issuer}/`, token_endpoint: `${issuer}/token` }
  expect(await checkSignIn(issuer, client)).toMatchObject({ id: 'sign-in.issuer', value: `${issuer}/` })
})

test('an address without a configuration is a failure of OIDC_ISSUER', async () => {
  configuration = undefined
  const finding = await checkSignIn(issuer, client)
  expect(finding).toMatchObject({ id: 'sign-in.no-configuration', status: 'failure', setting: 'OIDC_ISSUER' })
  expect(finding.text).toContain('answers 404')
})

test('the configuration of another issuer says which one it is', async () => {
  configuration = { issuer: 'https://login.example', token_endpoint: 'https://login.example/token' }
  expect(await checkSignIn(issuer, client)).toMatchObject({
    id: 'sign-in.issuer',
    status: 'failure',
    value: 'https://login.example',
  })
})

test('a service that is not there is a failure that says why', async () => {
  const finding = await checkSignIn('http://127.0.0.1:9', client)
  expect(finding).toMatchObject({ id: 'address.refused', status: 'failure', setting: 'OIDC_ISSUER' })
})
