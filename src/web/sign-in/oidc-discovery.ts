import * as client from 'openid-client'
import { AppError } from '../../connect/errors.ts'
import { authenticateClient, type ClientCredentials, type Http } from '../../connect/index.ts'
import { WebError } from '../requests/errors.ts'

/** How much the provider's clock may differ, in seconds. */
const CLOCK_TOLERANCE = 180

/** An OpenID provider, and this app's registration there. */
export interface OidcProvider extends ClientCredentials {
  /** The issuer identifier (OpenID Connect Discovery 1.0, section 3). */
  issuer: string
  /** Whether to trust an email address without `email_verified`. */
  trustsEmail: boolean
}

/** 503: the provider gave no usable answer. `reason`: for the log. */
export const signInUnavailable = (reason: string) =>
  new WebError(503, 'sign_in_unavailable', undefined, { reason, retryAfterMs: 5_000 })

/**
 * Returns a function that resolves to the provider's configuration, which it reads once. If that fails, it throws
 * `sign_in_unavailable` (503), and the next call tries again.
 */
export function discovery(provider: OidcProvider & { http: Http }): () => Promise<client.Configuration> {
  const { issuer, clientId, clientSecret, http } = provider
  const server = new URL(issuer)
  const metadata = { client_secret: clientSecret, [client.clockTolerance]: CLOCK_TOLERANCE }
  const options: client.DiscoveryRequestOptions = {
    [client.customFetch]: (url, request) => fetchBy(http, url, request),
    // config.ts requires https in production.
    execute: server.protocol === 'http:' ? [client.allowInsecureRequests] : [],
  }
  let known: Promise<client.Configuration> | undefined
  return () => {
    known ??= client
      .discovery(server, clientId, metadata, authenticationWith(provider), options)
      .catch((error: unknown) => {
        known = undefined
        throw signInUnavailable(`discovery failed: ${reasonOf(error)}`)
      })
    return known
  }
}

/**
 * Authenticates this app at the token endpoint, in the body if the provider's metadata lists `client_secret_post`. Otherwise it
 * uses HTTP Basic, the default of OpenID Connect (Discovery 1.0, section 3).
 */
const authenticationWith =
  (credentials: ClientCredentials): client.ClientAuth =>
  ({ token_endpoint_auth_methods_supported: supported = [] }, _client, body, headers) => {
    const method = supported.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic'
    authenticateClient(credentials, method, body, headers)
  }

/** Returns our HTTP client's error that caused an error of openid-client, if there is one. */
export function httpErrorIn(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  return error instanceof Error ? httpErrorIn(error.cause) : undefined
}

/** The reason to log for an error of openid-client: our own error's reason, or its code, but never text of the provider. */
export function reasonOf(error: unknown): string {
  const ours = httpErrorIn(error)
  if (ours) return ours.reason ?? ours.code
  const hasCode = error instanceof Error && 'code' in error
  return hasCode ? String(error.code) : 'no code'
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
