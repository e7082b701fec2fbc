import type { Finding } from '../../../web/kit.ts'
import { errorOf, excerptOf, isMissing, isOutage, isResponse, refusesClient } from '../answers.ts'
import { madeUp } from '../client.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import { requestOf, type Target } from './target.ts'

const SETTING = 'PLATFORM_REVOCATION_URL'

/**
 * Revokes a token that was never issued, which a revocation endpoint answers with 200 (RFC 7009 section 2.2). Undefined if no
 * endpoint is set.
 */
export async function checkRevocation(target: Target): Promise<Finding | undefined> {
  const url = target.revocationUrl
  if (url === undefined) return undefined
  const request = await requestOf(target, (oauth) => oauth.revoke?.(madeUp(), 'refresh_token'))
  const answer = await target.client.send(request)
  if (!isResponse(answer)) return noAnswer(SETTING, url, answer)
  // The body says nothing (RFC 7009 section 2.2): some servers send an empty page.
  if (answer.status === 200) return ok('revocation', `${SETTING}: ${url} answers a revocation with 200`)
  if (isOutage(answer)) return unavailable('revocation.unavailable', SETTING, url, answer.status)
  const said = `${answer.status}${excerptOf(answer)}`
  if (refusesClient(answer) || (errorOf(answer) !== undefined && !isMissing(answer))) {
    const text = `${url} refuses to revoke a made-up token (${said}), which RFC 7009 does not expect. Disconnect an account to see whether it revokes real ones; if not, ask the platform's support team how revocations authenticate`
    return warning('revocation.not-proven', SETTING, text)
  }
  const text = `${url} is not a revocation endpoint (${said}). Correct the address, or remove ${SETTING}: disconnecting then leaves the consent on the platform`
  return failure('revocation.not-found', SETTING, text)
}
