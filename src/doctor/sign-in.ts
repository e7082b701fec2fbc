import { type Finding, failure, isResponse, noAnswer, ok } from './finding.ts'
import type { DoctorHttp } from './http.ts'

const SETTING = 'OIDC_ISSUER'

/** Checks that the sign-in service publishes its configuration, for this issuer (OpenID Connect Discovery 1.0, section 4). */
export async function checkSignIn(
  { issuer }: { issuer: string },
  http: Pick<DoctorHttp, 'send'>,
): Promise<Finding> {
  const url = `${issuer}/.well-known/openid-configuration`
  const answer = await http.send(url)
  if (!isResponse(answer)) return noAnswer([SETTING], url, answer)
  const { issuer: named, token_endpoint: tokenEndpoint } = Object(answer.json) as Record<string, unknown>
  if (typeof named !== 'string' || typeof tokenEndpoint !== 'string') {
    const text = `${SETTING}: ${url} answers ${answer.status} and is not the configuration of a sign-in service. Check the issuer`
    return failure('sign-in.no-configuration', text, { setting: SETTING })
  }
  if (named.replace(/\/+$/, '') !== issuer) {
    const text = `${SETTING}: the configuration there is that of another issuer. Set ${SETTING}=${named}`
    return failure('sign-in.issuer', text, { setting: SETTING, value: named })
  }
  return ok('sign-in', `${SETTING}: the sign-in service publishes its configuration for this issuer`)
}
