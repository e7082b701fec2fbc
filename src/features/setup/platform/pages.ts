/** Checks the platform's two pages in a connect flow, as a browser that is not logged in sees them. */
import { randomCodeVerifier, redirectUrls } from '../../../connect/index.ts'
import type { Finding } from '../../../web/feature-api.ts'
import {
  type Answer,
  isHtml,
  isOutage,
  isResponse,
  isSameAnswer,
  oauthErrorOf,
  quoteOf,
  type Response,
} from '../answers.ts'
import { madeUp } from '../client.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import { oauthOf, type Target } from './target.ts'

/** One of our values in the address of a page. */
interface Part {
  setting: string
  /** The description of the value, for use in a sentence. */
  what(ours: Target): string
  /** The finding if the page refuses the value, the OAuth errors for that, and the remedy. */
  refused: string
  errors: readonly string[]
  cure: string
  /** Our settings, each with a twin that replaces our value with a made-up value. */
  pairs(ours: Target): [Target, Target][]
}

interface Page {
  /** The settings for the page's address and path. */
  setting: string
  pathSetting: string
  id: 'start-page' | 'consent'
  parts: readonly Part[]
  urlOf(target: Target): URL
  /** The settings with a path that does not exist. */
  withoutPage(target: Target): Target
}

const CLIENT: Part = {
  setting: 'PLATFORM_CLIENT_ID',
  what: ({ clientId }) => `the client id ${clientId}`,
  refused: 'consent.client-id',
  errors: ['invalid_client', 'unauthorized_client'],
  cure: 'Compare it with your registration',
  pairs: (ours) => [[ours, { ...ours, clientId: madeUp() }]],
}

const redirect = (refused: string, place: 0 | 1): Part => ({
  setting: 'BASE_URL',
  what: ({ baseUrl }) => `the redirect url ${redirectUrls(baseUrl)[place]}`,
  refused,
  errors: ['invalid_redirect_uri', 'redirect_uri_mismatch'],
  cure: 'Register it with the platform, or change BASE_URL (or PORT, if BASE_URL is not set) to the origin that is registered',
  pairs: (ours) => [[ours, { ...ours, baseUrl: 'https://doctor-check-unregistered.invalid' }]],
})

const SCOPES: Part = {
  setting: 'PLATFORM_SCOPES',
  what: ({ scopes }) => `a scope of ${scopes.join(' ')}`,
  refused: 'consent.scope',
  errors: ['invalid_scope'],
  cure: "Ask the platform's support team for its name",
  // Checks one scope at a time, because many servers ignore an unknown scope among known scopes.
  pairs: (ours) =>
    ours.scopes.map((scope) => [
      { ...ours, scopes: [scope] },
      { ...ours, scopes: [madeUp()] },
    ]),
}

/** The page that starts the flow (specification 5.3.2). */
export const START_PAGE: Page = {
  setting: 'PLATFORM_APP_URL',
  pathSetting: 'PLATFORM_APP_URL',
  id: 'start-page',
  parts: [redirect('start-page.redirect-url', 0)],
  urlOf: (target) => oauthOf(target).startUrl(redirectUrls(target.baseUrl)[0]),
  withoutPage: (target) => ({ ...target, appUrl: `${target.appUrl}/doctor-check-no-such-page` }),
}

/** The consent page. */
export const CONSENT_PAGE: Page = {
  setting: 'PLATFORM_AUTH_URL',
  pathSetting: 'PLATFORM_AUTHORIZE_PATH',
  id: 'consent',
  parts: [CLIENT, redirect('consent.redirect-uri', 1), SCOPES],
  urlOf(target) {
    const [, redirectUri] = redirectUrls(target.baseUrl)
    const flow = { bxcontext: 'doctor-check', state: madeUp(), codeVerifier: randomCodeVerifier() }
    return oauthOf(target).authorizationUrl({ ...flow, redirectUri })
  },
  withoutPage: (target) => ({ ...target, authorizePath: '/doctor-check-no-such-page' }),
}

/** Errors of a working platform when no user is logged in (OpenID Connect Core, section 3.1.2.6). */
const NEEDS_PERSON =
  /^(access_denied|login_required|interaction_required|consent_required|account_selection_required)$/

/** Whether a page of the platform appears or asks for a login. */
function isAccepted(answer: Answer): boolean {
  if (!isResponse(answer)) return false
  const { status, location, json } = answer
  const error = oauthErrorOf(answer) ?? location?.searchParams.get('error') ?? undefined
  if (error !== undefined) return NEEDS_PERSON.test(error)
  // Some servers show their login page with 401.
  const isLogin = status === 401 && isHtml(answer)
  return json === undefined && ((status >= 200 && status < 300) || isLogin || location !== undefined)
}

/**
 * Whether a page proves one of our values: it accepts the value, but refuses a made-up twin or shows a different page for it. A
 * different page counts only if our page stays the same when opened again.
 */
async function isProven({ urlOf }: Page, ours: Target, twin: Target): Promise<boolean> {
  const open = (target: Target) => target.client.open(urlOf(target))
  const [answer, other] = [await open(ours), await open(twin)]
  if (!isAccepted(answer) || !isResponse(other) || isOutage(other)) return false
  return !isAccepted(other) || (!isSameAnswer(answer, other) && isSameAnswer(answer, await open(ours)))
}

