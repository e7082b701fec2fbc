import {
  type Answer,
  excerptOf,
  isHtml,
  isOutage,
  isResponse,
  isSameAnswer,
  type Response,
  visibleText,
} from '../answers.ts'

/** What a refusal is about. */
export type Refused = 'redirect' | 'scope' | 'pkce' | 'client'

const WORDS: [Refused, RegExp][] = [
  ['pkce', /\bpkce\b|code[ _]?(challenge|verifier)/i],
  ['redirect', /redirect[ _-]?ur[il]|return[ _-]?(ur[il]|address)|callback[ _-]?ur[il]/i],
  ['scope', /\bscopes?\b|invalid_scope/i],
  ['client', /client[ _-]?id|(invalid|unauthorized|unknown)[ _]client|unknown application/i],
]

/** Errors that a page may name (RFC 6749 sections 4.1.2.1 and 5.2). */
const NAMES = /\b(invalid_client|invalid_redirect_uri|redirect_uri_mismatch|invalid_scope)\b/g

/**
 * Finds the parameters that an answer refuses: JSON mentions them in its texts, and a page names an error. Empty if there are none.
 * Whatever its status, an answer that refuses a parameter shows that its address exists.
 */
export function refusedIn(answer: Response): Refused[] {
  const text = isHtml(answer)
    ? (visibleText(answer.text).match(NAMES) ?? []).join('\n')
    : textsIn(answer.json)
  return WORDS.flatMap(([refused, words]) => (words.test(text) ? [refused] : []))
}

function textsIn(json: unknown): string {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return ''
  return Object.values(json)
    .flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : [value]))
    .filter((value) => typeof value === 'string')
    .join('\n')
}

/** Errors of a platform that works, but on which no user is logged in (OpenID Connect Core, section 3.1.2.6). */
const NEEDS_PERSON =
  /^(access_denied|login_required|interaction_required|consent_required|account_selection_required)$/

/** The error in a redirect; some servers call the parameter `authError` or similar. */
export function oauthError({ location }: Response): string | undefined {
  const parameters = [...(location?.searchParams ?? [])]
  const [, error] =
    parameters.find(([name]) => name === 'error') ?? parameters.find(([name]) => /error/i.test(name)) ?? []
  return error
}

/** Whether a page of the platform appears or asks for a login, as far as a browser without a login can see. */
export function isAccepted(answer: Answer): boolean {
  if (!isResponse(answer)) return false
  const error = oauthError(answer)
  if (error !== undefined) return NEEDS_PERSON.test(error)
  if (answer.json !== undefined || refusedIn(answer).length > 0) return false
  // Some servers show their login page with 401.
  const isLogin = answer.status === 401 && isHtml(answer)
  return (answer.status >= 200 && answer.status < 300) || isLogin || answer.location !== undefined
}

/** What a browser would see of a page that is accepted. `address`: the address that was opened, without its query. */
export function describeAccepted(answer: Response, address: string, baseUrl: string): string {
  const { location, url } = answer
  // Such a platform did not ask for a login here, so what happens in a browser depends on the user's own login.
  if (location?.origin === baseUrl) return 'sends the browser straight back to this app'
  if (location) return `asks for a login at ${location.host}`
  // Some servers show their errors as a page with 200, so a person has to read what it says.
  return url.origin + url.pathname === address ? `is a page${excerptOf(answer)}` : 'asks for a login'
}

/**
 * Whether a page proves a value of ours: it accepts the value, and refuses a made-up twin or shows another page for the twin.
 * `open` opens the page with our value or with the twin. The other page counts only if our page is the same a second time, and if
 * the other page does not just repeat the made-up value.
 */
export async function isProven<T>(open: (target: T) => Promise<Answer>, ours: T, twin: T): Promise<boolean> {
  const [answer, other] = [await open(ours), await open(twin)]
  if (!isAccepted(answer) || !isResponse(other) || isOutage(other)) return false
  if (!isAccepted(other)) return true
  const shown = `${visibleText(other.text)} ${other.location}`
  if (isSameAnswer(answer, other) || shown.includes('doctor-check-')) return false
  return isSameAnswer(answer, await open(ours))
}
