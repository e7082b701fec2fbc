import type { Finding } from '../../../web/kit.ts'
import { errorOf, excerptOf, isMissing, isOutage, isResponse } from '../answers.ts'
import { madeUp } from '../client.ts'
import { failure, noAnswer, ok, unavailable, warning } from '../findings.ts'
import { type Metadata, requestOf, type Target } from './target.ts'

const SETTING = 'PLATFORM_REVOCATION_URL'

/**
 * Revokes a token that was never issued. A revocation endpoint answers 200 (RFC 7009 section 2.2), but other addresses may do so
 * too, so only the server's metadata proves the endpoint. Resolves to undefined if no endpoint is set.
 */
export async function checkRevocation(
  target: Target,
  metadata: Metadata | undefined,
): Promise<Finding | undefined> {
  const url = target.revocationUrl
  if (url === undefined) return undefined
  const request = await requestOf(target, (oauth) => oauth.revoke?.(madeUp(), 'refresh_token'))
  const answer = await target.client.send(request)
  if (!isResponse(answer)) return noAnswer(SETTING, url, answer)
  if (isOutage(answer)) return unavailable('revocation.unavailable', SETTING, url, answer.status)
  const named = metadata?.isOfIssuer ? metadata.revocationEndpoint : undefined
  const said = `${answer.status}${excerptOf(answer)}`
  const notFound = (what: string) => {
    const cure = named
      ? `Set ${SETTING}=${named}`
      : `Correct the address, or remove ${SETTING}: disconnecting then leaves the consent on the platform`
    return failure('revocation.not-found', SETTING, `${url} is ${what} (${said}). ${cure}`, named)
  }
  // RFC 7662 section 2.2.
  if ('active' in Object(answer.json)) return notFound('an introspection endpoint')
  if (answer.status === 200) {
    if (named === url)
      return ok('revocation', `${SETTING}: the server's metadata names ${url}, which answers 200`)
    const text = `${url} answers 200, as a revocation endpoint does, but other addresses may do so too. Disconnect an account, and see on the platform whether the consent has ended`
    return warning('revocation.not-proven', SETTING, text)
  }
  if (errorOf(answer) === undefined || isMissing(answer)) return notFound('not a revocation endpoint')
  const text = `${url} refuses to revoke a made-up token (${said}), which RFC 7009 does not expect. Disconnect an account to see whether it revokes real ones; if not, ask the platform's support team how revocations authenticate`
  return warning('revocation.not-proven', SETTING, text)
}
