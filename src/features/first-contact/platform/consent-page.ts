import { randomCodeVerifier, redirectUrls } from '../../../connect/index.ts'
import type { Finding } from '../../tools.ts'
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
  /** Whether the page tells our client id from a made-up one; undefined if that could not be told. */
  isClientKnown?: boolean
}

/** A consent page that answered. */
interface Page {
  answer: Response
  address: string
  target: Target
  metadata: Metadata | undefined
  /** What the token endpoint said about the client id and the secret. */
  isClientKnown: boolean | undefined
}

/** What the consent url has of ours, each with made-up twins: pairs of settings that differ in one value. */
const PARTS: readonly [setting: string, what: string, pairs: (ours: Target) => [Target, Target][]][] = [
  ['PLATFORM_CLIENT_ID', 'client id', (ours) => [[ours, withMadeUpClient(ours)]]],
  ['BASE_URL', 'redirect url', (ours) => [[ours, unregistered(ours)]]],
  [
    'PLATFORM_SCOPES',
    'scope',
    // One at a time: many servers ignore an unknown scope beside others.
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
  isClientKnown: boolean | undefined,
): Promise<ConsentPageCheck> {
  const answer = await open(target)
  const address = target.authUrl + target.authorizePath
  if (!isResponse(answer)) return { findings: [noAnswer(SETTING, address, answer)] }
  if (isOutage(answer))
    return { findings: [unavailable('consent.unavailable', SETTING, address, answer.status)] }
  const page: Page = { answer, address, target, metadata, isClientKnown }
  return isAccepted(answer) ? prove(page) : { findings: [await explain(page)] }
}

/** Opens the page that these settings lead to, up to the redirect to this app. */
function open(target: Target): Promise<Answer> {
  const [, redirectUri] = redirectUrls(target.baseUrl)
  const flow = { bxcontext: 'doctor-check', state: madeUp(), codeVerifier: randomCodeVerifier() }
  return target.client.open(oauthOf(target).authorizationUrl({ ...flow, redirectUri }), redirectUri)
}

/** What an accepted page proves: the values whose made-up twins it answers otherwise. */
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
  if (!isClientKnown && isNamedElsewhere(page)) return { findings: [notFound(page)] }
  const isPathProven =
    isClientKnown || metadata?.isOfIssuer || (await isProven(open, target, missing(target)))
  if (!isPathProven) unproven.unshift(['PLATFORM_AUTHORIZE_PATH', 'path'])
  const what = `${address} ${describeAccepted(answer, address, target.baseUrl)}`
  const findings = isPathProven
    ? [
        ok(
          'consent',
          `${proven.join(', ')}: ${what}${isClientKnown ? ', and refuses an unknown client' : ''}`,
        ),
      ]
    : []
  const names = unproven.map(([, name]) => name).join(', ')
  const text = `${what}. What it answers to made-up values does not prove: ${names}. Connect an account to be sure`
  if (unproven.length > 0)
    findings.push(warning('consent.not-proven', unproven.map(([setting]) => setting).join(', '), text))
  // An attacker who sees the code may use it (RFC 9700 section 2.1.1).
  const cure = 'Set PLATFORM_PKCE=true. If the platform refuses it, ask its support team to allow it'
  if (!target.pkce)
    findings.push(warning('pkce.off', 'PLATFORM_PKCE', `the code is not protected by PKCE. ${cure}`))
  return isClientKnown ? { findings, isClientKnown } : { findings }
}

/** Whether the server's own metadata names another consent page. */
const isNamedElsewhere = ({ address, metadata }: Page): boolean =>
  metadata?.isOfIssuer === true && metadata.authorizationEndpoint !== address.replace(/\?.*/, '')

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
  const { address, target } = page
  switch (refused) {
    case 'redirect': {
      const text = `${address} refuses the redirect url ${redirectUrls(target.baseUrl)[1]} (${said(page)}). Register it with the platform, or set BASE_URL (without it, PORT) to the origin that is registered`
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

async function wrongPath(page: Page): Promise<Finding | undefined> {
  const { answer, target } = page
  const isMissingHere = isMissing(answer) || isSameAnswer(answer, await open(missing(target)))
  return isMissingHere || isNamedElsewhere(page) ? notFound(page) : undefined
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
  const { answer, target, isClientKnown } = page
  const isLikeUnknownClient = isSameAnswer(answer, await open(withMadeUpClient(target)))
  const isLikeUnregistered = isSameAnswer(answer, await open(unregistered(target)))
  // A page that looks at the client first answers both alike, and the token endpoint refuses this client, too.
  if (isLikeUnknownClient && (!isLikeUnregistered || isClientKnown === false)) return refusal('client', page)
  return isLikeUnregistered && !isLikeUnknownClient ? refusal('redirect', page) : undefined
}

/** What the page says of its refusal: the error that it redirects with, or the beginning of its text. */
function said({ answer }: Page): string {
  const error = oauthError(answer)
  if (!error) return `${answer.status}${excerptOf(answer)}`
  const description = answer.location?.searchParams.get('error_description')
  return plain(description ? `${error}: ${description}` : error).slice(0, 160)
}
