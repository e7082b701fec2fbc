import { randomCodeVerifier, redirectUrls } from '../../../connect/index.ts'
import type { Finding } from '../../tools.ts'
import { failure, isResponse, noAnswer, ok, warning } from './finding.ts'
import {
  type Answer,
  type DoctorHttp,
  excerptOf,
  isOutage,
  isSameAnswer,
  madeUp,
  type Request,
  type Response,
} from './http.ts'
import { recordedRequest } from './recorded-request.ts'
import { refusedIn } from './refusal.ts'
import { type AddressCheck, discover, type Target } from './target.ts'

const SETTING = 'PLATFORM_AUTH_URL'

export interface TokenEndpointCheck extends AddressCheck {
  /** Whether the client id and the secret are right; undefined if that could not be told. */
  isClientKnown?: boolean
  /** For `token.client`: what was refused, and how. */
  refusal?: { url: string; said: string }
}

/**
 * Checks the token endpoint with a made-up code and our credentials: `invalid_grant` proves the client id and the
 * secret, provided that a wrong secret gets another answer, and `invalid_client` disproves them (RFC 6749 section 5.2). Some
 * servers check the form of a code first, and answer `invalid_request`.
 */
export async function checkTokenEndpoint(http: DoctorHttp, target: Target): Promise<TokenEndpointCheck> {
  const { tokenPath, tokenEndpointMs } = target.platform
  const url = target.authUrl.replace(/\/+$/, '') + tokenPath
  const exchange = async (changes: Partial<Target> = {}) =>
    http.send(url, { ...(await codeExchange({ ...target, ...changes })), timeoutMs: tokenEndpointMs })
  const answer = await exchange()
  if (!isResponse(answer)) return { findings: [noAnswer([SETTING], url, answer)] }
  if (isOutage(answer)) {
    const text = `${SETTING}: ${url} answered ${answer.status}, so the client id and the secret could not be checked. Try again later; if it persists, ask the platform's support team`
    return { findings: [warning('token.unavailable', text, { setting: SETTING })] }
  }
  if (await isMissing(http, url, tokenPath, answer)) return notFound(http, target, url, answer)
  if (isProof(answer)) return provenBy(answer, await exchange({ clientSecret: madeUp() }), url)
  if (errorOf(answer) === 'invalid_request' && !refusesClient(answer)) {
    const proven = provenBy(answer, await exchange({ clientSecret: madeUp() }), url)
    if (proven.isClientKnown) return proven
  }
  return explain({ answer, exchange, url, target, http })
}

/** Looks for the token endpoint where the server's own description has it, and where the answer redirects. */
async function notFound(
  http: DoctorHttp,
  target: Target,
  url: string,
  answer: Response,
): Promise<TokenEndpointCheck> {
  const { tokenPath } = target.platform
  const { tokenEndpoint: described } = (await discover(http, target.authUrl)) ?? {}
  const location = answer.location && answer.location.origin + answer.location.pathname
  const said = `${describe(answer)}${location ? `, a redirect to ${location}` : ''}`
  const what = `${SETTING}: ${url} is not a token endpoint (${said})`
  const fail = (cure: string, value?: string) =>
    failure('token.not-found', `${what}. ${cure}`, {
      setting: SETTING,
      ...(value !== undefined && { value }),
    })
  if (described?.endsWith(tokenPath)) {
    const value = described.slice(0, -tokenPath.length)
    return { findings: [fail(`Set ${SETTING}=${value}`, value)], isWrong: true }
  }
  const endpoint = described ?? (location && (await answersAsTokenEndpoint(http, location)) ? location : null)
  if (endpoint) {
    const source = described ? "The server's metadata names" : 'There is a token endpoint at'
    const isWrong = !endpoint.startsWith(`${target.authUrl.replace(/\/+$/, '')}/`)
    return { findings: [fail(`${source} ${endpoint}. ${pathCure(target.authUrl, endpoint)}`)], isWrong }
  }
  const cure = `Check the address: it is the part before ${tokenPath}, which is \`tokenPath\` in ${CONTRACT}`
  return { findings: [fail(cure)], isWrong: true }
}

const CONTRACT = 'src/connect/platform/contract.ts'

