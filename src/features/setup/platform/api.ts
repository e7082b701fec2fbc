import type { Finding } from '../../../web/feature-api.ts'
import { isHtml, isOutage, isResponse, isSameAnswer, quoteOf } from '../answers.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import type { Target } from './target.ts'

const SETTING = 'PLATFORM_API_URL'

/** Calls the API without a token, which must result in 401. */
export async function checkApi({ client, platform, apiUrl }: Target): Promise<Finding> {
  const { apiCheckPath } = platform
  const url = apiUrl + apiCheckPath
  if (apiUrl.endsWith(apiCheckPath)) {
    // A call would not prove the address, because any address below that of the catalogues may ask for a token too.
    const value = apiUrl.slice(0, -apiCheckPath.length)
    const text = `${apiUrl} is the address of the catalogues, which are below that of the API. Set ${SETTING}=${value}`
    return failure('api.not-found', SETTING, text, value)
  }
  const answer = await client.get(url)
  if (!isResponse(answer)) return noAnswer(SETTING, url, answer.error)
  const { status, json } = answer
  if (isOutage(answer)) return unavailable('api.unavailable', SETTING, url, status)
  const twin = await client.get(`${new URL(apiUrl).origin}/doctor-check-no-such-path${apiCheckPath}`)
  const isLikeMissing = isSameAnswer(answer, twin)
  if (status === 401 && !isLikeMissing) return ok('api', `${SETTING}: ${url} asks for a token (401)`)
  if (status === 401) {
    const text = `${url} asks for a token (401). So does a made-up path there, so the path is not proven. Connect a business to be sure`
    return warning('api.not-proven', SETTING, text)
  }
  const said = quoteOf(answer)
  if (isLikeMissing || isHtml(answer) || (status < 400 && json === undefined)) {
    const text = `${url} is not the API, which asks for a token with 401 and JSON (${said}). Check the address: it may need a prefix such as /api or /v1`
    return failure('api.not-found', SETTING, text)
  }
  const text = `${url} answered ${said} instead of 401. Check the address. After a 401, the app refreshes the token and repeats the call; after another status it does not`
  return warning('api.unexpected', SETTING, text)
}
