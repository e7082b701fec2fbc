import * as client from 'openid-client'
import * as z from 'zod'
import { type EventResponse, publish, tokenRequestChannel, withoutEffect } from '../events.ts'
import { formsOf, mask, Secret } from '../masking.ts'
import { fieldOf } from './api.ts'
import type { Platform } from './contract.ts'
import {
  ConfigurationError,
  InvalidGrantError,
  PlatformError,
  PlatformRejectedError,
  PlatformUnavailableError,
  TokenRefusedError,
} from './errors.ts'
import { type Http, type HttpResponse, outageOf, parseJson, responseHeaders } from './http.ts'

/** A token response (RFC 6749 section 5.1). */
export interface Tokens {
  accessToken: string
  /** Absent if the platform expects the previous one to be used again (specification 5.3.6). */
  refreshToken: string | undefined
  /** Lifetime of the access token in seconds; absent if the platform does not report it. */
  expiresIn: number | undefined
  /** The granted scopes; absent if the platform does not name them. */
  scopes: string[] | undefined
  /** The names of the business and the person who gave consent; absent if the platform does not tell them. */
  businessName?: string | undefined
  userName?: string | undefined
}

export interface OAuth {
  /** The scopes that every authorization request asks for. */
  readonly scopes: readonly string[]
  /** Step 1 (specification 5.3.2): the platform's page that returns the browser to `redirectUrl` with a bxcontext. */
  startUrl(redirectUrl: string): URL
  /** Step 2: the url of the consent page (RFC 6749 section 4.1.1, RFC 7636 section 4.3). */
  authorizationUrl(flow: {
    bxcontext: string
    state: string
    codeVerifier: string
    redirectUri: string
  }): Promise<URL>
  /**
   * Step 3: exchanges the code in `callbackUrl`, once; checks `state` and, if present, `iss` (RFC 9207).
   * Throws `InvalidGrantError`, `ConfigurationError`, `PlatformUnavailableError`, `PlatformRejectedError`.
   */
  exchangeCode(flow: {
    callbackUrl: URL
    bxcontext: string
    state: string
    codeVerifier: string
  }): Promise<Tokens>
  /**
   * Gets a new access token with the same refresh token and bxcontext (specification 5.3.6). Throws the same errors as
   * `exchangeCode`.
   */
  refresh(grant: { refreshToken: string; bxcontext: string }): Promise<Tokens>
  /**
   * Revokes a grant by its refresh or access token (RFC 7009); undefined if the platform has no revocation endpoint.
   * Throws `ConfigurationError`, `PlatformUnavailableError`, `PlatformRejectedError`.
   */
  revoke?(token: string, kind: 'refresh_token' | 'access_token'): Promise<void>
}

