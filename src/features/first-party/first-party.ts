import * as z from 'zod'
import {
  ConfigurationError,
  InvalidGrantError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from '../../connect/errors.ts'
import {
  type Api,
  fieldOf,
  type Http,
  outageOf,
  parseJson,
  type TokenSource,
  type Tokens,
} from '../../connect/index.ts'
import { firstPartyTokensSchema, PATHS, SUBSCRIPTION_HEADER, type Tenant, tenantSchema } from './contract.ts'

export interface FirstPartyCredentials {
  /** The user's login on the platform. */
  email: string
  /** From the account's API keys page. */
  apiKey: string
  subscriptionKey: string
  /** The tenant to act for (specification 5.2.7); by default, the account's own. */
  tenantId?: string | undefined
}

export interface FirstParty {
  /** Headers of every first-party call (specification 5.2.4). */
  readonly headers: Readonly<Record<string, string>>
  /**
   * Exchanges the API key for an access token and a refresh token (specification 5.2.2). Throws `ConfigurationError` if
   * the credentials or the tenant are rejected, `PlatformUnavailableError` and `PlatformRejectedError`.
   */
  login(): Promise<Tokens>
  /** Refreshes the tokens (specification 5.2.5). Throws `InvalidGrantError` if the refresh token is no longer valid. */
  refresh(refreshToken: string): Promise<Tokens>
}

export interface FirstPartyOptions extends FirstPartyCredentials {
  /** `{base_url}`, optionally with a path. */
  baseUrl: string
  http: Http
}

/** Creates a client for the first-party token endpoints. */
export function createFirstParty({ baseUrl, http, ...credentials }: FirstPartyOptions): FirstParty {
  const base = baseUrl.replace(/\/+$/, '')
  const { email, apiKey, tenantId, subscriptionKey } = credentials
  const headers = { [SUBSCRIPTION_HEADER]: subscriptionKey, 'content-type': 'application/json' }

  async function request(path: string, fields: Record<string, string>, rejected: (status: number) => Error) {
    const body = JSON.stringify({ email, apiKey, ...fields, ...(tenantId && { tenantId }) })
    const response = await http.send({ method: 'POST', url: base + path, headers, body })
    const { status } = response
    if ([400, 401, 403].includes(status)) throw rejected(status)
    if (status === 404) throw new ConfigurationError(`the platform's API has no ${path} (404); check its URL`)
    if (status < 200 || status > 299)
      throw new PlatformUnavailableError(
        outageOf(status),
        `${path} returned ${status}`,
        response.retryAfterMs,
      )
    const json = parseJson(response.text)
    if (json === undefined)
      throw new PlatformUnavailableError('unreadable', `${path} returned a body that is not JSON`)
    if ((json as { isSuccessful?: unknown } | null)?.isSuccessful === false) throw rejected(status)
    const parsed = firstPartyTokensSchema.safeParse(json)
    if (!parsed.success)
      throw new PlatformRejectedError(`${path} returned an unexpected response`, fieldOf(parsed.error))
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
        const settings = tenantId
          ? 'email, API key, subscription key or tenant'
          : 'email, API key or subscription key'
        return new ConfigurationError(`the platform rejected the ${settings} (${status} at login)`)
      }),
    refresh: (refreshToken) => request(PATHS.refreshToken, { refreshToken }, () => new InvalidGrantError()),
  }
}

const tenantsCall = { scope: '', path: PATHS.tenants, schema: z.array(tenantSchema) }

/**
 * Lists the tenants of the API key (specification 5.2.7). The source must have no tenant. Throws what `createApi`
 * throws.
 */
export function listTenants(api: Api, source: TokenSource): Promise<Tenant[]> {
  return api.get(source, tenantsCall)
}
