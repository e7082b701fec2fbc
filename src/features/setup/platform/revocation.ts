import type { Finding } from '../../../web/feature-api.ts'
import { isOutage, isResponse, oauthErrorOf } from '../answers.ts'
import { madeUp } from '../client.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import { answerOf, type Metadata, type Target } from './target.ts'

const SETTING = 'PLATFORM_REVOCATION_URL'

/**
 * Revokes a token that was never issued. A revocation endpoint answers 200 (RFC 7009 section 2.2). Other addresses may do that
 * too, so only the server's metadata proves the endpoint. Resolves to undefined if no endpoint is set.
 */
export async function checkRevocation(
  target: Target,
  metadata: Metadata | undefined,
): Promise<Finding | undefined> {
  const url = target.revocationUrl
  if (url === undefined) return undefined
  const answer = await answerOf(target, (oauth) => oauth.revoke?.(madeUp(), 'refresh_token'))
  if (!isResponse(answer)) return noAnswer(SETTING, url, answer.error)
  const { status, json } = answer
  if (isOutage(answer)) return unavailable('revocation.unavailable', SETTING, url, status)
  const named = metadata?.isOfIssuer ? metadata.revocationEndpoint : undefined
  // RFC 7662 section 2.2.
  const isIntrospection = 'active' in Object(json)
  if (isIntrospection || (status !== 200 && oauthErrorOf(answer) === undefined)) {
    const what = isIntrospection ? 'an introspection endpoint' : 'not a revocation endpoint'
    const cure = named
      ? `Set ${SETTING}=${named}`
      : `Correct the address, or remove ${SETTING}: disconnecting then leaves the consent on the platform`
    return failure('revocation.not-found', SETTING, `${url} is ${what} (${status}). ${cure}`, named)
  }
  if (status === 200 && named === url)
    return ok('revocation', `${SETTING}: the server's metadata names ${url}, which answers 200`)
  const text = `${url} answers ${status} to a made-up token, which does not prove that it revokes real ones. Disconnect a business, and see on the platform whether the consent has ended`
  return warning('revocation.not-proven', SETTING, text)
}
