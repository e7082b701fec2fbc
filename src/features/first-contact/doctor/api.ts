import { failure, isResponse, noAnswer, ok, warning } from './finding.ts'
import { type DoctorHttp, excerptOf, isOutage } from './http.ts'
import type { AddressCheck, Target } from './target.ts'

const SETTING = 'PLATFORM_API_URL'

/** Calls the API without a token: it must answer 401. */
export async function checkApi(http: DoctorHttp, { platform, apiUrl }: Target): Promise<AddressCheck> {
  const { apiCheckPath } = platform
  const base = apiUrl.replace(/\/+$/, '')
  const url = base + apiCheckPath
  if (base.endsWith(apiCheckPath)) {
    // Below it, an API may ask for a token as well.
    const value = base.slice(0, -apiCheckPath.length)
    const text = `${SETTING}: ${apiUrl} is the address of the catalogues, which are below that of the API. Set ${SETTING}=${value}`
    return { findings: [failure('api.not-found', text, { setting: SETTING, value })] }
  }
  const answer = await http.send(url)
  if (!isResponse(answer)) return { findings: [noAnswer([SETTING], url, answer)] }
  const { status } = answer
  if (status === 401) {
    const control = await http.send(`${base}/doctor-check-no-such-path`)
    const isForAny = isResponse(control) && control.status === 401
    const note = isForAny ? ', as for any path there, so the path of the address is not proven' : ''
    return { findings: [ok('api', `${SETTING}: ${url} asks for a token (401)${note}`)] }
  }
  const said = `${status}${excerptOf(answer)}`
  if (isOutage(answer)) {
    const text = `${SETTING}: ${url} answered ${status}. Try again later; if it persists, check the address`
    return { findings: [warning('api.unavailable', text, { setting: SETTING })] }
  }
  if (status >= 200 && status < 300 && answer.json !== undefined) {
    const text = `${SETTING}: ${url} answered ${status} without a token, so it may not be the platform's API. Check the address`
    return { findings: [warning('api.open', text, { setting: SETTING })] }
  }
  if ([404, 410].includes(status)) {
    const text = `${SETTING}: ${url} does not exist (${said}). Check the address: it may need a prefix such as /api or /v1`
    return { findings: [failure('api.not-found', text, { setting: SETTING })], isWrong: true }
  }
  if (/html/i.test(answer.contentType) || (status >= 200 && status < 400)) {
    const text = `${SETTING}: ${url} is not the API: it answered a page or a redirect (${said}) instead of 401 with JSON. Check the address and its path`
    return { findings: [failure('api.not-json', text, { setting: SETTING })], isWrong: true }
  }
  const text = `${SETTING}: ${url} answered ${said} instead of 401. Check the address; the app refreshes a token only after 401`
  return { findings: [warning('api.unexpected', text, { setting: SETTING })] }
}

/** Whether the API is below this address. */
export async function isApiAt(http: DoctorHttp, apiUrl: string, { platform }: Target): Promise<boolean> {
  const answer = await http.send(apiUrl.replace(/\/+$/, '') + platform.apiCheckPath)
  return isResponse(answer) && answer.status === 401
}
