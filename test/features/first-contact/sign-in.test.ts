import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Client, createClient } from '../../../src/features/first-contact/client.ts'
import { checkSignIn } from '../../../src/features/first-contact/sign-in.ts'
import { serve } from '../../support/ports.ts'

let client: Client
let server: Awaited<ReturnType<typeof serve>>
let issuer: string
/** What the configuration has; undefined: there is none. */
let configuration: Record<string, unknown> | undefined
const of = (name: string) => ({ issuer: name, token_endpoint: `${name}/token` })
beforeEach(async () => {
  client = createClient({})
  server = await serve((req, res) => {
    const found = req.url === '/tenant/.well-known/openid-configuration' ? configuration : undefined
    res.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? {}))
  })
  issuer = `http://127.0.0.1:${server.port}/tenant`
})
afterEach(async () => {
  await client.close()
  await server.close()
})

test.each<[what: string, asked: () => string, found: () => typeof configuration, finding: () => object]>([
  ['without a slash at its end', () => issuer, () => of(issuer), () => ({ id: 'sign-in', status: 'ok' })],
  [
    'with a slash at its end',
    () => `${issuer}/`,
    () => of(`${issuer}/`),
    () => ({ id: 'sign-in', status: 'ok' }),
  ],
  [
    'that has another slash at its end is another issuer',
    () => issuer,
    () => of(`${issuer}/`),
    () => ({ id: 'sign-in.issuer', status: 'failure', value: `${issuer}/` }),
  ],
  [
    'whose configuration is of another issuer',
    () => issuer,
    () => of('https://login.example'),
    () => ({ id: 'sign-in.issuer', status: 'failure', value: 'https://login.example' }),
  ],
  [
    'without a configuration',
    () => issuer,
    () => undefined,
    () => ({
      id: 'sign-in.no-configuration',
      setting: 'OIDC_ISSUER',
      text: expect.stringContaining('answers 404'),
    }),
  ],
  [
    'that is not there',
    () => 'http://127.0.0.1:9',
    () => undefined,
    () => ({ id: 'address.refused', status: 'failure', setting: 'OIDC_ISSUER' }),
  ],
])('a sign-in service %s', async (_what, asked, found, finding) => {
  configuration = found()
  expect(await checkSignIn(asked(), client)).toMatchObject(finding())
})
