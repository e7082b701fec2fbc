/** What an answer of the token endpoint means. */
import * as z from 'zod'
import type { Platform } from './contract.ts'
import {
  ConfigurationError,
  InvalidGrantError,
  type PlatformError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from './errors.ts'
import { type HttpResponse, isWebPage, outageOf } from './http.ts'
import { fieldOf, parseJson } from './json.ts'

/** A token response (RFC 6749 section 5.1). */
export interface Tokens {
  accessToken: string
  /** Absent if the platform expects the previous one to be used again (specification 5.3.6). */
  refreshToken: string | undefined
  /** Lifetime of the access token in seconds; absent if the platform does not report it. */
  expiresIn: number | undefined
  /** The granted scopes; absent if the platform does not name them. */
  scopes: string[] | undefined
  /** The names of the business and the person who gave consent; absent if the platform does not tell them. */
  businessName?: string | undefined
  userName?: string | undefined
}

/** Client errors that say "later", not "no" (RFC 9110 section 15.5.9, RFC 8470, RFC 6585). */
const TEMPORARY_STATUSES = new Set([408, 425, 429])

/** Error codes that also say "later" (RFC 6749 section 4.1.2.1, RFC 8628 section 3.5). */
const TEMPORARY_CODES = new Set(['temporarily_unavailable', 'server_error', 'slow_down'])

const errorSchema = z.object({ error: z.string() })
const errorCode = (json: unknown) => errorSchema.safeParse(json).data?.error

/**
 * Returns the error for a response of the token endpoint without tokens (RFC 6749 section 5.2).
 * - `invalid_grant` with any 4xx: the user has revoked access, or the code or token is dead.
 * - A 4xx that says "later", the page of a firewall (403 with HTML), and everything that is no 4xx: an outage.
 * - `invalid_client` with a 4xx: our credentials are wrong, for all connections.
 * - Any other 4xx refuses this request. Real servers also answer a dead token like this.
 */
export function tokenFailure({
  status,
  retryAfterMs,
  text,
}: Pick<HttpResponse, 'status' | 'retryAfterMs' | 'text'>): PlatformError {
  const json = parseJson(text)
  const code = errorCode(json)
  const reason = `the token endpoint answered ${status}${json === undefined ? ', not JSON' : ''}`
  const isClientError = status >= 400 && status < 500
  if (isClientError && code === 'invalid_grant') return new InvalidGrantError()
  const isFirewall = status === 403 && isWebPage(text)
  const saysLater = TEMPORARY_STATUSES.has(status) || (code !== undefined && TEMPORARY_CODES.has(code))
  if (!isClientError || isFirewall || saysLater)
    return new PlatformUnavailableError(outageOf(status), reason, retryAfterMs)
  return code === 'invalid_client'
    ? new ConfigurationError(`the platform answered invalid_client (${status}) at the token endpoint`)
    : new PlatformUnavailableError('refused', reason, retryAfterMs)
}

/**
 * Reads the tokens of a response. `sent`: the secrets of the request, which the answer may repeat. Throws the errors of
 * `tokenFailure`, and `PlatformRejectedError` if a field that we need has an unexpected format.
 */
export function readTokens(
  response: HttpResponse,
  { tokenResponseSchema }: Pick<Platform, 'tokenResponseSchema'>,
  sent: readonly string[],
): Tokens {
  const json = parseJson(response.text)
  if (response.status < 200 || response.status > 299 || json === undefined) throw tokenFailure(response)
  const parsed = tokenResponseSchema.safeParse(json)
  if (!parsed.success) {
    // Some providers send the errors of RFC 6749 section 5.2 with status 200.
    if (errorCode(json) !== undefined) throw tokenFailure({ ...response, status: 400 })
    const field = fieldOf(parsed.error)
    throw new PlatformRejectedError(`the token response has an unexpected format: ${field}`, field)
  }
  // The token is sent as a bearer token, whatever its token_type is. An id_token, which we did not request, is ignored.
  const { access_token, refresh_token, expires_in, scope, business_name, user_name } = parsed.data
  const secrets = [access_token, ...(refresh_token ? [refresh_token] : []), ...sent]
  const forms = secrets.flatMap(formsOf).map((form) => form.toLowerCase())
  // Scopes and names are shown, so a scope must not be one of the secrets, and a name must not contain one.
  const nameWithoutSecret = (name: string | undefined) =>
    forms.some((form) => name?.toLowerCase().includes(form)) ? undefined : name
  return {
    accessToken: access_token,
    refreshToken: refresh_token ?? undefined,
    expiresIn: expires_in ?? undefined,
    scopes: scope?.split(' ').filter((one) => one !== '' && !forms.includes(one.toLowerCase())),
    businessName: nameWithoutSecret(business_name),
    userName: nameWithoutSecret(user_name),
  }
}

/** The forms in which an answer may repeat a secret: unchanged, percent-encoded, or in base64. */
export const formsOf = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret.toWellFormed()),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
]
