import type { Config } from '../../../config.ts'
import type { Platform } from '../../../connect/index.ts'
import type { Finding } from '../../tools.ts'
import { isResponse } from './finding.ts'
import type { DoctorHttp } from './http.ts'

/** The settings that these checks need. */
export type Target = { platform: Platform } & Config['platform'] & Pick<Config, 'baseUrl'>

/** What the check of one address found. */
export interface AddressCheck {
  findings: Finding[]
  /** Whether something else is at this address. */
  isWrong?: boolean
}

/** The endpoints in the platform's own description, if it has one (RFC 8414, OpenID Connect Discovery). */
export async function discover(
  http: DoctorHttp,
  authUrl: string,
): Promise<{ authorizationEndpoint: string; tokenEndpoint: string } | undefined> {
  const base = authUrl.replace(/\/+$/, '')
  const { origin, pathname } = new URL(base)
  const path = pathname === '/' ? '' : pathname
  const addresses = [
    `${base}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration`,
  ]
  for (const address of new Set(addresses)) {
    const answer = await http.send(address)
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
