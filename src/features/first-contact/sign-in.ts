import * as openid from 'openid-client'
import { type Finding, type OidcProvider, oidcDiscovery } from '../../web/kit.ts'
import { type Answer, describe, isResponse } from './answers.ts'
import { type Client, madeUp, requestBy } from './client.ts'
import { failure, noAnswer, ok, warning } from './findings.ts'
import { judgeCredentials } from './platform/credentials.ts'

const SETTING = 'OIDC_ISSUER'
const CREDENTIALS = 'OIDC_CLIENT_SECRET, OIDC_CLIENT_ID'

/**
 * Checks that the sign-in service publishes its configuration for this issuer (OpenID Connect Discovery 1.0, section 4). Also
 * checks the client id and the secret there, with a made-up code.
 */
export async function checkSignIn(provider: OidcProvider, baseUrl: string, client: Client): Promise<Finding> {
  const { issuer } = provider
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
  const ours = await exchange(provider, baseUrl, client)
  if (!isResponse(ours)) return noAnswer(SETTING, tokenEndpoint, ours)
  const twin = () => exchange({ ...provider, clientSecret: madeUp() }, baseUrl, client)
  const said = `${tokenEndpoint} answered a made-up code with ${describe(ours)}`
  switch (await judgeCredentials(ours, twin)) {
    case 'accepted':
      return ok(
        'sign-in',
        `${SETTING}, ${CREDENTIALS}: ${tokenEndpoint} accepts them, and refuses a made-up secret`,
      )
    case 'refused':
      return failure('sign-in.client', CREDENTIALS, `${said}. Compare both with your registration there`)
    case 'not proven':
      return warning('sign-in.not-proven', CREDENTIALS, `${said}, which proves neither. Sign in to be sure`)
  }
}

/** Sends a code that was never issued, in the same way as the app exchanges a code. */
async function exchange(provider: OidcProvider, baseUrl: string, client: Client): Promise<Answer> {
  const { discovery, reasonOf } = await oidcDiscovery()
  const code = {
    code: madeUp(),
    redirect_uri: `${baseUrl}/sign-in/callback`,
    code_verifier: openid.randomPKCECodeVerifier(),
  }
  const request = requestBy(client.http, async (http) =>
    openid.genericGrantRequest(await discovery({ ...provider, http })(), 'authorization_code', code),
  )
  return request.then(client.send, (error: unknown) => ({ error: reasonOf(error) }))
}
