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
import { type HttpResponse, outageOf } from './http.ts'
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
 * Returns the error for a response of the token endpoint without tokens. A refusal is a 4xx whose body is JSON with an `error`
 * (RFC 6749 section 5.2); maintenance pages, gateways and firewalls also answer 4xx, but not so.
 * - `invalid_grant` with any 4xx: the user has revoked access, or the code or token is dead.
 * - `invalid_client`: our credentials are wrong, for all connections.
 * - Any other `error` refuses this request, unless it or the status says "later". Real servers also answer a dead token like this.
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

/** Where a redirect leads, for the log, without its query, which may hold anything. An endpoint that has moved answers so. */
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
  // Only its named fields are read, and a new refresh token must not be lost, however deep the others are.
  const json = parseJson(response.text, Number.POSITIVE_INFINITY)
  if (response.status < 200 || response.status > 299 || json === undefined) throw tokenFailure(response, sent)
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
