import { InvalidGrantError, PlatformUnavailableError } from '../../../connect/errors.ts'
import { platform, tokenFailure, tokenSchema } from '../../../connect/index.ts'
import type { ProbeAnswer } from '../../../web/kit.ts'
import type { Comparisons } from './comparisons.ts'
import { describeFields, fieldsOf, refusalOf, typeOf } from './shape.ts'

const MAX_TOKEN_MS = 30_000

/** Fields of the token response that the app knows. */
const KNOWN = Object.keys(platform.tokenResponseSchema.shape)

type Body = Record<string, unknown>
type Seen = [isAsAssumed: boolean, seen: string]

/** Compares the response to the code exchange. `ms`: how long it took. `requested`: the scopes that consent was asked for. */
export function compareTokenResponse(
  comparisons: Comparisons,
  { json }: ProbeAnswer,
  ms: number,
  requested: readonly string[],
): void {
  const body: Body = Object(json)
  const copes = platform.tokenResponseSchema.safeParse(json).success
  const observed: [id: string, seen: Seen, copes: boolean][] = [
    ['token-type', tokenTypeOf(body), copes],
    ['expires-in', lifetimeOf(body), copes],
    ['granted-scopes', scopesOf(body, requested), copes && typeof body.scope !== 'string'],
    ['names', namesIn(body), true],
    ['token-format', formatOf(body), copes],
    ['refresh-token', [typeof body.refresh_token === 'string', seenIn(body, 'refresh_token')], false],
    ['token-fields', otherFieldsOf(body), true],
    ['token-endpoint-time', [ms <= MAX_TOKEN_MS, `${(ms / 1000).toFixed(1)} s`], false],
  ]
  for (const [id, [isAsAssumed, seen], isFine] of observed) comparisons.compare(id, isAsAssumed, seen, isFine)
}

function tokenTypeOf(body: Body): Seen {
  const isBearer = /^bearer$/i.test(String(body.token_type))
  return [isBearer, isBearer ? '`Bearer`' : `not \`Bearer\`: ${seenIn(body, 'token_type')}`]
}

const YEAR_SECONDS = 31_536_000

function lifetimeOf({ expires_in: expiresIn }: Body): Seen {
  if (expiresIn === undefined) return [false, 'absent']
  const seconds = Number(expiresIn)
  const isNumber = typeof expiresIn === 'number' || /^\d+$/.test(String(expiresIn))
  const isShown = isNumber && seconds >= 0 && seconds <= YEAR_SECONDS
  const what = isShown ? `${seconds} seconds` : 'not a number of seconds below a year'
  return [typeof expiresIn === 'number' && isShown, `${what}, as a ${typeOf(expiresIn)}`]
}

function scopesOf(body: Body, requested: readonly string[]): Seen {
  const { scope } = body
  if (typeof scope !== 'string') return [false, seenIn(body, 'scope')]
  const granted = scope.split(' ')
  const missing = requested.filter((name) => !granted.includes(name))
  if (missing.length === 0) return [true, '`scope` names all that were requested']
  return missing.length < requested.length
    ? [true, `\`scope\` names all but ${missing.join(', ')}`]
    : [false, 'text that names none of the scopes that were requested']
}

function namesIn(body: Body): Seen {
  const names = ['business_name', 'user_name']
  const seen = names.map((name) => seenIn(body, name)).join(', ')
  return [names.every((name) => typeof body[name] === 'string'), seen]
}

/** A field with its type; or that it is absent. */
const seenIn = (body: Body, name: string) =>
  name in body ? `\`${name}\` (${typeOf(body[name])})` : `\`${name}\` is absent`

function formatOf(body: Body): Seen {
  const tokens = [body.access_token, body.refresh_token].filter((value) => typeof value === 'string')
  if (tokens.length === 0) return [false, 'no token']
  const lengths = `${tokens.map((token) => token.length).join(' and ')} characters`
  const isFormat = tokens.every((token) => tokenSchema.safeParse(token).success)
  return [isFormat, isFormat ? lengths : `${lengths}, not only visible ASCII`]
}

function otherFieldsOf(body: Body): Seen {
  const others = Object.entries(body).filter(([name]) => !KNOWN.includes(name))
  const fields = describeFields(fieldsOf([Object.fromEntries(others)]))
  return [others.length === 0, fields || 'no further field']
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
 * Compares the answer to a request that must be refused, such as a code that was used before. The app expects `invalid_grant`. It
 * copes with another 4xx, unless that means `invalid_client` or an outage (`tokenFailure`).
 */
export function compareRefusal(
  comparisons: Comparisons,
  id: 'used-code' | 'revoked-refresh-token',
  answer: ProbeAnswer,
): void {
  if (answer.status < 400) return void comparisons.differ(id, `${answer.status}: it was accepted`, false)
  const failure = tokenFailure(answer)
  const isRefusal = failure instanceof PlatformUnavailableError && failure.kind === 'refused'
  comparisons.compare(id, failure instanceof InvalidGrantError, refusalOf(answer), isRefusal)
}
