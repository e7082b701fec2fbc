import { type Platform, redirectUrls } from '../../../connect/index.ts'
import { failure, isResponse, noAnswer, ok, warning } from './finding.ts'
import { type DoctorHttp, excerptOf, isOutage, isSameAnswer, type Response } from './http.ts'
import { refusedIn } from './refusal.ts'
import type { AddressCheck, Target } from './target.ts'

const SETTING = 'PLATFORM_APP_URL'

/**
 * Checks the page that starts the connect flow (specification 5.3.2): with our redirect url it must be a page or ask for
 * a login, and neither be missing nor refuse the url.
 */
export async function checkStartPage(http: DoctorHttp, target: Target): Promise<AddressCheck> {
  const { appUrl, baseUrl, platform } = target
  const { path } = platform.startPage
  const [redirectUrl = ''] = redirectUrls(baseUrl)
  const url = startPage(platform, appUrl, redirectUrl)
  const answer = await http.open(url)
  if (!isResponse(answer)) return { findings: [noAnswer([SETTING], url.href, answer)] }
  const page = `${url.origin}${url.pathname}`
  if (isOutage(answer)) {
    const text = `${SETTING}: ${page} answered ${answer.status}, so it could not be checked. Try again later; if it persists, check the address`
    return { findings: [warning('start-page.unavailable', text, { setting: SETTING })] }
  }
  const [unregistered, missing] = await Promise.all([
    http.open(startPage(platform, appUrl, `${baseUrl}/doctor-check/unregistered`)),
    http.open(new URL(page.replace(path, '/doctor-check-no-such-page.html'))),
  ])
  if (isPage(answer)) {
    const what = describe(answer, url, baseUrl)
    if (isSameAnswer(answer, missing)) {
      const text = `${SETTING}: ${page} ${what}, and so does any other address there, so this may not be the platform's start page. Open it in a browser and check the address`
      return { findings: [warning('start-page.not-proven', text, { setting: SETTING })] }
    }
    const isRefused = isResponse(unregistered) && !isPage(unregistered) && !isOutage(unregistered)
    const registration = isRefused
      ? 'and refuses a redirect URL that is not registered'
      : 'for any redirect url, so whether ours is registered shows only in a browser'
    return { findings: [ok('start-page', `${SETTING}: ${page} ${what}, ${registration}`)] }
  }
  // A page that refuses the redirect url exists.
  if (!refusedIn(answer).includes('redirect') && isMissing(answer, missing)) {
    const text = `${SETTING}: ${page} does not exist (${answer.status}${excerptOf(answer)}). Check the address: it is the part before ${path}`
    return { findings: [failure('start-page.not-found', text, { setting: SETTING })], isWrong: true }
  }
  const text = `BASE_URL: ${page} refuses ${redirectUrl} (${answer.status}${excerptOf(answer)}). Register this redirect url with the platform, or set BASE_URL (without it, PORT) to the origin that is registered`
  return { findings: [failure('start-page.redirect-url', text, { setting: 'BASE_URL' })] }
}

/** Whether the start page is below this address. */
export async function isStartPage(
  http: DoctorHttp,
  appUrl: string,
  { platform, baseUrl }: Target,
): Promise<boolean> {
  const url = startPage(platform, appUrl, redirectUrls(baseUrl)[0] ?? '')
  const missing = new URL(url.href.replace(platform.startPage.path, '/doctor-check-no-such-page.html'))
  const [answer, control] = await Promise.all([http.open(url), http.open(missing)])
  return isResponse(answer) && isPage(answer) && !isSameAnswer(answer, control)
}

function startPage({ startPage: page }: Platform, appUrl: string, redirectUrl: string): URL {
  const url = new URL(appUrl.replace(/\/+$/, '') + page.path)
  url.searchParams.set(page.redirectUrl, redirectUrl)
  return url
}

const isPage = ({ status, location, json, contentType }: Response) =>
  (status >= 200 && status < 300 && json === undefined) ||
  (status === 401 && /html/i.test(contentType)) ||
  (location !== undefined && ![...location.searchParams.keys()].some((name) => /error/i.test(name)))

const isMissing = (answer: Response, missing: Awaited<ReturnType<DoctorHttp['open']>>) =>
  [404, 405, 410].includes(answer.status) || answer.json !== undefined || isSameAnswer(answer, missing)

/** What a browser would see. */
function describe({ location, url }: Response, first: URL, baseUrl: string): string {
  // A platform that asks for no login without a browser: the user's own login decides.
  if (location?.origin === baseUrl) return 'sends the browser straight back to this app'
  if (location) return `asks for a login at ${location.host}`
  return url.pathname === first.pathname ? 'is a page' : 'asks for a login'
}
