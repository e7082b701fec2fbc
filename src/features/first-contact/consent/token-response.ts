import { InvalidGrantError, TokenRefusedError } from '../../../connect/errors.ts'
import { platform, tokenFailure, tokenSchema } from '../../../connect/index.ts'
import type { ProbeAnswer } from '../../tools.ts'
import type { Comparisons } from './comparisons.ts'
import { describeFields, errorCodeOf, fieldsOf, typeOf } from './shape.ts'

const MAX_TOKEN_MS = 30_000

/** Fields of the token response that the app knows. */
const KNOWN = Object.keys(platform.tokenResponseSchema.shape)

type Body = Record<string, unknown>

/** Compares the response to the code exchange. `ms`: how long it took. `requested`: the scopes that consent was asked for. */
export function compareTokenResponse(
  comparisons: Comparisons,
  { json }: ProbeAnswer,
  ms: number,
  requested: readonly string[],
): void {
  const body: Body = Object(json)
  const copes = platform.tokenResponseSchema.safeParse(json).success
  compareTokenType(comparisons, body, copes)
  compareExpiresIn(comparisons, body, copes)
  compareScope(comparisons, body, requested, copes)
  compareNames(comparisons, body)
  compareFormat(comparisons, body, copes)
  const isIssued = typeof body.refresh_token === 'string'
  const issued = isIssued ? 'it is issued with the first token' : `it is ${absentOr(body.refresh_token)}`
  comparisons.compare('refresh-token', isIssued, issued, false)
  const others = Object.entries(body).filter(([name]) => !KNOWN.includes(name))
  const fields = describeFields(fieldsOf([Object.fromEntries(others)]))
  comparisons.compare('token-fields', others.length === 0, fields || 'no further field', true)
  comparisons.compare('token-endpoint-time', ms <= MAX_TOKEN_MS, `${(ms / 1000).toFixed(1)} s`, false)
}

function compareTokenType(comparisons: Comparisons, { token_type: type }: Body, copes: boolean): void {
  const isBearer = typeof type === 'string' && /^bearer$/i.test(type)
  const other = type === undefined ? 'absent' : `another value (${typeOf(type)})`
  comparisons.compare('token-type', isBearer, isBearer ? '`Bearer`' : other, copes)
}

const YEAR_SECONDS = 31_536_000

function compareExpiresIn(comparisons: Comparisons, { expires_in: expiresIn }: Body, copes: boolean): void {
  if (expiresIn === undefined) return void comparisons.differ('expires-in', 'absent', copes)
  const seconds = Number(expiresIn)
  const isShown =
    (typeof expiresIn === 'number' || /^\d+$/.test(String(expiresIn))) &&
    seconds >= 0 &&
    seconds <= YEAR_SECONDS
  const what = isShown ? `${seconds} seconds` : 'not a number of seconds below a year'
  const isAsAssumed = typeof expiresIn === 'number' && isShown
  comparisons.compare('expires-in', isAsAssumed, `${what}, as a ${typeOf(expiresIn)}`, copes)
}

function compareScope(
  comparisons: Comparisons,
  { scope }: Body,
  requested: readonly string[],
  copes: boolean,
): void {
  if (typeof scope !== 'string') return void comparisons.differ('granted-scopes', absentOr(scope), copes)
  const granted = scope.split(' ')
  const missing = requested.filter((name) => !granted.includes(name))
  const all = missing.length === 0 ? 'all that were requested' : `all but ${missing.join(', ')}`
  const isNone = missing.length === requested.length
  const seen = isNone ? 'text that names none of the scopes that were requested' : `\`scope\` names ${all}`
  comparisons.compare('granted-scopes', !isNone, seen, false)
}

function compareNames(comparisons: Comparisons, body: Body): void {
  const parsed = platform.tokenResponseSchema.safeParse(body).data
  const problems = (['business_name', 'user_name'] as const).flatMap((name) => {
    const value = body[name]
    if (typeof value !== 'string') return [`\`${name}\` is ${absentOr(value)}`]
    return parsed && parsed[name] === undefined ? [`\`${name}\` is too long, or has control characters`] : []
  })
  const seen = problems.join(', ') || '`business_name` and `user_name`, both text'
  comparisons.compare('names', problems.length === 0, seen, true)
}

const absentOr = (value: unknown) => (value === undefined ? 'absent' : `a ${typeOf(value)}`)

function compareFormat(comparisons: Comparisons, body: Body, copes: boolean): void {
  const tokens = [body.access_token, body.refresh_token].filter((value) => typeof value === 'string')
  if (tokens.length === 0) return void comparisons.differ('token-format', 'no token', copes)
  const lengths = `${tokens.map((token) => token.length).join(' and ')} characters`
  const isFormat = tokens.every((token) => tokenSchema.safeParse(token).success)
  const seen = isFormat ? lengths : `${lengths}, not only visible ASCII`
  comparisons.compare('token-format', isFormat, seen, copes)
}

/** Compares the refresh token of a refresh with the one that was sent. */
export function compareRotation(comparisons: Comparisons, answer: ProbeAnswer, before: string): void {
  const { refresh_token: after } = Object(answer.json)
  if (typeof after !== 'string' || after === '')
    comparisons.confirm('refresh-rotation', 'no refresh token in the response to a refresh')
  else if (after === before) comparisons.confirm('refresh-rotation', 'the same refresh token')
  else comparisons.differ('refresh-rotation', 'a new refresh token', true)
}

/**
 * Compares the answer to a request that must be refused, such as a code that was used before. The app copes with another 4xx
 * than `invalid_grant`, unless it counts as an outage (`tokenFailure`).
 */
export function compareRefusal(
  comparisons: Comparisons,
  id: 'used-code' | 'revoked-refresh-token',
  { status, text, json }: ProbeAnswer,
): void {
  if (status < 400) return void comparisons.differ(id, `${status}: it was accepted`, false)
  const code = errorCodeOf(json)
  const seen = `${status}${code ? ` \`${code}\`` : ', without an error code of RFC 6749'}`
  const failure = tokenFailure({ status, text, retryAfterMs: undefined }, json)
  comparisons.compare(id, failure instanceof InvalidGrantError, seen, failure instanceof TokenRefusedError)
}