export interface OAuthOptions {
  platform: Platform
  /** `{app_url}` and `{auth_url}`; may carry a path. */
  appUrl: string
  authUrl: string
  clientId: string
  clientSecret: string
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

/** Named as in RFC 7591 section 2. */
export type TokenEndpointAuthMethod = 'client_secret_post' | 'client_secret_basic'

const CLIENT_AUTHENTICATION = {
  client_secret_post: client.ClientSecretPost,
  client_secret_basic: client.ClientSecretBasic,
}

/** Random values for PKCE (RFC 7636 section 4.1) and `state` (RFC 6749 section 10.12). */
export const randomCodeVerifier = client.randomPKCECodeVerifier
export const randomState = client.randomState

/** The OAuth requests of the delegated flow. openid-client builds and checks them; our HTTP pool sends them. */
export function createOAuth(options: OAuthOptions): OAuth {
  const { startPage, bxcontextParameter } = options.platform
  const { config, authUrl, revocationUrl } = configure(options)
  return {
    scopes: options.scopes,

    startUrl(redirectUrl) {
      const url = new URL(options.appUrl.replace(/\/+$/, '') + startPage.path)
      url.searchParams.set(startPage.redirectUrl, redirectUrl)
      return url
    },

    async authorizationUrl({ bxcontext, state, codeVerifier, redirectUri }) {
      const pkce = options.pkce && {
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      }
      const parameters = new URLSearchParams(options.authorizeParams)
      const ofFlow = {
        redirect_uri: redirectUri,
        ...(options.scopes.length > 0 && { scope: options.scopes.join(' ') }),
        state,
        [bxcontextParameter]: bxcontext,
        ...pkce,
      }
      for (const [name, value] of Object.entries(ofFlow)) parameters.set(name, value)
      return client.buildAuthorizationUrl(config, parameters)
    },

    async exchangeCode({ callbackUrl, bxcontext, state, codeVerifier }) {
      const url = new URL(callbackUrl)
      // Some providers write their issuer with a trailing slash; it is the same issuer.
      if (url.searchParams.get('iss') === `${authUrl}/`) url.searchParams.set('iss', authUrl)
      const checks = { expectedState: state, ...(options.pkce && { pkceCodeVerifier: codeVerifier }) }
      const parameters = { [bxcontextParameter]: bxcontext }
      return toTokens(client.authorizationCodeGrant(config, url, checks, parameters), [
        options.clientSecret,
        codeVerifier,
        url.searchParams.get('code'),
      ])
    },

    refresh: ({ refreshToken, bxcontext }) =>
      toTokens(client.refreshTokenGrant(config, refreshToken, { [bxcontextParameter]: bxcontext }), [
        options.clientSecret,
        refreshToken,
      ]),

    ...(revocationUrl && {
      revoke: (token: string, kind: string) =>
        client.tokenRevocation(config, token, { token_type_hint: kind }).catch((error: unknown) => {
          throw unwrap(error)
        }),
    }),
  }
}

/** The client of openid-client, which sends its requests through our pool. */
function configure(options: OAuthOptions) {
  const { platform, http } = options
  const { tokenPath } = platform
  const authUrl = options.authUrl.replace(/\/+$/, '')
  const revocationUrl = options.revocationUrl && new URL(options.revocationUrl).href
  const authenticate = CLIENT_AUTHENTICATION[options.tokenEndpointAuthMethod ?? 'client_secret_post']
  const config = new client.Configuration(
    {
      issuer: authUrl,
      authorization_endpoint: authUrl + options.authorizePath,
      token_endpoint: authUrl + tokenPath,
      ...(revocationUrl && { revocation_endpoint: revocationUrl }),
    },
    options.clientId,
    {},
    authenticate(options.clientSecret),
  )
  config[client.customFetch] = (url, request) =>
    url === revocationUrl ? revocationRequest(http, url, request) : tokenRequest(platform, http, url, request)
  // config.ts requires https in production; plain http is for a sandbox on the same machine.
  if (authUrl.startsWith('http:')) client.allowInsecureRequests(config)
  return { config, authUrl, revocationUrl }
}

/** `sent`: the secrets of the request, which the answer may repeat. */
async function toTokens(
  pending: Promise<client.TokenEndpointResponse>,
  sent: (string | null)[],
): Promise<Tokens> {
  try {
    const response = await pending
    const secrets = [response.access_token, response.refresh_token, ...sent].filter(Boolean) as string[]
    const forms = secrets.flatMap(formsOf).map((form) => form.toLowerCase())
    // Scopes and names are shown in plain text.
    const isPlain = (text: unknown): text is string =>
      typeof text === 'string' && text !== '' && !forms.some((form) => text.toLowerCase().includes(form))
    return {
      accessToken: response.access_token,
      refreshToken: response.refresh_token,
      expiresIn: response.expires_in,
      scopes: response.scope?.split(' ').filter(isPlain),
      businessName: isPlain(response.business_name) ? response.business_name : undefined,
      userName: isPlain(response.user_name) ? response.user_name : undefined,
    }
  } catch (error) {
    throw unwrap(error)
  }
}

/**
 * Our own error in the chain of causes, or else a new one with only the code of openid-client's: its causes hold authorization
 * codes and tokens.
 */
function unwrap(error: unknown): PlatformError {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof PlatformError) return cause
  const code = (error as { code?: unknown } | null)?.code
  return new PlatformRejectedError(`the answer does not match the request (${String(code ?? 'no code')})`)
}

/** Sends openid-client's request through our pool. Resolves to a token response; throws the error of any other one. */
async function tokenRequest(
  platform: Platform,
  http: Http,
  url: string,
  { headers, body }: client.CustomFetchOptions,
) {
  const startedAt = Date.now()
  const form = String(body)
  let response: HttpResponse | undefined
  try {
    response = await http.send({ method: 'POST', url, headers, body: form })
  } finally {
    if (tokenRequestChannel.hasSubscribers)
      withoutEffect(() => publishTokenRequest(platform, { url, form, headers }, response, startedAt))
  }
  const json = parseJson(response.text)
  if (response.status < 200 || response.status > 299 || json === undefined) throw tokenFailure(response, json)
  const parsed = platform.tokenResponseSchema.safeParse(json)
  if (!parsed.success) {
    // Some providers send the errors of RFC 6749 section 5.2 with status 200.
    if (errorCode(json) !== undefined) throw tokenFailure({ ...response, status: 400 }, json)
    const field = fieldOf(parsed.error)
    throw new PlatformRejectedError(`the token response has an unexpected format: ${field}`, field)
  }
  const { access_token, refresh_token, expires_in, scope, business_name, user_name } = parsed.data
  // null means absent. An id_token, which we did not request, is left out.
  return Response.json({
    access_token,
    // Whatever it is called: it is sent as a bearer token.
    token_type: 'bearer',
    refresh_token: refresh_token ?? undefined,
    expires_in: expires_in ?? undefined,
    scope: scope ?? undefined,
    business_name,
    user_name,
  })
}

