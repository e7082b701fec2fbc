import { randomBytes } from 'node:crypto'
import { redirectUrls } from '../connect/authorization/routes.ts'
import { TOKEN_PATH } from '../connect/platform/contract.ts'
import type { HttpRequest } from '../connect/platform/http.ts'
import { createOAuth, randomCodeVerifier } from '../connect/platform/oauth.ts'
import { type Finding, failure, isResponse, noAnswer, ok, warning } from './finding.ts'
import { type Answer, type DoctorHttp, excerptOf, isSameAnswer, type Request, type Response } from './http.ts'
import { type AddressCheck, discover, type Platform } from './platform.ts'

const SETTING = 'PLATFORM_AUTH_URL'

export interface TokenEndpointCheck extends AddressCheck {
  /** Whether the client id and the secret are right; undefined if that could not be told. */
  isClientKnown?: boolean
}

/**
 * Checks the token endpoint with a made-up code and our credentials: `invalid_grant` proves the client id and the
 * secret, provided that a wrong secret gets another answer, and `invalid_client` disproves them (RFC 6749 section 5.2).
 */
export async function checkTokenEndpoint(http: DoctorHttp, platform: Platform): Promise<TokenEndpointCheck> {
  const url = platform.authUrl.replace(/\/+$/, '') + TOKEN_PATH
  const exchange = async (changes: Partial<Platform> = {}) =>
    http.send(url, await codeExchange({ ...platform, ...changes }))
  const answer = await exchange()
  if (!isResponse(answer)) return { findings: [noAnswer([SETTING], url, answer)] }
  if (isMissing(answer)) {
    const found = await discover(http, platform.authUrl)
    const value = found?.tokenEndpoint.endsWith(TOKEN_PATH)
      ? found.tokenEndpoint.slice(0, -TOKEN_PATH.length)
      : undefined
    const cure = value ? `Set ${SETTING}=${value}` : `Check the address: ${TOKEN_PATH} is below it`
    const text = `${SETTING}: ${url} is not a token endpoint (${describe(answer)}). ${cure}`
    const details = { setting: SETTING, ...(value && { value }) }
    return { findings: [failure('token.not-found', text, details)], isWrong: true }
  }
  if (answer.status >= 500 || answer.status === 429) {
    const text = `${SETTING}: ${url} answered ${answer.status}, so the client id and the secret could not be checked. Try again later; if it persists, ask the platform's support team`
    return { findings: [warning('token.unavailable', text, { setting: SETTING })] }
  }
  if (errorOf(answer) === 'invalid_grant')
    return provenBy(answer, await exchange({ clientSecret: madeUp() }), url)
  return { findings: [await explain(answer, exchange, url, platform, http)], isClientKnown: false }
}

