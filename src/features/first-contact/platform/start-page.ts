import { redirectUrls } from '../../../connect/index.ts'
import type { Finding } from '../../../web/kit.ts'
import { type Answer, excerptOf, isMissing, isOutage, isResponse, isSameAnswer } from '../answers.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import { describeAccepted, isAccepted, isProven, refusedIn } from './refusal.ts'
import { oauthOf, type Target, UNREGISTERED } from './target.ts'

const SETTING = 'PLATFORM_APP_URL'

/**
 * Checks the page that starts the connect flow (specification 5.3.2). Opened with our redirect url, it must appear or ask for a
 * login. The check fails if there is nothing at its address, or if it refuses the url.
 */
export async function checkStartPage(target: Target): Promise<Finding> {
  const [redirectUrl] = redirectUrls(target.baseUrl)
  const page = target.appUrl + target.platform.startPage.path
  const answer = await open(target)
  if (!isResponse(answer)) return noAnswer(SETTING, page, answer)
  if (isOutage(answer)) return unavailable('start-page.unavailable', SETTING, page, answer.status)
  const missing = new URL(`${target.appUrl}/doctor-check-no-such-page.html`)
  const isLikeMissing = isSameAnswer(answer, await target.client.open(missing))
  if (isAccepted(answer)) {
    const what = `${page} ${describeAccepted(answer, page, target.baseUrl)}`
    if (await isProven(open, target, { ...target, baseUrl: UNREGISTERED }))
      return ok(
        'start-page',
        `${SETTING}, BASE_URL: ${what}, and refuses a redirect url that is not registered`,
      )
    const setting = isLikeMissing ? SETTING : 'BASE_URL'
    const text = isLikeMissing
      ? `${what}. Any other address there gives the same answer, so this may not be the platform's start page. Open it in a browser and check the address`
      : `${what}. It gives the same answer for a redirect url that is not registered. Connect an account to see whether ours is registered`
    return warning('start-page.not-proven', setting, text)
  }
  const said = `${answer.status}${excerptOf(answer)}`
  // If a page refuses the redirect url, it exists.
  const isOther = isMissing(answer) || answer.json !== undefined || isLikeMissing
  if (isOther && !refusedIn(answer).includes('redirect')) {
    const text = `${page} does not exist (${said}). Check the address: it is the part before ${target.platform.startPage.path}`
    return failure('start-page.not-found', SETTING, text)
  }
  const text = `${page} refuses ${redirectUrl} (${said}). Register this redirect url with the platform, or change BASE_URL (or PORT, if BASE_URL is not set) to the origin that is registered`
  return failure('start-page.redirect-url', 'BASE_URL', text)
}

const open = (target: Target): Promise<Answer> =>
  target.client.open(oauthOf(target).startUrl(redirectUrls(target.baseUrl)[0]))
