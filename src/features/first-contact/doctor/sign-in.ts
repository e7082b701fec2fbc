import { randomBytes } from 'node:crypto'
import type { TokenEndpointAuthMethod } from '../../../connect/index.ts'
import { authMethodOf, clientAuthentication, type OidcProvider } from '../../../web/oidc-discovery.ts'
import { redirectUriOf } from '../../../web/oidc-sign-in.ts'
import type { Finding } from '../../tools.ts'
import { failure, isResponse, noAnswer, ok, warning } from './finding.ts'
import { type Answer, type DoctorHttp, madeUp, type Response } from './http.ts'

const SETTING = 'OIDC_ISSUER'
const METHODS = ['client_secret_basic', 'client_secret_post'] as const

type SignInCheck = OidcProvider & { baseUrl: string }

/**
 * Checks that the sign-in service publishes its configuration for this issuer (OpenID Connect Discovery 1.0, section 4), and
 * that its token endpoint accepts the client id and the secret.
 */
export async function checkSignIn(provider: SignInCheck, http: Pick<DoctorHttp, 'send'>): Promise<Finding> {
  const { issuer } = provider
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`
  const answer = await http.send(url)
  if (!isResponse(answer)) return noAnswer([SETTING], url, answer)
  const { issuer: named, token_endpoint: tokenEndpoint, ...metadata } = Object(answer.json)
  if (typeof named !== 'string' || typeof tokenEndpoint !== 'string') {
    const text = `${SETTING}: ${url} answers ${answer.status} and is not the configuration of a sign-in service. Check the issuer`
    return failure('sign-in.no-configuration', text, { setting: SETTING })
  }
  if (URL.parse(named)?.href !== new URL(issuer).href) {
    const text = `${SETTING}: the configuration there is that of another issuer. Set ${SETTING}=${named}`
    return failure('sign-in.issuer', text, { setting: SETTING, value: named })
  }
  const method = provider.tokenEndpointAuthMethod ?? authMethodOf(metadata)
  return checkClient(provider, method, tokenEndpoint, http)
}

/**
 * Exchanges a code that was never issued. `invalid_grant` proves the client id, the secret and the method, provided that a
 * wrong secret gets another answer (RFC 6749 section 5.2).
 */
async function checkClient(
  provider: SignInCheck,
  method: TokenEndpointAuthMethod,
  url: string,
  http: Pick<DoctorHttp, 'send'>,
): Promise<Finding> {
  const exchange = (changes: Partial<SignInCheck> = {}, by = method) =>
    http.send(url, exchangeOf({ ...provider, ...changes }, by))
  const answer = await exchange()
  if (!isResponse(answer)) return noAnswer([SETTING], url, answer)
  const withWrongSecret = await exchange({ clientSecret: madeUp() })
  if (isInvalidGrant(answer) && isResponse(withWrongSecret) && !isInvalidGrant(withWrongSecret))
    return ok(
      'sign-in',
      `${SETTING}: the sign-in service publishes its configuration for this issuer, and accepts OIDC_CLIENT_ID and OIDC_CLIENT_SECRET`,
    )
  if (isInvalidGrant(answer) || !refusesClient(answer)) {
    const text = `OIDC_CLIENT_SECRET: the sign-in service's token endpoint answered a made-up code with ${said(answer)}, so neither the client id nor the secret is proven. Sign in to be sure`
    return warning('sign-in.not-proven', text, { setting: 'OIDC_CLIENT_SECRET' })
  }
  const other = METHODS.find((name) => name !== method) ?? method
  if (isInvalidGrant(await exchange({}, other))) {
    const setting = 'OIDC_TOKEN_ENDPOINT_AUTH_METHOD'
    const text = `${setting}: the sign-in service refuses ${method} (${said(answer)}) and accepts ${other}. Set ${setting}=${other}`
    return failure('sign-in.auth-method', text, { setting, value: other })
  }
  const text = `OIDC_CLIENT_ID, OIDC_CLIENT_SECRET: the sign-in service refuses them (${said(answer)}, by ${method}). Compare both with the app's registration there`
  return failure('sign-in.client', text, { setting: 'OIDC_CLIENT_SECRET' })
}

function exchangeOf(
  { issuer, clientId, clientSecret, baseUrl }: SignInCheck,
  method: TokenEndpointAuthMethod,
) {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: madeUp(),
    redirect_uri: redirectUriOf(baseUrl),
    code_verifier: randomBytes(32).toString('base64url'),
  })
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' })
  clientAuthentication(clientSecret, method)({ issuer }, { client_id: clientId }, body, headers)
  return { method: 'POST' as const, headers: Object.fromEntries(headers), body: body.toString() }
}

const errorOf = ({ json }: Response): unknown => Object(json).error

const isInvalidGrant = (answer: Answer): boolean => isResponse(answer) && errorOf(answer) === 'invalid_grant'

const refusesClient = (answer: Response): boolean =>
  answer.status === 401 || /^(invalid|unauthorized)_client$/.test(String(errorOf(answer)))

function said(answer: Response): string {
  const error = errorOf(answer)
  return typeof error === 'string' && /^[\w.-]{1,60}$/.test(error)
    ? `${answer.status} ${error}`
    : `${answer.status}`
}
