import { type HttpRequest, randomCodeVerifier, type TokenEndpointAuthMethod } from '../../connect/index.ts'
import { authMethodOf, clientAuthentication, type OidcProvider } from '../../web/oidc-discovery.ts'
import { redirectUriOf } from '../../web/oidc-sign-in.ts'
import type { Finding } from '../tools.ts'
import { type Answer, errorOf, isResponse, refusesClient } from './answers.ts'
import { type Client, madeUp } from './client.ts'
import { failure, noAnswer, ok, warning } from './findings.ts'

const SETTING = 'OIDC_ISSUER'

type SignIn = OidcProvider & { baseUrl: string }

/**
 * Checks that the sign-in service publishes its configuration for this issuer (OpenID Connect Discovery 1.0, section 4), and
 * that its token endpoint accepts the client id and the secret.
 */
export async function checkSignIn(provider: SignIn, client: Client): Promise<Finding> {
  const { issuer } = provider
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`
  const answer = await client.get(url)
  if (!isResponse(answer)) return noAnswer(SETTING, url, answer)
  const { issuer: named, token_endpoint: tokenEndpoint, ...metadata } = Object(answer.json)
  if (typeof named !== 'string' || typeof tokenEndpoint !== 'string') {
    const text = `${url} answers ${answer.status} and is not the configuration of a sign-in service. Check the issuer`
    return failure('sign-in.no-configuration', SETTING, text)
  }
  if (URL.parse(named)?.href !== new URL(issuer).href) {
    const text = `the configuration there is that of another issuer. Set ${SETTING}=${named}`
    return failure('sign-in.issuer', SETTING, text, named)
  }
  const method = provider.tokenEndpointAuthMethod ?? authMethodOf(metadata)
  return checkClient(provider, method, tokenEndpoint, client)
}

/**
 * Exchanges a code that was never issued. `invalid_grant` proves the client id, the secret and the method, provided that a
 * wrong secret gets another answer (RFC 6749 section 5.2).
 */
async function checkClient(
  provider: SignIn,
  method: TokenEndpointAuthMethod,
  url: string,
  client: Client,
): Promise<Finding> {
  const exchange = (changes: Partial<SignIn> = {}, by = method) =>
    client.send(exchangeOf(url, { ...provider, ...changes }, by))
  const answer = await exchange()
  if (!isResponse(answer)) return noAnswer(SETTING, url, answer)
  const withWrongSecret = await exchange({ clientSecret: madeUp() })
  if (isInvalidGrant(answer) && isResponse(withWrongSecret) && !isInvalidGrant(withWrongSecret)) {
    const text = `${SETTING}: the sign-in service publishes its configuration for this issuer, and accepts OIDC_CLIENT_ID and OIDC_CLIENT_SECRET`
    return ok('sign-in', text)
  }
  // Not what it says: the provider's own words are for its own users.
  const said = [answer.status, /^[\w.-]{1,60}$/.exec(errorOf(answer) ?? '')].join(' ').trim()
  if (isInvalidGrant(answer) || !refusesClient(answer)) {
    const text = `the sign-in service's token endpoint answered a made-up code with ${said}, so neither the client id nor the secret is proven. Sign in to be sure`
    return warning('sign-in.not-proven', 'OIDC_CLIENT_SECRET', text)
  }
  const other = method === 'client_secret_basic' ? 'client_secret_post' : 'client_secret_basic'
  if (isInvalidGrant(await exchange({}, other))) {
    const setting = 'OIDC_TOKEN_ENDPOINT_AUTH_METHOD'
    const text = `the sign-in service refuses ${method} (${said}) and accepts ${other}. Set ${setting}=${other}`
    return failure('sign-in.auth-method', setting, text, other)
  }
  const text = `the sign-in service refuses them (${said}, by ${method}). Compare both with the app's registration there`
  return failure('sign-in.client', 'OIDC_CLIENT_SECRET, OIDC_CLIENT_ID', text)
}

function exchangeOf(
  url: string,
  { issuer, clientId, clientSecret, baseUrl }: SignIn,
  method: TokenEndpointAuthMethod,
): HttpRequest {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: madeUp(),
    redirect_uri: redirectUriOf(baseUrl),
    code_verifier: randomCodeVerifier(),
  })
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' })
  clientAuthentication(clientSecret, method)({ issuer }, { client_id: clientId }, body, headers)
  return { method: 'POST', url, headers: Object.fromEntries(headers), body: body.toString() }
}

const isInvalidGrant = (answer: Answer): boolean => isResponse(answer) && errorOf(answer) === 'invalid_grant'
