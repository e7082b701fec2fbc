import type { Finding } from '../../tools.ts'
import { failure, isResponse, noAnswer, ok, warning } from './finding.ts'
import { type DoctorHttp, excerptOf, isOutage, madeUp } from './http.ts'
import { recordedRequest } from './recorded-request.ts'
import type { Target } from './target.ts'

const SETTING = 'PLATFORM_REVOCATION_URL'

/**
 * Revokes a token that was never issued, which a revocation endpoint answers with 200 (RFC 7009 section 2.2). Undefined if no
 * endpoint is set.
 */
export async function checkRevocation(http: DoctorHttp, target: Target): Promise<Finding | undefined> {
  const url = target.revocationUrl
  if (url === undefined) return undefined
  const request = await recordedRequest(target, (oauth) => oauth.revoke?.(madeUp(), 'refresh_token'))
  const answer = await http.send(url, request)
  if (!isResponse(answer)) return noAnswer([SETTING], url, answer)
  const said = `${answer.status}${excerptOf(answer)}`
  // The body says nothing (RFC 7009 section 2.2): some servers send an empty page.
  if (answer.status === 200) return ok('revocation', `${SETTING}: ${url} answers a revocation with 200`)
  if (isOutage(answer)) {
    const text = `${SETTING}: ${url} answered ${said}, so it could not be checked. Try again later`
    return warning('revocation.unavailable', text, { setting: SETTING })
  }
  const { error } = Object(answer.json) as { error?: unknown }
  if (answer.status === 401 || /^(invalid|unauthorized)_client$/.test(String(error))) {
    const text = `${SETTING}: ${url} refuses the client id and the secret (${said}). If the token endpoint accepts them, ask the platform's support team how revocations authenticate`
    return warning('revocation.client', text, { setting: SETTING })
  }
  if (typeof error === 'string' && ![404, 405, 410].includes(answer.status)) {
    const text = `${SETTING}: ${url} refuses to revoke a made-up token (${said}), which RFC 7009 does not expect. Disconnect an account to see whether it revokes real ones`
    return warning('revocation.not-proven', text, { setting: SETTING })
  }
  const text = `${SETTING}: ${url} is not a revocation endpoint (${said}). Correct the address, or remove ${SETTING}: disconnecting then leaves the consent on the platform`
  return failure('revocation.not-found', text, { setting: SETTING })
}
