import { createOAuth, randomCodeVerifier, redirectUrls } from '../../../connect/index.ts'
import type { Finding } from '../../tools.ts'
import { failure, isResponse, noAnswer, ok, warning } from './finding.ts'
import {
  type Answer,
  type DoctorHttp,
  excerptOf,
  isOutage,
  isSameAnswer,
  madeUp,
  type Response,
} from './http.ts'
import { type Refused, refusedIn } from './refusal.ts'
import { type AddressCheck, discover, type Target } from './target.ts'

const SETTING = 'PLATFORM_AUTH_URL'

export interface ConsentCheck extends AddressCheck {
  /** Whether the page accepts our client id and refuses a made-up one; undefined if that could not be told. */
  isClientKnown?: boolean
}

/**
 * Opens the consent page as a browser without a login does. `isClientKnown`: what the token endpoint said about the client
 * id and the secret.
 */
export async function checkConsentPage(
  http: DoctorHttp,
  target: Target,
  isClientKnown: boolean | undefined,
): Promise<ConsentCheck> {
  const redirectUri = redirectUrls(target.baseUrl)[1] ?? ''
  const open = async (changes: Changes = {}) => {
    const url = await consentUrl({ ...target, ...changes }, changes.redirectUri ?? redirectUri)
    return http.open(url, redirectUri)
  }
  const answer = await open()
  const page = target.authUrl.replace(/\/+$/, '') + target.authorizePath
  if (!isResponse(answer)) return { findings: [noAnswer([SETTING], page, answer)] }
  if (isOutage(answer)) {
    const text = `${SETTING}: ${page} answered ${answer.status}, so it could not be checked. Try again later; if it persists, check the address`
    return { findings: [warning('consent.unavailable', text, { setting: SETTING })] }
  }
  const madeUpClient = await open({ clientId: madeUp() })
  const consent: Consent = { answer, madeUpClient, open, page, target, redirectUri, http, isClientKnown }
  if (!isAccepted(answer)) return { findings: [await explain(consent)] }
  const what = describeAccepted(answer, page)
  if (await isRefused(consent)) {
    const proven = ok(
      'consent',
      `PLATFORM_AUTH_URL, PLATFORM_CLIENT_ID: ${page} ${what}, and refuses an unknown client`,
    )
    return { findings: [proven, ...(await withoutPkce(consent))], isClientKnown: true }
  }
  const missing = await open({ authorizePath: '/doctor-check-no-such-page' })
  if (isSameAnswer(answer, missing)) {
    const text = `PLATFORM_AUTHORIZE_PATH: ${page} ${what}, and so does any other path there, so this may not be the consent page. Open it in a browser and check the path`
    return { findings: [warning('consent.not-proven', text, { setting: 'PLATFORM_AUTHORIZE_PATH' })] }
  }
  if (what === 'is a page') {
    const text = `PLATFORM_CLIENT_ID: ${page} shows the same page for any client id (${answer.status}${excerptOf(answer)}), so neither the client id nor the redirect url is proven. Open it by connecting an account`
    return { findings: [warning('consent.not-proven', text, { setting: 'PLATFORM_CLIENT_ID' })] }
  }
  const text = `PLATFORM_AUTH_URL: ${page} ${what} for any client id, so whether it accepts ours shows only after that`
  return { findings: [ok('consent', text)] }
}

type Changes = Partial<Target> & { redirectUri?: string }

interface Consent {
  answer: Response
  madeUpClient: Answer
  /** Opens the page with other settings. */
  open(changes: Changes): Promise<Answer>
  page: string
  target: Target
  redirectUri: string
  http: DoctorHttp
  isClientKnown: boolean | undefined
}

function consentUrl(target: Target, redirectUri: string): URL {
  const unused = { send: () => Promise.reject(new Error('not used')), close: async () => {} }
  return createOAuth({ ...target, http: unused }).authorizationUrl({
    bxcontext: 'doctor-check',
    state: madeUp(),
    codeVerifier: randomCodeVerifier(),
    redirectUri,
  })
}

/** Whether the page refuses a made-up client, or at least answers it otherwise, which counts only if its answers are stable. */
async function isRefused({ answer, madeUpClient, open }: Consent): Promise<boolean> {
  if (!isResponse(madeUpClient) || isOutage(madeUpClient)) return false
  if (!isAccepted(madeUpClient)) return true
  return !isSameAnswer(answer, madeUpClient) && isSameAnswer(answer, await open({}))
}

/** Without PKCE, an attacker who sees the code may use it (RFC 9700 section 2.1.1). */
async function withoutPkce({ open, page, target }: Consent): Promise<Finding[]> {
  if (target.pkce) return []
  const setting = 'PLATFORM_PKCE'
  if (isAccepted(await open({ pkce: true }))) {
    const text = `${setting}: the code is not protected by PKCE, which ${page} accepts. Set ${setting}=true`
    return [warning('pkce.off', text, { setting, value: 'true' })]
  }
  const text = `${setting}: the code is not protected by PKCE, which ${page} refuses. Ask the platform's support team to allow it`
  return [warning('pkce.off', text, { setting })]
}

