import { type HttpRequest, randomCodeVerifier, redirectUrls } from '../../../connect/index.ts'
import type { Finding } from '../../tools.ts'
import {
  type Answer,
  describe,
  errorOf,
  isMissing,
  isOAuthError,
  isOutage,
  isResponse,
  isSameAnswer,
  type Response,
} from '../answers.ts'
import { madeUp } from '../client.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import { judgeCredentials } from './credentials.ts'
import { type AddressCheck, type Metadata, requestOf, type Target } from './target.ts'

const SETTING = 'PLATFORM_AUTH_URL'
const CREDENTIALS = 'PLATFORM_CLIENT_ID, PLATFORM_CLIENT_SECRET'
const CONTRACT = 'src/connect/platform/contract.ts'

export interface TokenEndpointCheck extends AddressCheck {
  /** Whether the client id and the secret are right; undefined if that could not be told. */
  isClientKnown?: boolean
  /** What it means if the consent page knows the client id. */
  ifIdIsKnown?: Finding
}

/** Checks the token endpoint with a made-up code and our credentials, unless the metadata names another one. */
export async function checkTokenEndpoint(
  target: Target,
  metadata: Metadata | undefined,
): Promise<TokenEndpointCheck> {
  const url = tokenUrlOf(target)
  if (metadata?.isOfIssuer && metadata.tokenEndpoint !== url) return notFound(target, '', metadata)
  const answer = await exchange(target)
  if (!isResponse(answer)) return { finding: noAnswer(SETTING, url, answer) }
  if (isOutage(answer)) return { finding: unavailable('token.unavailable', SETTING, url, answer.status) }
  if (!isOAuthError(answer)) return withoutOAuthError(target, answer, metadata)
  const verdict = await judge(target, answer)
  if (verdict !== 'accepted' && errorOf(answer) !== 'invalid_grant') {
    const finding = await otherAuthMethod(target, answer)
    if (finding) return { finding }
  }
  if (verdict === 'refused') return refused(answer, url)
  const isClientKnown = verdict === 'accepted' && { isClientKnown: true }
  return { finding: codeFinding(answer, url, verdict === 'accepted'), ...isClientKnown }
}

const tokenUrlOf = ({ authUrl, platform }: Target) => authUrl + platform.tokenPath

/** Sends a code that was never issued, as the app exchanges one. */
async function exchange(target: Target): Promise<Answer> {
  const redirectUri = redirectUrls(target.baseUrl)[1]
  const flow = { code: madeUp(), iss: undefined, redirectUri, codeVerifier: randomCodeVerifier() }
  const request = requestOf(target, (oauth) => oauth.exchangeCode({ ...flow, bxcontext: 'doctor-check' }))
  return target.client.send(await request)
}

const judge = (target: Target, answer: Answer) =>
  judgeCredentials(answer, () => exchange({ ...target, clientSecret: madeUp() }))

/** What the error says about the code, which only `invalid_grant` refuses as the app expects. */
function codeFinding(answer: Response, url: string, isAccepted: boolean): Finding {
  const error = errorOf(answer)
  if (error === 'invalid_grant') {
    if (isAccepted) return ok('token', `${CREDENTIALS}: ${url} accepts them, and refuses a made-up secret`)
    const text = `${url} does not refuse a made-up secret, so neither the client id nor the secret is proven. Connect an account to be sure`
    return warning('token.not-proven', 'PLATFORM_CLIENT_SECRET', text)
  }
  const proven = isAccepted ? '. It accepts the client id and the secret' : ''
  const text = `${url} answered a made-up code with ${describe(answer)} instead of invalid_grant${proven}. Connect an account, or compare the token request in docs/assumptions.md with the platform's documentation`
  // Some servers check the form of a code first.
  return (error === 'invalid_request' ? warning : failure)('token.rejected', SETTING, text)
}

