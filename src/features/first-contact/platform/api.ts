import { excerptOf, isHtml, isMissing, isOutage, isResponse, isSameAnswer } from '../answers.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import type { AddressCheck, Target } from './target.ts'

const SETTING = 'PLATFORM_API_URL'

/** Calls the API without a token: it must answer 401. */
export async function checkApi({ client, platform, apiUrl }: Target): Promise<AddressCheck> {
  const { apiCheckPath } = platform
  const url = apiUrl + apiCheckPath
  if (apiUrl.endsWith(apiCheckPath)) {
    // Below it, an API may ask for a token as well.
    const value = apiUrl.slice(0, -apiCheckPath.length)
    const text = `${apiUrl} is the address of the catalogues, which are below that of the API. Set ${SETTING}=${value}`
    return { finding: failure('api.not-found', SETTING, text, value) }
  }
  const answer = await client.get(url)
  if (!isResponse(answer)) return { finding: noAnswer(SETTING, url, answer) }
  const { status, json } = answer
  if (status === 401) {
    // The same path below a made-up address.
    const control = await client.get(`${new URL(apiUrl).origin}/doctor-check-no-such-path${apiCheckPath}`)
    if (!isSameAnswer(answer, control))
      return { finding: ok('api', `${SETTING}: ${url} asks for a token (401)`) }
    const text = `${url} asks for a token (401), and so does any address there, so the path is not proven. Connect an account to be sure`
    return { finding: warning('api.not-proven', SETTING, text) }
  }
  if (isOutage(answer)) return { finding: unavailable('api.unavailable', SETTING, url, status) }
  const said = `${status}${excerptOf(answer)}`
  if (isMissing(answer) || isHtml(answer) || (status < 400 && json === undefined)) {
    const text = `${url} is not the API, which asks for a token with 401 and JSON (${said}). Check the address: it may need a prefix such as /api or /v1`
    return { finding: failure('api.not-found', SETTING, text), isWrong: true }
  }
  const text = `${url} answered ${said} instead of 401. Check the address; the app refreshes a token only after 401`
  return { finding: warning('api.unexpected', SETTING, text) }
}

/** Whether the API is there. */
export async function isApi({ client, platform, apiUrl }: Target): Promise<boolean> {
  const answer = await client.get(apiUrl + platform.apiCheckPath)
  return isResponse(answer) && answer.status === 401
}
