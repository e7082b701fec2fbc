import { type HttpRequest, randomCodeVerifier, redirectUrls } from '../../../connect/index.ts'
import type { Finding } from '../../../web/kit.ts'
import {
  type Answer,
  describe,
  errorOf,
  isMissing,
  isOutage,
  isResponse,
  isSameAnswer,
  type Response,
  refusesClient,
} from '../answers.ts'
import { madeUp } from '../client.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import { refusedIn } from './refusal.ts'
import { type AddressCheck, discover, requestOf, type Target } from './target.ts'

const SETTING = 'PLATFORM_AUTH_URL'
const CREDENTIALS = 'PLATFORM_CLIENT_ID, PLATFORM_CLIENT_SECRET'

export interface TokenEndpointCheck extends AddressCheck {
  /** Whether the client id and the secret are right; undefined if that could not be told. */
  isClientKnown?: boolean
  /** What it means if the consent page knows the client id. */
  ifIdIsKnown?: Finding
}

/**
 * Checks the token endpoint with a made-up code and our credentials: `invalid_grant` proves the client id and the
 * secret, provided that a wrong secret gets another answer, and `invalid_client` disproves them (RFC 6749 section 5.2). Some
 * servers check the form of a code first, and answer `invalid_request`.
 */
export async function checkTokenEndpoint(target: Target): Promise<TokenEndpointCheck> {
  const url = target.authUrl + target.platform.tokenPath
  const answer = await exchange(target)
  if (!isResponse(answer)) return { finding: noAnswer(SETTING, url, answer) }
  if (isOutage(answer)) return { finding: unavailable('token.unavailable', SETTING, url, answer.status) }
  if (await isElsewhere(target, answer)) return notFound(target, url, answer)
  const isAboutForm = errorOf(answer) === 'invalid_request'
  if (isProof(answer) || isAboutForm) {
    const proven = provenBy(answer, await exchange({ ...target, clientSecret: madeUp() }), url)
    if (proven.isClientKnown || !isAboutForm) return proven
  }
  return explain(target, answer, url)
}

/** Sends a code that was never issued, as the app exchanges one. */
const exchange = async (target: Target): Promise<Answer> => target.client.send(await codeExchange(target))

/** The request that the app sends to exchange a code, with a code that was never issued. */
function codeExchange(target: Target): Promise<HttpRequest> {
  const redirectUri = redirectUrls(target.baseUrl)[1]
  const flow = { code: madeUp(), iss: undefined, redirectUri, codeVerifier: randomCodeVerifier() }
  return requestOf(target, (oauth) => oauth.exchangeCode({ ...flow, bxcontext: 'doctor-check' }))
}

/** A token endpoint refuses a made-up code; a web server answers with a page, a redirect, a success, or 404. */
async function isElsewhere({ client, authUrl }: Target, answer: Response): Promise<boolean> {
  if (isOAuthError(answer) || refusedIn(answer).length > 0) return false
  if (isMissing(answer) || answer.status < 400) return true
  // Errors in another format than RFC 6749's: compare with an address that cannot exist.
  const control = await client.send(form(`${authUrl}/doctor-check-no-such-path`, { grant_type: 'none' }))
  return isResponse(control) && control.status === answer.status && isSameAnswer(answer, control)
}

const form = (url: string, fields: Record<string, string>): HttpRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
})

/** Looks for the token endpoint where the server's own description has it, and where the answer redirects. */
async function notFound(target: Target, url: string, answer: Response): Promise<TokenEndpointCheck> {
  const { tokenPath } = target.platform
  const { tokenEndpoint: described } = (await discover(target)) ?? {}
  const location = answer.location && answer.location.origin + answer.location.pathname
  const said = `${describe(answer)}${location ? `, a redirect to ${location}` : ''}`
  const finding = (cure: string, value?: string) =>
    failure('token.not-found', SETTING, `${url} is not a token endpoint (${said}). ${cure}`, value)
  if (described?.endsWith(tokenPath)) {
    const value = described.slice(0, -tokenPath.length)
    return { finding: finding(`Set ${SETTING}=${value}`, value), isWrong: true }
  }
  const endpoint = described ?? (location && (await isTokenEndpointAt(target, location)) ? location : null)
  if (endpoint) {
    const source = described ? "The server's metadata names" : 'There is a token endpoint at'
    const isBelow = endpoint.startsWith(`${target.authUrl}/`)
    const base = isBelow ? target.authUrl : new URL(endpoint).origin
    const change = `Change \`tokenPath\` in ${CONTRACT} to '${endpoint.slice(base.length)}'`
    const cure = isBelow ? change : `${change}, and set ${SETTING}=${base}`
    return { finding: finding(`${source} ${endpoint}. ${cure}`), isWrong: !isBelow }
  }
  const cure = `Check the address: it is the part before ${tokenPath}, which is \`tokenPath\` in ${CONTRACT}`
  return { finding: finding(cure), isWrong: true }
}

