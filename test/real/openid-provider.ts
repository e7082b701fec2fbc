import Provider from 'oidc-provider'
import { envOf, OIDC_CLIENT, type OpenIdProvider } from '../support/openid-provider.ts'
import { serve } from '../support/ports.ts'

/**
 * A real provider: node-oidc-provider, with its pages for development. Anyone can log in under any name. With
 * `namesInUserInfo`, its ID tokens have no name, as is its default.
 */
export async function startOidcProvider(
  appUrl: string,
  { namesInUserInfo = false } = {},
): Promise<OpenIdProvider> {
  const { server, port, close } = await serve()
  const issuer = `http://127.0.0.1:${port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: OIDC_CLIENT.id,
        client_secret: OIDC_CLIENT.secret,
        redirect_uris: [`${appUrl}/sign-in/callback`],
        post_logout_redirect_uris: [`${appUrl}/`],
      },
    ],
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `${id} of Ridgeline` }),
    }),
    claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
    conformIdTokenClaims: namesInUserInfo,
    pkce: { required: () => true },
  })
  // The provider warns of its development settings.
  provider.on('server_error', () => {})
  server.on('request', provider.callback())
  return { env: envOf(issuer), close }
}
