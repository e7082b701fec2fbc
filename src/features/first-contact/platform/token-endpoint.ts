import { randomCodeVerifier, redirectUrls } from '../../../connect/index.ts'
import type { Finding } from '../../../web/kit.ts'
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
import { type Metadata, requestOf, type Target } from './target.ts'

const SETTING = 'PLATFORM_AUTH_URL'
const CREDENTIALS = 'PLATFORM_CLIENT_ID, PLATFORM_CLIENT_SECRET'

/** Checks the token endpoint with a made-up code and our credentials, unless the metadata names another one. */
export async function checkTokenEndpoint(target: Target, metadata: Metadata | undefined): Promise<Finding> {
  const url = urlOf(target)
  if (metadata?.isOfIssuer && metadata.tokenEndpoint !== url) return notFound(target, '', metadata)
  const answer = await exchange(target)
  if (!isResponse(answer)) return noAnswer(SETTING, url, answer)
  if (isOutage(answer)) return unavailable('token.unavailable', SETTING, url, answer.status)
  if (!isOAuthError(answer)) return withoutOAuthError(target, answer, metadata)
  const verdict = await judge(target, answer)
  const isAboutCode = verdict === 'accepted' || errorOf(answer) === 'invalid_grant'
  const finding = isAboutCode ? undefined : await otherAuthMethod(target, answer)
  if (finding) return finding
  if (verdict !== 'refused') return codeFinding(answer, url, verdict === 'accepted')
  const text = `${url} refuses them (${describe(answer)}); it does not say which. Compare both with your registration`
  return failure('token.client', CREDENTIALS, text)
}

/** The finding in place of `token.client` if the consent page knows the client id: the secret is wrong. */
export function wrongSecret(target: Target): Finding {
  const text = `${urlOf(target)} refuses the secret (invalid_client); the consent page knows the client id. Enter the secret again, or ask the platform's support team for a new one`
  return failure('token.client-secret', 'PLATFORM_CLIENT_SECRET', text)
}

const urlOf = ({ authUrl, platform }: Target) => authUrl + platform.tokenPath

/** Sends a code that was never issued, in the same way as the app exchanges a code. */
async function exchange(target: Target): Promise<Answer> {
  const redirectUri = redirectUrls(target.baseUrl)[1]
  const flow = { code: madeUp(), iss: undefined, redirectUri, codeVerifier: randomCodeVerifier() }
  const request = requestOf(target, (oauth) => oauth.exchangeCode({ ...flow, bxcontext: 'doctor-check' }))
  return target.client.send(await request)
}

const judge = (target: Target, answer: Answer) =>
  judgeCredentials(answer, () => exchange({ ...target, clientSecret: madeUp() }))

/** The finding about the error for a made-up code, which the app expects to be `invalid_grant`. */
function codeFinding(answer: Response, url: string, isAccepted: boolean): Finding {
  const error = errorOf(answer)
  if (error === 'invalid_grant' && isAccepted)
    return ok('token', `${CREDENTIALS}: ${url} accepts them, and refuses a made-up secret`)
  if (error === 'invalid_grant') {
    const text = `${url} does not refuse a made-up secret, so neither the client id nor the secret is proven. Connect an account to be sure`
    return warning('token.not-proven', 'PLATFORM_CLIENT_SECRET', text)
  }
  const proven = isAccepted ? '. It accepts the client id and the secret' : ''
  const text = `${url} answered a made-up code with ${describe(answer)} instead of invalid_grant${proven}. Connect an account, or compare the token request in docs/assumptions.md with the platform's documentation`
  return warning('token.rejected', SETTING, text)
}

/** The finding if there is no error of RFC 6749: there is no token endpoint, or one with errors of its own. */
async function withoutOAuthError(
  target: Target,
  answer: Response,
  metadata: Metadata | undefined,
): Promise<Finding> {
  const { platform } = target
  const url = urlOf(target)
  const to = answer.location && `, a redirect to ${answer.location.origin}${answer.location.pathname}`
  const said = ` (${describe(answer)}${to ?? ''})`
  const twin = () =>
    exchange({ ...target, platform: { ...platform, tokenPath: '/doctor-check-no-such-path' } })
  const isElsewhere = metadata !== undefined && metadata.tokenEndpoint !== url
  if (isElsewhere || isMissing(answer) || answer.status < 400 || isSameAnswer(answer, await twin()))
    return notFound(target, said, metadata)
  const text = `${url} answered a made-up code without an error of RFC 6749${said}, so the client id and the secret are not proven. After a revocation, such an answer ends a connection only if the API refuses its token as well, or if it comes again later. To notice a revocation at once, adapt tokenFailure in src/connect/platform/token-answer.ts`
  return warning('token.error-format', SETTING, text)
}

const CONTRACT = 'src/connect/platform/contract.ts'

/** The finding that the address is not the token endpoint. `said`: what the answer was. */
function notFound(target: Target, said: string, metadata: Metadata | undefined): Finding {
  const { tokenPath } = target.platform
  const what = `${urlOf(target)} is not the token endpoint${said}`
  if (!metadata) {
    const cure = `Check the address: it is the part before ${tokenPath}, which is \`tokenPath\` in ${CONTRACT}`
    return failure('token.not-found', SETTING, `${what}. ${cure}`)
  }
  const { tokenEndpoint } = metadata
  if (tokenEndpoint.endsWith(tokenPath)) {
    const value = tokenEndpoint.slice(0, -tokenPath.length)
    return failure('token.not-found', SETTING, `${what}. Set ${SETTING}=${value}`, value)
  }
  const cure = `The server's metadata names ${tokenEndpoint}: ${SETTING} and \`tokenPath\` in ${CONTRACT} must together be this address`
  return failure('token.not-found', SETTING, `${what}. ${cure}`)
}

/** The finding if the endpoint accepts the client id and the secret by the other method; undefined if it does not. */
async function otherAuthMethod(target: Target, answer: Response): Promise<Finding | undefined> {
  const used = target.tokenEndpointAuthMethod
  const other = used === 'client_secret_post' ? 'client_secret_basic' : 'client_secret_post'
  const inOtherWay = { ...target, tokenEndpointAuthMethod: other } as const
  if ((await judge(inOtherWay, await exchange(inOtherWay))) !== 'accepted') return undefined
  const setting = 'PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD'
  const text = `${urlOf(target)} refuses ${used} (${describe(answer)}) and accepts ${other}. Set ${setting}=${other}`
  return failure('token.auth-method', setting, text, other)
}