/** Other errors than those of RFC 6749: there is no token endpoint, or one with errors of its own. */
async function withoutOAuthError(
  target: Target,
  answer: Response,
  metadata: Metadata | undefined,
): Promise<TokenEndpointCheck> {
  const { client, platform } = target
  const url = tokenUrlOf(target)
  const location = answer.location && answer.location.origin + answer.location.pathname
  const said = `${describe(answer)}${location ? `, a redirect to ${location}` : ''}`
  if (metadata && metadata.tokenEndpoint !== url) return notFound(target, ` (${said})`, metadata)
  if (location && (await isTokenEndpointAt(client, location)))
    return notFound(target, ` (${said})`, { tokenEndpoint: location })
  const twin = () =>
    exchange({ ...target, platform: { ...platform, tokenPath: '/doctor-check-no-such-path' } })
  if (isMissing(answer) || answer.status < 400 || isSameAnswer(answer, await twin()))
    return notFound(target, ` (${said})`, undefined)
  const text = `${url} answered a made-up code without an error of RFC 6749 (${said}), so the client id and the secret are not proven, and a revoked connection is noticed only once the API refuses its token as well. To notice it sooner, adapt tokenFailure in src/connect/platform/token-answer.ts`
  return { finding: warning('token.error-format', SETTING, text) }
}

/** `said`: what the answer was. `place`: where the server's metadata or a redirect has the token endpoint. */
function notFound(
  { authUrl, platform: { tokenPath } }: Target,
  said: string,
  place: Metadata | { tokenEndpoint: string } | undefined,
): TokenEndpointCheck {
  const finding = (cure: string, value?: string) =>
    failure(
      'token.not-found',
      SETTING,
      `${authUrl}${tokenPath} is not the token endpoint${said}. ${cure}`,
      value,
    )
  if (!place) {
    const cure = `Check the address: it is the part before ${tokenPath}, which is \`tokenPath\` in ${CONTRACT}`
    return { finding: finding(cure), isWrong: true }
  }
  const { tokenEndpoint } = place
  const base = tokenEndpoint.slice(0, -tokenPath.length)
  if (base + tokenPath === tokenEndpoint)
    return { finding: finding(`Set ${SETTING}=${base}`, base), isWrong: true }
  const source = 'isOfIssuer' in place ? "The server's metadata names" : 'There is a token endpoint at'
  const isBelow = tokenEndpoint.startsWith(`${authUrl}/`)
  const root = isBelow ? authUrl : new URL(tokenEndpoint).origin
  const change = `Change \`tokenPath\` in ${CONTRACT} to '${tokenEndpoint.slice(root.length)}'`
  const cure = isBelow ? change : `${change}, and set ${SETTING}=${root}`
  return { finding: finding(`${source} ${tokenEndpoint}. ${cure}`), isWrong: !isBelow }
}

/** Whether the token endpoint is there. */
export const isTokenEndpoint = (target: Target): Promise<boolean> =>
  isTokenEndpointAt(target.client, tokenUrlOf(target))

/** Whether a made-up code gets an error of a token endpoint there. */
async function isTokenEndpointAt(client: Target['client'], url: string): Promise<boolean> {
  const request: HttpRequest = {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'authorization_code', code: madeUp() }).toString(),
  }
  return isOAuthError(await client.send(request))
}

/** Whether the endpoint takes the client id and the secret in the other way. */
async function otherAuthMethod(target: Target, answer: Response): Promise<Finding | undefined> {
  const used = target.tokenEndpointAuthMethod
  const other = used === 'client_secret_post' ? 'client_secret_basic' : 'client_secret_post'
  const inOtherWay = { ...target, tokenEndpointAuthMethod: other } as const
  if ((await judge(inOtherWay, await exchange(inOtherWay))) !== 'accepted') return undefined
  const setting = 'PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD'
  const text = `${tokenUrlOf(target)} refuses ${used} (${describe(answer)}) and accepts ${other}. Set ${setting}=${other}`
  return failure('token.auth-method', setting, text, other)
}

function refused(answer: Response, url: string): TokenEndpointCheck {
  const said = describe(answer)
  const wrongSecret = `${url} refuses the secret (${said}); the consent page knows the client id. Enter the secret again, or ask the platform's support team for a new one`
  const text = `${url} refuses them (${said}); it does not say which. Compare both with your registration`
  return {
    finding: failure('token.client', CREDENTIALS, text),
    isClientKnown: false,
    ifIdIsKnown: failure('token.client-secret', 'PLATFORM_CLIENT_SECRET', wrongSecret),
  }
}
