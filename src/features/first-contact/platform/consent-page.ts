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
import { describeAccepted, isAccepted, isProven, oauthError, type Refused, refusedIn } from './refusal.ts'
import { type Metadata, oauthOf, type Target, UNREGISTERED } from './target.ts'

const SETTING = 'PLATFORM_AUTH_URL'

export interface ConsentPageCheck {
  findings: Finding[]
  /** Whether the page tells our client id from a made-up one. */
  isClientKnown: boolean
}

/** A consent page that answered. */
interface Page {
  answer: Response
  address: string
  target: Target
  metadata: Metadata | undefined
  /** Whether the token endpoint refuses the client id or the secret. */
  isClientRefused: boolean
}

/** Our own values in the consent url. `pairs`: our settings, each with a twin that has a made-up value in place of ours. */
const PARTS: readonly [setting: string, what: string, pairs: (ours: Target) => [Target, Target][]][] = [
  ['PLATFORM_CLIENT_ID', 'client id', (ours) => [[ours, withMadeUpClient(ours)]]],
  ['BASE_URL', 'redirect url', (ours) => [[ours, unregistered(ours)]]],
  [
    'PLATFORM_SCOPES',
    'scope',
    // Tries one at a time, because many servers ignore an unknown scope beside others.
    (ours) =>
      ours.scopes.map((scope) => [
        { ...ours, scopes: [scope] },
        { ...ours, scopes: [madeUp()] },
      ]),
  ],
]
const withMadeUpClient = (ours: Target): Target => ({ ...ours, clientId: madeUp() })
const unregistered = (ours: Target): Target => ({ ...ours, baseUrl: UNREGISTERED })
const missing = (ours: Target): Target => ({ ...ours, authorizePath: '/doctor-check-no-such-page' })

/** Opens the consent page as a browser without a login does, with our values and with made-up twins of them. */
export async function checkConsentPage(
  target: Target,
  metadata: Metadata | undefined,
  isClientRefused: boolean,
): Promise<ConsentPageCheck> {
  const answer = await open(target)
  const address = target.authUrl + target.authorizePath
  if (!isResponse(answer)) return only(noAnswer(SETTING, address, answer))
  if (isOutage(answer)) return only(unavailable('consent.unavailable', SETTING, address, answer.status))
  const page: Page = { answer, address, target, metadata, isClientRefused }
  return isAccepted(answer) ? prove(page) : only(await explain(page))
}

const only = (finding: Finding): ConsentPageCheck => ({ findings: [finding], isClientKnown: false })

/** Opens the consent page with these settings, and stops at the redirect to this app. */
function open(target: Target): Promise<Answer> {
  const [, redirectUri] = redirectUrls(target.baseUrl)
  const flow = { bxcontext: 'doctor-check', state: madeUp(), codeVerifier: randomCodeVerifier() }
  return target.client.open(oauthOf(target).authorizationUrl({ ...flow, redirectUri }), redirectUri)
}

/** Finds out what an accepted page proves: the values whose made-up twins get another answer. */
async function prove(page: Page): Promise<ConsentPageCheck> {
  const { answer, address, target, metadata } = page
  const proven = [SETTING]
  const unproven: [setting: string, what: string][] = []
  for (const [setting, what, pairs] of PARTS) {
    let isPartProven = true
    for (const [ours, twin] of pairs(target)) isPartProven &&= await isProven(open, ours, twin)
    if (isPartProven) proven.push(setting)
    else unproven.push([setting, what])
  }
  const isClientKnown = proven.includes('PLATFORM_CLIENT_ID')
  if (!isClientKnown && isNamedElsewhere(page)) return only(notFound(page))
  const isPathProven =
    isClientKnown || metadata?.isOfIssuer || (await isProven(open, target, missing(target)))
  if (!isPathProven) unproven.unshift(['PLATFORM_AUTHORIZE_PATH', 'path'])
  const what = `${address} ${describeAccepted(answer, address, target.baseUrl)}`
  const findings: Finding[] = []
  const refuses = isClientKnown ? ', and refuses an unknown client' : ''
  if (isPathProven) findings.push(ok('consent', `${proven.join(', ')}: ${what}${refuses}`))
  if (unproven.length > 0) {
    const settings = unproven.map(([setting]) => setting).join(', ')
    const names = unproven.map(([, name]) => name).join(', ')
    const text = `${what}. It does not refuse made-up ones, so these are not proven: ${names}. Connect an account to be sure`
    findings.push(warning('consent.not-proven', settings, text))
  }
  // An attacker who sees the code may use it (RFC 9700 section 2.1.1).
  const text = 'the code is not protected by PKCE. Set PLATFORM_PKCE=true, if the platform accepts it'
  if (!target.pkce) findings.push(warning('pkce.off', 'PLATFORM_PKCE', text))
  return { findings, isClientKnown }
}

/** Whether the server's own metadata names another consent page. */
const isNamedElsewhere = ({ address, metadata }: Page): boolean =>
  metadata?.isOfIssuer === true && metadata.authorizationEndpoint !== address.replace(/\?.*/, '')

