import { createOAuth, type Http, type OAuth, type Platform } from '../../../connect/index.ts'
import type { Config } from '../../../web/feature-api.ts'
import { isResponse } from '../answers.ts'
import type { Client } from '../client.ts'

/** The target of the checks: the platform in the settings, and the client that calls it. */
export type Target = { platform: Platform; client: Client } & Config['platform'] & Pick<Config, 'baseUrl'>

/** The app's own code for the requests and addresses of the connect flow. */
export const oauthOf = (target: Target, http: Http = target.client.http): OAuth =>
  createOAuth({ ...target, http })

/** The answer to the request that the app's own code makes for this call. */
export const answerOf = (target: Target, call: (oauth: OAuth) => Promise<unknown> | undefined) =>
  target.client.answerTo((http) => call(oauthOf(target, http)))

/** The endpoints in the platform's own description (RFC 8414, OpenID Connect Discovery). */
export interface Metadata {
  authorizationEndpoint: string
  tokenEndpoint: string
  revocationEndpoint: string | undefined
  /** Whether the description is for exactly `PLATFORM_AUTH_URL` (RFC 8414 section 3.3). Otherwise, it is only a hint. */
  isOfIssuer: boolean
}

/** Reads the description of the authorization server, if it has one. */
export async function discover({ client, authUrl }: Target): Promise<Metadata | undefined> {
  const { origin, pathname } = new URL(authUrl)
  const path = pathname === '/' ? '' : pathname
  const addresses = [
    `${authUrl}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration`,
  ]
  for (const address of new Set(addresses)) {
    const answer = await client.get(address)
    const json = Object(isResponse(answer) && answer.status === 200 ? answer.json : undefined)
    const { issuer, authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint } = json
    if (!isAddress(authorizationEndpoint) || !isAddress(tokenEndpoint)) continue
    const { revocation_endpoint: revocation } = json
    const revocationEndpoint = isAddress(revocation) ? revocation : undefined
    const isOfIssuer = isAddress(issuer) && issuer.replace(/\/+$/, '') === authUrl.replace(/\/+$/, '')
    return { authorizationEndpoint, tokenEndpoint, revocationEndpoint, isOfIssuer }
  }
  return undefined
}

/** Whether a value is a plain address. Other values are not shown. */
const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/[\w.:/~%@-]+$/.test(value)