/** How long a user waits for the revocation when they disconnect, in ms. */
const REVOCATION_MS = 5_000

/** Sends openid-client's revocation request through our pool: 200 means that the token is invalid now (RFC 7009). */
async function revocationRequest(http: Http, url: string, { headers, body }: client.CustomFetchOptions) {
  const deadlineMs = REVOCATION_MS
  const response = await http.send({ method: 'POST', url, headers, body: String(body), deadlineMs })
  if (response.status !== 200) throw tokenFailure(response, parseJson(response.text))
  return new Response(null, { status: 200 })
}

function publishTokenRequest(
  platform: Platform,
  { url, form, headers }: { url: string; form: string; headers: Record<string, string> },
  response: HttpResponse | undefined,
  startedAt: number,
): void {
  const json = parseJson(response?.text ?? '')
  const isObject = typeof json === 'object' && json !== null
  const { authorization } = headers
  const masked = mask(platform, {
    request: new URLSearchParams(form),
    // The response may repeat the secret that the header has.
    credentials: authorization ? [['client_secret', secretOf(authorization)]] : [],
    answer: isObject ? Object.entries(json) : [],
    headers: responseHeaders(response),
  })
  const answered: EventResponse | undefined = response && {
    status: response.status,
    headers: masked.headers,
    parameters: masked.answer,
    ...(!isObject && { bodyLength: response.text.length }),
  }
  const contentType = { name: 'content-type', value: 'application/x-www-form-urlencoded' }
  const credentials = authorization
    ? [{ name: 'authorization', value: new Secret('client_secret', authorization) }]
    : []
  publish(
    tokenRequestChannel,
    {
      request: { method: 'POST', url, headers: [contentType, ...credentials], parameters: masked.request },
      ...(answered && { response: answered }),
    },
    {},
    startedAt,
  )
}

/** The client secret in a header of HTTP Basic authentication, whose parts are form-encoded (RFC 6749 section 2.3.1). */
function secretOf(authorization: string): string {
  const [, secret = ''] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')
  return new URLSearchParams(`secret=${secret}`).get('secret') ?? ''
}

/** Error codes that mean a wrong configuration of this app (RFC 6749 section 5.2). */
const CONFIGURATION_ERRORS = new Set([
  'invalid_client',
  'unauthorized_client',
  'invalid_scope',
  'unsupported_grant_type',
  'invalid_request',
])

/** Client errors that say "later", not "no" (RFC 9110 section 15.5.9, RFC 8470, RFC 6585). */
const TEMPORARY_CLIENT_ERRORS = new Set([408, 425, 429])

/** Error codes that say the same (RFC 6749 section 4.1.2.1, RFC 8628 section 3.5). */
const TEMPORARY_ERRORS = new Set(['temporarily_unavailable', 'server_error', 'slow_down'])

const errorSchema = z.object({ error: z.string() })
const errorCode = (body: unknown) => errorSchema.safeParse(body).data?.error

/**
 * Maps an error response of the token endpoint (RFC 6749 section 5.2): `invalid_grant` ends the grant, and an error that
 * only this app's developers can fix is a configuration error. Statuses and errors that say "later" are temporary, and so is
 * an HTML page, which comes from a proxy or a firewall unless the status is 404. Any other 4xx is a refusal of unknown meaning,
 * and everything else is temporary.
 */
export function tokenFailure(
  { status, retryAfterMs, text }: Pick<HttpResponse, 'status' | 'retryAfterMs' | 'text'>,
  body: unknown,
): PlatformError {
  const code = errorCode(body)
  const reason = `the token endpoint answered ${status}${body === undefined ? ', not JSON' : ''}`
  // Some token endpoints answer a 404 page themselves.
  const isPage = status !== 404 && /^\s*<(!doctype html|html)\b/i.test(text)
  const isTemporary =
    TEMPORARY_CLIENT_ERRORS.has(status) || isPage || (code !== undefined && TEMPORARY_ERRORS.has(code))
  if (status >= 400 && status < 500 && !isTemporary) {
    if (code === 'invalid_grant' && [400, 401, 403].includes(status)) return new InvalidGrantError()
    if (code !== undefined && CONFIGURATION_ERRORS.has(code))
      return new ConfigurationError(`the platform answered ${code} (${status}) at the token endpoint`)
    return new TokenRefusedError(reason, retryAfterMs)
  }
  return new PlatformUnavailableError(outageOf(status, body), reason, retryAfterMs)
}
