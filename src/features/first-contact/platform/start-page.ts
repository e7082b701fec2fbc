import { redirectUrls } from '../../../connect/index.ts'
import { type Answer, excerptOf, isMissing, isOutage, isResponse, isSameAnswer } from '../answers.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import { describeAccepted, isAccepted, refusedIn } from './refusal.ts'
import { type AddressCheck, oauthOf, type Target } from './target.ts'

const SETTING = 'PLATFORM_APP_URL'

/**
 * Checks the page that starts the connect flow (specification 5.3.2): with our redirect url it must be a page or ask for
 * a login, and neither be missing nor refuse the url.
 */
export async function checkStartPage(target: Target): Promise<AddressCheck> {
  const [redirectUrl] = redirectUrls(target.baseUrl)
  const url = oauthOf(target).startUrl(redirectUrl)
  const answer = await target.client.open(url)
  if (!isResponse(answer)) return { finding: noAnswer(SETTING, url.href, answer) }
  const page = `${url.origin}${url.pathname}`
  if (isOutage(answer))
    return { finding: unavailable('start-page.unavailable', SETTING, page, answer.status) }
  const [unregistered, control] = await Promise.all([
    target.client.open(oauthOf(target).startUrl(`${target.baseUrl}/doctor-check/unregistered`)),
    openMissing(target),
  ])
  if (isAccepted(answer)) {
    const what = describeAccepted(answer, page, target.baseUrl)
    if (isSameAnswer(answer, control)) {
      const text = `${page} ${what}, and so does any other address there, so this may not be the platform's start page. Open it in a browser and check the address`
      return { finding: warning('start-page.not-proven', SETTING, text) }
    }
    const isRefused = isResponse(unregistered) && !isAccepted(unregistered) && !isOutage(unregistered)
    const registration = isRefused
      ? 'and refuses a redirect URL that is not registered'
      : 'for any redirect url, so whether ours is registered shows only in a browser'
    return { finding: ok('start-page', `${SETTING}: ${page} ${what}, ${registration}`) }
  }
  const said = `${answer.status}${excerptOf(answer)}`
  // A page that refuses the redirect url exists.
  const isOther = isMissing(answer) || answer.json !== undefined || isSameAnswer(answer, control)
  if (isOther && !refusedIn(answer).includes('redirect')) {
    const text = `${page} does not exist (${said}). Check the address: it is the part before ${target.platform.startPage.path}`
    return { finding: failure('start-page.not-found', SETTING, text), isWrong: true }
  }
  const text = `${page} refuses ${redirectUrl} (${said}). Register this redirect url with the platform, or set BASE_URL (without it, PORT) to the origin that is registered`
  return { finding: failure('start-page.redirect-url', 'BASE_URL', text) }
}

/** Whether the start page is there. */
export async function isStartPage(target: Target): Promise<boolean> {
  const url = oauthOf(target).startUrl(redirectUrls(target.baseUrl)[0])
  const [answer, control] = await Promise.all([target.client.open(url), openMissing(target)])
  return isAccepted(answer) && !isSameAnswer(answer, control)
}

const openMissing = ({ client, appUrl }: Target): Promise<Answer> =>
  client.open(new URL(`${appUrl}/doctor-check-no-such-page.html`))