/** What to change for a token endpoint with another path than `tokenPath`. */
function pathCure(authUrl: string, endpoint: string): string {
  const base = authUrl.replace(/\/+$/, '')
  if (endpoint.startsWith(`${base}/`))
    return `Change \`tokenPath\` in ${CONTRACT} to '${endpoint.slice(base.length)}'`
  const { origin } = new URL(endpoint)
  return `Change \`tokenPath\` in ${CONTRACT} to '${endpoint.slice(origin.length)}', and set ${SETTING}=${origin}`
}

/** Whether a token endpoint is below this address. */
export const isTokenEndpoint = (http: DoctorHttp, authUrl: string, { platform }: Target): Promise<boolean> =>
  answersAsTokenEndpoint(http, authUrl.replace(/\/+$/, '') + platform.tokenPath)

/** Whether a made-up code gets an error of a token endpoint there. */
async function answersAsTokenEndpoint(http: DoctorHttp, url: string): Promise<boolean> {
  const body = new URLSearchParams({ grant_type: 'authorization_code', code: madeUp() }).toString()
  const answer = await http.send(url, { method: 'POST', headers: FORM, body })
  return isResponse(answer) && OAUTH_ERRORS.test(errorOf(answer) ?? '')
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** The request that the app sends to exchange a code, with a code that was never issued. */
async function codeExchange(target: Target): Promise<Request> {
  const callbackUrl = new URL(redirectUrls(target.baseUrl)[1] ?? '')
  callbackUrl.search = new URLSearchParams({ code: madeUp(), state: 'doctor-check' }).toString()
  return recordedRequest(target, (oauth) =>
    oauth.exchangeCode({
      callbackUrl,
      bxcontext: 'doctor-check',
      state: 'doctor-check',
      codeVerifier: randomCodeVerifier(),
    }),
  )
}

/** An answer about the code alone proves nothing: some servers look at the code before they look at the client. */
function provenBy(answer: Response, withWrongSecret: Answer, url: string): TokenEndpointCheck {
  if (isResponse(withWrongSecret) && refusesClient(withWrongSecret)) {
    const rest = isProof(answer)
      ? ''
      : `. It answers a made-up code with ${describe(answer)}: connect an account to see whether it lacks a parameter`
    const text = `PLATFORM_CLIENT_ID, PLATFORM_CLIENT_SECRET: ${url} accepts them, and refuses a wrong secret${rest}`
    return { findings: [ok('token', text)], isClientKnown: true }
  }
  const other = isResponse(withWrongSecret) ? describe(withWrongSecret) : 'no answer'
  const text = `PLATFORM_CLIENT_SECRET: ${url} does not refuse a wrong secret (${other}), so neither the client id nor the secret is proven. Connect an account to be sure`
  return { findings: [warning('token.not-proven', text, { setting: 'PLATFORM_CLIENT_SECRET' })] }
}

const refusesClient = (answer: Response) =>
  /^(invalid|unauthorized)_client$/.test(errorOf(answer) ?? '') || (answer.status === 401 && !isProof(answer))

interface Rejection {
  answer: Response
  /** Exchanges a made-up code with other settings. */
  exchange(changes?: Partial<Target>): Promise<Answer>
  url: string
  target: Target
  http: DoctorHttp
}

/** Finds out why the exchange was rejected by sending it in other ways. */
async function explain({ answer, exchange, url, target, http }: Rejection): Promise<TokenEndpointCheck> {
  const said = describe(answer)
  const used = target.tokenEndpointAuthMethod
  const other = used === 'client_secret_post' ? 'client_secret_basic' : 'client_secret_post'
  const byOther = await exchange({ tokenEndpointAuthMethod: other })
  // Without an error code, the status tells: 401 is about the client, 400 about the code.
  const isAccepted =
    isResponse(byOther) && (isProof(byOther) || (answer.status === 401 && byOther.status === 400))
  if (isAccepted && !refusesClient(byOther)) {
    const setting = 'PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD'
    const text = `${setting}: ${url} refuses ${used} (${said}) and accepts ${other}. Set ${setting}=${other}`
    return { findings: [failure('token.auth-method', text, { setting, value: other })] }
  }
  if (isProof(await http.send(url, await asJson(target)))) {
    const text = `${SETTING}: ${url} refuses a form (${said}) and accepts JSON. Change tokenRequest in src/connect/platform/oauth.ts`
    return { findings: [failure('token.body', text, { setting: SETTING })] }
  }
  const isOwnFormat = !OAUTH_ERRORS.test(errorOf(answer) ?? '') || answer.status < 400
  const wrong = isOwnFormat ? await exchange({ clientSecret: madeUp() }) : answer
  const isSecretAccepted = isResponse(wrong) && !isOutage(wrong) && !isSameAnswer(answer, wrong)
  if (refusesClient(answer) && !isSecretAccepted) {
    const wrongId = await exchange({ clientId: madeUp() })
    const isIdKnown = isResponse(wrongId) && refusesClient(wrongId) && !isSameAnswer(answer, wrongId)
    if (isIdKnown)
      return {
        findings: [wrongSecret({ url, said }, 'an unknown client id gets another answer')],
        isClientKnown: false,
      }
    const text = `PLATFORM_CLIENT_ID, PLATFORM_CLIENT_SECRET: ${url} refuses them (${said}); it does not say which. Compare both with your registration`
    const finding = failure('token.client', text, { setting: 'PLATFORM_CLIENT_ID' })
    return { findings: [finding], isClientKnown: false, refusal: { url, said } }
  }
  if (isOwnFormat) {
    const text = `${SETTING}: ${url} answered a made-up code without an error of RFC 6749 (${said}), so the client id and the secret are not proven, and a revoked connection is noticed only once the API refuses its token as well. To notice it sooner, adapt tokenFailure in src/connect/platform/oauth.ts`
    return { findings: [warning('token.error-format', text, { setting: SETTING })] }
  }
  const text = `${SETTING}: ${url} answered a made-up code with ${said} instead of invalid_grant. Compare the token request in docs/assumptions.md with the platform's documentation`
  // A server that checks the form of a code before the client answers so as well.
  const finding = errorOf(answer) === 'invalid_request' ? warning : failure
  return { findings: [finding('token.rejected', text, { setting: SETTING })] }
}

/** The finding that the secret is wrong. `reason`: how that is known. */
export function wrongSecret({ url, said }: { url: string; said: string }, reason: string): Finding {
  const text = `PLATFORM_CLIENT_SECRET: ${url} refuses the secret (${said}); ${reason}. Enter the secret again, or ask the platform's support team for a new one`
  return failure('token.client-secret', text, { setting: 'PLATFORM_CLIENT_SECRET' })
}

/** The app recognizes it with these statuses only. */
const isProof = (answer: Answer) =>
  isResponse(answer) && errorOf(answer) === 'invalid_grant' && [400, 401, 403].includes(answer.status)

async function asJson(target: Target): Promise<Request> {
  const { body } = await codeExchange({ ...target, tokenEndpointAuthMethod: 'client_secret_post' })
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(new URLSearchParams(body))),
  }
}