export interface PageCheck {
  findings: Finding[]
  /** The settings whose made-up twins got a different answer. */
  proven: string[]
}

/** The known facts about an opened page. */
interface Opened {
  page: Page
  target: Target
  /** Without the query. */
  address: string
  answer: Response
  listed: string | undefined
  /** Whether the metadata names another page. */
  isElsewhere: boolean
  isClientRefused: boolean
}

/**
 * Opens a page with our values, and with made-up twins of them. `listed`: the page that the server's own metadata names.
 * `isClientRefused`: whether the token endpoint refuses the client id or the secret.
 */
export async function checkPage(
  page: Page,
  target: Target,
  { listed, isClientRefused = false }: { listed?: string | undefined; isClientRefused?: boolean } = {},
): Promise<PageCheck> {
  const { id, setting, urlOf } = page
  const { origin, pathname } = urlOf(target)
  const address = origin + pathname
  const answer = await target.client.open(urlOf(target))
  const only = (finding: Finding): PageCheck => ({ findings: [finding], proven: [] })
  if (!isResponse(answer)) return only(noAnswer(setting, address, answer.error))
  if (isOutage(answer)) return only(unavailable(`${id}.unavailable`, setting, address, answer.status))
  const isElsewhere = listed !== undefined && listed !== address
  const opened: Opened = { page, target, address, answer, listed, isElsewhere, isClientRefused }
  return isAccepted(answer) ? prove(opened) : only(await explain(opened))
}

/** Finds the values that an accepted page proves: those whose made-up twins get a different answer. */
async function prove(opened: Opened): Promise<PageCheck> {
  const { page, target, address, answer, listed, isElsewhere } = opened
  const { id, setting, pathSetting, parts, withoutPage } = page
  const proven: string[] = []
  const unproven: string[] = []
  for (const part of parts) {
    let isPartProven = true
    for (const [ours, twin] of part.pairs(target)) isPartProven &&= await isProven(page, ours, twin)
    const list = isPartProven ? proven : unproven
    list.push(part.setting)
  }
  if (proven.length === 0 && isElsewhere) return { findings: [notFound(opened)], proven }
  const isPageProven =
    proven.length > 0 || listed === address || (await isProven(page, target, withoutPage(target)))
  if (!isPageProven) unproven.unshift(pathSetting)
  const what = `${address} answers ${quoteOf(answer)}`
  const findings: Finding[] = []
  if (isPageProven) findings.push(ok(id, `${[setting, ...proven].join(', ')}: ${what}`))
  if (unproven.length > 0) {
    const text = `${what}. It does not refuse made-up values, so these are not proven. Connect a business to be sure`
    findings.push(warning(`${id}.not-proven`, unproven.join(', '), text))
  }
  return { findings, proven }
}

/** Finds the reason why a page refuses our values, from its OAuth error or because a made-up twin gets the same answer. */
async function explain(opened: Opened): Promise<Finding> {
  const { page, target, address, answer, isElsewhere, isClientRefused } = opened
  const isSameAs = async (other: Target) => isSameAnswer(answer, await target.client.open(page.urlOf(other)))
  const error = oauthErrorOf(answer) ?? ''
  const refuses = (what: string) => `${address} refuses ${what} (${quoteOf(answer)})`
  const refused = ({ refused: id, setting, what, cure }: Part) =>
    failure(id, setting, `${refuses(what(target))}. ${cure}`)
  const named = page.parts.find(({ errors }) => errors.includes(error))
  if (named) return refused(named)
  // If the answer names an OAuth error, the page exists.
  if (error === '' && (isElsewhere || (await isSameAs(page.withoutPage(target))))) return notFound(opened)
  // A platform refuses a client or a redirect url on its own page, because it must not redirect to an unknown address (RFC 6749,
  // section 4.1.2.1), and a scope by a redirect, which names the error.
  const alike: Part[] = []
  for (const part of page.parts.filter((one) => one !== SCOPES))
    for (const [, twin] of part.pairs(target)) if (await isSameAs(twin)) alike.push(part)
  // If a page checks the client first, the twins of both values get the same answer.
  const [first, second] = alike
  if (first && (!second || isClientRefused)) return refused(first)
  const text = `${refuses('our values')}. Compare them with the platform's documentation: ${SETTINGS}`
  return failure(`${page.id}.rejected`, page.setting, text)
}

const SETTINGS =
  'PLATFORM_CLIENT_ID, BASE_URL, PLATFORM_SCOPES, PLATFORM_AUTHORIZE_PATH, PLATFORM_AUTHORIZE_PARAMS, PLATFORM_PKCE'

function notFound({ page, address, answer, listed }: Opened): Finding {
  const cure = listed
    ? `The server's metadata names ${listed}`
    : "Ask the platform's support team for its address"
  const text = `${address} is not the page of the platform that this app needs (${quoteOf(answer)}). ${cure}`
  return failure(`${page.id}.not-found`, page.pathSetting, text)
}
