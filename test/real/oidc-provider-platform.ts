import type { RequestHandler } from 'express'
import Provider, { type Configuration } from 'oidc-provider'
import { CLIENT } from '../support/env.ts'
import { serve } from '../support/ports.ts'
import { addressesOf, platformShim, type RealPlatform, type TokenRequest } from './platform.ts'

/** How long an access token lives by default, in seconds. */
export const ACCESS_TOKEN_SECONDS = 3600

/**
 * oidc-provider as the platform's authorization server, with its defaults: it issues a refresh token only for the scope
 * `offline_access`, which it grants only with `prompt=consent`, and a refresh returns the same refresh token.
 */
export async function startOidcProviderPlatform(appUrl: string): Promise<RealPlatform> {
  const { server, port, close } = await serve()
  const url = `http://127.0.0.1:${port}`
  const configuration: Configuration = {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [`${appUrl}/connect/callback`],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    scopes: ['openid', 'offline_access', 'leads', 'catalogues'],
    // The specification of the platform fixes this path.
    routes: { token: '/oauth/token' },
  }
  const provider = new Provider(url, configuration)
  const tokenRequests: TokenRequest[] = []
  const grants = new Set<string>()
  provider.use(async (context, next) => {
    await next()
    if (context.oidc?.route !== 'token') return
    const { status, body } = context
    tokenRequests.push({ grantType: String(context.oidc.params?.grant_type), status, answer: Object(body) })
  })
  provider.on('grant.saved', ({ jti }) => grants.add(jti))

  const guard: RequestHandler = async (req, res, next) => {
    const [, value = ''] = /^Bearer (.+)$/.exec(req.get('authorization') ?? '') ?? []
    const token = await provider.AccessToken.find(value)
    // The product keeps the access tokens of a grant that was destroyed, and refuses them itself.
    if (token?.grantId && (await provider.Grant.find(token.grantId))) return next()
    res.status(401).set('www-authenticate', 'Bearer error="invalid_token"').json({ error: 'invalid_token' })
  }
  server.on('request', platformShim(guard).use(provider.callback()))
  return {
    env: { ...addressesOf(url), PLATFORM_AUTHORIZE_PATH: '/auth' },
    tokenRequests,
    revoke: async () => {
      for (const id of grants) await (await provider.Grant.find(id))?.destroy()
    },
    close,
  }
}