function refusal(refused: Refused, page: Page, value?: string): Finding {
  const { address, target } = page
  const finding = (id: string, setting: string, what: string, cure: string) => {
    const todo = value === undefined ? cure : `It accepts ${value}. Set ${setting}=${value}`
    return failure(id, setting, `${address} refuses ${what} (${said(page)}). ${todo}`, value)
  }
  const ask = "Ask the platform's support team"
  switch (refused) {
    case 'client': {
      const cure = 'Compare it with your registration'
      return finding('consent.client-id', 'PLATFORM_CLIENT_ID', `the client id ${target.clientId}`, cure)
    }
    case 'redirect': {
      const what = `the redirect url ${redirectUrls(target.baseUrl)[1]}`
      const cure =
        'Register it with the platform, or change BASE_URL (or PORT, if BASE_URL is not set) to the origin that is registered'
      return finding('consent.redirect-uri', 'BASE_URL', what, cure)
    }
    case 'scope': {
      const names = target.scopes.filter((scope) => !value?.split(' ').includes(scope)).join(' ')
      return finding('consent.scope', 'PLATFORM_SCOPES', `the scope ${names}`, `${ask} for its name`)
    }
    case 'pkce': {
      const id = target.pkce ? 'consent.pkce-rejected' : 'consent.pkce-required'
      const what = target.pkce ? 'a PKCE challenge' : 'a request without a PKCE challenge'
      return finding(id, 'PLATFORM_PKCE', what, `${ask} which parameters it expects`)
    }
  }
}

/** Finds out why the page refuses the request: it says so, it accepts another value, or it refuses a made-up one in the same way. */
async function explain(page: Page): Promise<Finding> {
  const { answer, address, target, isClientRefused } = page
  const isSameAs = async (other: Target) => isSameAnswer(answer, await open(other))
  const named = refusedIn(answer)
  const [sole] = named.length === 1 ? named : []
  // If a page refuses a parameter, it exists.
  const isMissingHere = named.length === 0 && (isMissing(answer) || isNamedElsewhere(page))
  if (isMissingHere || (named.length === 0 && (await isSameAs(missing(target))))) return notFound(page)
  if (sole === undefined || sole === 'pkce') {
    const pkce = !target.pkce
    if (isAccepted(await open({ ...target, pkce }))) return refusal('pkce', page, String(pkce))
  }
  if (sole === undefined || sole === 'scope') {
    const accepted = await acceptedScopes(target)
    if (accepted.length > 0) return refusal('scope', page, accepted.join(' '))
    if (isAccepted(await open({ ...target, scopes: [] }))) return refusal('scope', page)
  }
  if (sole) return refusal(sole, page)
  if (oauthError(answer) === 'invalid_scope') return refusal('scope', page)
  // A platform refuses both on its own page, because it must not redirect to an unknown address (RFC 6749, 4.1.2.1).
  const isLikeUnknownClient = await isSameAs(withMadeUpClient(target))
  const isLikeUnregistered = await isSameAs(unregistered(target))
  // A page that checks the client first gives both the same answer.
  if (isLikeUnknownClient && (!isLikeUnregistered || isClientRefused)) return refusal('client', page)
  if (isLikeUnregistered && !isLikeUnknownClient) return refusal('redirect', page)
  const text = `${address} refuses the consent url (${said(page)}). Compare it with the platform's documentation: ${SETTINGS}`
  return failure('consent.rejected', SETTING, text)
}

const SETTINGS =
  'PLATFORM_CLIENT_ID, BASE_URL, PLATFORM_SCOPES, PLATFORM_AUTHORIZE_PATH, PLATFORM_AUTHORIZE_PARAMS, PLATFORM_PKCE'

/** The scopes that the page accepts one at a time; none if it accepts all of them. */
async function acceptedScopes(target: Target): Promise<string[]> {
  const accepted: string[] = []
  for (const scope of target.scopes)
    if (isAccepted(await open({ ...target, scopes: [scope] }))) accepted.push(scope)
  return accepted.length < target.scopes.length ? accepted : []
}

function notFound(page: Page): Finding {
  const { address, target, metadata } = page
  const setting = 'PLATFORM_AUTHORIZE_PATH'
  const what = `${address} is not the consent page (${said(page)})`
  const listed = metadata?.authorizationEndpoint
  if (listed?.startsWith(`${target.authUrl}/`)) {
    const value = listed.slice(target.authUrl.length)
    return failure('consent.not-found', setting, `${what}. Set ${setting}=${value}`, value)
  }
  const cure = listed
    ? `The server's metadata names ${listed}`
    : `Ask the platform's support team for the path of the consent page below ${SETTING}`
  return failure('consent.not-found', setting, `${what}. ${cure}`)
}

/** What the page says of its refusal: the error that it redirects with, or the beginning of its text. */
function said({ answer }: Page): string {
  const error = oauthError(answer)
  if (!error) return `${answer.status}${excerptOf(answer)}`
  const description = answer.location?.searchParams.get('error_description')
  return plain(description ? `${error}: ${description}` : error).slice(0, 160)
}
