import { randomCodeVerifier, redirectUrls } from '../../../connect/index.ts'
import type { Finding } from '../../../web/kit.ts'
import {
  type Answer,
  excerptOf,
  isMissing,
  isOutage,
  isResponse,
  isSameAnswer,
  plain,
  type Response,
} from '../answers.ts'
import { madeUp } from '../client.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import { describeAccepted, isAccepted, oauthError, type Refused, refusedIn } from './refusal.ts'
import { discover, oauthOf, type Target } from './target.ts'

const SETTING = 'PLATFORM_AUTH_URL'

export interface ConsentPageCheck {
  findings: Finding[]
  /** Whether the page accepts our client id and refuses a made-up one; undefined if that could not be told. */
  isClientKnown?: boolean
}

/** A consent page that answered. */
interface Page {
  answer: Response
  /** How it answers a client id that nobody has. */
  madeUpClient: Answer
  address: string
  target: Target
  redirectUri: string
  /** What the token endpoint said about the client id and the secret. */
  isClientKnown: boolean | undefined
}

/**
 * Opens the consent page as a browser without a login does. `isClientKnown`: what the token endpoint said about the client
 * id and the secret.
 */
export async function checkConsentPage(
  target: Target,
  isClientKnown: boolean | undefined,
): Promise<ConsentPageCheck> {
  const [, redirectUri] = redirectUrls(target.baseUrl)
  const answer = await open(target)
  const address = target.authUrl + target.authorizePath
  if (!isResponse(answer)) return { findings: [noAnswer(SETTING, address, answer)] }
  if (isOutage(answer))
    return { findings: [unavailable('consent.unavailable', SETTING, address, answer.status)] }
  const madeUpClient = await open({ ...target, clientId: madeUp() })
  const page: Page = { answer, madeUpClient, address, target, redirectUri, isClientKnown }
  if (!isAccepted(answer)) return { findings: [await explain(page)] }
  const what = describeAccepted(answer, address, target.baseUrl)
  if (await refusesMadeUpClient(page)) {
    const text = `PLATFORM_AUTH_URL, PLATFORM_CLIENT_ID: ${address} ${what}, and refuses an unknown client`
    return { findings: [ok('consent', text), ...(await withoutPkce(page))], isClientKnown: true }
  }
  if (isSameAnswer(answer, await openMissing(target))) {
    const text = `${address} ${what}, and so does any other path there, so this may not be the consent page. Open it in a browser and check the path`
    return { findings: [warning('consent.not-proven', 'PLATFORM_AUTHORIZE_PATH', text)] }
  }
  if (what === 'is a page') {
    const text = `${address} shows the same page for any client id (${answer.status}${excerptOf(answer)}), so neither the client id nor the redirect url is proven. Open it by connecting an account`
    return { findings: [warning('consent.not-proven', 'PLATFORM_CLIENT_ID', text)] }
  }
  const text = `PLATFORM_AUTH_URL: ${address} ${what} for any client id, so whether it accepts ours shows only after that`
  return { findings: [ok('consent', text)] }
}

/** Opens the page that these settings lead to, up to the redirect to this app. */
function open(target: Target, redirectUri?: string): Promise<Answer> {
  const [, registered] = redirectUrls(target.baseUrl)
  const flow = { bxcontext: 'doctor-check', state: madeUp(), codeVerifier: randomCodeVerifier() }
  const url = oauthOf(target).authorizationUrl({ ...flow, redirectUri: redirectUri ?? registered })
  return target.client.open(url, registered)
}

const openMissing = (target: Target) => open({ ...target, authorizePath: '/doctor-check-no-such-page' })

/** Whether the page refuses a made-up client, or at least answers it otherwise, which counts only if its answers are stable. */
async function refusesMadeUpClient({ answer, madeUpClient, target }: Page): Promise<boolean> {
  if (!isResponse(madeUpClient) || isOutage(madeUpClient)) return false
  if (!isAccepted(madeUpClient)) return true
  return !isSameAnswer(answer, madeUpClient) && isSameAnswer(answer, await open(target))
}

/** Without PKCE, an attacker who sees the code may use it (RFC 9700 section 2.1.1). */
async function withoutPkce({ address, target }: Page): Promise<Finding[]> {
  if (target.pkce) return []
  const setting = 'PLATFORM_PKCE'
  const what = 'the code is not protected by PKCE, which'
  if (isAccepted(await open({ ...target, pkce: true })))
    return [warning('pkce.off', setting, `${what} ${address} accepts. Set ${setting}=true`, 'true')]
  const text = `${what} ${address} refuses. Ask the platform's support team to allow it`
  return [warning('pkce.off', setting, text)]
}

/** Finds out why the page is refused: one setting is changed at a time, until the page is accepted or answers as before. */
async function explain(page: Page): Promise<Finding> {
  // A page that refuses a parameter exists.
  const [refused, ...others] = refusedIn(page.answer)
  for (const cause of refused ? causesOf(refused, others) : [wrongPath, ...CAUSES]) {
    const finding = await cause(page)
    if (finding) return finding
  }
  if (refused) return refusal(refused, page)
  const text = `${page.address} refuses the consent url (${said(page)}). Compare it with the platform's documentation: ${SETTINGS}`
  return failure('consent.rejected', SETTING, text)
}

const SETTINGS =
  'PLATFORM_CLIENT_ID, BASE_URL, PLATFORM_SCOPES, PLATFORM_AUTHORIZE_PATH, PLATFORM_AUTHORIZE_PARAMS, PLATFORM_PKCE'

