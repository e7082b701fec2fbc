import * as client from 'openid-client'
import { fieldOf } from './api.ts'
import { CONTEXT_PARAMETER, START_PAGE, TOKEN_PATH, tokenAnswerSchema } from './contract.ts'
import {
  ConfigurationError,
  InvalidGrantError,
  PlatformError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from './errors.ts'
import { type Http, type HttpAnswer, outageOf, parseJson } from './http.ts'

/** What the token endpoint gave, in our words. */
export interface Tokens {
  accessToken: string
  /** Absent when the platform means the earlier one to be used again (specification 5.3.6). */
  refreshToken: string | undefined
  /** Life of the access token in seconds; absent when the platform does not say. */
  expiresIn: number | undefined
  /** The granted scopes; absent when the platform does not name them. */
  scopes: string[] | undefined
}

export interface OAuth {
  /** The scopes that every consent asks for. */
  readonly scopes: readonly string[]
  /** Step 1: the platform's page that returns the browser to `redirectUrl` with a bxcontext. */
  startUrl(redirectUrl: string): URL
  /** Step 2: the consent page (RFC 6749 section 4.1.1, RFC 7636 section 4.3). */
  consentUrl(flow: {
    context: string
    state: string
    codeVerifier: string
    redirectUri: string
  }): Promise<URL>
  /**
   * Step 3: exchanges the code in `callbackUrl`, once; checks `state` and, when present, `iss` (RFC 9207).
   * Throws `InvalidGrantError`, `ConfigurationError`, `PlatformUnavailableError`, `PlatformRejectedError`.
   */
  exchange(flow: { callbackUrl: URL; context: string; state: string; codeVerifier: string }): Promise<Tokens>
  /** Gets a new access token with the same refresh token and bxcontext (specification 5.3.6). Throws as `exchange`. */
  refresh(grant: { refreshToken: string; context: string }): Promise<Tokens>
}

export interface OAuthOptions {
  /** `{app_url}` and `{auth_url}`; may carry a path. */
  appUrl: string
  authUrl: string
  clientId: string
  clientSecret: string
  scopes: readonly string[]
  authorizePath: string
  /** Further parameters of the consent url, such as an `audience`. */
  authorizeParams: Readonly<Record<string, string>>
  pkce: boolean
  http: Http
}

/** A verifier for PKCE and a value for `state`, both random (RFC 7636 section 4.1, RFC 6749 section 10.12). */
export const randomCodeVerifier = client.randomPKCECodeVerifier
export const randomState = client.randomState

/** The delegated flow's requests, on openid-client: it builds and checks them, our pool sends them. */
export function createOAuth(options: OAuthOptions): OAuth {
  const authUrl = options.authUrl.replace(/\/+$/, '')
  const config = new client.Configuration(
    {
      issuer: authUrl,
      authorization_endpoint: authUrl + options.authorizePath,
      token_endpoint: authUrl + TOKEN_PATH,
    },
    options.clientId,
    {},
    client.ClientSecretPost(options.clientSecret),
  )
  config[client.customFetch] = (url, request) => tokenRequest(options.http, url, request)
  // config.ts demands https in production; plain http is for a sandbox on the same machine.
  if (authUrl.startsWith('http:')) client.allowInsecureRequests(config)

  return {
    scopes: options.scopes,

    startUrl(redirectUrl) {
      const url = new URL(options.appUrl.replace(/\/+$/, '') + START_PAGE.path)
      url.searchParams.set(START_PAGE.redirectUrl, redirectUrl)
      return url
    },

    async consentUrl({ context, state, codeVerifier, redirectUri }) {
      const pkce = options.pkce && {
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      }
      return client.buildAuthorizationUrl(config, {
        ...options.authorizeParams,
        redirect_uri: redirectUri,
        scope: options.scopes.join(' '),
        state,
        [CONTEXT_PARAMETER]: context,
        ...pkce,
      })
    },

    async exchange({ callbackUrl, context, state, codeVerifier }) {
      const url = new URL(callbackUrl)
      // Some providers write their issuer with a closing slash; it is the same issuer.
      if (url.searchParams.get('iss') === `${authUrl}/`) url.searchParams.set('iss', authUrl)
      const checks = { expectedState: state, ...(options.pkce && { pkceCodeVerifier: codeVerifier }) }
      return ask(() => client.authorizationCodeGrant(config, url, checks, { [CONTEXT_PARAMETER]: context }))
    },

    refresh: ({ refreshToken, context }) =>
      ask(() => client.refreshTokenGrant(config, refreshToken, { [CONTEXT_PARAMETER]: context })),
  }
}

async function ask(work: () => Promise<client.TokenEndpointResponse>): Promise<Tokens> {
  try {
    const answer = await work()
    return {
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token,
      expiresIn: answer.expires_in,
      scopes: answer.scope?.split(' ').filter(Boolean),
    }
  } catch (error) {
    throw unwrap(error)
  }
}

/** Our own error from inside openid-client's, or one made of its code alone: its causes hold codes and tokens. */
function unwrap(error: unknown): PlatformError {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof PlatformError) return cause
  const code = (error as { code?: unknown } | null)?.code
  return new PlatformRejectedError(`the answer does not fit the request (${String(code ?? 'no code')})`)
}

/** Sends openid-client's request through our pool; gives it back a success it can read, or throws what it means. */
async function tokenRequest(
  http: Http,
  url: string,
  { headers, body }: client.CustomFetchOptions,
): Promise<Response> {
  const answer = await http.send({ method: 'POST', url, headers, body: String(body) })
  if (answer.status < 200 || answer.status > 299) throw tokenFailure(answer)
  const json = parseJson(answer.text)
  if (json === undefined) throw tokenFailure(answer)
  const parsed = tokenAnswerSchema.safeParse(json)
  if (!parsed.success)
    throw new PlatformRejectedError('the token answer has an unknown shape', fieldOf(parsed.error))
  const { access_token, refresh_token, expires_in, scope, token_type } = parsed.data
  // null stands for absent; an id_token, which we did not ask for, is left out.
  return Response.json({
    access_token,
    token_type: token_type ?? 'bearer',
    refresh_token: refresh_token ?? undefined,
    expires_in: expires_in ?? undefined,
    scope: scope ?? undefined,
  })
}

const OUR_FAULT = new Set([
  'invalid_client',
  'unauthorized_client',
  'invalid_scope',
  'unsupported_grant_type',
  'invalid_request',
])

/**
 * What a token endpoint's answer means when it is not a token (RFC 6749 section 5.2):
 * `invalid_grant` ends the grant, an error about us is a misconfiguration, all else passes.
 */
function tokenFailure(answer: Pick<HttpAnswer, 'status' | 'text' | 'retryAfterMs'>): PlatformError {
  const { status } = answer
  const body = parseJson(answer.text)
  const code = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  if (status >= 400 && status < 500 && status !== 429 && typeof code === 'string') {
    if (code === 'invalid_grant' && [400, 401, 403].includes(status)) return new InvalidGrantError()
    if (OUR_FAULT.has(code))
      return new ConfigurationError(`the platform answered ${code} (${status}) at the token endpoint`)
  }
  return new PlatformUnavailableError(
    outageOf(status, body),
    `the token endpoint answered ${status}${body === undefined ? ', not JSON' : ''}`,
    answer.retryAfterMs,
  )
}
