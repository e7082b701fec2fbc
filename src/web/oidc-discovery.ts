import * as client from 'openid-client'
import { AppError } from '../connect/errors.ts'
import type { Http, TokenEndpointAuthMethod } from '../connect/index.ts'
import { texts } from './texts.ts'

/** How far the provider's clock may be off, in seconds. */
const CLOCK_TOLERANCE = 180

/** An OpenID provider, and this app's registration there. */
export interface OidcProvider {
  /** The issuer identifier (OpenID Connect Discovery 1.0, section 3). */
  issuer: string
  clientId: string
  clientSecret: string
  /** How token requests carry the secret; undefined: as the provider's metadata says. */
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod | undefined
}

/** The provider does not answer, or its answer is unusable. */
export class SignInUnavailableError extends AppError {
  readonly code = 'sign_in_unavailable'
  readonly status = 503
  constructor(reason: string) {
    super(texts.errors.sign_in_unavailable.detail, { reason, retryAfterMs: 5_000 })
  }
}

/**
 * Returns a function that resolves to the provider's configuration, which is read once. Throws `SignInUnavailableError`, and
 * reads it again after that.
 */
export function discovery(provider: OidcProvider & { http: Http }): () => Promise<client.Configuration> {
  const { issuer, clientId, clientSecret, tokenEndpointAuthMethod, http } = provider
  const server = new URL(issuer)
  const metadata = { client_secret: clientSecret, [client.clockTolerance]: CLOCK_TOLERANCE }
  const authentication = clientAuthentication(clientSecret, tokenEndpointAuthMethod)
  const options: client.DiscoveryRequestOptions = {
    [client.customFetch]: (url, request) => fetchBy(http, url, request),
    // config.ts requires https in production.
    execute: server.protocol === 'http:' ? [client.allowInsecureRequests] : [],
  }
  let known: Promise<client.Configuration> | undefined
  return () => {
    known ??= client
      .discovery(server, clientId, metadata, authentication, options)
      .catch((error: unknown) => {
        known = undefined
        throw new SignInUnavailableError(`discovery failed: ${codeOf(error)}`)
      })
    return known
  }
}

/**
 * Authenticates this app at the token endpoint by the setting, or by what the provider supports. HTTP Basic is the default of
 * OpenID Connect (Discovery 1.0, section 3), so it comes first.
 */
export function clientAuthentication(
  secret: string,
  method: TokenEndpointAuthMethod | undefined,
): client.ClientAuth {
  const methods = {
    client_secret_basic: client.ClientSecretBasic(secret),
    client_secret_post: client.ClientSecretPost(secret),
  }
  return (server, ...request) => methods[method ?? authMethodOf(server)](server, ...request)
}

/** The method that a provider's metadata calls for. */
export function authMethodOf({
  token_endpoint_auth_methods_supported: supported,
}: Pick<client.ServerMetadata, 'token_endpoint_auth_methods_supported'>): TokenEndpointAuthMethod {
  const acceptsBasic = supported === undefined || supported.includes('client_secret_basic')
  return !acceptsBasic && supported.includes('client_secret_post')
    ? 'client_secret_post'
    : 'client_secret_basic'
}

/** What an error of the sign-in may be logged as: the reason of ours, or a code. */
export function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof AppError) return cause.reason ?? cause.code
  return String((error as { code?: unknown } | null)?.code ?? 'no code')
}

/** Sends openid-client's requests through our pool, with its limits and proxies. */
async function fetchBy(http: Http, url: string, request: client.CustomFetchOptions): Promise<Response> {
  const { method, headers, body } = request
  const response = await http.send({
    method: method === 'POST' ? 'POST' : 'GET',
    url,
    headers,
    ...(body !== null && body !== undefined && { body: String(body) }),
  })
  const type = response.header('content-type') ?? ''
  return new Response(response.status === 204 ? null : response.text, {
    status: response.status,
    headers: { 'content-type': type },
  })
}
