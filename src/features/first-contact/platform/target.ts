import { createOAuth, type HttpRequest, type OAuth, type Platform } from '../../../connect/index.ts'
import type { Config, Finding } from '../../../web/kit.ts'
import { isResponse } from '../answers.ts'
import type { Client } from '../client.ts'

/** What is checked: the platform as the settings describe it, and the client that reaches it. */
export type Target = { platform: Platform; client: Client } & Config['platform'] & Pick<Config, 'baseUrl'>

/** What the check of one address found. */
export interface AddressCheck {
  finding: Finding
  /** Whether something else is at this address. */
  isWrong?: boolean
}

/** The app's own code for the requests and the addresses of the flow. */
export const oauthOf = (target: Target): OAuth => createOAuth({ ...target, http: target.client.http })

/** The request that the app's own code makes of this call, not sent. Throws what the call throws before it sends. */
export function requestOf(
  target: Target,
  call: (oauth: OAuth) => Promise<unknown> | undefined,
): Promise<HttpRequest> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpRequest>()
  const http = {
    send: (request: HttpRequest) => {
      resolve({ deadlineMs: target.platform.tokenEndpointMs, ...request })
      return new Promise<never>(() => {})
    },
    close: async () => {},
  }
  call(createOAuth({ ...target, http }))?.catch(reject)
  return promise
}

/** The endpoints in the platform's own description, if it has one (RFC 8414, OpenID Connect Discovery). */
export async function discover({
  client,
  authUrl,
}: Target): Promise<{ authorizationEndpoint: string; tokenEndpoint: string } | undefined> {
  const { origin, pathname } = new URL(authUrl)
  const path = pathname === '/' ? '' : pathname
  const addresses = [
    `${authUrl}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration`,
  ]
  for (const address of new Set(addresses)) {
    const answer = await client.get(address)
    const json = isResponse(answer) && answer.status === 200 ? answer.json : undefined
    const { authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint } = Object(json)
    if (isAddress(authorizationEndpoint) && isAddress(tokenEndpoint))
      return { authorizationEndpoint, tokenEndpoint }
  }
  return undefined
}

/** Only plain addresses are shown to people. */
const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/[\w.:/~%@-]+$/.test(value)
