import { redirectUrls } from '../../../connect/index.ts'
import type { Finding } from '../../tools.ts'
import {
  type Answer,
  excerptOf,
  isMissing,
  isOutage,
  isResponse,
  isSameAnswer,
  type Response,
} from '../answers.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import { describeAccepted, isAccepted, isProven, refusedIn } from './refusal.ts'
import { type AddressCheck, oauthOf, type Target, UNREGISTERED } from './target.ts'

const SETTING = 'PLATFORM_APP_URL'

/**
 * Checks the page that starts the connect flow (specification 5.3.2): with our redirect url it must be a page or ask for
 * a login, and neither be missing nor refuse the url.
 */
export async function checkStartPage(target: Target): Promise<AddressCheck> {
  const url = urlOf(target)
  const answer = await open(target)
  if (!isResponse(answer)) return { finding: noAnswer(SETTING, url.href, answer) }
  const page = `${url.origin}${url.pathname}`
  if (isOutage(answer))
    return { finding: unavailable('start-page.unavailable', SETTING, page, answer.status) }
  if (isAccepted(answer)) return { finding: await prove(target, answer, page) }
  const said = `${answer.status}${excerptOf(answer)}`
  // A page that refuses the redirect url exists.
  const isOther =
    isMissing(answer) || answer.json !== undefined || isSameAnswer(answer, await openMissing(target))
  if (isOther && !refusedIn(answer).includes('redirect')) {
    const text = `${page} does not exist (${said}). Check the address: it is the part before ${target.platform.startPage.path}`
    return { finding: failure('start-page.not-found', SETTING, text), isWrong: true }
  }
  const text = `${page} refuses ${redirectUrls(target.baseUrl)[0]} (${said}). Register this redirect url with the platform, or set BASE_URL (without it, PORT) to the origin that is registered`
  return { finding: failure('start-page.redirect-url', 'BASE_URL', text) }
}

async function prove(target: Target, answer: Response, page: string): Promise<Finding> {
  const what = `${page} ${describeAccepted(answer, page, target.baseUrl)}`
  if (await isProven(open, target, { ...target, baseUrl: UNREGISTERED }))
    return ok(
      'start-page',
      `${SETTING}, BASE_URL: ${what}, and refuses a redirect url that is not registered`,
    )
  if (isSameAnswer(answer, await openMissing(target))) {
    const text = `${what}, and so does any other address there, so this may not be the platform's start page. Open it in a browser and check the address`
    return warning('start-page.not-proven', SETTING, text)
  }
  const text = `${what}, and so it does for a redirect url that is not registered. Connect an account to see whether ours is`
  return warning('start-page.not-proven', 'BASE_URL', text)
}

/** Whether the start page is there. */
export async function isStartPage(target: Target): Promise<boolean> {
  const [answer, control] = await Promise.all([open(target), openMissing(target)])
  return isAccepted(answer) && !isSameAnswer(answer, control)
}

const urlOf = (target: Target): URL => oauthOf(target).startUrl(redirectUrls(target.baseUrl)[0])
const open = (target: Target): Promise<Answer> => target.client.open(urlOf(target))
const openMissing = ({ client, appUrl }: Target): Promise<Answer> =>
  client.open(new URL(`${appUrl}/doctor-check-no-such-page.html`))
