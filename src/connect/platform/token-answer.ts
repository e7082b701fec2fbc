/** Reads the answers of the token endpoint. */
import * as z from 'zod'
import type { Platform } from './contract.ts'
import {
  ConfigurationError,
  InvalidGrantError,
  type PlatformError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from './errors.ts'
import { type HttpResponse, outageOf } from './http.ts'
import { fieldOf, parseJson } from './json.ts'

/** A token response (RFC 6749 section 5.1). */
export interface Tokens {
  accessToken: string
  /** Absent if the previous refresh token remains in use (specification 5.3.6). */
  refreshToken: string | undefined
  /** Lifetime of the access token in seconds; absent if the platform does not report it. */
  expiresIn: number | undefined
  /** The granted scopes; absent if the platform does not name them. */
  scopes: string[] | undefined
  /** The names of the business and of the person who gave consent; absent if the platform does not send them. */
  businessName?: string | undefined
  userName?: string | undefined
}

/** Client errors that are temporary (RFC 9110 section 15.5.9, RFC 8470, RFC 6585). */
const TEMPORARY_STATUSES = new Set([408, 425, 429])

/** Error codes that are temporary (RFC 6749 section 4.1.2.1, RFC 8628 section 3.5). */
const TEMPORARY_CODES = new Set(['temporarily_unavailable', 'server_error', 'slow_down'])

const errorSchema = z.object({ error: z.string() })
const errorCode = (json: unknown) => errorSchema.safeParse(json).data?.error

/**
 * Returns the error for a response of the token endpoint without tokens. A refusal is a 4xx whose body is JSON with an `error` (RFC
 * 6749 section 5.2). Maintenance pages, gateways and firewalls also answer 4xx, but without it.
 * - `invalid_grant` with any 4xx: the user has revoked access, or the code or token is no longer valid.
 * - `invalid_client`: our credentials are wrong, for all connections.
 * - Any other `error` refuses this request, unless it or the status is temporary. Some servers also answer so for a revoked token.
 * - Everything else is an outage.
 *
 * `sent`: the secrets of the request, which the response may repeat.
 */
export function tokenFailure(
  { status, retryAfterMs, text, header }: Pick<HttpResponse, 'status' | 'retryAfterMs' | 'text' | 'header'>,
  sent: readonly string[] = [],
): PlatformError {
  const code = status >= 400 && status < 500 ? errorCode(parseJson(text)) : undefined
  if (code === 'invalid_grant') return new InvalidGrantError(retryAfterMs)
  const saysLater = TEMPORARY_STATUSES.has(status) || (code !== undefined && TEMPORARY_CODES.has(code))
  if (code === 'invalid_client' && !saysLater)
    return new ConfigurationError(
      `the platform answered invalid_client (${status}) at the token endpoint`,
      retryAfterMs,
    )
  const isRefusal = code !== undefined && !saysLater
  const said = isRefusal ? '' : ', without an error of OAuth'
  const reason = `the token endpoint answered ${status}${said}${redirectIn(header('location'), sent)}`
  return new PlatformUnavailableError(isRefusal ? 'refused' : outageOf(status), reason, retryAfterMs)
}

/** The target of a redirect, for the log, because an endpoint may have moved. Leaves out the query, which may contain secrets. */
function redirectIn(location = '', sent: readonly string[]): string {
  const isPublic = location !== '' && !sent.flatMap(formsOf).some((form) => location.includes(form))
  return isPublic ? `, a redirect to ${location.split(/[?#]/)[0]?.slice(0, 200)}` : ''
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
  // A new refresh token must not be lost, however deeply other fields are nested, and only the fields of the schema are read.
  const json = parseJson(response.text, Number.POSITIVE_INFINITY)
  if (response.status > 299 || json === undefined) throw tokenFailure(response, sent)
  const parsed = tokenResponseSchema.safeParse(json)
  if (!parsed.success) {
    // Some providers send an error of RFC 6749 section 5.2 with status 200.
    if (errorCode(json) !== undefined) throw tokenFailure({ ...response, status: 400 })
    const field = fieldOf(parsed.error)
    throw new PlatformRejectedError(`the token response has an unexpected format: ${field}`, field)
  }
  // The API gets the token as a bearer token, whatever its token_type. An id_token, which we did not request, is ignored.
  const { access_token, refresh_token, expires_in, scope, business_name, user_name } = parsed.data
  const secrets = [access_token, ...(refresh_token ? [refresh_token] : []), ...sent]
  const forms = secrets.flatMap(formsOf).map((form) => form.toLowerCase())
  // Scopes and names are displayed, so a scope must not be a secret, and a name must not contain a secret.
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
