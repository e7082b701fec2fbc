import { hash, randomBytes } from 'node:crypto'
import {
  authenticateClient,
  type ClientCredentials,
  type TokenEndpointAuthMethod,
} from './client-authentication.ts'
import type { Platform } from './contract.ts'
import { PlatformRejectedError } from './errors.ts'
import type { Http } from './http.ts'
import { readTokens, type Tokens, tokenFailure } from './token-answer.ts'

export interface OAuthOptions extends ClientCredentials {
  platform: Platform
  /** `{app_url}` and `{auth_url}`, which may have a path. */
  appUrl: string
  authUrl: string
  scopes: readonly string[]
  authorizePath: string
  /** Additional parameters of the authorization url, such as an `audience`. A name may come twice (RFC 8707, `resource`). */
  authorizeParams: URLSearchParams | Record<string, string>
  pkce: boolean
  /** How token requests carry the client id and the secret (RFC 6749 section 2.3.1); in the body by default. */
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod
  /** The revocation endpoint, if the platform has one. */
  revocationUrl?: string | undefined
  http: Http
}

const randomText = () => randomBytes(32).toString('base64url')
/** A random value for PKCE (RFC 7636 section 4.1). */
export const randomCodeVerifier = randomText
/** A random value for `state` (RFC 6749 section 10.12). */
export const randomState = randomText

/** The longest time that a user who disconnects waits for the revocation, in ms. */
const REVOCATION_MS = 5_000

export type OAuth = ReturnType<typeof createOAuth>

/** The OAuth requests of the delegated flow. */
export function createOAuth(options: OAuthOptions) {
  const { platform, scopes, pkce, clientSecret, revocationUrl } = options
  const { startPage, bxcontextParameter } = platform
  const authUrl = options.authUrl.replace(/\/+$/, '')
  const tokenUrl = authUrl + platform.tokenPath
  return {
    /** The scopes that every authorization request asks for. */
    scopes,

    /** Step 1 (specification 5.3.2): the platform's page that returns the browser to `redirectUrl` with a bxcontext. */
    startUrl(redirectUrl: string): URL {
      const url = new URL(options.appUrl.replace(/\/+$/, '') + startPage.path)
      url.searchParams.set(startPage.redirectUrl, redirectUrl)
      return url
    },

    /** Step 2: the url of the consent page (RFC 6749 section 4.1.1, RFC 7636 section 4.3). */
    authorizationUrl: (flow: ConsentRequest): URL => consentUrl(options, authUrl, flow),

    /**
     * Step 3: exchanges the code of the callback (RFC 6749 section 4.1.3). Call it once for each flow. `iss`: the issuer that the
     * callback names (RFC 9207). Throws `InvalidGrantError`, `ConfigurationError` and `PlatformUnavailableError`. Throws
     * `PlatformRejectedError`, for example, if the callback came from another issuer.
     */
    async exchangeCode(flow: {
      code: string
      iss: string | undefined
      redirectUri: string
      bxcontext: string
      codeVerifier: string
    }): Promise<Tokens> {
      const { code, iss, codeVerifier } = flow
      // Some providers write the same issuer with a trailing slash.
      if (iss !== undefined && iss !== authUrl && iss !== `${authUrl}/`)
        throw new PlatformRejectedError('the callback came from another issuer (iss)')
      const fields = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: flow.redirectUri,
        ...(pkce && { code_verifier: codeVerifier }),
        [bxcontextParameter]: flow.bxcontext,
      }
      return readTokens(await post(options, tokenUrl, fields), platform, [clientSecret, codeVerifier, code])
    },

    /**
     * Gets a new access token with the same refresh token and bxcontext (RFC 6749 section 6, specification 5.3.6). Throws the
     * same errors as `exchangeCode`.
     */
    async refresh(grant: { refreshToken: string; bxcontext: string }): Promise<Tokens> {
      const { refreshToken, bxcontext } = grant
      const fields = {
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        [bxcontextParameter]: bxcontext,
      }
      return readTokens(await post(options, tokenUrl, fields), platform, [clientSecret, refreshToken])
    },

    ...(revocationUrl && {
      /**
       * Revokes a grant by its refresh or access token (RFC 7009), if the platform has a revocation endpoint. Throws the errors of
       * `tokenFailure` and of `Http.send`.
       */
      async revoke(token: string, kind: 'refresh_token' | 'access_token'): Promise<void> {
        const response = await post(options, revocationUrl, { token, token_type_hint: kind }, REVOCATION_MS)
        // 200 means that the token is invalid now (RFC 7009 section 2.2).
        if (response.status !== 200) throw tokenFailure(response, [clientSecret, token])
      },
    }),
  }
}

interface ConsentRequest {
  bxcontext: string
  state: string
  codeVerifier: string
  redirectUri: string
}

function consentUrl(options: OAuthOptions, authUrl: string, request: ConsentRequest): URL {
  const url = new URL(authUrl + options.authorizePath)
  for (const [name, value] of new URLSearchParams(options.authorizeParams))
    url.searchParams.append(name, value)
  for (const [name, value] of Object.entries(flowParameters(options, request)))
    if (value !== null) url.searchParams.set(name, value)
  return url
}

/** The parameters of the consent url that the flow sets. Null: the parameter isn't sent. */
const flowParameters = (
  { platform, scopes, pkce, clientId }: Pick<OAuthOptions, 'platform' | 'scopes' | 'pkce' | 'clientId'>,
  { bxcontext, state, codeVerifier, redirectUri }: ConsentRequest,
): Record<string, string | null> => ({
  response_type: 'code',
  client_id: clientId,
  redirect_uri: redirectUri,
  scope: scopes.length > 0 ? scopes.join(' ') : null,
  state,
  [platform.bxcontextParameter]: bxcontext,
  code_challenge: pkce ? challengeOf(codeVerifier) : null,
  code_challenge_method: pkce ? 'S256' : null,
})

/** The names of the consent url's parameters that settings must not override. */
export const flowParameterNames = (platform: Platform): string[] =>
  Object.keys(
    flowParameters(
      { platform, scopes: [], pkce: false, clientId: '' },
      { bxcontext: '', state: '', codeVerifier: '', redirectUri: '' },
    ),
  )

/** The `S256` transformation (RFC 7636 section 4.2). */
const challengeOf = (verifier: string) => hash('sha256', verifier, 'base64url')

/** Sends a form with the credentials of this app. */
function post(options: OAuthOptions, url: string, fields: Record<string, string>, deadlineMs?: number) {
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' })
  const body = new URLSearchParams(fields)
  authenticateClient(options, options.tokenEndpointAuthMethod ?? 'client_secret_post', body, headers)
  return options.http.send({
    method: 'POST',
    url,
    headers: Object.fromEntries(headers),
    body: body.toString(),
    deadlineMs,
  })
}