/** A token endpoint refuses a made-up code; a web server answers with a page, a redirect, a success, or 404. */
async function isMissing(
  http: DoctorHttp,
  url: string,
  tokenPath: string,
  answer: Response,
): Promise<boolean> {
  if (OAUTH_ERRORS.test(errorOf(answer) ?? '') || refusedIn(answer).length > 0) return false
  if ([404, 405, 410].includes(answer.status) || answer.status < 400) return true
  // Errors in another format than RFC 6749's: compare with an address that cannot exist.
  const missing = await http.send(url.replace(tokenPath, '/doctor-check-no-such-path'), {
    method: 'POST',
    headers: FORM,
    body: 'grant_type=none',
  })
  return isResponse(missing) && missing.status === answer.status && isSameAnswer(answer, missing)
}

/** RFC 6749 section 5.2. */
const OAUTH_ERRORS =
  /^(invalid_(request|client|grant|scope|target)|unauthorized_client|unsupported_grant_type|access_denied|server_error|temporarily_unavailable)$/

function errorOf({ json }: Response): string | undefined {
  const error = typeof json === 'object' && json !== null && 'error' in json ? json.error : undefined
  return typeof error === 'string' ? error : undefined
}

function describe(answer: Response): string {
  const error = errorOf(answer)
  return error && /^[\w.-]{1,60}$/.test(error)
    ? `${answer.status} ${error}`
    : `${answer.status}${excerptOf(answer)}`
}
