import { InvalidGrantError, TokenRefusedError } from '../../../connect/errors.ts'
import { platform, tokenFailure, tokenSchema } from '../../../connect/index.ts'
import type { ProbeAnswer } from '../../tools.ts'
import type { Exchange } from './http.ts'
import type { Results } from './results.ts'
import { describeFields, errorCodeOf, fieldsOf, typeOf } from './shape.ts'

const MAX_TOKEN_MS = 30_000

/** Fields of the token response that the app knows. */
const KNOWN = Object.keys(platform.tokenResponseSchema.shape)

const objectOf = (json: unknown): Record<string, unknown> =>
  typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {}

/** Checks the response to the code exchange. `requested`: the scopes that the consent page was asked for. */
export function checkTokenResponse(
  results: Results,
  { answer, ms }: Exchange,
  requested: readonly string[],
): void {
  const body = objectOf(answer.json)
  const copes = platform.tokenResponseSchema.safeParse(answer.json).success
  checkTokenType(results, body.token_type, copes)
  checkExpiresIn(results, body.expires_in, copes)
  checkScope(results, body.scope, requested, copes)
  checkNames(results, body)
  checkFormat(results, body, copes)
  if (typeof body.refresh_token === 'string')
    results.confirm('refresh-token', 'it is issued with the first token')
  else results.differ('refresh-token', `it is ${absentOr(body.refresh_token)}`, false)
  const others = Object.entries(body).filter(([name]) => !KNOWN.includes(name))
  if (others.length === 0) results.confirm('token-fields', 'no further field')
  else results.differ('token-fields', describeFields(fieldsOf([Object.fromEntries(others)])), true)
  const time = `${(ms / 1000).toFixed(1)} s`
  if (ms <= MAX_TOKEN_MS) results.confirm('token-endpoint-time', time)
  else results.differ('token-endpoint-time', time, false)
}

function checkTokenType(results: Results, type: unknown, copes: boolean): void {
  if (typeof type === 'string' && /^bearer$/i.test(type)) results.confirm('token-type', '`Bearer`')
  else results.differ('token-type', type === undefined ? 'absent' : `another value (${typeOf(type)})`, copes)
}

const YEAR_SECONDS = 31_536_000

function checkExpiresIn(results: Results, expiresIn: unknown, copes: boolean): void {
  const seconds = Number(expiresIn)
  const isShown =
    (typeof expiresIn === 'number' || /^\d+$/.test(String(expiresIn))) &&
    seconds >= 0 &&
    seconds <= YEAR_SECONDS
  const form = `as a ${typeOf(expiresIn)}`
  const what = isShown ? `${seconds} seconds, ${form}` : `not a number of seconds below a year, ${form}`
  if (expiresIn === undefined) results.differ('expires-in', 'absent', copes)
  else if (typeof expiresIn === 'number' && isShown) results.confirm('expires-in', what)
  else results.differ('expires-in', what, copes)
}

function checkScope(results: Results, scope: unknown, requested: readonly string[], copes: boolean): void {
  if (typeof scope !== 'string') {
    results.differ('granted-scopes', absentOr(scope), copes)
    return
  }
  const granted = scope.split(' ').filter(Boolean)
  const missing = requested.filter((name) => !granted.includes(name))
  if (missing.length === requested.length)
    results.differ('granted-scopes', 'text that names none of the scopes that were requested', false)
  else if (missing.length === 0) results.confirm('granted-scopes', '`scope` names all that were requested')
  else results.confirm('granted-scopes', `\`scope\` names all but ${missing.join(', ')}`)
}

function checkNames(results: Results, body: Record<string, unknown>): void {
  const parsed = platform.tokenResponseSchema.safeParse(body).data
  const problems = (['business_name', 'user_name'] as const).flatMap((name) => {
    const value = body[name]
    if (typeof value !== 'string') return [`\`${name}\` is ${absentOr(value)}`]
    return parsed && parsed[name] === undefined ? [`\`${name}\` is too long, or has control characters`] : []
  })
  if (problems.length === 0) results.confirm('names', '`business_name` and `user_name`, both text')
  else results.differ('names', problems.join(', '), true)
}

const absentOr = (value: unknown) => (value === undefined ? 'absent' : `a ${typeOf(value)}`)

function checkFormat(results: Results, body: Record<string, unknown>, copes: boolean): void {
  const tokens = [body.access_token, body.refresh_token].filter((value) => typeof value === 'string')
  const lengths = `${tokens.map((token) => token.length).join(' and ')} characters`
  const isFormat = tokens.length > 0 && tokens.every((token) => tokenSchema.safeParse(token).success)
  if (isFormat) results.confirm('token-format', lengths)
  else
    results.differ(
      'token-format',
      tokens.length > 0 ? `${lengths}, not only visible ASCII` : 'no token',
      copes,
    )
}

/** Compares the refresh token of a refresh with the one that was sent. */
export function checkRotation(results: Results, answer: ProbeAnswer, before: string): void {
  const { refresh_token: after } = objectOf(answer.json)
  if (typeof after !== 'string' || after === '')
    results.confirm('refresh-rotation', 'no refresh token in the response to a refresh')
  else if (after === before) results.confirm('refresh-rotation', 'the same refresh token')
  else results.differ('refresh-rotation', 'a new refresh token', true)
}

/**
 * Checks the answer to a request that must be refused, such as a code that was used before. The app copes with another 4xx
 * than `invalid_grant`, unless it counts as an outage (`tokenFailure`).
 */
export function checkRefusal(
  results: Results,
  id: 'used-code' | 'revoked-refresh-token',
  answer: ProbeAnswer,
): void {
  const { status, text } = answer
  const code = errorCodeOf(answer.json)
  const seen = `${status}${code ? ` \`${code}\`` : ', without an error code of RFC 6749'}`
  const failure = tokenFailure({ status, text, retryAfterMs: undefined }, answer.json)
  if (status < 400) results.differ(id, `${status}: it was accepted`, false)
  else if (failure instanceof InvalidGrantError) results.confirm(id, seen)
  else results.differ(id, seen, failure instanceof TokenRefusedError)
}
