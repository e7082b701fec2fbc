import { createHash, randomUUID } from 'node:crypto'
import express, { type Express } from 'express'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { serve } from './ports.ts'

export const OIDC_CLIENT = { id: 'connect-starter', secret: 'openid-client-secret-for-tests-only' }

export interface OpenIdProvider {
  /** The settings of the app for this provider. */
  env: Record<string, string>
  close(): Promise<void>
}

export const envOf = (issuer: string) => ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: OIDC_CLIENT.id,
  OIDC_CLIENT_SECRET: OIDC_CLIENT.secret,
})

export interface Choices {
  /** How far its clock is ahead, in seconds. */
  clockSkew?: number
  /** Claims that replace those of the ID token. */
  claims?: Record<string, unknown>
  /** Parameters of the authorization response, instead of a code. */
  response?: Record<string, string>
  /** Whether it answers 503 to everything. */
  isDown?: boolean
  /** Whether the token response has no ID token. */
  withoutIdToken?: boolean
  /** The answer of its UserInfo endpoint; if undefined, the endpoint fails. */
  userInfo?: Record<string, unknown>
  /** Whether it has a logout page. */
  hasLogout?: boolean
  /** How its clients authenticate, by default only in the body. With Basic, it doesn't decode the credentials, as some real providers. */
  authMethods?: readonly string[]
}

/**
 * A provider that differs from node-oidc-provider: it has a logout page that requires `id_token_hint`, or no logout page, takes the
 * client secret in the body, signs each ID token with a new key, sends a `sub` with unusual characters, and asks for no consent.
 * `choices` can be changed while it runs.
 */
export async function startOwnProvider(): Promise<OpenIdProvider & { choices: Choices }> {
  const { server, port, close } = await serve()
  const issuer = `http://127.0.0.1:${port}/tenants/1`
  const choices: Choices = {}
  const pending = new Map<string, URLSearchParams>()
  let key = await generateKeyPair('ES256', { extractable: true })
  let [accessToken, idToken] = ['', '']
  const app: Express = express()
  app.use((_req, res, next) => (choices.isDown ? void res.status(503).send('<h1>Down</h1>') : next()))
  app.get('/tenants/1/.well-known/openid-configuration', (_req, res) => {
    res.json({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      userinfo_endpoint: `${issuer}/userinfo`,
      ...(choices.hasLogout && { end_session_endpoint: `${issuer}/logout` }),
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      token_endpoint_auth_methods_supported: choices.authMethods ?? ['client_secret_post'],
    })
  })
  app.get('/tenants/1/keys', async (_req, res) => void res.json({ keys: [await exportJWK(key.publicKey)] }))
  app.get('/tenants/1/userinfo', (req, res) => {
    if (choices.userInfo && req.headers.authorization === `Bearer ${accessToken}`) res.json(choices.userInfo)
    else res.status(401).end()
  })
  app.get('/tenants/1/logout', (req, res) => {
    const isIssued = req.query.id_token_hint === idToken
    res.status(isIssued ? 200 : 400).send(isIssued ? 'You are signed out.' : 'id_token_hint is required')
  })
  app.get('/tenants/1/authorize', (req, res) => {
    const given = new URL(req.originalUrl, issuer).searchParams
    const code = randomUUID()
    pending.set(code, given)
    const back = new URL(given.get('redirect_uri') ?? '')
    back.search = new URLSearchParams({
      state: given.get('state') ?? '',
      ...(choices.response ?? { code }),
    }).toString()
    res.redirect(302, back.href)
  })
  app.post('/tenants/1/token', express.urlencoded({ extended: false }), async (req, res) => {
    const { code, client_id, client_secret, code_verifier } = req.body
    const given = pending.get(code)
    pending.delete(code)
    const challenge = createHash('sha256').update(String(code_verifier)).digest('base64url')
    const { id, secret } = OIDC_CLIENT
    const inBody = client_id === id && client_secret === secret
    const inHeader = req.headers.authorization === `Basic ${btoa(`${id}:${secret}`)}`
    if (!inBody && !(choices.authMethods?.includes('client_secret_basic') && inHeader))
      return void res.status(401).json({ error: 'invalid_client' })
    if (!given || given.get('code_challenge') !== challenge)
      return void res.status(400).json({ error: 'invalid_grant' })
    key = await generateKeyPair('ES256', { extractable: true })
    const now = Math.floor(Date.now() / 1000) + (choices.clockSkew ?? 0)
    const claims = {
      iss: issuer,
      sub: 'user|42 é',
      aud: OIDC_CLIENT.id,
      nonce: given.get('nonce'),
      iat: now,
      exp: now + 300,
      email: 'ann@ridgeline.example',
      email_verified: true,
      ...choices.claims,
    }
    idToken = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(key.privateKey)
    accessToken = randomUUID()
    res.json({
      access_token: accessToken,
      token_type: 'Bearer',
      ...(!choices.withoutIdToken && { id_token: idToken }),
    })
  })
  server.on('request', app)
  return { env: envOf(issuer), choices, close }
}
