import Provider, { type ClientAuthMethod } from 'oidc-provider'
import { OIDC_CLIENT, type OpenIdProvider } from '../support/openid-provider.ts'
import { serve } from '../support/ports.ts'

type AuthMethod = Extract<ClientAuthMethod, 'client_secret_basic' | 'client_secret_post'>

export interface SignInProvider extends OpenIdProvider {
  /** Every request to the token endpoint so far: how it carried the client secret, and the answer. */
  tokenRequests: { method: AuthMethod | 'none'; status: number; error: unknown }[]
}

/**
 * oidc-provider as the app's sign-in service. By default, discovery lists both methods of client authentication, and the
 * token endpoint accepts both. With `only`, the client is registered with this method, and discovery lists no other.
 */
export async function startSignInProvider(
  appUrl: string,
  { only }: { only?: AuthMethod | undefined } = {},
): Promise<SignInProvider> {
  const { server, port, close } = await serve()
  const issuer = `http://127.0.0.1:${port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: OIDC_CLIENT.id,
        client_secret: OIDC_CLIENT.secret,
        redirect_uris: [`${appUrl}/sign-in/callback`],
        ...(only && { token_endpoint_auth_method: only }),
      },
    ],
    ...(only && { clientAuthMethods: [only] }),
  })
  const tokenRequests: SignInProvider['tokenRequests'] = []
  provider.use(async (context, next) => {
    await next()
    if (context.oidc?.route !== 'token') return
    const { authorization } = context.headers
    const inBody = context.oidc.body?.client_secret !== undefined
    const method = authorization ? 'client_secret_basic' : inBody ? 'client_secret_post' : 'none'
    tokenRequests.push({ method, status: context.status, error: Object(context.body).error })
  })
  server.on('request', provider.callback())
  const env = {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: OIDC_CLIENT.id,
    OIDC_CLIENT_SECRET: OIDC_CLIENT.secret,
  }
  return { env, tokenRequests, close }
}
