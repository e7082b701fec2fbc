import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDoctorHttp, type DoctorHttp } from '../../src/doctor/http.ts'
import { checkSignIn } from '../../src/doctor/sign-in.ts'
import { serve } from '../support/ports.ts'

let http: DoctorHttp
let server: Awaited<ReturnType<typeof serve>>
let issuer: string
/** What the configuration has; undefined: there is none. */
let configuration: Record<string, unknown> | undefined
beforeEach(async () => {
  http = createDoctorHttp(null, [])
  server = await serve((req, res) => {
    const found = req.url === '/tenant/.well-known/openid-configuration' && configuration
    res.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found || {}))
  })
  issuer = `http://127.0.0.1:${server.port}/tenant`
  configuration = { issuer, token_endpoint: `${issuer}/token` }
})
afterEach(async () => {
  await http.close()
  await server.close()
})

test.each(['', '/'])('a sign-in service whose issuer ends with "%s" is fine', async (end) => {
  configuration = { issuer: issuer + end, token_endpoint: `${issuer}/token` }
  expect(await checkSignIn({ issuer }, http)).toMatchObject({ id: 'sign-in', status: 'ok' })
})

test('an address without a configuration is a failure of OIDC_ISSUER', async () => {
  configuration = undefined
  const finding = await checkSignIn({ issuer }, http)
  expect(finding).toMatchObject({ id: 'sign-in.no-configuration', status: 'failure', setting: 'OIDC_ISSUER' })
  expect(finding.text).toContain('answers 404')
})

test('the configuration of another issuer says which one it is', async () => {
  configuration = { issuer: 'https://login.example', token_endpoint: 'https://login.example/token' }
  expect(await checkSignIn({ issuer }, http)).toMatchObject({
    id: 'sign-in.issuer',
    status: 'failure',
    value: 'https://login.example',
  })
})

test('a service that is not there is a failure that says why', async () => {
  const finding = await checkSignIn({ issuer: 'http://127.0.0.1:9' }, http)
  expect(finding).toMatchObject({ id: 'address.refused', status: 'failure', setting: 'OIDC_ISSUER' })
})