/** Whether a token endpoint is below this address. */
export async function isTokenEndpoint(http: DoctorHttp, authUrl: string): Promise<boolean> {
  const body = new URLSearchParams({ grant_type: 'authorization_code', code: madeUp() }).toString()
  const answer = await http.send(authUrl.replace(/\/+$/, '') + TOKEN_PATH, {
    method: 'POST',
    headers: FORM,
    body,
  })
  return (
    isResponse(answer) && typeof errorOf(answer) === 'string' && answer.status < 500 && !isMissing(answer)
  )
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const madeUp = () => `doctor-check-${randomBytes(16).toString('hex')}`

/** The request that the app sends to exchange a code, with a code that was never issued. */
async function codeExchange(platform: Platform): Promise<Request> {
  let sent: Request = {}
  const recorder = {
    send: async ({ headers = {}, body }: HttpRequest) => {
      sent = { method: 'POST', headers, body: String(body) }
      throw new Error('recorded instead of sent')
    },
    close: async () => {},
  }
  const callbackUrl = new URL(redirectUrls(platform.baseUrl)[1] ?? '')
  callbackUrl.search = new URLSearchParams({ code: madeUp(), state: 'doctor-check' }).toString()
  await createOAuth({ ...platform, http: recorder })
    .exchangeCode({
      callbackUrl,
      bxcontext: 'doctor-check',
      state: 'doctor-check',
      codeVerifier: randomCodeVerifier(),
    })
    .catch(() => {})
  return sent
}

/** `invalid_grant` alone proves nothing: some servers look at the code before they look at the client. */
function provenBy(answer: Response, withWrongSecret: Answer, url: string): TokenEndpointCheck {
  if (isResponse(withWrongSecret) && withWrongSecret.status < 500 && !isSameAnswer(answer, withWrongSecret)) {
    const text = `PLATFORM_CLIENT_ID, PLATFORM_CLIENT_SECRET: ${url} accepts them, and refuses a wrong secret`
    return { findings: [ok('token', text)], isClientKnown: true }
  }
  const text = `PLATFORM_CLIENT_SECRET: ${url} answers a wrong secret like yours (invalid_grant), so neither the client id nor the secret is proven. Connect an account to be sure`
  return { findings: [warning('token.not-proven', text, { setting: 'PLATFORM_CLIENT_SECRET' })] }
}

/** Finds out why the exchange was rejected by sending it in other ways. */
async function explain(
  answer: Response,
  exchange: (changes?: Partial<Platform>) => Promise<Answer>,
  url: string,
  platform: Platform,
  http: DoctorHttp,
): Promise<Finding> {
  const said = describe(answer)
  const used = platform.tokenEndpointAuthMethod
  const other = used === 'client_secret_post' ? 'client_secret_basic' : 'client_secret_post'
  if (isProof(await exchange({ tokenEndpointAuthMethod: other }))) {
    const setting = 'PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD'
    const text = `${setting}: ${url} refuses ${used} (${said}) and accepts ${other}. Set ${setting}=${other}`
    return failure('token.auth-method', text, { setting, value: other })
  }
  if (isProof(await http.send(url, await asJson(platform)))) {
    const text = `${SETTING}: ${url} refuses a form (${said}) and accepts JSON. Change tokenRequest in src/connect/platform/oauth.ts`
    return failure('token.body', text, { setting: SETTING })
  }
  const error = errorOf(answer)
  if (error === 'invalid_client' || error === 'unauthorized_client' || answer.status === 401) {
    const isIdKnown = !isSameAnswer(answer, await exchange({ clientId: madeUp() }))
    if (isIdKnown) {
      const text = `PLATFORM_CLIENT_SECRET: ${url} knows the client id and refuses the secret (${said}). Enter the secret again, or ask the platform's support team for a new one`
      return failure('token.client-secret', text, { setting: 'PLATFORM_CLIENT_SECRET' })
    }
    const text = `PLATFORM_CLIENT_ID, PLATFORM_CLIENT_SECRET: ${url} refuses them (${said}); it does not say which. Compare both with your registration`
    return failure('token.client', text, { setting: 'PLATFORM_CLIENT_ID' })
  }
  if (error === undefined) {
    const text = `${SETTING}: ${url} answered a made-up code without an error of RFC 6749 (${said}), so the client id and the secret are not proven, and a revoked connection could not be recognized. Adapt tokenFailure in src/connect/platform/oauth.ts`
    return warning('token.error-format', text, { setting: SETTING })
  }
  const text = `${SETTING}: ${url} answered a made-up code with ${said} instead of invalid_grant. Compare the token request in docs/assumptions.md with the platform's documentation`
  return failure('token.rejected', text, { setting: SETTING })
}

const isProof = (answer: Answer) => isResponse(answer) && errorOf(answer) === 'invalid_grant'

async function asJson(platform: Platform): Promise<Request> {
  const { body } = await codeExchange({ ...platform, tokenEndpointAuthMethod: 'client_secret_post' })
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(new URLSearchParams(body))),
  }
}

/** A token endpoint answers with an error code in JSON; a web server with a page, a redirect or a success. */
function isMissing(answer: Response): boolean {
  if (OAUTH_ERRORS.test(errorOf(answer) ?? '')) return false
  if ([404, 405, 410, 501].includes(answer.status) || answer.status < 400) return true
  return answer.status < 500 && /html/i.test(answer.contentType) && ![401, 429].includes(answer.status)
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
  return error ? `${answer.status} ${error.slice(0, 60)}` : `${answer.status}${excerptOf(answer)}`
}
