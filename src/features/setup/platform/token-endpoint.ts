import { randomCodeVerifier, redirectUrls } from '../../../connect/index.ts'
import type { Finding } from '../../../web/feature-api.ts'
import { type Answer, isOutage, isResponse, isSameAnswer, oauthErrorOf, type Response } from '../answers.ts'
import { madeUp } from '../client.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import { answerOf, type Metadata, type Target } from './target.ts'

const SETTING = 'PLATFORM_AUTH_URL'
const CREDENTIALS = 'PLATFORM_CLIENT_ID, PLATFORM_CLIENT_SECRET'
const CONTRACT = 'src/connect/platform/contract.ts'

/** Checks the token endpoint with a made-up code and our credentials, unless the metadata names another endpoint. */
export async function checkTokenEndpoint(target: Target, metadata: Metadata | undefined): Promise<Finding> {
  const url = urlOf(target)
  if (metadata?.isOfIssuer && metadata.tokenEndpoint !== url) return notFound(target, '', metadata)
  const answer = await exchange(target)
  if (!isResponse(answer)) return noAnswer(SETTING, url, answer.error)
  if (isOutage(answer)) return unavailable('token.unavailable', SETTING, url, answer.status)
  switch (await judge(target, answer)) {
    case 'accepted':
      return ok('token', `${CREDENTIALS}: ${url} accepts them, and refuses a made-up secret`)
    case 'refused': {
      const text = `${url} refuses them (invalid_client); it does not say which. Compare both with your registration`
      return (await otherAuthMethod(target)) ?? failure('token.client', CREDENTIALS, text)
    }
    case 'not proven':
      return notProven(target, answer, metadata)
  }
}

/** The finding that replaces `token.client` if the consent page knows the client id, because then the secret is wrong. */
export function wrongSecret(target: Target): Finding {
  const text = `${urlOf(target)} refuses the secret (invalid_client); the consent page knows the client id. Enter the secret again, or ask the platform's support team for a new one`
  return failure('token.client-secret', 'PLATFORM_CLIENT_SECRET', text)
}

const urlOf = ({ authUrl, platform }: Target) => authUrl + platform.tokenPath

/** Sends a code that was never issued, exactly as the app exchanges a code. */
function exchange(target: Target): Promise<Answer> {
  const redirectUri = redirectUrls(target.baseUrl)[1]
  const flow = { code: madeUp(), iss: undefined, redirectUri, codeVerifier: randomCodeVerifier() }
  return answerOf(target, (oauth) => oauth.exchangeCode({ ...flow, bxcontext: 'doctor-check' }))
}

/**
 * Judges our client id and secret by the answer to a code that was never issued (RFC 6749 section 5.2). `refused`: the error is
 * exactly `invalid_client`. `accepted`: it is `invalid_grant`, and a made-up secret is refused. `not proven`: all else, because
 * many servers check the code first.
 */
async function judge(target: Target, answer: Answer): Promise<'accepted' | 'refused' | 'not proven'> {
  const error = oauthErrorOf(answer)
  if (error === 'invalid_client') return 'refused'
  if (error !== 'invalid_grant') return 'not proven'
  const twin = oauthErrorOf(await exchange({ ...target, clientSecret: madeUp() }))
  return /^(invalid_client|unauthorized_client|access_denied)$/.test(twin ?? '') ? 'accepted' : 'not proven'
}

/** The finding if the endpoint accepts the client id and secret by the other authentication method; otherwise undefined. */
async function otherAuthMethod(target: Target): Promise<Finding | undefined> {
  const used = target.tokenEndpointAuthMethod
  const other = used === 'client_secret_post' ? 'client_secret_basic' : 'client_secret_post'
  const inOtherWay = { ...target, tokenEndpointAuthMethod: other } as const
  if ((await judge(inOtherWay, await exchange(inOtherWay))) !== 'accepted') return undefined
  const setting = 'PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD'
  const text = `${urlOf(target)} refuses ${used} (invalid_client) and accepts ${other}. Set ${setting}=${other}`
  return failure('token.auth-method', setting, text, other)
}

/** The finding for an answer that neither accepts nor refuses our credentials. A made-up code should result in `invalid_grant`. */
async function notProven(target: Target, answer: Response, metadata: Metadata | undefined): Promise<Finding> {
  const { status, location } = answer
  const url = urlOf(target)
  const error = oauthErrorOf(answer)
  if (error === 'invalid_grant') {
    const text = `${url} does not refuse a made-up secret, so neither the client id nor the secret is proven. Connect a business to be sure`
    return warning('token.not-proven', 'PLATFORM_CLIENT_SECRET', text)
  }
  const to = location ? `, a redirect to ${location.origin}${location.pathname}` : ''
  const said = error ?? `${status}${to}, without an error of RFC 6749`
  const madeUpPath = { ...target.platform, tokenPath: '/doctor-check-no-such-path' }
  const isTwin = async () => isSameAnswer(answer, await exchange({ ...target, platform: madeUpPath }))
  const isElsewhere = metadata !== undefined && metadata.tokenEndpoint !== url
  if (error === undefined && (isElsewhere || status < 400 || (await isTwin())))
    return notFound(target, ` (${said})`, metadata)
  const text = `${url} answered a made-up code with ${said}, instead of invalid_grant. Connect a business, and compare the token request in docs/assumptions.md with the platform's documentation`
  return warning('token.rejected', SETTING, text)
}

/** The finding that the address is not the token endpoint. `said`: a description of the answer. */
function notFound(target: Target, said: string, metadata: Metadata | undefined): Finding {
  const { tokenPath } = target.platform
  const where = metadata
    ? `The server's metadata names ${metadata.tokenEndpoint}`
    : `Ask the platform's support team for its address`
  const text = `${urlOf(target)} is not the token endpoint${said}. ${where}. ${SETTING} and \`tokenPath\` in ${CONTRACT} (${tokenPath}) must together be this address`
  return failure('token.not-found', SETTING, text)
}
