import { type Answer, isHtml, isResponse, type Response } from '../answers.ts'

/** What a refusal in JSON is about. */
export type Refused = 'redirect' | 'scope' | 'pkce' | 'client'

const WORDS: [Refused, RegExp][] = [
  ['pkce', /\bpkce\b|code[ _]?(challenge|verifier)/i],
  ['redirect', /redirect[ _-]?ur[il]|return[ _-]?(ur[il]|address)|callback[ _-]?ur[il]/i],
  ['scope', /\bscopes?\b|invalid_scope/i],
  ['client', /client[ _-]?id|(invalid|unauthorized|unknown)[ _]client|unknown application/i],
]

/**
 * What an error in JSON speaks of, whatever its status: an address that refuses a parameter exists. Empty if it is no JSON
 * object, or speaks of none of these.
 */
export function refusedIn({ json }: Response): Refused[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return []
  const text = Object.values(json)
    .flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : [value]))
    .filter((value) => typeof value === 'string')
    .join('\n')
  return WORDS.flatMap(([refused, words]) => (words.test(text) ? [refused] : []))
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

/** Whether a page of the platform shows itself or asks for a login, as far as a browser without one sees it. */
export function isAccepted(answer: Answer): boolean {
  if (!isResponse(answer)) return false
  const error = oauthError(answer)
  if (error !== undefined) return NEEDS_PERSON.test(error)
  if (answer.json !== undefined) return false
  // Some servers show their login page with 401.
  const isLogin = answer.status === 401 && isHtml(answer)
  return (answer.status >= 200 && answer.status < 300) || isLogin || answer.location !== undefined
}

/** What a browser would see of a page that is accepted. `address`: where it was, without its query. */
export function describeAccepted({ location, url }: Response, address: string, baseUrl: string): string {
  // A platform that asks for no login without a browser: the user's own login decides.
  if (location?.origin === baseUrl) return 'sends the browser straight back to this app'
  if (location) return `asks for a login at ${location.host}`
  return url.origin + url.pathname === address ? 'is a page' : 'asks for a login'
}
