import { randomUUID } from 'node:crypto'
import OAuth2Server from '@node-oauth/oauth2-server'
import express, { type Request } from 'express'
import { CLIENT } from '../support/env.ts'
import { serve } from '../support/ports.ts'
import { addressesOf, platformShim, type RealPlatform, type TokenRequest } from './platform.ts'

/** How long an access token lives by default, in seconds. */
export const ACCESS_TOKEN_SECONDS = 3600

/**
 * @node-oauth/oauth2-server as the platform's authorization server. As it does by default, each refresh returns a new
 * refresh token and ends the old one. Its consent accepts at once.
 */
export async function startOAuth2Server(appUrl: string): Promise<RealPlatform> {
  const { server, port, close } = await serve()
  const { model, revoke } = createModel(`${appUrl}/connect/callback`)
  const oauth = new OAuth2Server({
    model,
    authenticateHandler: { handle: () => ({ id: 'olivia' }) },
    accessTokenLifetime: ACCESS_TOKEN_SECONDS,
  })
  const tokenRequests: TokenRequest[] = []
  const app = platformShim(async (req, res, next) => {
    const { isRefused, status, headers, body } = await ask(req, (...given) => oauth.authenticate(...given))
    if (!isRefused) return next()
    res.status(status).set(headers).json(body)
  })
    .get('/authorize', async (req, res) => {
      const { status, headers, body } = await ask(req, (...given) => oauth.authorize(...given))
      res.status(status).set(headers).json(body)
    })
    .post('/oauth/token', express.urlencoded({ extended: false }), async (req, res) => {
      const { status, headers, body } = await ask(req, (...given) => oauth.token(...given))
      tokenRequests.push({ grantType: req.body.grant_type, status, answer: body })
      res.status(status).set(headers).json(body)
    })
  server.on('request', app)
  return { env: addressesOf(`http://127.0.0.1:${port}`), tokenRequests, revoke, close }
}

/** Hands a request to the product. It fills in the response, and throws if it refuses the request. */
async function ask(
  { headers, method, query, body }: Request,
  act: (request: OAuth2Server.Request, response: OAuth2Server.Response) => Promise<unknown>,
) {
  const request = new OAuth2Server.Request({
    headers: headers as Record<string, string>,
    method,
    query: query as Record<string, string>,
    body,
  })
  const response = new OAuth2Server.Response()
  const refusal = await act(request, response).then(
    () => null,
    (error: unknown) => {
      if (error instanceof OAuth2Server.OAuthError) return error
      throw error
    },
  )
  const { status = 200, headers: sent = {}, body: answer } = response
  // It leaves some refusals to the program around it.
  if (refusal && status === 200) {
    const { name: error, message: error_description, code } = refusal
    return { isRefused: true, status: code, headers: sent, body: { error, error_description } }
  }
  return { isRefused: refusal !== null, status, headers: sent, body: answer }
}

/** Codes and tokens in memory. */
function createModel(redirectUri: string) {
  const client: OAuth2Server.Client = {
    id: CLIENT.clientId,
    redirectUris: [redirectUri],
    grants: ['authorization_code', 'refresh_token'],
  }
  const codes = new Map<string, OAuth2Server.AuthorizationCode>()
  const byAccessToken = new Map<string, OAuth2Server.Token>()
  const byRefreshToken = new Map<string, OAuth2Server.Token>()
  const model: OAuth2Server.AuthorizationCodeModel & OAuth2Server.RefreshTokenModel = {
    // The authorization endpoint asks for the client without its secret.
    getClient: async (id, secret: string | null) =>
      id === client.id && (secret === null || secret === CLIENT.clientSecret) ? client : null,
    saveAuthorizationCode: async (code, _client, user) => {
      const saved = { ...code, client, user }
      codes.set(code.authorizationCode, saved)
      return saved
    },
    getAuthorizationCode: async (code) => codes.get(code),
    revokeAuthorizationCode: async ({ authorizationCode }) => codes.delete(authorizationCode),
    generateAccessToken: async () => `access-${randomUUID()}`,
    generateRefreshToken: async () => `refresh-${randomUUID()}`,
    saveToken: async (token, _client, user) => {
      const saved = { ...token, client, user }
      byAccessToken.set(token.accessToken, saved)
      if (token.refreshToken) byRefreshToken.set(token.refreshToken, saved)
      return saved
    },
    getAccessToken: async (token) => byAccessToken.get(token),
    getRefreshToken: async (token) => {
      const found = byRefreshToken.get(token)
      return found && { ...found, refreshToken: token }
    },
    revokeToken: async ({ refreshToken }) => byRefreshToken.delete(refreshToken),
  }
  const revoke = async () => {
    byAccessToken.clear()
    byRefreshToken.clear()
  }
  return { model, revoke }
}
