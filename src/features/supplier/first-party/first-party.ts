import * as z from 'zod'
import {
  ConfigurationError,
  InvalidGrantError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from '../../../connect/errors.ts'
import {
  type Api,
  fieldOf,
  type Http,
  type HttpResponse,
  outageOf,
  parseJson,
  type TokenSource,
  type Tokens,
} from '../../../connect/index.ts'
import { firstPartyTokensSchema, PATHS, SUBSCRIPTION_HEADER, type Tenant, tenantSchema } from './contract.ts'
import type { FirstPartyCredentials } from './settings.ts'

export interface FirstPartyOptions extends FirstPartyCredentials {
  /** `{base_url}`, optionally with a path. */
  baseUrl: string
  http: Http
}

/** The headers of every first-party call (specification 5.2.4). */
export const firstPartyHeaders = (subscriptionKey: string): Record<string, string> => ({
  [SUBSCRIPTION_HEADER]: subscriptionKey,
  'content-type': 'application/json',
})

/** Asks for tokens at one of `PATHS`. Throws `PlatformUnavailableError` if there is no answer. */
export function requestTokens(
  { baseUrl, http, email, apiKey, subscriptionKey, tenantId }: FirstPartyOptions,
  path: string,
  fields: { refreshToken?: string } = {},
): Promise<HttpResponse> {
  const url = baseUrl.replace(/\/+$/, '') + path
  const body = JSON.stringify({ email, apiKey, ...fields, ...(tenantId && { tenantId }) })
  return http.send({ method: 'POST', url, headers: firstPartyHeaders(subscriptionKey), body })
}

/**
 * Exchanges the API key for an access token and a refresh token (specification 5.2.2). Throws `ConfigurationError` if the
 * credentials or the tenant are rejected, `PlatformUnavailableError` and `PlatformRejectedError`.
 */
export async function logIn(options: FirstPartyOptions): Promise<Tokens> {
  const response = await requestTokens(options, PATHS.login)
  const named = options.tenantId ? ', subscription key or tenant' : ' or subscription key'
  const message = `the platform rejected the email, API key${named} (${response.status} at login)`
  return tokensOf(response, PATHS.login, () => new ConfigurationError(message))
}

/** Refreshes the tokens (specification 5.2.5), or logs in if the refresh token is no longer valid. Throws the errors of `logIn`. */
export async function refresh(options: FirstPartyOptions, refreshToken: string): Promise<Tokens> {
  const response = await requestTokens(options, PATHS.refreshToken, { refreshToken })
  try {
    return tokensOf(response, PATHS.refreshToken, () => new InvalidGrantError())
  } catch (error) {
    if (error instanceof InvalidGrantError) return logIn(options)
    throw error
  }
}

/** Returns the tokens in a response, or throws the reason why they are missing. `rejected`: makes the error for a refusal. */
function tokensOf(response: HttpResponse, path: string, rejected: () => Error): Tokens {
  const { status, retryAfterMs } = response
  if ([400, 401, 403].includes(status)) throw rejected()
  if (status === 404) throw new ConfigurationError(`the platform's API has no ${path} (404); check its URL`)
  if (status < 200 || status > 299)
    throw new PlatformUnavailableError(outageOf(status), `${path} returned ${status}`, retryAfterMs)
  const json = parseJson(response.text)
  if (json === undefined)
    throw new PlatformUnavailableError('unreadable', `${path} returned a body that is not JSON`)
  if (Object(json).isSuccessful === false) throw rejected()
  const parsed = firstPartyTokensSchema.safeParse(json)
  if (!parsed.success)
    throw new PlatformRejectedError(`${path} returned an unexpected response`, fieldOf(parsed.error))
  const { accessToken, refreshToken, expiresIn } = parsed.data
  const tokens = { accessToken, refreshToken: refreshToken ?? undefined, expiresIn: expiresIn ?? undefined }
  return { ...tokens, scopes: undefined }
}

/** Lists the tenants of the API key (specification 5.2.7). The source must have no tenant. Throws the errors of `createApi`. */
export function listTenants(api: Api, source: TokenSource): Promise<Tenant[]> {
  return api.get(source, { scope: '', path: PATHS.tenants, schema: z.array(tenantSchema) })
}