/** Errors of a platform that works, but on which no user is logged in (OpenID Connect Core, section 3.1.2.6). */
const NEEDS_PERSON =
  /^(access_denied|login_required|interaction_required|consent_required|account_selection_required)$/

/** The error in a redirect; some servers call the parameter `authError` or similar. */
function oauthError({ location }: Response): string | undefined {
  const parameters = [...(location?.searchParams ?? [])]
  const [, error] =
    parameters.find(([name]) => name === 'error') ?? parameters.find(([name]) => /error/i.test(name)) ?? []
  return error
}

function isAccepted(answer: Answer): answer is Response {
  if (!isResponse(answer)) return false
  const error = oauthError(answer)
  if (error !== undefined) return NEEDS_PERSON.test(error)
  if (answer.json !== undefined) return false
  // Some servers show their login page with 401.
  const isLogin = answer.status === 401 && /html/i.test(answer.contentType)
  return (answer.status >= 200 && answer.status < 300) || isLogin || answer.location !== undefined
}

/** Finds out why the page is refused: one setting is changed at a time, until the page is accepted or answers as before. */
async function explain(consent: Consent): Promise<Finding> {
  const { answer, page } = consent
  // A page that refuses a parameter exists.
  const [refused, ...others] = refusedIn(answer)
  for (const cause of refused ? causesOf(refused, others) : [wrongPath, ...CAUSES]) {
    const finding = await cause(consent)
    if (finding) return finding
  }
  if (refused) return refusedFinding(refused, consent)
  const text = `PLATFORM_AUTH_URL: ${page} refuses the consent url (${describe(answer)}). Compare it with the platform's documentation: ${SETTINGS}`
  return failure('consent.rejected', text, { setting: SETTING })
}

const SETTINGS =
  'PLATFORM_CLIENT_ID, BASE_URL, PLATFORM_SCOPES, PLATFORM_AUTHORIZE_PATH, PLATFORM_AUTHORIZE_PARAMS, PLATFORM_PKCE'

type Cause = (consent: Consent) => Promise<Finding | undefined>
const CAUSES: Cause[] = [pkce, scopes, redirectUriOrClient, parameters]

/** What to try if the page says what it refuses: all if it speaks of several things, and what finds a right value. */
function causesOf(refused: Refused, others: Refused[]): Cause[] {
  if (others.length > 0) return CAUSES
  return { pkce: [pkce], scope: [scopes], redirect: [], client: [] }[refused]
}

/** For a refusal that no other settings end: what the page says of it. */
function refusedFinding(refused: Refused, { answer, page, target, redirectUri }: Consent): Finding {
  const said = describe(answer)
  const [id, setting, text] = {
    redirect: [
      'consent.redirect-uri',
      'BASE_URL',
      `${page} refuses the redirect url ${redirectUri} (${said}). Register it with the platform, or set BASE_URL (without it, PORT) to the origin that is registered`,
    ],
    scope: [
      'consent.scope',
      'PLATFORM_SCOPES',
      `${page} refuses the scopes ${target.scopes.join(' ')} (${said}). Ask the platform's support team for their names`,
    ],
    // The other value was refused as well.
    pkce: [
      'consent.rejected',
      'PLATFORM_PKCE',
      `${page} refuses the consent url and mentions PKCE (${said}), with PLATFORM_PKCE=true and false alike. Ask the platform's support team which parameters it expects`,
    ],
    client: [
      'consent.client-id',
      'PLATFORM_CLIENT_ID',
      `${page} does not know ${target.clientId} (${said}). Compare it with your registration`,
    ],
  }[refused] as [id: string, setting: string, text: string]
  return failure(id, `${setting}: ${text}`, { setting })
}

/** Paths of consent pages that are in use elsewhere. */
const COMMON_PATHS = ['/authorize', '/oauth/authorize', '/oauth2/authorize', '/connect/authorize', '/auth']

async function wrongPath({ answer, open, page, target, http }: Consent): Promise<Finding | undefined> {
  const missing = await open({ authorizePath: '/doctor-check-no-such-page' })
  if (![404, 405, 410].includes(answer.status) && !isSameAnswer(answer, missing)) return undefined
  const setting = 'PLATFORM_AUTHORIZE_PATH'
  const base = target.authUrl.replace(/\/+$/, '')
  const found = await discover(http, target.authUrl)
  const listed = found?.authorizationEndpoint
  const paths = listed?.startsWith(`${base}/`) ? [listed.slice(base.length)] : COMMON_PATHS
  for (const value of paths.filter((path) => path !== target.authorizePath)) {
    const other = await open({ authorizePath: value })
    if (!isResponse(other) || [404, 405, 410].includes(other.status) || isSameAnswer(other, missing)) continue
    const text = `${setting}: ${page} does not exist (${describe(answer)}). Set ${setting}=${value}`
    return failure('consent.not-found', text, { setting, value })
  }
  const text = `${setting}: ${page} does not exist (${describe(answer)}). Ask the platform's support team for the path of the consent page below ${SETTING}`
  return failure('consent.not-found', text, { setting })
}

