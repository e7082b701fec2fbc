import type { Finding } from '../../web/kit.ts'
import { isResponse } from './answers.ts'
import type { Client } from './client.ts'
import { failure, noAnswer, ok } from './findings.ts'

const SETTING = 'OIDC_ISSUER'

/** Checks that the sign-in service publishes its configuration for this issuer (OpenID Connect Discovery 1.0, section 4). */
export async function checkSignIn(issuer: string, client: Client): Promise<Finding> {
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`
  const answer = await client.get(url)
  if (!isResponse(answer)) return noAnswer(SETTING, url, answer)
  const { issuer: named, token_endpoint: tokenEndpoint } = Object(answer.json)
  if (typeof named !== 'string' || typeof tokenEndpoint !== 'string') {
    const text = `${url} answers ${answer.status} and is not the configuration of a sign-in service. Check the issuer`
    return failure('sign-in.no-configuration', SETTING, text)
  }
  if (URL.parse(named)?.href !== new URL(issuer).href) {
    const text = `the configuration there is that of another issuer. Set ${SETTING}=${named}`
    return failure('sign-in.issuer', SETTING, text, named)
  }
  const text = `${SETTING}: the sign-in service publishes its configuration for this issuer. Sign in to prove the client id and the secret`
  return ok('sign-in', text)
}