type Cause = (page: Page) => Promise<Finding | undefined>
const CAUSES: Cause[] = [pkce, scopes, redirectUriOrClient]

/** What to try if the page says what it refuses: all if it speaks of several things, and what finds a right value. */
function causesOf(refused: Refused, others: Refused[]): Cause[] {
  if (others.length > 0) return CAUSES
  return { pkce: [pkce], scope: [scopes], redirect: [], client: [] }[refused]
}

/** The finding for a parameter that the page refuses, without another value that it accepts. */
function refusal(refused: Refused, page: Page): Finding {
  const { address, target, redirectUri } = page
  switch (refused) {
    case 'redirect': {
      const text = `${address} refuses the redirect url ${redirectUri} (${said(page)}). Register it with the platform, or set BASE_URL (without it, PORT) to the origin that is registered`
      return failure('consent.redirect-uri', 'BASE_URL', text)
    }
    case 'scope': {
      const text = `${address} refuses the scopes ${target.scopes.join(' ')} (${said(page)}). Ask the platform's support team for their names`
      return failure('consent.scope', 'PLATFORM_SCOPES', text)
    }
    case 'client': {
      const text = `${address} does not know ${target.clientId} (${said(page)}). Compare it with your registration`
      return failure('consent.client-id', 'PLATFORM_CLIENT_ID', text)
    }
    case 'pkce': {
      const text = `${address} refuses the consent url and mentions PKCE (${said(page)}), with PLATFORM_PKCE=true and false alike. Ask the platform's support team which parameters it expects`
      return failure('consent.rejected', 'PLATFORM_PKCE', text)
    }
  }
}

/** Paths of consent pages that are in use elsewhere. */
const COMMON_PATHS = ['/authorize', '/oauth/authorize', '/oauth2/authorize', '/connect/authorize', '/auth']

async function wrongPath(page: Page): Promise<Finding | undefined> {
  const { answer, address, target } = page
  const control = await openMissing(target)
  if (!isMissing(answer) && !isSameAnswer(answer, control)) return undefined
  const setting = 'PLATFORM_AUTHORIZE_PATH'
  const what = `${address} does not exist (${said(page)})`
  const listed = (await discover(target))?.authorizationEndpoint
  const isBelow = listed?.startsWith(`${target.authUrl}/`)
  for (const value of isBelow && listed ? [listed.slice(target.authUrl.length)] : COMMON_PATHS) {
    if (value === target.authorizePath) continue
    const other = await open({ ...target, authorizePath: value })
    if (isResponse(other) && !isMissing(other) && !isSameAnswer(other, control))
      return failure('consent.not-found', setting, `${what}. Set ${setting}=${value}`, value)
  }
  const text = `${what}. Ask the platform's support team for the path of the consent page below ${SETTING}`
  return failure('consent.not-found', setting, text)
}

async function pkce(page: Page): Promise<Finding | undefined> {
  const { address, target } = page
  if (!isAccepted(await open({ ...target, pkce: !target.pkce }))) return undefined
  const value = String(!target.pkce)
  const [id, what] = target.pkce
    ? ['consent.pkce-rejected', 'refuses a PKCE challenge']
    : ['consent.pkce-required', 'requires a PKCE challenge']
  const text = `${address} ${what} (${said(page)}). Set PLATFORM_PKCE=${value}`
  return failure(id, 'PLATFORM_PKCE', text, value)
}

async function scopes(page: Page): Promise<Finding | undefined> {
  const { answer, address, target } = page
  const accepted: string[] = []
  if (target.scopes.length > 1)
    for (const scope of target.scopes)
      if (isAccepted(await open({ ...target, scopes: [scope] }))) accepted.push(scope)
  const refused = target.scopes.filter((scope) => !accepted.includes(scope)).join(' ')
  if (accepted.length > 0 && refused !== '') {
    const value = accepted.join(' ')
    const text = `${address} refuses the scope ${refused} (${said(page)}) and accepts ${value}. Correct its name, or ask the platform's support team for it`
    return failure('consent.scope', 'PLATFORM_SCOPES', text, value)
  }
  const isScope = oauthError(answer) === 'invalid_scope' || isAccepted(await open({ ...target, scopes: [] }))
  return isScope ? refusal('scope', page) : undefined
}

/** Both are refused on a page of the platform, because an unknown address must not get an answer (RFC 6749, 4.1.2.1). */
async function redirectUriOrClient(page: Page): Promise<Finding | undefined> {
  const { answer, madeUpClient, address, target, redirectUri, isClientKnown } = page
  const isLikeUnknownClient = isSameAnswer(answer, madeUpClient)
  const unregistered = await open(target, `${target.baseUrl}/doctor-check/unregistered`)
  const isLikeUnregistered = isSameAnswer(answer, unregistered)
  if (isLikeUnknownClient && isLikeUnregistered && isClientKnown === undefined) {
    const text = `${address} refuses the client id or the redirect url ${redirectUri}; it does not say which (${said(page)}). Compare both with your registration`
    return failure('consent.rejected', 'PLATFORM_CLIENT_ID, BASE_URL', text)
  }
  if (isLikeUnknownClient && !(isLikeUnregistered && isClientKnown)) return refusal('client', page)
  return isLikeUnregistered ? refusal('redirect', page) : undefined
}

/** What the page says of its refusal: the error that it redirects with, or the beginning of its text. */
function said({ answer }: Page): string {
  const error = oauthError(answer)
  if (!error) return `${answer.status}${excerptOf(answer)}`
  const description = answer.location?.searchParams.get('error_description')
  return plain(description ? `${error}: ${description}` : error).slice(0, 160)
}