async function pkce({ answer, open, page, target }: Consent): Promise<Finding | undefined> {
  if (!isAccepted(await open({ pkce: !target.pkce }))) return undefined
  const setting = 'PLATFORM_PKCE'
  const value = String(!target.pkce)
  const [id, what] = target.pkce
    ? ['consent.pkce-rejected', 'refuses a PKCE challenge']
    : ['consent.pkce-required', 'requires a PKCE challenge']
  return failure(id, `${setting}: ${page} ${what} (${describe(answer)}). Set ${setting}=${value}`, {
    setting,
    value,
  })
}

async function scopes({ answer, open, page, target }: Consent): Promise<Finding | undefined> {
  const setting = 'PLATFORM_SCOPES'
  const accepted: string[] = []
  if (target.scopes.length > 1)
    for (const scope of target.scopes) if (isAccepted(await open({ scopes: [scope] }))) accepted.push(scope)
  const refused = target.scopes.filter((scope) => !accepted.includes(scope)).join(' ')
  if (accepted.length > 0 && refused !== '') {
    const value = accepted.join(' ')
    const text = `${setting}: ${page} refuses the scope ${refused} (${describe(answer)}) and accepts ${value}. Correct its name, or ask the platform's support team for it`
    return failure('consent.scope', text, { setting, value })
  }
  if (oauthError(answer) !== 'invalid_scope' && !isAccepted(await open({ scopes: [] }))) return undefined
  const text = `${setting}: ${page} refuses the scopes ${target.scopes.join(' ')} (${describe(answer)}). Ask the platform's support team for their names`
  return failure('consent.scope', text, { setting })
}

/** Both are refused on a page of the platform, because an unknown address must not get an answer (RFC 6749, 4.1.2.1). */
async function redirectUriOrClient(consent: Consent): Promise<Finding | undefined> {
  const { answer, madeUpClient, open, page, target, redirectUri, isClientKnown } = consent
  const isLikeUnknownClient = isSameAnswer(answer, madeUpClient)
  const unregistered = await open({ redirectUri: `${target.baseUrl}/doctor-check/unregistered` })
  const isLikeUnregistered = isSameAnswer(answer, unregistered)
  if (isLikeUnknownClient && isLikeUnregistered && isClientKnown === undefined) {
    const text = `PLATFORM_CLIENT_ID, BASE_URL: ${page} refuses the client id or the redirect url ${redirectUri}; it does not say which (${describe(answer)}). Compare both with your registration`
    return failure('consent.rejected', text, { setting: 'PLATFORM_CLIENT_ID' })
  }
  if (isLikeUnknownClient && !(isLikeUnregistered && isClientKnown)) {
    const text = `PLATFORM_CLIENT_ID: ${page} does not know ${target.clientId} (${describe(answer)}). Compare it with your registration`
    return failure('consent.client-id', text, { setting: 'PLATFORM_CLIENT_ID' })
  }
  if (!isLikeUnregistered) return undefined
  const text = `BASE_URL: ${page} refuses the redirect url ${redirectUri} (${describe(answer)}). Register it with the platform, or set BASE_URL (without it, PORT) to the origin that is registered`
  return failure('consent.redirect-uri', text, { setting: 'BASE_URL' })
}

async function parameters({ answer, open, page, target }: Consent): Promise<Finding | undefined> {
  const setting = 'PLATFORM_AUTHORIZE_PARAMS'
  for (const name of ['audience', 'resource']) {
    const params = new URLSearchParams(target.authorizeParams)
    params.set(name, target.apiUrl)
    if (target.authorizeParams.has(name) || !isAccepted(await open({ authorizeParams: params }))) continue
    const value = params.toString()
    const text = `${setting}: ${page} requires the parameter ${name} (${describe(answer)}). Ask the platform's support team for its value; ${setting}=${value} is accepted`
    return failure('consent.parameters', text, { setting, value })
  }
  const said = `${answer.location?.searchParams.get('error_description') ?? ''} ${answer.text}`
  const [name] = /\b(audience|resource|prompt|tenant|realm)\b/i.exec(said) ?? []
  if (!name) return undefined
  if (target.authorizeParams.has(name.toLowerCase())) {
    const text = `${setting}: ${page} refuses the value of ${name} (${describe(answer)}). Correct it`
    return failure('consent.parameters', text, { setting })
  }
  const text = `${setting}: ${page} refuses the consent url and mentions ${name} (${describe(answer)}). Set ${setting}=${name.toLowerCase()}=… with the value from the platform's documentation`
  return failure('consent.parameters', text, { setting })
}

function describeAccepted({ location, url }: Response, page: string): string {
  if (location) return `asks for a login at ${location.host}`
  return url.href.startsWith(`${page}?`) ? 'is a page' : 'asks for a login'
}

function describe(answer: Response): string {
  const error = oauthError(answer)
  if (!error) return `${answer.status}${excerptOf(answer)}`
  const description = answer.location?.searchParams.get('error_description')
  const text = description ? `${error}: ${description}` : error
  return text
    .replace(/[\w-]{30,}/g, '…')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, 160)
}