const CONTRACT = 'src/connect/platform/contract.ts'

/** Whether the token endpoint is there. */
export const isTokenEndpoint = (target: Target): Promise<boolean> =>
  isTokenEndpointAt(target, target.authUrl + target.platform.tokenPath)

/** Whether a made-up code gets an error of a token endpoint there. */
async function isTokenEndpointAt({ client }: Target, url: string): Promise<boolean> {
  const answer = await client.send(form(url, { grant_type: 'authorization_code', code: madeUp() }))
  return isResponse(answer) && isOAuthError(answer)
}

/** An answer about the code alone proves nothing: some servers look at the code before they look at the client. */
function provenBy(answer: Response, withWrongSecret: Answer, url: string): TokenEndpointCheck {
  if (isResponse(withWrongSecret) && refusesClient(withWrongSecret)) {
    const rest = isProof(answer)
      ? ''
      : `. It answers a made-up code with ${describe(answer)}: connect an account to see whether it lacks a parameter`
    const text = `${CREDENTIALS}: ${url} accepts them, and refuses a wrong secret${rest}`
    return { finding: ok('token', text), isClientKnown: true }
  }
  const other = isResponse(withWrongSecret) ? describe(withWrongSecret) : 'no answer'
  const text = `${url} does not refuse a wrong secret (${other}), so neither the client id nor the secret is proven. Connect an account to be sure`
  return { finding: warning('token.not-proven', 'PLATFORM_CLIENT_SECRET', text) }
}

/** Finds out why the exchange was rejected by sending it in other ways. */
async function explain(target: Target, answer: Response, url: string): Promise<TokenEndpointCheck> {
  const said = describe(answer)
  const used = target.tokenEndpointAuthMethod
  const other = used === 'client_secret_post' ? 'client_secret_basic' : 'client_secret_post'
  const byOther = await exchange({ ...target, tokenEndpointAuthMethod: other })
  // Without an error code, the status tells: 401 is about the client, 400 about the code.
  const isAccepted =
    isProof(byOther) || (isResponse(byOther) && answer.status === 401 && byOther.status === 400)
  if (isAccepted && !refusesClient(byOther)) {
    const setting = 'PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD'
    const text = `${url} refuses ${used} (${said}) and accepts ${other}. Set ${setting}=${other}`
    return { finding: failure('token.auth-method', setting, text, other) }
  }
  const isOwnFormat = !isOAuthError(answer) || answer.status < 400
  const wrong = isOwnFormat ? await exchange({ ...target, clientSecret: madeUp() }) : answer
  const isSecretAccepted = isResponse(wrong) && !isOutage(wrong) && !isSameAnswer(answer, wrong)
  if (refusesClient(answer) && !isSecretAccepted) return refused(target, answer, url)
  if (isOwnFormat) {
    const text = `${url} answered a made-up code without an error of RFC 6749 (${said}), so the client id and the secret are not proven, and a revoked connection is noticed only once the API refuses its token as well. To notice it sooner, adapt tokenFailure in src/connect/platform/token-answer.ts`
    return { finding: warning('token.error-format', SETTING, text) }
  }
  const text = `${url} answered a made-up code with ${said} instead of invalid_grant. Compare the token request in docs/assumptions.md with the platform's documentation`
  // A server that checks the form of a code before the client answers so as well.
  const finding = errorOf(answer) === 'invalid_request' ? warning : failure
  return { finding: finding('token.rejected', SETTING, text) }
}

/** The client id or the secret is wrong: a client id that nobody has may get another answer. */
async function refused(target: Target, answer: Response, url: string): Promise<TokenEndpointCheck> {
  const said = describe(answer)
  const wrongSecret = (reason: string) => {
    const text = `${url} refuses the secret (${said}); ${reason}. Enter the secret again, or ask the platform's support team for a new one`
    return failure('token.client-secret', 'PLATFORM_CLIENT_SECRET', text)
  }
  const wrongId = await exchange({ ...target, clientId: madeUp() })
  if (isResponse(wrongId) && refusesClient(wrongId) && !isSameAnswer(answer, wrongId))
    return { finding: wrongSecret('an unknown client id gets another answer'), isClientKnown: false }
  const text = `${url} refuses them (${said}); it does not say which. Compare both with your registration`
  return {
    finding: failure('token.client', CREDENTIALS, text),
    isClientKnown: false,
    ifIdIsKnown: wrongSecret('the consent page knows the client id'),
  }
}

/** The app recognizes it with these statuses only. */
const isProof = (answer: Answer): answer is Response =>
  isResponse(answer) && errorOf(answer) === 'invalid_grant' && [400, 401, 403].includes(answer.status)

/** RFC 6749 section 5.2. */
const isOAuthError = (answer: Response): boolean =>
  /^(invalid_(request|client|grant|scope|target)|unauthorized_client|unsupported_grant_type|access_denied|server_error|temporarily_unavailable)$/.test(
    errorOf(answer) ?? '',
  )
