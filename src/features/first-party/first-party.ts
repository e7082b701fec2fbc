import * as z from 'zod'
import { type Api, fieldOf } from '../../connect/platform/api.ts'
import {
  ConfigurationError,
  InvalidGrantError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from '../../connect/platform/errors.ts'
import { type Http, outageOf, parseJson } from '../../connect/platform/http.ts'
import type { Tokens } from '../../connect/platform/oauth.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import { firstPartyTokensSchema, PATHS, SUBSCRIPTION_HEADER, type Tenant, tenantSchema } from './contract.ts'

export interface FirstPartyCredentials {
  /** The user's name on the platform. */
  email: string
  /** From the account's API keys page. */
  apiKey: string
  subscriptionKey: string
  /** Act for this tenant (specification 5.2.7); absent: the account's own. */
  tenantId?: string | undefined
}

export interface FirstParty {
  /** What every first-party call carries (specification 5.2.4). */
  readonly headers: Readonly<Record<string, string>>
  /**
   * A new access token and refresh token by API key (specification 5.2.2).
   * Throws `ConfigurationError` when a key, the email or the tenant is refused, `PlatformUnavailableError`, `PlatformRejectedError`.
   */
  login(): Promise<Tokens>
  /** New ones in place of an old refresh token (specification 5.2.5). Throws `InvalidGrantError` for one that has ended. */
  refresh(refreshToken: string): Promise<Tokens>
}

export interface FirstPartyOptions extends FirstPartyCredentials {
  /** `{base_url}`, may carry a path. */
  baseUrl: string
  http: Http
}

/** The requests of first-party access: a customer's API key in exchange for tokens. */
export function createFirstParty({ baseUrl, http, ...credentials }: FirstPartyOptions): FirstParty {
  const base = baseUrl.replace(/\/+$/, '')
  const { email, apiKey, tenantId, subscriptionKey } = credentials
  const headers = { [SUBSCRIPTION_HEADER]: subscriptionKey, 'content-type': 'application/json' }

  async function request(path: string, fields: Record<string, string>, rejected: (status: number) => Error) {
    const body = JSON.stringify({ email, apiKey, ...fields, ...(tenantId && { tenantId }) })
    const answer = await http.send({ method: 'POST', url: base + path, headers, body })
    const { status } = answer
    if ([400, 401, 403].includes(status)) throw rejected(status)
    if (status === 404)
      throw new ConfigurationError(`there is no ${path} at the platform's API address (404)`)
    if (status < 200 || status > 299)
      throw new PlatformUnavailableError(
        outageOf(status, {}),
        `${path} answered ${status}`,
        answer.retryAfterMs,
      )
    const json = parseJson(answer.text)
    if (json === undefined)
      throw new PlatformUnavailableError('unreadable', `${path} answered something that is not JSON`)
    if ((json as { isSuccessful?: unknown } | null)?.isSuccessful === false) throw rejected(status)
    const parsed = firstPartyTokensSchema.safeParse(json)
    if (!parsed.success)
      throw new PlatformRejectedError(`${path} answered in an unknown shape`, fieldOf(parsed.error))
    const { accessToken, refreshToken, expiresIn } = parsed.data
    return {
      accessToken,
      refreshToken: refreshToken ?? undefined,
      expiresIn: expiresIn ?? undefined,
      scopes: undefined,
    }
  }

  return {
    headers,
    login: () =>
      request(PATHS.login, {}, (status) => {
        const names = tenantId
          ? 'email, API key, subscription key or tenant'
          : 'email, API key or subscription key'
        return new ConfigurationError(`the platform rejects the ${names} (${status} at login)`)
      }),
    refresh: (refreshToken) => request(PATHS.refreshToken, { refreshToken }, () => new InvalidGrantError()),
  }
}

const tenants = { scope: '', path: PATHS.tenants, schema: z.array(tenantSchema) }

/** The tenants that the key may act for (specification 5.2.7): to be asked without a tenantId. Throws as `createApi`. */
export function listTenants(api: Api, source: TokenSource): Promise<Tenant[]> {
  return api.get(source, tenants)
}
